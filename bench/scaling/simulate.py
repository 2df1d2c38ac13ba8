"""A discrete-event simulation of requests on their way.

Every resource serves in the order of arrival; what has several servers takes the first that is
free. Clients send one request at a time, the next one as soon as they have a result. Draws come
from one seeded generator. No function of the C library is called, and fractions are not added up by
``sum``, which depends on Python's version: the same numbers come out on every machine.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from random import Random

from bench.scaling.fleet import (
    CARDS,
    DISPATCHERS,
    FRONT_IN,
    FRONT_OUT,
    HOSTS_IN,
    HOSTS_OUT,
    LINKS,
    PROCESSORS,
    RESOURCES,
    STORES,
    Fleet,
    Workload,
    held,
)

_SEED = 1
_LEAST = 3000
"""Requests whose results are counted, at least."""
_BEFORE, _TIMES = 1.5, 2.5
"""Requests of each active client before those that are counted, and of those."""
_FILL = 3
"""How often each key that fits is drawn anew, at random, before a simulation begins."""


@dataclass(frozen=True)
class Simulated:
    """What came out.

    Attributes:
        per_second: Requests a second.
        busy: Resource -> the share of time in which it works.
        median_seconds: From a request to its result.
        late_seconds: The same, of the 99th of 100.
        loads: Loads of keys into hosts' memories, for each request.
    """

    per_second: float
    busy: dict[str, float]
    median_seconds: float
    late_seconds: float
    loads: float

    @property
    def busiest(self) -> str:
        """The resource that works most."""
        return max(self.busy, key=lambda name: self.busy[name])


@dataclass
class _Session:
    """A client that sends requests."""

    client: int
    left: int
    card: int = 0
    sent: float = 0.0


class _Keys:
    """Clients whose keys are in a memory; the least recently used is evicted."""

    def __init__(self, fits: int) -> None:
        self._fits, self._there = fits, OrderedDict[int, None]()

    def use(self, client: int) -> bool:
        """Whether a client's keys have to be loaded; then they are there."""
        missing = client not in self._there
        self._there[client] = None
        self._there.move_to_end(client)
        if len(self._there) > self._fits:
            self._there.popitem(last=False)
        return missing


class _Simulation:
    def __init__(self, work: Workload, fleet: Fleet) -> None:
        self.work, self.fleet, self.dispatch = work, fleet, fleet.dispatch(work)
        self.random = Random(_SEED)  # noqa: S311 - no secret
        self.servers = {name: self._free(name) for name in RESOURCES}
        self.busy = dict.fromkeys(RESOURCES, 0.0)
        self.events: list[tuple[float, int, Callable[[float, _Session], None], _Session]] = []
        self.order = 0
        self.loads = 0
        self.waits: list[float] = []
        clients = fleet.clients * fleet.cards
        self.sessions = [
            _Session(self._draw(clients), 1 + self._draw(fleet.session_requests))
            for _ in range(fleet.active)
        ]
        self.hosts = self._memories(work.key_memory_bytes, fleet.host_key_bytes, fleet.hosts)
        self.cards = self._memories(work.card_key_bytes, fleet.card_key_bytes, fleet.cards)

    def _free(self, name: str) -> list[list[float]]:
        """For each machine the times at which its servers of a resource are free."""
        fleet = self.fleet
        machines = {DISPATCHERS: fleet.dispatchers, FRONT_IN: fleet.dispatchers}
        machines |= {FRONT_OUT: fleet.dispatchers, STORES: fleet.stores}
        machines |= {LINKS: fleet.cards, CARDS: fleet.cards}
        servers = {CARDS: self.work.slots, PROCESSORS: fleet.host_cores}
        return [[0.0] * servers.get(name, 1) for _ in range(machines.get(name, fleet.hosts))]

    def _draw(self, below: int) -> int:
        return int(self.random.random() * below)

    # ---- keys ------------------------------------------------------------------------------------

    def _memories(self, key: int, memory: int, machines: int) -> list[_Keys]:
        """Memories as they are after a long time; none where all keys fit, or none are held."""
        fleet, fits = self.fleet, held(key, memory)
        cards = fleet.cards // machines if machines < fleet.cards else 1
        if fits is None or fits >= fleet.clients * cards:
            return []
        found = [_Keys(fits) for _ in range(machines)]
        for machine, keys in enumerate(found):
            for _ in range(_FILL * fits):  # of clients that paused
                keys.use(self._client_of(machine, machines))
        for session in self.sessions:
            found[self._card(session.client) * machines // fleet.cards].use(session.client)
        return found

    def _client_of(self, machine: int, machines: int) -> int:
        """Any client that a machine serves."""
        fleet = self.fleet
        client = self._draw(fleet.clients * fleet.cards)
        low, high = (each * fleet.cards // machines for each in (machine, machine + 1))
        return client // fleet.cards * fleet.cards + low + self._draw(high - low)

    def _card(self, client: int) -> int:
        return client % self.fleet.cards

    # ---- events ----------------------------------------------------------------------------------

    def _serve(
        self,
        time: float,
        resource: str,
        machine: int,
        seconds: float,
        then: Callable[[float, _Session], None],
        session: _Session,
    ) -> None:
        """Takes time of a resource, as soon as a server is free."""
        if seconds:
            free = self.servers[resource][machine]
            time = max(time, free[0]) + seconds
            heapreplace(free, time)
            self.busy[resource] += seconds
        self.order += 1
        heappush(self.events, (time, self.order, then, session))

    def _host(self, session: _Session) -> int:
        return session.card // self.fleet.cards_per_host

    def _send(self, time: float, session: _Session) -> None:
        session.sent, session.card = time, self._card(session.client)
        at = session.client % self.fleet.dispatchers
        self._serve(time, DISPATCHERS, at, self.dispatch, self._dispatched, session)

    def _front(self, size: int) -> float:
        return 0.0 if self.fleet.direct else size / self.fleet.front_bytes

    def _dispatched(self, time: float, session: _Session) -> None:
        at, seconds = session.client % self.fleet.dispatchers, self._front(self.work.request_bytes)
        self._serve(time, FRONT_IN, at, seconds, self._at_host, session)

    def _at_host(self, time: float, session: _Session) -> None:
        missing = bool(self.hosts) and self.hosts[self._host(session)].use(session.client)
        if not missing:
            self._into_host(time, session, 0)
            return
        self.loads += 1
        at, seconds = (
            session.client % self.fleet.stores,
            self.work.key_bytes / self.fleet.store_bytes,
        )
        self._serve(time, STORES, at, seconds, self._with_keys, session)

    def _with_keys(self, time: float, session: _Session) -> None:
        self._into_host(time, session, self.work.key_bytes)

    def _into_host(self, time: float, session: _Session, keys: int) -> None:
        seconds = (self.work.request_bytes + keys) / self.fleet.host_bytes
        self._serve(time, HOSTS_IN, self._host(session), seconds, self._in_host, session)

    def _in_host(self, time: float, session: _Session) -> None:
        seconds = self.work.host_seconds
        self._serve(time, PROCESSORS, self._host(session), seconds, self._to_card, session)

    def _to_card(self, time: float, session: _Session) -> None:
        missing = bool(self.cards) and self.cards[session.card].use(session.client)
        size = self.work.card_bytes + missing * self.work.card_key_bytes
        seconds = size / self.fleet.link_bytes
        self._serve(time, LINKS, session.card, seconds, self._on_card, session)

    def _on_card(self, time: float, session: _Session) -> None:
        seconds = self.work.card_seconds
        self._serve(time, CARDS, session.card, seconds, self._computed, session)

    def _computed(self, time: float, session: _Session) -> None:
        seconds = self.work.result_bytes / self.fleet.host_bytes
        self._serve(time, HOSTS_OUT, self._host(session), seconds, self._from_host, session)

    def _from_host(self, time: float, session: _Session) -> None:
        at, seconds = session.client % self.fleet.dispatchers, self._front(self.work.result_bytes)
        self._serve(time, FRONT_OUT, at, seconds, self._ended, session)

    def _ended(self, time: float, session: _Session) -> None:
        self.waits.append(time - session.sent)
        session.left -= 1
        if not session.left:
            session.client = self._draw(self.fleet.clients * self.fleet.cards)
            session.left = self.fleet.session_requests
        self._send(time, session)

    # ---- the whole -------------------------------------------------------------------------------

    def _worked(self, time: float) -> dict[str, float]:
        """Busy seconds of each resource until now: all started work minus the remaining work."""
        found = dict(self.busy)
        for name, machines in self.servers.items():
            for free in (free for machine in machines for free in machine if free > time):
                found[name] -= free - time
        return found

    def _advance(self, ended: int) -> float:
        """Goes on until this number of requests has ended; returns the time."""
        time = 0.0
        while len(self.waits) < ended:
            time, _, then, session = heappop(self.events)
            then(time, session)
        return time

    def run(self) -> Simulated:
        for session in self.sessions:
            at = self.random.random() * self.work.card_seconds
            self.order += 1
            self.events.append((at, self.order, self._send, session))
        heapify(self.events)
        counted = max(_LEAST, int(_TIMES * self.fleet.active))
        begin = self._advance(max(_LEAST, int(_BEFORE * self.fleet.active)))
        before, loads, self.waits = self._worked(begin), self.loads, []
        end = self._advance(counted)
        seconds, after, waits = end - begin, self._worked(end), sorted(self.waits)
        servers = {name: sum(map(len, each)) for name, each in self.servers.items()}
        return Simulated(
            counted / seconds,
            {n: (after[n] - before[n]) / (seconds * servers[n]) for n in RESOURCES},
            waits[counted // 2],
            waits[counted * 99 // 100],
            (self.loads - loads) / counted,
        )


def simulate(work: Workload, fleet: Fleet) -> Simulated:
    """Lets clients send requests until the numbers are steady, and counts from then on."""
    return _Simulation(work, fleet).run()
