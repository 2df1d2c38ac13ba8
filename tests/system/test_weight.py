"""The table of the repository's weight counts what it says."""

from pathlib import Path

import pytest
from tests import weight


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("prime_set = 3", True),
        ("class PrimeSet:", True),
        ("def host_zones():", True),
        ("BUS_ROOMS = 1", True),
        ("# what is inside, and outside", False),
        ("artefact = besides", False),
        ("# on the client side", False),
        ("side = design.dyadic", True),
    ],
)
def test_words_count_also_as_parts_of_names(line: str, counted: bool) -> None:
    assert weight.replaced([line]) == counted


def test_modules_are_counted_when_a_function_of_them_runs() -> None:
    def call() -> None:
        import ringsmith.hdl.ecp5.boards  # noqa: F401 - what runs while it is imported is left out
        from ringsmith.params.primes import check_degree

        check_degree(1024)

    names = {Path(name).relative_to(weight.PACKAGE).as_posix() for name in weight.modules_of(call)}
    assert "params/primes.py" in names
    assert "hdl/ecp5/boards.py" not in names


def test_the_counted_product_is_right() -> None:
    assert weight.product() == pytest.approx(2, abs=1e-3)


def test_the_table_has_a_count_in_each_row() -> None:
    table = dict(weight.rows(12.5, None))
    assert table["`make test`, two quiet cores, cold, minutes"] == "12.5"
    assert table["`make check` after a change, seconds"] == "–"
    counts = [int(count.replace(",", "")) for count in table.values() if count not in ("12.5", "–")]
    assert len(counts) == 5
    assert all(counts)
