"""Runs executables on one coprocessor or several behind one link."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ringsmith import progress
from ringsmith.backends.base import Capabilities, CompiledGraph, GraphResult, RunReport
from ringsmith.backends.jobs import Device, Work
from ringsmith.backends.keys import AnyKey, check_seed, whole_keys
from ringsmith.backends.rpau.compiler.executable import Executable, KeyLoad, Run, SeedLoad
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import prime_tables, seed_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import (
    AddressSpace,
    Coprocessor,
    KeyPoly,
    KeyStream,
    SegmentReport,
)
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.objects import KeySwitchKey, Residues

CAPABILITIES = Capabilities(designs=True, cycles=True, fits=True, scalars=False)

_WORD_BYTES = 8
"""Bytes of a word between the host and the device."""


@dataclass
class _Moved:
    """Bytes that a run moves; ``inputs`` and ``outputs`` are values and their RPAUs."""

    inputs: set[tuple[int, int]] = field(default_factory=set)
    outputs: set[tuple[int, int]] = field(default_factory=set)
    to_device: int = 0
    to_host: int = 0
    input_bytes: int = 0
    output_bytes: int = 0


class RpauDevice(Device):
    """A coprocessor, and what the host knows of its contents.

    Primes, constants, programs, keys and seeds stay on the device from one run to the next, and are
    written only when another executable or key needs them. A key counts as the same if it is the
    same array and no code may write to it. Threads may share a device: they take turns. It has no
    memory but its scratchpads, which every program uses in its own way: so handles lie with the
    host, and are written each time that a program takes them.
    """

    capabilities = CAPABILITIES

    def __init__(self, coprocessor: Coprocessor) -> None:
        super().__init__()
        self.coprocessor = coprocessor
        self.name = coprocessor.name  # ``model``, ``rtl`` or ``card``
        self._log_degree: int | None = None
        self._primes: tuple[tuple[int, int, int], ...] | None = None
        self._constants: tuple[tuple[int, ...], ...] | None = None
        self._conversions: dict[int, tuple[int, ...]] = {}
        self._program: Run | None = None
        self._keys: dict[int, tuple[KeyLoad, KeySwitchKey]] = {}
        self._seeds: dict[int, tuple[SeedLoad, bytes]] = {}
        self._moved = _Moved()

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """Loads what is missing, runs, and reads the outputs; see ``Device.work``."""
        compiled.check_made_for(self.coprocessor.design, self.name)
        executable = compiled.executable
        assert isinstance(executable, Executable)  # its design is the device's
        whole = whole_keys(self.name, keys)
        return lambda _: self._execute(executable, inputs, whole)

    def _execute(
        self,
        executable: Executable,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> GraphResult:
        self._moved = moved = _Moved()
        self._choose_ring(executable.log_degree)
        self._load_primes(executable)
        self._load_constants(executable)
        self._load_conversions(executable)
        rpau_of, sub_polys = executable.order.rpau, executable.sub_polys
        host = {
            (first + sub_poly, rpau_of(limb)): words
            for name, values in executable.inputs.items()
            for residues, (limb, first) in zip(inputs[name], sorted(values.items()), strict=True)
            for sub_poly, words in enumerate(np.split(residues, sub_polys))
        }
        moved.inputs.update(host)
        moved.outputs.update(
            (first + sub_poly, rpau_of(limb))
            for values in executable.outputs.values()
            for limb, first in values.items()
            for sub_poly in range(sub_polys)
        )
        cycles = instructions = key_words = 0
        scheduled = sum(run.cycles for run in executable.runs)
        what = f"running on the {self.name} of {executable.design.name}"
        with progress.task(what, scheduled, "cycles") as task:
            for run in executable.runs:
                stream = self._stream(run, executable, keys)
                if stream is None:
                    key_words += self._load_keys(run, executable, keys, task)
                else:
                    streamed = sum(poly.words.size for poly in stream.polys)
                    key_words += streamed
                    moved.to_device += _WORD_BYTES * streamed
                key_words += self._load_seeds(run, executable, keys)
                segment = self._run(run, host, task, stream)
                if stream is not None:
                    self._keys |= {load.index: (load, keys[load.key]) for load in run.keys}
                cycles += segment.cycles
                instructions += segment.instructions
        outputs = {
            name: np.stack(
                [
                    np.concatenate(
                        [host[first + sub_poly, rpau_of(limb)] for sub_poly in range(sub_polys)]
                    )
                    for limb, first in sorted(values.items())
                ]
            )
            for name, values in executable.outputs.items()
        }
        report = RunReport(
            cycles,
            instructions,
            host_transfers=executable.host_transfers,
            spilled_words=executable.spilled_words,
            key_words=key_words,
            bytes_to_device=moved.to_device,
            bytes_to_host=moved.to_host,
            input_bytes=moved.input_bytes,
            output_bytes=moved.output_bytes,
        )
        return GraphResult(outputs, report)

    def _run(
        self,
        run: Run,
        host: dict[tuple[int, int], Residues],
        task: progress.Task,
        stream: KeyStream | None,
    ) -> SegmentReport:
        """Runs a program segment; reads from and adds to ``host`` limbs or sub-polynomials."""
        self._load_program(run)
        for value, places in run.loads.items():
            for rpau, index in places.items():
                words = host[value, rpau]
                self._write(AddressSpace.POLY, rpau, index, words)
                if (value, rpau) in self._moved.inputs:
                    self._moved.input_bytes += _WORD_BYTES * words.size
                task.advance(0)  # time has passed
        most = 2 * run.cycles + 1000
        if stream is not None:
            most += max(stream.arrivals)
        report = self.coprocessor.run(most, task, stream)
        for value, places in run.stores.items():
            for rpau, index in places.items():
                words = self.coprocessor.read(AddressSpace.POLY, rpau, index)
                host[value, rpau] = words
                self._moved.to_host += _WORD_BYTES * words.size
                if (value, rpau) in self._moved.outputs:
                    self._moved.output_bytes += _WORD_BYTES * words.size
        return report

    def _write(self, space: AddressSpace, unit: int, index: int, words: Residues) -> None:
        self.coprocessor.write(space, unit, index, words)
        self._moved.to_device += _WORD_BYTES * words.size

    def _choose_ring(self, log_degree: int) -> None:
        if self._log_degree != log_degree:
            self._log_degree = None
            self._primes = self._program = None  # all that was written belongs to another ring
            self.coprocessor.set_ring(log_degree)
            self._log_degree = log_degree

    def _load_primes(self, executable: Executable) -> None:
        wanted = tuple(
            (executable.order.rpau(slot), executable.primes[limb], executable.roots[limb])
            for slot, limb in enumerate(executable.limbs)
        )
        if self._primes == wanted:
            return
        self._primes = self._constants = None  # until every word is written
        self._keys.clear()
        self._seeds.clear()
        design, log_degree = executable.design, executable.log_degree
        for slot, (rpau, prime, root) in enumerate(wanted):
            for space, words in prime_tables(prime, root, design, log_degree, rpau).loads():
                self._write(AddressSpace[space], rpau, executable.order.bank(slot), words)
        self._primes = wanted

    def _load_constants(self, executable: Executable) -> None:
        if self._constants == executable.constants:
            return
        self._constants = None
        order = executable.order
        for slot, values in enumerate(executable.constants):
            padded = np.zeros(executable.design.constants, dtype=np.uint64)
            padded[: len(values)] = values
            self._write(AddressSpace.CONSTANT, order.rpau(slot), order.bank(slot), padded)
        self._constants = executable.constants

    def _load_conversions(self, executable: Executable) -> None:
        for index, words in enumerate(executable.conversions):
            if self._conversions.get(index) != words:
                self._conversions.pop(index, None)
                self._write(AddressSpace.CONVERSION, 0, index, np.array(words, dtype=np.uint64))
                self._conversions[index] = words

    def _load_program(self, run: Run) -> None:
        if self._program is not run:
            self._program = None
            self.coprocessor.load_program(np.array(run.words, dtype=np.uint64))
            self._moved.to_device += _WORD_BYTES * len(run.words)
            self._program = run

    def _load_keys(
        self,
        run: Run,
        executable: Executable,
        keys: Mapping[str, KeySwitchKey],
        task: progress.Task,
    ) -> int:
        """Writes what the key store lacks for a run, and returns how many words that were."""
        written = 0
        for load in run.keys:
            key = keys[load.key]
            if self._holds(load, key):
                continue
            self._keys.pop(load.index, None)
            for poly in _polynomials(load, executable, key):
                self._write(AddressSpace.KEY, poly.unit, poly.index, poly.words)
                task.advance(0)
                written += poly.words.size
            self._keys[load.index] = (load, key)
        return written

    def _holds(self, load: KeyLoad, key: KeySwitchKey) -> bool:
        """Whether a key is already in the key store, and is still the same."""
        held = self._keys.get(load.index)
        if held is None or held[0] != load or held[1].base != key.base:
            return False
        return held[1].data is key.data and not key.data.flags.writeable

    def _stream(
        self, run: Run, executable: Executable, keys: Mapping[str, KeySwitchKey]
    ) -> KeyStream | None:
        """The keys of a run as they come while it runs; None where all are there, or come before.

        Where one is missing all come: the program awaits them in its order.
        """
        design = executable.design
        if all(self._holds(load, keys[load.key]) for load in run.keys):
            return None
        if not self.coprocessor.streams:
            return None
        for load in run.keys:
            self._keys.pop(load.index, None)  # until all have come
        polys = tuple(
            poly for load in run.keys for poly in _polynomials(load, executable, keys[load.key])
        )
        return KeyStream(polys, arrivals(Link(design.host_bits), design, len(polys)))

    def _load_seeds(
        self, run: Run, executable: Executable, keys: Mapping[str, KeySwitchKey]
    ) -> int:
        """Writes what the seed store lacks for a run, and returns how many words that were."""
        written = 0
        for load in run.seeds:
            key = keys[load.key]
            if key.seed is not None and self._seeds.get(load.index) == (load, key.seed):
                continue
            self._seeds.pop(load.index, None)
            for rpau in bits_of(load.mask):
                limb = executable.limbs[executable.order.slot(load.modulus_bank, rpau)]
                seed = check_seed(load.key, key, limb, executable.primes[limb])
                words = seed_words(seed, limb)
                self._write(AddressSpace.SEED, rpau, load.index, words)
                written += words.size
            self._seeds[load.index] = (load, seed)
        return written


def _polynomials(load: KeyLoad, executable: Executable, key: KeySwitchKey) -> Iterator[KeyPoly]:
    """The polynomials of a key's b or a part, one for each RPAU that uses a limb of it."""
    name = f"{load.key}, digit {load.digit}, half {load.half}"
    for rpau in bits_of(load.mask):
        slot = executable.order.slot(load.modulus_bank, rpau)
        residues = key.limb(load.digit, load.half, executable.limbs[slot])
        limb = np.split(residues, executable.sub_polys)
        yield KeyPoly(rpau, load.index, limb[load.sub_poly], name)


class Coprocessors(Device):
    """Accelerators that run jobs in parallel, each its own program.

    Jobs that are submitted go to whichever is free. Each keeps keys, constants and programs from
    one job to the next, so jobs of one program are cheapest.
    """

    capabilities = CAPABILITIES

    def __init__(self, design: RpauDesign, make: Callable[[RpauDesign], Coprocessor]) -> None:
        """Makes all devices.

        Args:
            design: Their design, with ``coprocessors``.
            make: Makes the coprocessor of one.
        """
        super().__init__(design.coprocessors)
        self.devices: Sequence[RpauDevice] = [
            RpauDevice(make(design)) for _ in range(design.coprocessors)
        ]
        self.name = self.devices[0].name

    def work(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> Work[GraphResult]:
        """What an accelerator does, in the slot of its number; see ``Device.work``."""
        works = [each.work(compiled, inputs, keys) for each in self.devices]
        return lambda slot: works[slot](slot)
