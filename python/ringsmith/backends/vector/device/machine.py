"""Runs compiled graphs on the model of a vector design."""

from collections.abc import Mapping

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult
from ringsmith.backends.jobs import QueuedMachine, Work
from ringsmith.backends.keys import AnyKey, whole_keys
from ringsmith.backends.vector.design import VectorDesign
from ringsmith.backends.vector.device.model import Memory, Model, host_limb
from ringsmith.backends.vector.executable import VectorExecutable
from ringsmith.backends.vector.instructions import Limb
from ringsmith.objects import Residues

CAPABILITIES = Capabilities(designs=True, cycles=True)


class VectorMachine(QueuedMachine):
    """A vector design's model.

    Args:
        design: The design.
    """

    capabilities = CAPABILITIES
    name = "model"

    def __init__(self, design: VectorDesign) -> None:
        super().__init__()
        self._design = design

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Runs a graph's programs; see ``QueuedMachine.work``."""
        compiled.check_made_for(self._design, self.name)
        executable = compiled.executable
        assert isinstance(executable, VectorExecutable)  # its design is the device's
        whole = {name: key.data for name, key in whole_keys(self.name, keys).items()}
        return lambda _: _execute(executable, inputs, whole)


def _execute(
    executable: VectorExecutable, inputs: Mapping[str, Residues], keys: Mapping[str, Residues]
) -> GraphResult:
    memory = Memory(host_limb(executable, inputs, keys))
    count = sum(len(own.computing) for own in executable.programs)
    what = f"running on the model of {executable.design.name}"
    with progress.task(what, count, "instructions") as task:
        for done in Model(executable, memory).run():
            task.advance(done)
    graph = executable.graph
    outputs = {
        name: np.stack([memory.written[Limb("output", name, (i,))] for i in range(len(kind.base))])
        for name, kind in graph.outputs.items()
    }
    return GraphResult(
        outputs,
        executable.cycles,
        executable.instructions,
        key_words=sum(key.size for key in keys.values()),
        memory_read=executable.bytes_read,
        memory_written=executable.bytes_written,
        busy=executable.busy,
    )
