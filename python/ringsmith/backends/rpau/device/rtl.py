"""The rtl device: the accelerator's own RTL, simulated cycle by cycle under Verilator."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.checks import (
    check_capabilities,
    checked_words,
    report_of,
    stopped,
)
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyStream, SegmentReport, Words
from ringsmith.backends.rpau.device.spaces import (
    check_read,
    check_ring,
    check_stream,
    check_write,
    space_runs,
    space_shape,
)
from ringsmith.errors import DeviceError
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.library import load_library, slices
from ringsmith.hdl.sources import macros, rtl_sources, sim_root
from ringsmith.hdl.verilate import build_design
from ringsmith.progress import Task

_POINTER = ctypes.POINTER(ctypes.c_uint64)
_SEED = 1
"""Of the random contents of a build with assertions."""
_WHOLE_ROWS = (AddressSpace.POLY, AddressSpace.KEY)

# The data-flow optimizer's temporaries, and the tables that Verilator makes of logic, are numbered
# over the whole design, so that no two RPAUs have the same C++. Without them Verilator finds them
# equal, and compiles one for all.
VERILATOR_FLAGS = ("-fno-dfg", "-fno-table")
"""Options for builds of whole accelerators."""


def verilator_flags(design: RpauDesign) -> tuple[str, ...]:
    """Options for the build of a design's accelerator."""
    return (*VERILATOR_FLAGS, *(f"-D{macro}" for macro in macros(design.target)))


def build(
    design: RpauDesign,
    *,
    assertions: bool = False,
    instrument: Instrument = Instrument.NONE,
    buses: bool = False,
) -> Path:
    """Builds the simulator of a design, or finds it in the cache.

    Args:
        design: The design point.
        assertions: Checks the RTL's assertions in every cycle, and starts from random contents,
            at a lower speed.
        instrument: What the simulation can record; ``BRIEF`` builds fast, for runs of few cycles.
        buses: Whether it is the accelerator behind its register block and data path.

    Returns:
        The shared library.

    Raises:
        ParameterError: If the RTL cannot be built for the design.
        ToolError: If Verilator or the compiler is missing or fails.
    """
    return build_design(
        rtl.BUS_TOP if buses else rtl.TOP,
        rtl_sources(*(rtl.BUS_FOLDERS if buses else rtl.FOLDERS)),
        rtl.parameters(design),
        wrapper=[sim_root() / "rpau" / ("axi_lite.cpp" if buses else "harness.cpp")],
        assertions=assertions,
        instrument=instrument,
        flags=verilator_flags(design),
        title=f"{design.name} with its buses" if buses else design.name,
    )


class Simulation:
    """A simulator in a shared library. Close it, or let it be collected.

    Attributes:
        prefix: What its functions' names begin with.
    """

    prefix = "rpau"
    _handle: int | None = None

    def __init__(self, library: Path) -> None:
        self._library = load_library(library)
        new, free, error = map(self._function, ("new", "free", "error"))
        new.argtypes, new.restype = [ctypes.c_int], ctypes.c_void_p
        free.argtypes, free.restype = [ctypes.c_void_p], None
        error.argtypes, error.restype = [ctypes.c_void_p], ctypes.c_char_p
        self._handle = new(_SEED)
        if self._handle is None:
            raise DeviceError("the simulated device failed in its reset")

    def close(self) -> None:
        """Frees the simulation. The device cannot be used afterwards."""
        if self._handle is not None:
            self._function("free")(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()

    def _function(self, name: str) -> Any:  # noqa: ANN401 - a function of ctypes
        return getattr(self._library, f"{self.prefix}_{name}")

    def _call(self, name: str, *arguments: object) -> None:
        if self._handle is None:
            raise DeviceError("the device is closed: make another")
        if self._function(name)(self._handle, *arguments):
            text = self._function("error")(self._handle).decode(errors="replace")
            raise DeviceError(f"the simulated RTL stopped: {text}")


class RtlCoprocessor(Simulation):
    """A device that executes programs on simulated RTL. Close it, or let it be collected.

    Unlike the model it answers a program that breaks the hazard rule, or reads what was never
    written, as hardware does: with nonsense. A build with assertions notices most of that.
    """

    name = "rtl"

    def __init__(
        self,
        design: RpauDesign,
        *,
        assertions: bool = False,
        instrument: Instrument = Instrument.NONE,
    ) -> None:
        """Builds the simulator where it is not yet built, and resets a new device.

        Args:
            design: The design point.
            assertions: See :func:`build`.
            instrument: See :func:`build`.

        Raises:
            ParameterError: If the RTL cannot be built for the design.
            ToolError: If Verilator or the compiler is missing or fails.
            DeviceError: If the device says that it was built from another design.
        """
        self._design = design
        self._log_degree = design.log_n
        self._loaded = False
        super().__init__(build(design, assertions=assertions, instrument=instrument))
        _declare(self._library)
        self._check_capabilities()

    @property
    def design(self) -> RpauDesign:
        """The design that the device says it was built from."""
        return self._design

    @property
    def streams(self) -> bool:
        """Whether keys may come while a program runs."""
        return self._design.key_stream

    def set_ring(self, log_degree: int) -> None:
        """Chooses the ring; see ``interface.Coprocessor``."""
        check_ring(self._design, log_degree)
        if self._handle is None:
            raise DeviceError("the device is closed: make another")
        self._library.rpau_set_ring(self._handle, log_degree)
        self._log_degree = log_degree

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes one polynomial or table; see ``interface.Coprocessor``."""
        words = check_write(self._design, space, unit, index, words, self._log_degree)
        whole = space in _WHOLE_ROWS
        width = self._host_words() if whole else 1
        for address, taken in space_runs(self._design, space, words):
            for first, rows in slices(taken.size // width):
                pointer = taken[first * width :].ctypes.data_as(_POINTER)
                place = (int(space), unit, index, address + first, rows)
                self._call("write", *place, int(whole), pointer)

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads one work polynomial; see ``interface.Device``."""
        check_read(self._design, space, unit, index)
        _, count = space_shape(self._design, space, self._log_degree)
        words = np.empty(count, dtype=np.uint64)
        width = self._host_words()
        for first, rows in slices(count // width):
            pointer = words[first * width :].ctypes.data_as(_POINTER)
            self._call("read", int(space), unit, index, first, rows, pointer)
        return words

    def load_program(self, words: Words) -> None:
        """Loads instruction words; see ``interface.Device``."""
        words = checked_words(words, self._design)
        self._loaded = False  # until all of it is there
        for first, count in slices(words.size):
            pointer = words[first:].ctypes.data_as(_POINTER)
            self._call("load_program", first, pointer, count)
        self._loaded = True

    def run(
        self, max_cycles: int, task: Task | None = None, stream: KeyStream | None = None
    ) -> SegmentReport:
        """Runs the loaded program to its halt; see ``interface.Coprocessor``."""
        if not self._loaded:
            raise DeviceError("no program is loaded: call load_program first")
        ended, failed = ctypes.c_int(), ctypes.c_int()
        cycles, instructions = ctypes.c_uint64(), ctypes.c_uint64()
        results = [ctypes.byref(result) for result in (ended, failed, cycles, instructions)]
        try:
            if stream is not None:
                self._hand_over(stream)
            self._call("start")
            for done, most in slices(max_cycles):
                self._call("advance", most, *results)
                if task is not None:
                    task.advance(cycles.value - done if ended else most)
                if ended:
                    return report_of(cycles.value, instructions.value, bool(failed))
            raise stopped(max_cycles, stream, *self._arrivals())
        finally:
            if not ended and self._handle is not None:
                self._library.rpau_reset(self._handle)

    def _hand_over(self, stream: KeyStream) -> None:
        """Gives the simulation the keys that come while the next program runs."""
        come = check_stream(self._design, stream, self._log_degree)
        words = np.concatenate([poly.words for poly in come.polys] or [np.empty(0, np.uint64)])
        rows = (
            space_shape(self._design, AddressSpace.KEY, self._log_degree)[1] // self._host_words()
        )
        count = len(come.polys)
        numbers = ctypes.c_int * count
        self._call(
            "stream",
            count,
            rows,
            numbers(*(poly.unit for poly in come.polys)),
            numbers(*(poly.index for poly in come.polys)),
            (ctypes.c_uint64 * count)(*come.arrivals),
            np.ascontiguousarray(words).ctypes.data_as(_POINTER),
        )

    def _arrivals(self) -> tuple[int, int]:
        """Key polynomials that have arrived, and for how many the program waits."""
        arrived, awaited = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.rpau_arrivals(self._handle, ctypes.byref(arrived), ctypes.byref(awaited))
        return arrived.value, awaited.value

    def _host_words(self) -> int:
        """Words of a row at the host's port."""
        return int(self._library.rpau_host_words(self._handle))

    def _check_capabilities(self) -> None:
        """Compares what the device says about itself with the design that was asked for."""
        count = self._library.rpau_capabilities(self._handle)
        reported = [self._library.rpau_capability(self._handle, index) for index in range(count)]
        check_capabilities(
            self._design, reported, "the built simulator is of another design, clear the cache"
        )


def _declare(library: ctypes.CDLL) -> None:
    handle, number, integer = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
    library.rpau_set_ring.argtypes = [handle, integer]
    library.rpau_set_ring.restype = None
    library.rpau_capabilities.argtypes = [handle]
    library.rpau_capability.argtypes = [handle, integer]
    library.rpau_capability.restype = number
    library.rpau_host_words.argtypes = [handle]
    place = (integer, integer, integer)
    library.rpau_write.argtypes = [handle, *place, number, number, integer, _POINTER]
    library.rpau_read.argtypes = [handle, *place, number, number, _POINTER]
    library.rpau_load_program.argtypes = [handle, number, _POINTER, number]
    library.rpau_start.argtypes = [handle]
    flags = [ctypes.POINTER(integer)] * 2
    library.rpau_advance.argtypes = [handle, number, *flags, _POINTER, _POINTER]
    library.rpau_reset.argtypes = [handle]
    numbers = ctypes.POINTER(integer)
    library.rpau_stream.argtypes = [handle, number, number, numbers, numbers, _POINTER, _POINTER]
    library.rpau_arrivals.argtypes = [handle, _POINTER, _POINTER]
    library.rpau_arrivals.restype = None
