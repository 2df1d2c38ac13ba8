"""Runs subroutine graphs on the CPU; a stream device multiplies polynomials."""

from collections.abc import Iterator, Mapping

import numpy as np

from ringsmith import _core, progress
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult, RunReport
from ringsmith.backends.jobs import Device, Work
from ringsmith.backends.keys import AnyKey, whole_keys
from ringsmith.backends.stream.compiler.executable import Factor, Round, StreamExecutable
from ringsmith.backends.stream.device.interface import ResidueProduct, StreamCoprocessor
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import KeySwitchKey, Residues

CAPABILITIES = Capabilities(designs=True, cycles=True)

_WORD_BYTES = 8
"""Bytes of a word between the host and the device."""


class StreamDevice(Device):
    """A stream device and its host, this machine's CPU.

    The host has handles, and computes all but products, whose factors are sent each time. It keeps
    each key in coefficient form, too, from its first run on: as long as the key is
    the same array, which must not be written to. Threads may share a device: they take turns.
    """

    capabilities = CAPABILITIES

    def __init__(self, coprocessor: StreamCoprocessor) -> None:
        super().__init__()
        self.coprocessor = coprocessor
        self.name = coprocessor.name  # ``model`` or ``rtl``
        self._keys: dict[str, tuple[Residues, Residues]] = {}

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Computes round by round; see ``Device.work``.

        Cycles are the device's, batch by batch; instructions are descriptors, one a product.

        Raises:
            DeviceError: If the graph was compiled for another design, or the device stalls.
            ProgramError: If the graph was compiled for no design, or a key is not whole.
        """
        compiled.check_made_for(self.coprocessor.design, self.name)
        executable = compiled.executable
        assert isinstance(executable, StreamExecutable)  # its design is the device's
        whole = whole_keys(self.name, keys)
        return lambda _: self._execute(compiled.graph, executable, inputs, whole)

    def _execute(
        self,
        graph: SubroutineGraph,
        executable: StreamExecutable,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> GraphResult:
        values, cycles = dict(inputs), 0
        coefficients = {
            name: KeySwitchKey(self._coefficients(graph, name, key), base=key.base)
            for name, key in keys.items()
        }
        what = f"running on the {self.name} of {executable.design.name}"
        with progress.task(what, executable.products, "products") as task:
            for each in executable.rounds:
                task.advance(0)  # a cancelled job stops here, between two batches
                values |= host_values(each, values)
                batch = self.coprocessor.multiply(list(_batch(graph, each, values, coefficients)))
                values |= dict(_results(each, batch.products))
                cycles += batch.cycles
                task.advance(each.products)
        outputs = {name: values[value] for name, value in executable.outputs.items()}
        limb = _WORD_BYTES * executable.design.n
        report = RunReport(
            cycles,
            executable.products,
            host_transfers=executable.host_transfers,
            spilled_words=executable.spilled_words,
            key_words=executable.key_limbs * executable.design.n,
            bytes_to_device=2 * executable.products * limb,
            bytes_to_host=executable.products * limb,
        )
        return GraphResult(outputs, report)

    def _coefficients(self, graph: SubroutineGraph, name: str, key: KeySwitchKey) -> Residues:
        """A key's residues (digits, 2, limbs, N) in coefficient form, over its own base."""
        held = self._keys.get(name)
        if held is None or held[0] is not key.data or key.data.flags.writeable:
            limbs = [
                _core.ntt_inverse(
                    np.ascontiguousarray(key.data[:, :, row]), graph.primes[i], graph.roots[i]
                )
                for row, i in enumerate(key.base)
            ]
            held = self._keys[name] = (key.data, np.stack(limbs, axis=2))
        return held[1]


def host_values(each: Round, values: Mapping[str, Residues]) -> dict[str, Residues]:
    """What the host computes in a round, by name."""
    if each.host is None or each.core is None:
        return {}
    found: dict[str, Residues] = each.core.run(
        {name: values[name] for name in each.host.inputs}, {}
    )
    return found


def _batch(
    graph: SubroutineGraph,
    each: Round,
    values: Mapping[str, Residues],
    keys: Mapping[str, KeySwitchKey],
) -> Iterator[ResidueProduct]:
    """The residue products of a round, task by task and limb by limb; keys in coefficient form."""

    def residues(factor: Factor, base: tuple[int, ...]) -> Residues:
        if isinstance(factor, str):
            return values[factor]
        key = keys[factor.key]
        return np.stack([key.limb(factor.digit, factor.half, prime) for prime in base])

    for task in each.tasks:
        limbs = zip(residues(task.a, task.base), residues(task.b, task.base), strict=True)
        for index, (a, b) in zip(task.base, limbs, strict=True):
            yield ResidueProduct(graph.primes[index], a, b)


def _results(each: Round, products: list[Residues]) -> Iterator[tuple[str, Residues]]:
    """The limbs of a batch, put together by task."""
    limbs = iter(products)
    for task in each.tasks:
        yield task.result, np.stack([next(limbs) for _ in task.base])
