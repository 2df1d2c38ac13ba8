"""What is swept: which work, on which machines, and what each shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType

from ringsmith.bench.scaling.fleet import (
    DISPATCHERS,
    GIGABIT,
    STORES,
    Fleet,
    Workload,
    capacities,
)
from ringsmith.bench.scaling.workloads import FORECAST, NETWORK, ON_CPU, PRODUCT

CARDS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
QUICK_CARDS = (1, 8)
LARGEST = CARDS[-1]

SPARE = 1.25
"""How much more than is needed a grown fleet has of each machine."""

_NETWORKS = tuple(gigabits * GIGABIT for gigabits in (25, 100, 200, 400))


@dataclass(frozen=True)
class Scenario:
    """A sweep.

    Attributes:
        work: Name of the work.
        fleet: The machines, of one card.
        grown: Whether there are as many machines of each kind as the cards need.
        most: Cards at most.
    """

    work: str
    fleet: Fleet = field(default_factory=Fleet)
    grown: bool = False
    most: int = LARGEST

    def fleet_of(self, work: Workload, cards: int, dispatch_seconds: float) -> Fleet:
        """The machines with so many cards."""
        fleet = replace(self.fleet, cards=cards, dispatch_seconds=dispatch_seconds)
        return grown(work, fleet) if self.grown else fleet


SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        "product": Scenario(PRODUCT),
        "product, grown": Scenario(PRODUCT, Fleet(direct=True), grown=True),
        "product on cpu, grown": Scenario(
            ON_CPU, Fleet(direct=True, cards_per_host=32), grown=True
        ),
        "forecast": Scenario(FORECAST),
        "forecast, grown": Scenario(FORECAST, Fleet(direct=True), grown=True),
        "mnist": Scenario(NETWORK),
        "mnist, past the dispatcher": Scenario(NETWORK, Fleet(direct=True)),
        "mnist, single requests": Scenario(NETWORK, Fleet(direct=True, session_requests=1)),
        "mnist, no affinity": Scenario(NETWORK, Fleet(direct=True, affinity=False), most=256),
    }
)


def grown(work: Workload, fleet: Fleet) -> Fleet:
    """As many dispatchers and stores, and as fast a network of hosts, as all cards need."""
    wanted = SPARE * fleet.cards * work.per_card
    found = capacities(work, fleet)
    counts = {name: ceil(wanted / found[name]) for name in (DISPATCHERS, STORES)}
    fleet = replace(fleet, dispatchers=counts[DISPATCHERS], stores=max(1, counts[STORES]))
    for rate in _NETWORKS:
        fleet = replace(fleet, host_bytes=rate)
        own = capacities(work, fleet)
        if min(own.values()) >= min(wanted, fleet.cards * work.per_card):
            break
    return fleet
