"""What a process does not take over from the process that forked it: connections and locks.

A connection has one stream of answers, and two processes that read it take each other's. A lock
that another thread held at the fork stays locked in the child, since that thread is not there.
"""

import os
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar
from weakref import WeakSet

from ringsmith.errors import DeviceError

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that each process makes for itself when it first needs it.

    Args:
        make: Makes the value; called once in each process.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._of: dict[int, T] = {}

    def get(self) -> T:
        """Returns this process's value."""
        here = os.getpid()
        found = self._of.get(here)
        if found is None:
            for other in [*self._of]:
                if other != here:
                    self._of.pop(other, None)  # dropped, not closed: its other end is the parent's
            found = self._of.setdefault(here, self._make())
        return found


class OneProcess:
    """The process that opened a device, which no other process may use.

    Args:
        what: What was opened, as its user calls it.
    """

    def __init__(self, what: str) -> None:
        self._what, self._process = what, os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether this is the process."""
        return os.getpid() == self._process

    def check(self) -> None:
        """Refuses another process.

        Raises:
            DeviceError: If this process was forked from the one that opened the device.
        """
        if not self.is_here:
            raise DeviceError(
                f"{self._what} was opened by process {self._process}, and this is process "
                f"{os.getpid()}, forked from it: answers would reach the wrong process; call "
                "open_device in this process"
            )


class Inherited(Protocol):
    """What a forked process gets a copy of, and should not keep."""

    def leave(self) -> None:
        """Closes the copy, so that the other end does not notice. Called in the forked process."""
        ...


_opened: WeakSet[Inherited] = WeakSet()


def leave_in_children(opened: Inherited) -> None:
    """Has processes that are forked from now on close their copy of what was opened."""
    _opened.add(opened)


def _leave_all() -> None:
    for each in [*_opened]:
        each.leave()


os.register_at_fork(after_in_child=_leave_all)
