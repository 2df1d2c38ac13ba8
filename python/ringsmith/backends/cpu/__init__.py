"""The CPU: the core's reference interpreter of the subroutine graph, which defines every bit."""

from collections.abc import Mapping

from ringsmith import _core
from ringsmith.backends.base import (
    PORTS,
    Backend,
    Capabilities,
    CompiledGraph,
    Design,
    GraphResult,
    InputsOnDemand,
)
from ringsmith.backends.jobs import Device, Work
from ringsmith.backends.keys import AnyKey, core_key
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.objects import KeySwitchKey, OnTheFlyKey, Residues


class Cpu(Device):
    """The reference interpreter on this machine's CPU."""

    name = "cpu"
    capabilities = Capabilities(any_keys=True, checks_residues=True)

    def __init__(self) -> None:
        super().__init__(places=None)  # threads of a program may compute at once

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Interprets the graph; see ``Device.work``."""
        forms = {name: _for_core(key) for name, key in keys.items()}
        return lambda _: GraphResult(_interpreted(compiled.core, inputs, forms))


class CpuBackend(Backend):
    """An architecture without designs."""

    name = Cpu.name
    capabilities = Cpu.capabilities
    kinds = (Cpu.name,)

    def open(self, kind: str, design: Design | None, via: str = PORTS) -> Cpu:
        """The interpreter; see ``Backend.open``."""
        if via != PORTS:
            raise DeviceError(f"only device rtl has a bus: open {kind} without via={via!r}")
        return Cpu()


BACKEND = CpuBackend()


_CoreKey = _core.TruncatedKey | _core.OnTheFlyKey | _core.PrecomputedKey


def _interpreted(
    graph: _core.Graph, inputs: Mapping[str, Residues], keys: dict[str, _CoreKey]
) -> dict[str, Residues]:
    """Runs a graph."""
    try:
        if isinstance(inputs, InputsOnDemand):
            there = {**inputs.shortened, **inputs.given}
            return graph.run(there, keys, inputs.made.__getitem__)
        return graph.run(dict(inputs), keys)
    except _core.ParameterError as error:
        raise ProgramError(f"{error}: it is damaged, or of other parameters") from error


def _for_core(key: AnyKey) -> _CoreKey:
    if isinstance(key, OnTheFlyKey):
        return _core.OnTheFlyKey(key.half, key.seed, key.base)
    return core_key(key) if isinstance(key, KeySwitchKey) else key
