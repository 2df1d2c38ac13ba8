"""``ringsmith bench transforms``: what is counted, and what is left out."""

from collections import Counter

import pytest

from bench.run import Run, load
from bench.transforms import before, diagonal_graph, networks
from ringsmith import CkksParameters


@pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
def test_a_transform_shares_digits_and_divides_once_a_giant_step() -> None:
    of = CkksParameters.create(
        n=1 << 10, prime_bits=[30] * 6, special_bits=[31, 31], scale_bits=20, security=None, dnum=3
    )
    graph = diagonal_graph(of, limbs=5, count=31, babies=8)
    ops = Counter(node.op for node in graph.nodes)
    babies, giants, halves = 7, 4, 2  # giant steps: -16, -8, 0, 8; one is not rotated
    assert ops["key_product"] == babies + giants - 1
    assert ops["digits"] == 1 + giants - 1
    assert ops["mul"] == (31 - 3) + halves * 3  # a pair's; or of two polynomials, at 3 giant steps
    assert ops["mod_down"] == giants - 1 + halves
    assert graph.type_of(len(graph.nodes) - 1).base == (0, 1, 2)
    graph.validate()  # every key is used


def test_figures_of_an_earlier_commit_stand_beside_a_baseline() -> None:
    part = load("transforms").parts["before"]
    found = {(r.design, r.params, r.metric, r.baseline): r for r in before(Run(part))}
    cycles = found["nano", "nano", "cycles", "before key switching was one node"]
    assert (cycles.value, cycles.source) == (1_619_182, "model")
    assert ("cpu", "A", "milliseconds", "SEAL, before key switching was one node") in found


def test_networks_that_are_not_there_are_left_out() -> None:
    said: list[str] = []
    assert not list(networks(Run({"modules": "build/no-such.toml"}, (), said.append)))
    assert said == ["build/no-such.toml is not there: examples/heir/networks.py writes it"]
