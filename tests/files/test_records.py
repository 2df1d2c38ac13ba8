"""Columns of records: what is written comes back, and nothing else is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith.errors import InteropError
from ringsmith.files.budget import FACTOR, LEAST, MOST, Budget, padding
from ringsmith.files.records import Decoder, Encoder


class Colour(Enum):
    """Texts that are chosen from."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    """A record that others hold."""

    x: int
    y: float = 0.0


@dataclass(frozen=True, eq=False)
class Everything:
    """One field of every type."""

    whole: int
    number: float
    truth: bool
    pair: complex
    text: str
    colour: Colour
    data: bytes
    maybe: Point | None
    either: int | float
    points: tuple[Point, ...]
    fixed: tuple[int, str]
    some: Sequence[float]
    by_number: Mapping[int, Mapping[str, int]]
    table: NDArray[Any]
    left_out: tuple[str, ...] = field(default=())


def thing(count: int) -> Everything:
    return Everything(
        *(2**64 - 1, -0.0, True, 1 - 2j, "é", Colour.BLUE, b"\x00\xff", Point(3), 0.5),
        points=tuple(Point(i - 2, i / 3) for i in range(count)),
        fixed=(-(2**63), "x"),
        some=(1.0, 5e-324),
        by_number={7: {"a": 1}, 8: {}},
        table=np.arange(6.0).reshape(2, 3),
    )


@pytest.mark.parametrize("count", [0, 1, 3, 100])
def test_what_is_written_comes_back(count: int) -> None:
    arrays: list[NDArray[Any]] = []
    column = Encoder(arrays=arrays).encode(thing(count), Everything)
    found = Decoder(arrays).decode(column, Everything)
    assert "left_out" not in column
    for name, value in vars(thing(count)).items():
        assert repr(getattr(found, name)) in (repr(value), f"mappingproxy({value})") or (
            name == "by_number" and {k: dict(v) for k, v in found.by_number.items()} == value
        )
    again: list[NDArray[Any]] = []
    assert Encoder(arrays=again).encode(found, Everything) == column


WRONG: list[tuple[object, Any, str]] = [
    ([0.5], int, "v 0.5 is not of type int"),
    ([True], int, "v True is not of type int"),
    (["1"], int, "v '1' is not of type int"),
    ([1 << 64], int, "is not of type int"),
    ([float("inf")], float, "v inf is not of type float"),
    ([2], bool, "v 2 is not of type bool"),
    ([1, 2], int, "v has 2 numbers, and not 1"),
    (1, int, "v is an array of another type or shape"),
    (2, int, "v 2 is not the number of an array"),
    ([1], str, "is not a list of texts"),
    (["x" * 70_000], str, "v has a text of more than 65536 characters"),
    ({"texts": ["a"], "index": [1]}, str, "v.index has the number of no text"),
    (["green"], Colour, "'green' is not of Colour"),
    (["0g"], bytes, "is not of bytes"),
    ({"kinds": ["Line"]}, Point | None, "v.kinds 'Line' is not one of"),
    ({"kinds": ["Point"]}, Point | None, "v lacks 'Point'"),
    ({"x": [1], "z": [1]}, Point, "v has ['z'], which this Ringsmith does not know"),
    ({"y": [1.0]}, Point, "v lacks 'x'"),
    ([], Point, "v [] is not an object"),
    ({"counts": [-1], "items": []}, tuple[int, ...], "v.counts has a number below 0"),
    ({"counts": [2], "items": [1]}, tuple[int, ...], "v has 1 numbers, and not 2"),
    ({"counts": [2], "keys": [1, 1], "items": [1, 1]}, Mapping[int, int], "v has one key twice"),
    ([[1]], tuple[int, int], "v is not 2 columns"),
    ({"counts": [1 << 40], "items": {}}, tuple[Everything, ...], "v lacks"),
]


@pytest.mark.parametrize(("column", "kind", "message"), WRONG)
def test_a_wrong_column_is_refused_by_its_name(column: object, kind: Any, message: str) -> None:  # noqa: ANN401
    arrays = [np.arange(1.0), np.zeros((1, 1), np.int64)]
    with pytest.raises(InteropError) as found:
        Decoder(arrays).decode(column, kind, "v")
    assert message in str(found.value)


@dataclass(frozen=True)
class Empty:
    """A record that no column need name."""

    anything: int = 0


def test_objects_that_take_no_bytes_take_memory() -> None:
    column = {"counts": [1 << 40], "items": {}}
    with pytest.raises(InteropError, match="v takes more than the 16777216 bytes of memory"):
        Decoder(budget=Budget.of(100)).decode(column, tuple[Empty, ...], "v")


def test_a_file_may_take_64_times_its_size_up_to_256_mib_or_twice_its_size() -> None:
    assert Budget.of(1).most == LEAST == 16 << 20
    assert Budget.of(1 << 20).most == 64 << 20
    assert Budget.of(1 << 25).most == MOST == 256 << 20
    assert Budget.of(1 << 28).most == 1 << 29
    for spent in (LEAST, LEAST + 1, FACTOR * 1_000_003, MOST, MOST + 1, 1 << 30):
        for size in (100, 1 << 20):
            assert Budget.of(size + padding(size, spent)).most >= spent
            assert padding(size, spent) == 0 or Budget.of(size + padding(size, spent) - 1).most < (
                spent
            )
