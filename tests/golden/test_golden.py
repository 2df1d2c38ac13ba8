"""Graphs, programs and cycles are what they were: a change of structure changes no result."""

import json

import pytest
from tests.golden.digests import KEPT, SEARCHED, differences, found

RECORDED = json.loads(KEPT.read_text())


def test_graphs_programs_and_cycles_are_what_was_recorded() -> None:
    quick = {row: digest for row, digest in RECORDED.items() if not SEARCHED.match(row)}
    assert differences(quick, found(lambda row: not SEARCHED.match(row))) == []


@pytest.mark.full
def test_programs_of_a_long_search_are_what_was_recorded() -> None:
    searched = {row: digest for row, digest in RECORDED.items() if SEARCHED.match(row)}
    assert differences(searched, found(SEARCHED.match)) == []


def test_a_change_is_seen() -> None:
    assert differences({"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "4", "d": "5"}) == [
        "a: gone",
        "c: 3 -> 4",
        "d: new",
    ]
