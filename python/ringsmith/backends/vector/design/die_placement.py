"""Where a design's clusters stand on the dies of a card, and how full each die is.

A cluster of 256 lanes may be larger than a die, and is cut then. Its **units** stand on several
dies, each with its lanes of the scratchpad, of the streams and of the twiddle memory. Network and
control of a cluster stay together, on one die. What joins clusters to memory and host stands on the
first die, which has memory's ports. What crosses a boundary between dies:

- words of x from a lane's memories to the network, and from the network to a unit: two words for
  each lane on another die than its network;
- rows from memory and to it, at memory's rate, of lanes beyond the first die, which has the ports;
- operands, factors and results of a lane whose memories stand on another die than its unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from ringsmith.backends.vector.design.area import NOTHING, cluster_parts, memory_ports
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.synthesis import Area, area_times, total_area
from ringsmith.platforms import Platform

SHARE = 0.8
"""Share of each resource of a die up to which a design counts as one that fits."""

_STEP = 0.01
"""By which the share grows until everything has been placed."""

_FULL = 99.0

_RESOURCES = {
    "LUT": ("lut_sites", "luts"),
    "FF": ("fabric_flip_flops", "flip_flops"),
    "DSP": ("dsps", "dsps"),
    "BRAM": ("brams", "brams"),
    "URAM": ("urams", "urams"),
}
"""Resource -> the number of an ``Area``, and that of a die."""


@dataclass(frozen=True)
class DiePlacement:
    """Clusters on the dies of a card.

    Attributes:
        units: Units on each die, of all clusters.
        lanes: Lanes whose memories are on each die.
        networks: The die of each cluster's network and control.
        shares: Resource -> the share of it that is taken, die by die.
        wires: That cross each boundary between two dies.
    """

    units: tuple[int, ...]
    lanes: tuple[int, ...]
    networks: tuple[int, ...]
    shares: Mapping[str, tuple[float, ...]]
    wires: tuple[int, ...]

    @property
    def fullest(self) -> float:
        """The largest share of any resource on any die."""
        return max(max(each) for each in self.shares.values())

    @property
    def fits(self) -> bool:
        """Whether every resource of every die is taken up to ``SHARE`` at most."""
        return self.fullest <= SHARE


def placed(design: VectorDesign, card: Platform) -> DiePlacement:
    """Places a design on as few wires between dies as dies filled to ``SHARE`` allow.

    A design that needs more is placed with the smallest share, in steps of a percent.
    """
    share = SHARE
    while share < _FULL:
        found = [
            one
            for networks in combinations_with_replacement(range(card.dies), design.clusters)
            if (one := _Filling(design, card, networks, share).placement())
        ]
        if found:
            return min(found, key=lambda each: (sum(each.wires), each.fullest))
        share += _STEP
    raise AssertionError(f"design {design.name} is {_FULL} times as large as a {card.card}")


class _Filling:
    """Fills the dies of a card up to a share; one use."""

    def __init__(
        self, design: VectorDesign, card: Platform, networks: tuple[int, ...], share: float
    ) -> None:
        self._design, self._card, self._networks = design, card, networks
        parts = cluster_parts(design)
        self._radix = 1 << design.log_radix
        self._units = design.lanes // self._radix  # of a cluster
        self._fixed = total_area([parts["permute_network"], parts["control"]])
        self._ports = memory_ports(design)  # on the first die
        selectors = replace(parts["scratchpad"], urams=0)
        self._logic = total_area([parts["alus"], selectors])
        banks = replace(NOTHING, urams=parts["scratchpad"].urams)
        self._memories = total_area([banks, parts["streams"], parts["twiddle_memory"]])
        dies = range(card.dies)
        self._lanes_left = [self._most(self._memories, design.lanes, share, die) for die in dies]
        self._units_left = [
            min(self._most(self._logic, self._units, share, die), -(-lanes // self._radix))
            for die, lanes in zip(dies, self._lanes_left, strict=True)
        ]

    def _most(self, of_cluster: Area, parts: int, share: float, die: int) -> int:
        """Parts of a cluster's resources that a die holds besides its networks."""
        fixed = self._fixed_on(die)
        least = parts * self._design.clusters
        for name, of in _RESOURCES.values():
            if value := getattr(of_cluster, name):
                left = share * getattr(self._card.die, of) - getattr(fixed, name)
                least = min(least, int(left * parts / value))
        return max(least, 0)

    def _fixed_on(self, die: int) -> Area:
        """The fixed resources on a die, independent of units and lanes."""
        networks = area_times(self._fixed, self._networks.count(die))
        return networks if die else total_area([networks, self._ports])

    def placement(self) -> DiePlacement | None:
        """The placement; None: not everything has been placed."""
        dies = self._card.dies
        units = [[0] * dies for _ in self._networks]
        lanes = [[0] * dies for _ in self._networks]
        for own, network in zip(units, self._networks, strict=True):
            if not _fill(own, self._units, self._units_left, network):
                return None
        for own, theirs in zip(lanes, units, strict=True):
            for die, count in enumerate(theirs):
                if not _fill(own, count * self._radix, self._lanes_left, die):
                    return None
        of_units = [sum(each) for each in zip(*units, strict=True)]
        of_lanes = [sum(each) for each in zip(*lanes, strict=True)]
        shares = {}
        taken = [self._taken(die, of_units[die], of_lanes[die]) for die in range(dies)]
        for resource, (name, of) in _RESOURCES.items():
            there = getattr(self._card.die, of)
            shares[resource] = tuple(getattr(area, name) / there for area in taken)
        wires = tuple(self._wires(boundary, units, lanes) for boundary in range(1, dies))
        return DiePlacement(tuple(of_units), tuple(of_lanes), self._networks, shares, wires)

    def _taken(self, die: int, units: int, lanes: int) -> Area:
        return total_area(
            [
                self._fixed_on(die),
                area_times(self._logic, units / self._units),
                area_times(self._memories, lanes / self._design.lanes),
            ]
        )

    def _wires(self, boundary: int, units: list[list[int]], lanes: list[list[int]]) -> int:
        """Wires between dies ``boundary`` - 1 and ``boundary``."""
        design = self._design
        words = 0.0
        for own, theirs, network in zip(lanes, units, self._networks, strict=True):
            below, units_below = sum(own[:boundary]), sum(theirs[:boundary]) * self._radix
            beyond = design.lanes - below
            far = (below, units_below) if network >= boundary else (
                beyond, design.lanes - units_below
            )  # fmt: skip
            words += sum(far)
            words += beyond * 2 / design.row_cycles
            words += abs(below - units_below) * (3 * design.results + 2)
        return round(words * design.word_bits)


def _fill(own: list[int], count: int, left: list[int], first: int) -> bool:
    """Places parts on a die, and the rest on the nearest others; returns whether all fit."""
    for die in sorted(range(len(own)), key=lambda die: (abs(die - first), die)):
        there = min(count, left[die])
        own[die] += there
        left[die] -= there
        count -= there
    return count == 0
