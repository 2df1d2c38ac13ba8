"""A serial port of this machine, by pyserial: the ``card.Line`` to a board."""

import errno
import fcntl
from typing import Final

import serial

from ringsmith.errors import DeviceError
from ringsmith.forks import OneProcess

_STUCK: Final = 10.0
"""Seconds in which a port must take bytes."""
_REASONS: Final = {
    errno.ENOENT: "there is no port {port}: is the board's cable connected?",
    errno.EACCES: "port {port} may not be opened by this user: join the group that owns it (often "
    "dialout) and log in again",
    errno.EAGAIN: "another program has port {port} open: end it first",
}


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
        self._process = OneProcess(f"port {port}")
        if baud not in serial.Serial.BAUDRATES:
            near = ", ".join(str(rate) for rate in serial.Serial.BAUDRATES if rate >= 9600)
            raise DeviceError(f"port {port} cannot have {baud} baud: choose one of {near}")
        try:
            self._port = serial.Serial(port, baud, write_timeout=_STUCK, exclusive=True)
        except (OSError, serial.SerialException) as failure:
            other = f"{port} cannot be opened as a serial port ({failure}): name the board's port, "
            other += "such as /dev/ttyUSB0"
            raise DeviceError(_REASONS.get(failure.errno or 0, other).format(port=port)) from None

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the port."""
        port = getattr(self, "_port", None)
        if port is not None and port.is_open:
            if self._process.is_here:  # a forked process that has the file would keep the lock
                fcntl.flock(port.fileno(), fcntl.LOCK_UN)
            port.close()

    def send(self, data: bytes) -> None:
        """Sends bytes."""
        port = self._open()
        try:
            port.write(data)
        except serial.SerialTimeoutException:
            raise DeviceError(f"{self.name} takes no bytes: connect the cable again") from None
        except (OSError, serial.SerialException) as failure:
            raise self._gone(failure) from None

    def receive(self, seconds: float) -> bytes:
        """Waits for bytes and returns those received; no bytes after a timeout in seconds."""
        port = self._open()
        try:
            port.timeout = max(0.0, seconds)
            return bytes(port.read(1) + port.read(port.in_waiting))
        except (OSError, serial.SerialException) as failure:
            raise self._gone(failure) from None

    def _open(self) -> serial.Serial:
        if not self._port.is_open:
            raise DeviceError(f"{self.name} is closed: open the device again")
        self._process.check()
        return self._port

    def _gone(self, failure: Exception) -> DeviceError:
        return DeviceError(
            f"{self.name} is gone ({failure}): connect the cable and open the device again"
        )
