"""A master on the buses of a simulated accelerator: RTL with its register block and data path."""

import ctypes
from pathlib import Path

import numpy as np

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.bus import BEAT_BYTES, BEAT_WORDS, DataPath
from ringsmith.backends.rpau.device.interface import Words
from ringsmith.backends.rpau.device.rtl import verilator_flags
from ringsmith.errors import DeviceError
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.library import load_library, slices
from ringsmith.hdl.sources import rtl_sources, sim_root
from ringsmith.hdl.verilate import build_design

_POINTER = ctypes.POINTER(ctypes.c_uint64)
_BOUNDARY = 4096  # bytes: no burst crosses a multiple, so parts that end there make no more bursts
_PAGE = _BOUNDARY // 8
_RESPONSES = ("OKAY", "EXOKAY", "SLVERR", "DECERR")


def build(
    design: RpauDesign, *, assertions: bool = False, instrument: Instrument = Instrument.NONE
) -> Path:
    """Builds the simulator of a design with its bus, or finds it in the cache.

    Args:
        design: The design point.
        assertions: Checks the RTL's assertions in every cycle, and starts from random contents,
            at a lower speed.
        instrument: ``BRIEF`` builds fast, for runs of few cycles.

    Returns:
        The shared library.

    Raises:
        ToolError: If Verilator or the compiler is missing or fails.
    """
    return build_design(
        rtl.BUS_TOP,
        rtl_sources(*rtl.BUS_FOLDERS),
        rtl.parameters(design),
        wrapper=[sim_root() / "rpau" / "axi_lite.cpp"],
        assertions=assertions,
        instrument=instrument,
        flags=verilator_flags(design),
        title=f"{design.name} with its buses",
    )


class SimulatedBus:
    """The buses of a simulated device.

    See ``RegisterBus`` and ``DataPath`` in :mod:`ringsmith.backends.rpau.device.bus`.
    """

    def __init__(
        self,
        design: RpauDesign,
        *,
        assertions: bool = False,
        instrument: Instrument = Instrument.NONE,
        seed: int = 1,
        data_path: bool = True,
    ) -> None:
        """Builds the simulator where it is not yet built, and resets a new device.

        Args:
            design: The design point.
            assertions: See :func:`build`.
            instrument: See :func:`build`.
            seed: Chooses the random contents of a build with assertions.
            data_path: Whether the host is connected to the data path, too.

        Raises:
            ToolError: If Verilator or the compiler is missing or fails.
            DeviceError: If the device fails in its reset.
        """
        self._handle: int | None = None
        self._data_path = data_path
        self._library = _load(build(design, assertions=assertions, instrument=instrument))
        self._handle = self._library.axil_new(seed)
        if self._handle is None:
            raise DeviceError("the simulated device failed in its reset")

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Frees the simulation."""
        if self._handle is not None:
            self._library.axil_free(self._handle)
            self._handle = None

    @property
    def data(self) -> DataPath | None:
        """The data path, where the host is connected to it."""
        return self if self._data_path else None

    def write(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        self._transfer("axil_write", address, 1, np.array([value], dtype=np.uint64))

    def read(self, address: int) -> int:
        """Reads a register of 32 bits."""
        value = np.empty(1, dtype=np.uint64)
        self._transfer("axil_read", address, 1, value)
        return int(value[0])

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits, one after another."""
        self._transfer("axil_write", address, 2, np.ascontiguousarray(words, dtype=np.uint64))

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times."""
        words = np.empty(count, dtype=np.uint64)
        self._transfer("axil_read", address, 2, words)
        return words

    def write_block(self, address: int, words: Words) -> None:
        """Writes consecutive words through the data path, whole beats."""
        self._burst("axil_write_block", address, np.ascontiguousarray(words, dtype=np.uint64))

    def read_block(self, address: int, count: int) -> Words:
        """Reads consecutive words through the data path, whole beats."""
        words = np.empty(count, dtype=np.uint64)
        self._burst("axil_read_block", address, words)
        return words

    def pause(self, cycles: int) -> None:
        """Lets clock cycles pass."""
        for _, count in slices(cycles):
            self._call("axil_pause", count)

    def _transfer(self, function: str, address: int, halves: int, words: Words) -> None:
        response = ctypes.c_int()
        for first, count in slices(words.size):
            pointer = words[first:].ctypes.data_as(_POINTER)
            self._call(function, address, halves, pointer, count, ctypes.byref(response))
            if response.value:
                what = "write" if function == "axil_write" else "read"
                raise DeviceError(
                    f"the bus answers a {what} of register {address:#05x} with "
                    f"{_RESPONSES[response.value]}: docs/reference/registers.md has the registers"
                )

    def _burst(self, function: str, address: int, words: Words) -> None:
        if address % BEAT_BYTES or words.size % BEAT_WORDS:
            raise DeviceError(
                f"{words.size} words at byte {address:#x}: the data path moves whole beats of "
                f"{BEAT_WORDS} words"
            )
        response = ctypes.c_int()
        before = address % _BOUNDARY // 8  # words from the boundary to the first one
        for page, pages in slices(-(-(before + words.size) // _PAGE), first=1):
            first = max(0, page * _PAGE - before)
            part = words[first : (page + pages) * _PAGE - before]
            pointer = part.ctypes.data_as(_POINTER)
            at = address + 8 * first
            self._call(function, at, pointer, part.size, ctypes.byref(response))
            if response.value:
                what = "write" if function == "axil_write_block" else "read"
                raise DeviceError(
                    f"the data path answers a {what} of {words.size} words at byte {address:#x} "
                    f"with {_RESPONSES[response.value]}: register refused says why"
                )

    def _call(self, function: str, *arguments: object) -> None:
        if self._handle is None:
            raise DeviceError("the device is closed: make another")
        if getattr(self._library, function)(self._handle, *arguments):
            text = self._library.axil_error(self._handle).decode(errors="replace")
            raise DeviceError(f"the simulated RTL stopped: {text}")


def _load(path: Path) -> ctypes.CDLL:
    library = load_library(path)
    handle, number, integer = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
    library.axil_new.argtypes = [integer]
    library.axil_new.restype = handle
    library.axil_free.argtypes = [handle]
    library.axil_free.restype = None
    library.axil_error.argtypes = [handle]
    library.axil_error.restype = ctypes.c_char_p
    for transfer in (library.axil_write, library.axil_read):
        count, response = number, ctypes.POINTER(integer)
        transfer.argtypes = [handle, ctypes.c_uint32, integer, _POINTER, count, response]
    for block in (library.axil_write_block, library.axil_read_block):
        block.argtypes = [handle, number, _POINTER, number, ctypes.POINTER(integer)]
    library.axil_pause.argtypes = [handle, number]
    return library
