"""What is kept of plain operands: as long as they live, and of those alone that cannot change."""

import numpy as np

from ringsmith.program.plain import PlainValues, remembered


def test_results_are_kept_of_arrays_that_cannot_change() -> None:
    calls: list[int] = []

    def total(values: PlainValues) -> float:
        calls.append(1)
        return float(values.sum())

    values = np.arange(4.0)
    assert remembered(values, total) == 6
    values[0] = 1  # it may change, and is computed anew
    assert remembered(values, total) == 7
    values.setflags(write=False)
    calls.clear()
    assert remembered(values, total) == remembered(values, total) == 7
    assert len(calls) == 1
    assert remembered(values, np.min) == 1  # another function of the same array


def test_an_array_in_the_place_of_a_freed_one_is_another() -> None:
    for i in range(100):
        values = np.full(1 << 12, float(i))
        values.setflags(write=False)
        assert remembered(values, np.max) == i
        del values  # the next one has its place
