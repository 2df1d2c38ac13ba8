"""Several accelerators of one design behind one link: a machine with one job slot for each."""

from collections.abc import Callable, Mapping, Sequence

from ringsmith.backends.base import CompiledGraph, GraphResult
from ringsmith.backends.jobs import QueuedMachine, Work
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.accelerator import CAPABILITIES, Accelerator
from ringsmith.backends.rpau.device.interface import Device
from ringsmith.objects import Residues


class Coprocessors(QueuedMachine):
    """Accelerators that run jobs side by side, each its own program.

    Jobs that are submitted go to whichever is free. Each keeps keys, constants and programs from
    one job to the next, so jobs of one program are cheapest.
    """

    capabilities = CAPABILITIES

    def __init__(self, design: RpauDesign, make: Callable[[RpauDesign], Device]) -> None:
        """Makes all accelerators.

        Args:
            design: Their design, with ``coprocessors``.
            make: Makes the device of one.
        """
        super().__init__(design.coprocessors)
        self.accelerators: Sequence[Accelerator] = [
            Accelerator(make(design)) for _ in range(design.coprocessors)
        ]
        self.name = self.accelerators[0].name

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """What an accelerator does, in the slot of its number; see ``QueuedMachine.work``.

        Raises:
            DeviceError: If the graph was compiled for another design.
            ProgramError: As an accelerator's ``work``.
        """
        works = [each.work(compiled, inputs, keys) for each in self.accelerators]
        return lambda slot: works[slot](slot)
