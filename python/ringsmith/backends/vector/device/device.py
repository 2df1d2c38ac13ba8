"""Runs compiled graphs on the model of a vector design, or on its simulated RTL."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult, RunReport
from ringsmith.backends.handles import DeviceMemory
from ringsmith.backends.jobs import DeviceWithMemory, Work, with_residents
from ringsmith.backends.keys import AnyKey, whole_keys
from ringsmith.backends.types import NOTHING_ON_DEVICE, OnDevice
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device.model import Memory, Model, host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import VectorRtl, unsupported
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.errors import DeviceError
from ringsmith.objects import KeySwitchKey, Residues

CAPABILITIES = Capabilities(designs=True, cycles=True)


class VectorDevice(DeviceWithMemory):
    """A vector design's model, or its RTL. Handles lie in the memory of its platform.

    Args:
        design: The design.
        kind: ``model`` or ``rtl``.

    Raises:
        DeviceError: If the RTL does not simulate the design.
    """

    capabilities = CAPABILITIES

    def __init__(self, design: VectorDesign, kind: str) -> None:
        size = design.clusters * design.ports * design.memory.port_bytes
        memory = DeviceMemory(f"device {kind} of {design.name}", size)
        super().__init__(memory, design.word_bytes)
        self._design, self.name = design, kind
        if kind == "rtl" and (reason := unsupported(design)):
            raise DeviceError(reason)

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Runs a graph's programs; see ``Device.work``."""
        return self.work_on_residents(compiled, inputs, keys, NOTHING_ON_DEVICE)

    def work_on_residents(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
        on_device: OnDevice,
    ) -> Work[GraphResult]:
        """Runs a graph's programs; see ``Device.work_on_residents``."""
        compiled.check_made_for(self._design, self.name)
        executable = compiled.executable
        assert isinstance(executable, VectorExecutable)  # its design is the device's
        whole = whole_keys(self.name, keys)
        compute = _simulate if self.name == "rtl" else _model
        given = with_residents(inputs, on_device.inputs)

        def run(_: int) -> GraphResult:
            self._check_fits(executable, whole, on_device)
            outputs, cycles = compute(executable, host_limb(executable, given, whole))
            report = self._report(executable, cycles, whole, on_device)
            return self.kept(compiled, GraphResult(outputs, report), on_device.keep)

        return run

    def _check_fits(
        self, executable: VectorExecutable, keys: Mapping[str, KeySwitchKey], on_device: OnDevice
    ) -> None:
        """Refuses a run that does not fit with the handles that it does not use."""
        if not self.memory.used:
            return  # the compiler has checked that it fits
        design = self._design
        rows = design.clusters * places(executable.programs, design)[1]
        there = sum(each.nbytes for each in on_device.inputs.values())
        held = (key.data for key in keys.values())
        there += self.word_bytes * sum(words.size for words in held if self.holds_key(words))
        self.memory.check_fits("this run", max(0, rows * design.row_bytes - there))

    def _report(
        self,
        executable: VectorExecutable,
        cycles: int,
        keys: Mapping[str, KeySwitchKey],
        on_device: OnDevice,
    ) -> RunReport:
        graph, width = executable.graph, self.word_bytes
        given = (key.data for key in keys.values())
        key_words = sum(words.size for words in given if not self.holds_key(words))
        again = _rescaled(executable, on_device.inputs.keys())
        sent = sum(
            len(kind.base) for name, kind in graph.inputs.items() if name not in on_device.inputs
        )
        received = sum(
            len(kind.base) for name, kind in graph.outputs.items() if name not in on_device.keep
        )
        inputs, outputs = ((each + again) * graph.n * width for each in (sent, received))
        return RunReport(
            cycles,
            executable.instructions,
            key_words=key_words,
            memory_read=executable.bytes_read,
            memory_written=executable.bytes_written,
            busy=executable.busy,
            bytes_to_device=inputs + key_words * width,
            bytes_to_host=outputs,
            input_bytes=inputs,
            output_bytes=outputs,
        )


Outputs = dict[str, Residues]


def _rescaled(executable: VectorExecutable, residents: Collection[str]) -> int:
    """How many resident limbs the host multiplies by the design's factor: they cross twice.

    The compiler takes an input that is only a second factor of products times that factor.
    """
    return sum(
        limb.name in residents and limb.scaled
        for limb in {load.limb for own in executable.programs for load in own.loads}
        if limb.kind == "input"
        and executable.design.factor(
            executable.graph.primes[executable.graph.inputs[limb.name].base[limb.index[0]]]
        )
        != 1
    )


def _task(executable: VectorExecutable, kind: str) -> AbstractContextManager[progress.Task]:
    count = sum(len(own.computing) for own in executable.programs)
    what = f"running on the {kind} of {executable.design.name}"
    return progress.task(what, count, "instructions")


def _outputs(executable: VectorExecutable, limb: Callable[[str, int], Words]) -> Outputs:
    return {
        name: np.stack([limb(name, i) for i in range(len(kind.base))])
        for name, kind in executable.graph.outputs.items()
    }


def _model(executable: VectorExecutable, fetch: Callable[[Limb], Words]) -> tuple[Outputs, int]:
    memory = Memory(fetch)
    with _task(executable, "model") as task:
        for done in Model(executable, memory).run():
            task.advance(done)
    outputs = _outputs(executable, lambda name, i: memory.written[Limb("output", name, (i,))])
    return outputs, executable.cycles


def _simulate(executable: VectorExecutable, fetch: Callable[[Limb], Words]) -> tuple[Outputs, int]:
    with VectorRtl(executable, fetch) as cluster:
        with _task(executable, "RTL") as task:
            cluster.start()
            cycles = cluster.finish(task.advance)
        return _outputs(executable, cluster.output), cycles
