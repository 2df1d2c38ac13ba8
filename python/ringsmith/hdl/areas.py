"""Arithmetic of areas: sums, differences, multiples."""

from collections.abc import Iterable
from dataclasses import asdict, fields

from ringsmith.hdl.synthesis import Area

_NUMBERS = tuple(each.name for each in fields(Area))


def total_area(areas: Iterable[Area]) -> Area:
    """The sum of areas."""
    numbers = [asdict(area) for area in areas]
    return Area(**{name: sum(each[name] for each in numbers) for name in _NUMBERS})


def area_less(area: Area, *parts: Area) -> Area:
    """An area without those of its parts."""
    whole, less = asdict(area), asdict(total_area(parts))
    return Area(**{name: whole[name] - less[name] for name in _NUMBERS})


def area_times(area: Area, factor: float) -> Area:
    """An area a number of times, rounded: BRAMs to halves."""
    rounded = {name: round(value * factor) for name, value in asdict(area).items()}
    return Area(**{**rounded, "brams": round(2 * area.brams * factor) / 2})
