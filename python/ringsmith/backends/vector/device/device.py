"""Runs compiled graphs on the model of a vector design, or on its simulated RTL."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult, RunReport
from ringsmith.backends.jobs import Device, Work
from ringsmith.backends.keys import AnyKey, whole_keys
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device.model import Memory, Model, host_limb
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import VectorRtl, unsupported
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.errors import DeviceError
from ringsmith.objects import Residues

CAPABILITIES = Capabilities(designs=True, cycles=True)


class VectorDevice(Device):
    """A vector design's model, or its RTL.

    Args:
        design: The design.
        kind: ``model`` or ``rtl``.

    Raises:
        DeviceError: If the RTL does not simulate the design.
    """

    capabilities = CAPABILITIES

    def __init__(self, design: VectorDesign, kind: str) -> None:
        super().__init__()
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
        compiled.check_made_for(self._design, self.name)
        executable = compiled.executable
        assert isinstance(executable, VectorExecutable)  # its design is the device's
        whole = {name: key.data for name, key in whole_keys(self.name, keys).items()}
        compute = _simulate if self.name == "rtl" else _model
        return lambda _: _execute(executable, inputs, whole, compute)


Outputs = dict[str, Residues]


def _execute(
    executable: VectorExecutable,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, Residues],
    compute: Callable[[VectorExecutable, Callable[[Limb], Words]], tuple[Outputs, int]],
) -> GraphResult:
    outputs, cycles = compute(executable, host_limb(executable, inputs, keys))
    report = RunReport(
        cycles,
        executable.instructions,
        key_words=sum(key.size for key in keys.values()),
        memory_read=executable.bytes_read,
        memory_written=executable.bytes_written,
        busy=executable.busy,
    )
    return GraphResult(outputs, report)


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
