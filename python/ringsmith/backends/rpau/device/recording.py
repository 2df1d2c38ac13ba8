"""Simulated RTL that records: waves of a window of cycles, or coverage of its sources.

Each is a build of its own, slower than that of the ``rtl`` device.
"""

import ctypes
import os
from pathlib import Path

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.rtl import TOP
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import DeviceError
from ringsmith.hdl.instrument import Instrument

TOP_SCOPE = f"TOP.{TOP}"
"""The accelerator's top module in a recording; ``TOP_SCOPE.u_controller`` is its controller."""

_NUMBER = ctypes.c_uint64


class WavesCoprocessor(RtlCoprocessor):
    """An ``rtl`` device that writes the waves of a window of cycles into a VCD file.

    Cycles are counted from the start command, over all runs of the device. In the file a cycle
    takes ``PERIOD_NS``: cycle c lies from ``PERIOD_NS * c`` to ``PERIOD_NS * (c + 1)``.
    """

    PERIOD_NS = 10

    def __init__(
        self,
        design: RpauDesign,
        path: Path,
        *,
        first: int,
        last: int,
        scope: str = TOP_SCOPE,
        depth: int = 0,
    ) -> None:
        """Builds the simulator where it is not yet built, and opens the file.

        Args:
            design: The design point.
            path: The file to write. It is complete after :meth:`close`.
            first: First cycle to record.
            last: Last cycle to record.
            scope: Module instance whose signals are recorded; counts only with a depth.
            depth: Levels of instances to record, ``scope`` the first; 0: everything.

        Raises:
            DeviceError: If the window is empty, or the file cannot be written.
            ParameterError: If the RTL cannot be built for the design.
            ToolError: If Verilator or the compiler is missing or fails.
        """
        if not 0 <= first <= last:
            raise DeviceError(
                f"the window {first} … {last} holds no cycle: name a first cycle from 0 and a last "
                "one that is not before it"
            )
        _check_writable(path)
        super().__init__(design, instrument=Instrument.WAVES)
        handle, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        window = (_NUMBER, _NUMBER)
        self._library.rpau_open_waves.argtypes = [handle, text, *window, text, integer]
        self._library.rpau_close_waves.argtypes = [handle]
        self._call("open_waves", os.fsencode(path), first, last, scope.encode(), depth)

    def close(self) -> None:
        """Completes the file and frees the simulation. The device cannot be used afterwards."""
        if self._handle is not None:  # else the constructor refused
            self._call("close_waves")
            super().close()


class CoverageCoprocessor(RtlCoprocessor):
    """An ``rtl`` device that counts how often lines of its sources ran and bits changed."""

    def __init__(self, design: RpauDesign) -> None:
        """Builds the simulator where it is not yet built.

        Raises:
            ParameterError: If the RTL cannot be built for the design.
            ToolError: If Verilator or the compiler is missing or fails.
        """
        super().__init__(design, instrument=Instrument.COVERAGE)
        self._library.rpau_write_coverage.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

    def write_coverage(self, path: Path) -> None:
        """Writes the counts since the device was made, as a file of Verilator's.

        Raises:
            DeviceError: If the file cannot be written.
        """
        _check_writable(path)
        self._call("write_coverage", os.fsencode(path))


def _check_writable(path: Path) -> None:
    """Verilator would end the process, or say nothing, where a file cannot be opened.

    What the file holds stays, and a new one is not left behind.
    """
    try:
        existed = path.exists()
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as failure:
        raise DeviceError(f"{path} cannot be written: {failure.strerror}") from failure
