"""What is simulated: work of one kind, and the machines that it passes.

A request passes, in this order: a dispatcher's processor and network, the store of keys where the
host does not hold the client's, the host's network and processors, the card's link and the card;
its result passes the host's and the dispatcher's network on the way back. A network carries both
directions at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

GIGABIT = 1e9 / 8
"""Bytes a second of a network of 1 Gb/s."""


@dataclass(frozen=True)
class Workload:
    """Work of one kind: one program, with its keys, inputs and outputs.

    Attributes:
        name: How records call it.
        design: What computes it.
        params: The parameter set.
        slots: Requests that a card computes at once.
        card_seconds: That one of them takes there.
        host_seconds: Of one of the host's processors.
        request_bytes: Of all encrypted inputs, as files.
        result_bytes: Of all encrypted outputs, as files.
        key_bytes: Of a client's evaluation keys, as a file.
        key_memory_bytes: That they take in a host's memory.
        card_bytes: Of inputs, on the card's link; 0: their time is in ``card_seconds``.
        card_key_bytes: Of keys in a card's memory; 0: they cross the link for every request, and
            their time is in ``card_seconds``.
    """

    name: str
    design: str
    params: str
    slots: int
    card_seconds: float
    host_seconds: float
    request_bytes: int
    result_bytes: int
    key_bytes: int
    key_memory_bytes: int
    card_bytes: int = 0
    card_key_bytes: int = 0

    @property
    def per_card(self) -> float:
        """Requests a second of a card that never waits."""
        return self.slots / self.card_seconds


@dataclass(frozen=True)
class Fleet:
    """Machines, clients, and how requests find their way. All of it is assumed.

    Attributes:
        cards: Cards, or replicas of the cpu device.
        cards_per_host: Of them.
        dispatchers: Processes that take requests and hand them out, each on a machine of its own.
        dispatch_seconds: CPU time of one of them for a request, without its inputs and outputs;
            as measured (docs/results/service.md).
        moved_bytes: Of inputs and outputs, a second of a dispatcher's CPU time.
        direct: Whether inputs and outputs go between clients and hosts, past the dispatchers.
        front_bytes: A second, of a dispatcher's network, each way.
        stores: Machines that hold all keys.
        store_bytes: A second, of a store's network.
        host_bytes: A second, of a host's network, each way.
        host_cores: Processors of a host.
        host_key_bytes: Memory of a host for keys.
        card_key_bytes: Memory of a card for keys.
        link_bytes: A second, between host and card, each way.
        sessions: Clients of each card with an open request, at any time.
        session_requests: Requests that a client sends, one after another, before it pauses.
        clients: Clients of each card with keys in the store.
    """

    cards: int = 1
    cards_per_host: int = 8
    dispatchers: int = 1
    dispatch_seconds: float = 2.6e-3
    moved_bytes: float = 2e9
    direct: bool = False
    front_bytes: float = 100 * GIGABIT
    stores: int = 1
    store_bytes: float = 100 * GIGABIT
    host_bytes: float = 25 * GIGABIT
    host_cores: int = 32
    host_key_bytes: int = 64 << 30
    card_key_bytes: int = 4 << 30
    link_bytes: float = 14.4e9
    sessions: int = 24
    session_requests: int = 100
    clients: int = 1000

    @property
    def hosts(self) -> int:
        """Machines that have cards."""
        return ceil(self.cards / self.cards_per_host)

    @property
    def active(self) -> int:
        """Clients with an open request."""
        return self.sessions * self.cards

    def dispatch(self, work: Workload) -> float:
        """Seconds of a dispatcher's processor for a request."""
        moved = 0 if self.direct else work.request_bytes + work.result_bytes
        return self.dispatch_seconds + moved / self.moved_bytes


CARDS, PROCESSORS, LINKS = "cards", "hosts' processors", "cards' links"
HOSTS_IN, HOSTS_OUT, STORES = "hosts' network in", "hosts' network out", "key stores"
FRONT_IN, FRONT_OUT, DISPATCHERS = "dispatchers' network in", "dispatchers' network out", "dispatch"
RESOURCES = (
    DISPATCHERS,
    FRONT_IN,
    FRONT_OUT,
    STORES,
    HOSTS_IN,
    HOSTS_OUT,
    PROCESSORS,
    LINKS,
    CARDS,
)
"""What a request takes time of."""


def misses(work: Workload, fleet: Fleet) -> tuple[float, float]:
    """Loads of keys for each request: into a host's memory, and into a card's.

    A session's first request finds the keys with the share of all clients' keys that fit; its
    others find them, since a client's requests go to one card.
    """
    per_host = fleet.clients * min(fleet.cards_per_host, fleet.cards)
    return (
        _misses(held(work.key_memory_bytes, fleet.host_key_bytes), per_host, fleet),
        _misses(held(work.card_key_bytes, fleet.card_key_bytes), fleet.clients, fleet),
    )


def held(key: int, memory: int) -> int | None:
    """Clients whose keys fit into a memory; None: keys are not kept there."""
    return memory // key if key else None


def _misses(fits: int | None, clients: int, fleet: Fleet) -> float:
    if fits is None or fits >= clients:
        return 0.0
    return (1 - fits / clients) / fleet.session_requests


def capacities(work: Workload, fleet: Fleet) -> Mapping[str, float]:
    """Requests a second that each resource carries, all of it together; infinite where it has none.

    The closed form with which the simulation is compared.
    """
    into_host, into_card = misses(work, fleet)
    through = 0.0 if fleet.direct else 1.0
    keys = into_host * work.key_bytes
    seconds = {
        DISPATCHERS: fleet.dispatch(work) / fleet.dispatchers,
        FRONT_IN: through * work.request_bytes / (fleet.dispatchers * fleet.front_bytes),
        FRONT_OUT: through * work.result_bytes / (fleet.dispatchers * fleet.front_bytes),
        STORES: keys / (fleet.stores * fleet.store_bytes),
        HOSTS_IN: (work.request_bytes + keys) / (fleet.hosts * fleet.host_bytes),
        HOSTS_OUT: work.result_bytes / (fleet.hosts * fleet.host_bytes),
        PROCESSORS: work.host_seconds / (fleet.hosts * fleet.host_cores),
        LINKS: (work.card_bytes + into_card * work.card_key_bytes)
        / (fleet.cards * fleet.link_bytes),
        CARDS: 1 / (fleet.cards * work.per_card),
    }
    return {name: 1 / each if each else float("inf") for name, each in seconds.items()}


def bound(work: Workload, fleet: Fleet) -> tuple[str, float]:
    """The resource that carries least, and the requests a second that it does."""
    found = capacities(work, fleet)
    name = min(found, key=lambda each: found[each])
    return name, found[name]


SPARE = 1.25
"""How much more than is needed a grown fleet has of each machine."""

_NETWORKS = tuple(gigabits * GIGABIT for gigabits in (25, 100, 200, 400))


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
