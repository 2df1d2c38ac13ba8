"""A master on the buses of a simulated accelerator: RTL with its register block and data path."""

import ctypes

import numpy as np

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import BEAT_BYTES, BEAT_WORDS, DataPath, Words
from ringsmith.backends.rpau.device.rtl import Simulation, build
from ringsmith.errors import DeviceError
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.library import slices

_POINTER = ctypes.POINTER(ctypes.c_uint64)
_BOUNDARY = 4096  # bytes: no burst crosses a multiple, so parts that end there make no more bursts
_PAGE = _BOUNDARY // 8
_RESPONSES = ("OKAY", "EXOKAY", "SLVERR", "DECERR")


class SimulatedBus(Simulation):
    """The buses of a simulated device.

    See ``RegisterBus`` and ``DataPath`` in :mod:`ringsmith.backends.rpau.device.interface`.
    """

    prefix = "axil"

    def __init__(
        self,
        design: RpauDesign,
        *,
        assertions: bool = False,
        instrument: Instrument = Instrument.NONE,
        data_path: bool = True,
    ) -> None:
        """Builds the simulator where it is not yet built, and resets a new device.

        Args:
            design: The design point.
            assertions: See :func:`build`.
            instrument: See :func:`build`.
            data_path: Whether the host is connected to the data path, too.

        Raises:
            ToolError: If Verilator or the compiler is missing or fails.
            DeviceError: If the device fails in its reset.
        """
        self._data_path = data_path
        library = build(design, assertions=assertions, instrument=instrument, buses=True)
        super().__init__(library)
        _declare(self._library)

    @property
    def data(self) -> DataPath | None:
        """The data path, where the host is connected to it."""
        return self if self._data_path else None

    def write(self, address: int, value: int) -> None:
        """Writes a register of 32 bits."""
        self._transfer("write", address, 1, np.array([value], dtype=np.uint64))

    def read(self, address: int) -> int:
        """Reads a register of 32 bits."""
        value = np.empty(1, dtype=np.uint64)
        self._transfer("read", address, 1, value)
        return int(value[0])

    def write_words(self, address: int, words: Words) -> None:
        """Writes words to a register of 64 bits, one after another."""
        self._transfer("write", address, 2, np.ascontiguousarray(words, dtype=np.uint64))

    def read_words(self, address: int, count: int) -> Words:
        """Reads a register of 64 bits ``count`` times."""
        words = np.empty(count, dtype=np.uint64)
        self._transfer("read", address, 2, words)
        return words

    def write_block(self, address: int, words: Words) -> None:
        """Writes consecutive words through the data path, whole beats."""
        self._burst("write_block", address, np.ascontiguousarray(words, dtype=np.uint64))

    def read_block(self, address: int, count: int) -> Words:
        """Reads consecutive words through the data path, whole beats."""
        words = np.empty(count, dtype=np.uint64)
        self._burst("read_block", address, words)
        return words

    def pause(self, cycles: int) -> None:
        """Lets clock cycles pass."""
        for _, count in slices(cycles):
            self._call("pause", count)

    def _transfer(self, function: str, address: int, halves: int, words: Words) -> None:
        response = ctypes.c_int()
        for first, count in slices(words.size):
            pointer = words[first:].ctypes.data_as(_POINTER)
            self._call(function, address, halves, pointer, count, ctypes.byref(response))
            if response.value:
                raise DeviceError(
                    f"the bus answers a {function} of register {address:#05x} with "
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
                what = function.removesuffix("_block")
                raise DeviceError(
                    f"the data path answers a {what} of {words.size} words at byte {address:#x} "
                    f"with {_RESPONSES[response.value]}: register refused says why"
                )


def _declare(library: ctypes.CDLL) -> None:
    handle, number, integer = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
    for transfer in (library.axil_write, library.axil_read):
        count, response = number, ctypes.POINTER(integer)
        transfer.argtypes = [handle, ctypes.c_uint32, integer, _POINTER, count, response]
    for block in (library.axil_write_block, library.axil_read_block):
        block.argtypes = [handle, number, _POINTER, number, ctypes.POINTER(integer)]
    library.axil_pause.argtypes = [handle, number]
