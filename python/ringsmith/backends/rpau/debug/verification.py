"""Random programs on a new device each, so that any of them fails again alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ringsmith.backends.base import AXI_LITE
from ringsmith.backends.rpau.debug.compare import compare_one
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.axi_lite import SimulatedBus
from ringsmith.backends.rpau.device.registers import RegisterDevice
from ringsmith.backends.rpau.device.rtl import RtlDevice
from ringsmith.backends.rpau.isa.instruction_set import ISA

DEVICES = ("rtl", AXI_LITE)
"""The RTL by its ports, and behind its register block. Of several accelerators, one runs."""

LENGTH = 2 * len(ISA.operations)
"""Instructions of a program: each operation, and as many more."""


@dataclass(frozen=True)
class RandomPrograms:
    """Programs of the instruction set on the simulated RTL and on the model.

    Attributes:
        design: The design.
        device: One of ``DEVICES``.
    """

    design: RpauDesign
    device: str
    programs: ClassVar[str] = "random programs"

    def run(self, seed: int) -> Mapping[str, int]:
        """See ``Verification.run``."""
        device = self._open()
        try:
            found = compare_one(device, self.design, seed, LENGTH)
        finally:
            device.close()
        return {
            "instructions": found.instructions,
            "cycles": found.cycles,
            "polynomials": found.polynomials,
        }

    def _open(self) -> RegisterDevice | RtlDevice:
        if self.device == AXI_LITE:
            return RegisterDevice(self.design, SimulatedBus(self.design))
        return RtlDevice(self.design)
