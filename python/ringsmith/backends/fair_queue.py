"""A queue that is fair over clients, and groups work that needs the same keys.

Start-time fair queueing (Goyal, Vin and Cheng, 1997): each client has a virtual time, which grows
by the cost of what is taken for it, and the client with the smallest one is served next. A client
that comes back starts at the virtual time of those that wait: no client saves up turns.

An item belongs to a group, given by the keys that it needs. The caller that takes an item names the
groups whose keys it holds. Such an item goes first while its client is at most ``patience`` ahead
of the client whose turn it is. Grouping therefore delays no client by more than that.
"""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

from ringsmith.errors import DeviceError, ParameterError

T = TypeVar("T")


class QueueFullError(DeviceError):
    """The queue is full: try again later."""


@dataclass(frozen=True, eq=False)
class Ticket(Generic[T]):
    """An item that waits.

    Attributes:
        item: What was put.
        client: Whose it is.
        group: The keys that it needs, by any name.
        cost: Of serving it, above 0; in any unit that is the same for all items.
        number: Items that were put before it.
    """

    item: T
    client: str
    group: str
    cost: float
    number: int


@dataclass
class _Client(Generic[T]):
    """A client's items by group, each in their order, and its virtual time."""

    virtual: float = 0.0
    passed: float = 0.0
    """Cost of its items that were taken before its oldest one."""
    groups: dict[str, deque[Ticket[T]]] = field(default_factory=dict)

    @property
    def oldest(self) -> Ticket[T]:
        return min((items[0] for items in self.groups.values()), key=lambda one: one.number)


class FairQueue(Generic[T]):
    """Items that wait to be served. Callers with several threads lock it.

    Args:
        capacity: Maximum number of waiting items.
        per_client: Items of one client that may wait at most.
        patience: Cost by which items with held keys may overtake others; 0: none.
    """

    def __init__(self, capacity: int = 1024, per_client: int = 256, patience: float = 4.0) -> None:
        if capacity < 1 or per_client < 1 or patience < 0:
            raise ParameterError(
                f"a queue with capacity = {capacity}, per_client = {per_client}, "
                f"patience = {patience}: the first two are at least 1, the last at least 0"
            )
        self._capacity, self._per_client, self._patience = capacity, per_client, patience
        self._numbers = count()
        self._clients: dict[str, _Client[T]] = {}
        self._left: dict[str, float] = {}
        """Virtual times of clients without items that are ahead of the queue's."""
        self._virtual = 0.0
        self._waiting: dict[Ticket[T], None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Ticket[T]]:
        """All that wait, in the order in which they were put."""
        return iter(self._waiting)

    def waiting(self, client: str) -> int:
        """How many items of a client wait."""
        found = self._clients.get(client)
        return 0 if found is None else sum(map(len, found.groups.values()))

    def put(self, item: T, client: str = "", group: str = "", cost: float = 1.0) -> Ticket[T]:
        """Adds an item.

        Raises:
            QueueFullError: If the queue is full, in total or for this client.
            ParameterError: If the cost is not above 0.
        """
        if not cost > 0:
            raise ParameterError(f"an item of cost {cost}: give a number above 0")
        if len(self) >= self._capacity:
            raise QueueFullError(
                f"the queue is full: {len(self)} jobs wait, the most that it takes: try again later"
            )
        if self.waiting(client) >= self._per_client:
            raise QueueFullError(
                f"{self._per_client} jobs of this client wait, the most that it may have: wait for "
                "results, then try again"
            )
        ticket = Ticket(item, client, group, cost, next(self._numbers))
        if client not in self._clients:
            virtual = max(self._left.pop(client, 0.0), self._virtual)
            self._clients[client] = _Client(virtual)
        self._clients[client].groups.setdefault(group, deque()).append(ticket)
        self._waiting[ticket] = None
        return ticket

    def take(self, held: Collection[str] = ()) -> Ticket[T] | None:
        """Removes and returns the item that is served next; None: the queue is empty.

        Args:
            held: Groups whose keys the server holds.
        """
        if not self._clients:
            return None
        turn = min(self._clients.values(), key=lambda one: (one.virtual, one.oldest.number))
        chosen = self._grouped(held, turn.virtual) or turn.oldest
        client = self._clients[chosen.client]
        client.passed = 0.0 if chosen is client.oldest else client.passed + chosen.cost
        self._virtual = max(self._virtual, turn.virtual)
        client.virtual += chosen.cost
        self._discard(chosen)
        return chosen

    def remove(self, ticket: Ticket[T]) -> bool:
        """Removes an item; returns whether it was still waiting."""
        if ticket not in self._waiting:
            return False
        client = self._clients[ticket.client]
        if ticket is client.oldest:
            client.passed = 0.0
        self._discard(ticket)
        return True

    def _grouped(self, held: Collection[str], turn: float) -> Ticket[T] | None:
        """The item of a held group that goes first; None: none may."""
        found = [
            (client.virtual, client.groups[group][0])
            for client in self._clients.values()
            for group in held
            if group in client.groups and self._may(client, client.groups[group][0], turn)
        ]
        return min(found, key=lambda one: (one[0], one[1].number))[1] if found else None

    def _may(self, client: _Client[T], ticket: Ticket[T], turn: float) -> bool:
        """Whether an item may go before another client's turn, and before its client's oldest."""
        ahead = client.virtual - turn <= self._patience
        return ahead and (ticket is client.oldest or client.passed + ticket.cost <= self._patience)

    def _discard(self, ticket: Ticket[T]) -> None:
        del self._waiting[ticket]
        client = self._clients[ticket.client]
        items = client.groups[ticket.group]
        items.remove(ticket)
        if not items:
            del client.groups[ticket.group]
        if not client.groups:
            del self._clients[ticket.client]
            self._left = {name: time for name, time in self._left.items() if time > self._virtual}
            if client.virtual > self._virtual:
                self._left[ticket.client] = client.virtual
