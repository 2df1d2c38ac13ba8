"""A serial port of this machine, by the operating system's own terminal interface (POSIX)."""

import fcntl
import os
import select
import termios
import time
from types import ModuleType
from typing import Protocol

from ringsmith.errors import DeviceError
from ringsmith.forks import OneProcess


class Line(Protocol):
    """Bytes to a board and back."""

    @property
    def name(self) -> str:
        """What people call it, with its rate."""
        ...

    @property
    def baud(self) -> int:
        """Its rate in bits a second."""
        ...

    def send(self, data: bytes) -> None:
        """Sends bytes.

        Raises:
            DeviceError: If the port is gone or takes nothing.
        """
        ...

    def receive(self, seconds: float) -> bytes:
        """Waits for bytes and returns those that are there; none after so many seconds.

        Raises:
            DeviceError: If the port is gone.
        """
        ...

    def close(self) -> None:
        """Ends the connection; more calls do nothing."""
        ...


_AT_ONCE = 4096  # bytes that are read at once
_STUCK = 10.0  # seconds in which a port must take some bytes
_RATE = "B"  # of the names of rates in module termios


class SerialLine:
    """A serial port: eight data bits, no parity, one stop bit, no flow control.

    Args:
        port: The port's device file, such as ``/dev/ttyUSB0``.
        baud: Bits a second.

    Raises:
        DeviceError: If there is no such port, it has no such rate, another program has it, or it
            may not be opened.
    """

    def __init__(self, port: str, baud: int) -> None:
        self.name, self.baud = f"{port} at {baud} baud", baud
        self._file: int | None = None
        self._process = OneProcess(f"port {port}")
        speed = _speed(port, baud)
        try:
            self._file = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _make_raw(self._file, speed)
        except FileNotFoundError:
            raise DeviceError(f"there is no port {port}: is the board's cable connected?") from None
        except PermissionError:
            raise DeviceError(
                f"port {port} may not be opened by this user: join the group that owns it (often "
                "dialout) and log in again"
            ) from None
        except BlockingIOError:
            self.close()
            raise DeviceError(f"another program has port {port} open: end it first") from None
        except (OSError, termios.error) as failure:
            self.close()
            raise DeviceError(
                f"{port} cannot be opened as a serial port ({_text(failure)}): name the board's "
                "port, such as /dev/ttyUSB0"
            ) from None

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the port."""
        opened, self._file = getattr(self, "_file", None), None
        if opened is not None:
            if self._process.is_here:  # a forked process that has the file would keep the lock
                fcntl.flock(opened, fcntl.LOCK_UN)
            os.close(opened)

    def send(self, data: bytes) -> None:
        """Sends bytes."""
        left, deadline = memoryview(data), time.monotonic() + _STUCK
        try:
            while left:
                _, ready, _ = select.select([], [self._open()], [], deadline - time.monotonic())
                if not ready:
                    raise DeviceError(f"{self.name} takes no bytes: connect the cable again")
                left = left[os.write(self._open(), left) :]
                deadline = time.monotonic() + _STUCK
        except OSError as failure:
            raise self._gone(failure) from None

    def receive(self, seconds: float) -> bytes:
        """Waits for bytes and returns those that are there; none after so many seconds."""
        try:
            ready, _, _ = select.select([self._open()], [], [], max(0.0, seconds))
            if not ready:
                return b""
            data = os.read(self._open(), _AT_ONCE)
        except OSError as failure:
            raise self._gone(failure) from None
        if not data:
            raise self._gone(None)
        return data

    def _open(self) -> int:
        if self._file is None:
            raise DeviceError(f"{self.name} is closed: open the device again")
        self._process.check()
        return self._file

    def _gone(self, failure: OSError | None) -> DeviceError:
        why = f" ({failure.strerror})" if failure else ""
        return DeviceError(f"{self.name} is gone{why}: connect the cable and open the device again")


def rates(module: ModuleType = termios) -> list[int]:
    """The rates that a port may have, in bits a second."""
    names = (name.removeprefix(_RATE) for name in dir(module) if name.startswith(_RATE))
    return sorted(int(name) for name in names if name.isdigit() and name != "0")


def _speed(port: str, baud: int) -> int:
    """The terminal interface's number of a rate."""
    if baud not in rates():
        near = ", ".join(str(rate) for rate in rates() if rate >= 9600)
        raise DeviceError(f"port {port} cannot have {baud} baud: choose one of {near}")
    return int(getattr(termios, f"{_RATE}{baud}"))


def _make_raw(file: int, speed: int) -> None:
    """Sets a port so that bytes cross it as they are, and forgets what came before."""
    control = termios.CS8 | termios.CREAD | termios.CLOCAL
    attributes = termios.tcgetattr(file)
    attributes[:6] = [0, 0, control, 0, speed, speed]
    termios.tcsetattr(file, termios.TCSANOW, attributes)
    termios.tcflush(file, termios.TCIOFLUSH)


def _text(failure: OSError | termios.error) -> str:
    return str(failure.args[-1])
