"""A board that is not there: its verilated design behind a pseudo-terminal."""

import ctypes
import os
import select
import tty
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.rtl import VERILATOR_FLAGS
from ringsmith.hdl.library import load_library
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.verilate import build_design

TOP = "rs_rpau_uart"
RATIO = 8
"""Cycles of the board's clock a bit: the fewest that its receiver takes."""
SILENCE = 2000
"""Cycles after which the bridge awaits a frame: a simulated board has no 20 ms to spare."""
HOST_BAUD = 9600
"""What the host is reported. A pseudo-terminal has no rate; the simulation is about that fast."""

_CYCLES = 4096  # of a slice of the simulation
_IDLE = 0.002  # seconds between slices in which nothing happens
_CAPACITY = 4096


def build(design: RpauDesign, sources: Sequence[Path] | None = None) -> Path:
    """Builds the simulator of a board, or finds it in the cache."""
    parameters: Values = {
        **rtl.parameters(design),
        "ClockHz": RATIO,
        "Baud": 1,
        "SilenceCycles": SILENCE,
    }
    return build_design(
        TOP,
        sources or rtl_sources(*rtl.BUS_FOLDERS),
        parameters,
        wrapper=[Path(__file__).with_name("serial.cpp")],
        flags=VERILATOR_FLAGS,
        title=f"{design.name} on a serial line",
    )


class SimulatedBoard:
    """A board at a pseudo-terminal, which simulates in a thread of its own. Use it in a ``with``.

    Attributes:
        port: The terminal's device file, for the host.
        received: Every byte that the host has sent.
        failure: Why the simulation has stopped; None: it has not.

    Args:
        library: What ``build`` returned.
        skew: By what part the adapter's clock is slower than the rate that the board expects.
    """

    def __init__(self, library: Path, skew: float = 0.0) -> None:
        self._functions = _load(library)
        self._handle = self._functions.serial_new(1, RATIO * (1 + skew))
        assert self._handle
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self.received = bytearray()
        self.failure: str | None = None
        self._end = Event()
        self._unplugged = Event()
        self._thread = Thread(target=self._simulate, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unplug()
        self._functions.serial_free(self._handle)
        assert self.failure is None, self.failure

    def unplug(self) -> None:
        """Takes the terminal away, as a cable that is pulled out takes the adapter's port."""
        self._end.set()
        self._thread.join()
        if not self._unplugged.is_set():
            self._unplugged.set()
            os.close(self._slave)
            os.close(self._master)

    def _simulate(self) -> None:
        busy = True
        while not self._end.is_set():
            ready, _, _ = select.select([self._master], [], [], 0 if busy else _IDLE)
            data = os.read(self._master, _CAPACITY) if ready else b""
            self.received += data
            came, unsent = self._advance(data)
            if came:
                os.write(self._master, came)
            busy = bool(data or came or unsent)
            if self.failure is not None:
                return

    def _advance(self, data: bytes) -> tuple[bytes, int]:
        out, unsent = ctypes.create_string_buffer(_CAPACITY), ctypes.c_uint64()
        count = self._functions.serial_advance(
            self._handle, _CYCLES, data, len(data), out, _CAPACITY, ctypes.byref(unsent)
        )
        if count < 0:
            self.failure = self._functions.serial_error(self._handle).decode()
            return b"", 0
        return out.raw[:count], unsent.value


def _load(path: Path) -> ctypes.CDLL:
    library = load_library(path)
    handle, number = ctypes.c_void_p, ctypes.c_uint64
    library.serial_new.argtypes = [ctypes.c_int, ctypes.c_double]
    library.serial_new.restype = handle
    library.serial_free.argtypes = [handle]
    library.serial_free.restype = None
    library.serial_error.argtypes = [handle]
    library.serial_error.restype = ctypes.c_char_p
    library.serial_advance.argtypes = [
        *(handle, number, ctypes.c_char_p, number),
        *(ctypes.c_char_p, number, ctypes.POINTER(number)),
    ]
    return library
