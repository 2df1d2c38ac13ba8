"""The executable of an accelerator: instructions, constants, and the location of every polynomial.

An executable contains no residues of inputs and no keys: these are arguments of a run. It is a JSON
file, so that it can be read, stored and checked.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ringsmith.backends.rpau.compiler.timeline import HALT
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.files.records import Encoder
from ringsmith.short_repr import short_repr

FORMAT = "ringsmith-rpau-executable"
VERSION = 1


@dataclass(frozen=True)
class KeyLoad:
    """Limbs of ``key[digit][half]`` that go to key-store ``index`` of the RPAUs in ``mask``.

    Each takes the limb of its slot with ``modulus_bank``, or that sub-polynomial of it.
    """

    key: str
    digit: int
    half: int
    modulus_bank: int
    sub_poly: int
    index: int
    mask: int


@dataclass(frozen=True)
class SeedLoad:
    """The seed of ``key`` that goes to seed-store ``index`` of the RPAUs in ``mask``.

    Each expands the limb of its slot with ``modulus_bank`` (modulus bank).
    """

    key: str
    modulus_bank: int
    index: int
    mask: int


Places = Mapping[int, Mapping[int, int]]
"""Value -> work polynomial by RPAU."""


@short_repr
@dataclass(frozen=True)
class Run:
    """A program segment: the device's work between two accesses of the host to its memories.

    Attributes:
        words: Instruction words, ``halt`` last.
        starts: For each instruction, the cycle in which it issues, counted from the start command.
        origins: For each instruction, the HE operation that it serves.
        cycles: Clock cycles from the start command to completion.
        peak_polys: The most work polynomials in use at once in one RPAU.
        keys: The required contents of the key store.
        seeds: The required contents of the seed store.
        loads: Values that the host writes before the run.
        stores: Values that the host reads after it.
    """

    words: tuple[int, ...]
    starts: tuple[int, ...]
    origins: tuple[str, ...]
    cycles: int
    peak_polys: int
    keys: tuple[KeyLoad, ...]
    seeds: tuple[SeedLoad, ...]
    loads: Places
    stores: Places


@short_repr
@dataclass(frozen=True)
class Executable:
    """A scheduled program of one design: one program segment, or several if it does not fit.

    The host addresses polynomials as limbs of numbered values. Values that are no inputs are
    computed on the device and spilled to the host between segments. In a ring larger than the
    design's N a limb consists of sub-polynomials of N words. These are separate values with
    consecutive numbers: an input or output names the first.

    Attributes:
        design: The design that it was scheduled for.
        log_degree: log2 of the degree N of the ring.
        primes: Prime of each limb.
        roots: The primes' 2N-th roots of unity.
        limbs: The limb in each slot, an RPAU with a modulus bank; limb l has slot l, and may have
            others beyond those of all limbs.
        constants: Constant file of each slot.
        inputs: Input name -> value by limb of the input.
        outputs: Output name -> value by limb of the output.
        runs: The program segments in the order of execution.
        rpaus: The RPAU of each slot of a modulus bank; empty: slot s is RPAU s mod R with modulus
            bank s div R, R the RPAUs of the design.
        conversions: Words of address space ``conversion`` for each base conversion.
    """

    design: RpauDesign
    log_degree: int
    primes: tuple[int, ...]
    roots: tuple[int, ...]
    limbs: tuple[int, ...]
    constants: tuple[tuple[int, ...], ...]
    inputs: Mapping[str, Mapping[int, int]]
    outputs: Mapping[str, Mapping[int, int]]
    runs: tuple[Run, ...]
    rpaus: tuple[int, ...] = ()
    conversions: tuple[tuple[int, ...], ...] = ()

    @property
    def n(self) -> int:
        """Degree N of the ring, which may be another than the design's."""
        return 1 << self.log_degree

    @property
    def order(self) -> SlotOrder:
        """The RPAU and modulus bank of every slot."""
        return SlotOrder(self.rpaus) if self.rpaus else SlotOrder.plain(self.design)

    @property
    def instructions(self) -> int:
        """Instructions of all segments."""
        return len(self.words)

    @property
    def cycles_by_node(self) -> dict[int, int]:
        """Clock cycles by HE node; together they are the program's.

        See ``spans``. Cycles of no node are counted for the node before it.
        """
        cycles: Counter[int] = Counter()
        node = 0
        for origin, spent in self.spans:
            _, _, identity = origin.partition(":")
            node = int(identity) if identity else node
            cycles[node] += spent
        return dict(cycles)

    @property
    def sub_polys(self) -> int:
        """Values, and work polynomials, that a limb lies in."""
        return self.design.sub_polys(self.log_degree)

    @property
    def seeded(self) -> frozenset[str]:
        """Names of the keys whose a part the device expands: they must have seeds."""
        return frozenset(load.key for run in self.runs for load in run.seeds)

    @property
    def cycles(self) -> int:
        """Clock cycles of all segments, without the host's work between them."""
        return sum(run.cycles for run in self.runs)

    @property
    def words(self) -> tuple[int, ...]:
        """The instruction words of all runs."""
        return tuple(word for run in self.runs for word in run.words)

    @property
    def origins(self) -> tuple[str, ...]:
        """For each instruction of all runs, the HE operation that it serves."""
        return tuple(origin for run in self.runs for origin in run.origins)

    @property
    def starts(self) -> tuple[int, ...]:
        """For each instruction of all runs, its cycle, as if run followed run at once."""
        ends = accumulate((run.cycles for run in self.runs), initial=0)
        return tuple(
            end + cycle for run, end in zip(self.runs, ends, strict=False) for cycle in run.starts
        )

    @property
    def spans(self) -> tuple[tuple[str, int], ...]:
        """For each instruction but ``halt``, its origin and its share of the cycles.

        Instructions overlap, so a cycle belongs to the one that was issued last: the controller
        then waits for it, or for something before it. The cycles of fetching the first instruction
        and of ``halt`` belong to the first and the last one; all spans add up to ``cycles``.
        """
        spans: list[tuple[str, int]] = []
        begin = 0
        for origin, end in zip(self.origins, (*self.starts[1:], self.cycles), strict=True):
            if origin != HALT:
                spans.append((origin, end - begin))
            elif spans:
                spans[-1] = (spans[-1][0], spans[-1][1] + end - begin)
            begin = end
        return tuple(spans)

    @property
    def host_transfers(self) -> int:
        """Number of transfers to or from the host between two segments, keys included.

        Each limb counts as one transfer, in a larger ring each of its sub-polynomials, and so does
        each entry of a seed store.
        """
        keys = _written_again([run.keys for run in self.runs])
        seeds = _written_again([run.seeds for run in self.runs])
        return self._spilled + keys + seeds

    @property
    def spilled_words(self) -> int:
        """Words of values transferred to or from the host between segments, without keys."""
        return self._spilled * (self.n // self.sub_polys)

    @property
    def _spilled(self) -> int:
        between = [run.stores for run in self.runs[:-1]] + [run.loads for run in self.runs[1:]]
        return sum(len(places) for values in between for places in values.values())

    def to_json(self) -> str:
        """The executable as a JSON file, for ``executable_file.read_executable``."""
        content = Encoder().encode(self, Executable, "executable")
        return json.dumps({"format": FORMAT, "version": VERSION, "content": content}, indent=1)


def _written_again(runs: Sequence[Sequence[KeyLoad | SeedLoad]]) -> int:
    """Entries of a store that segments after the first need and that are not there yet."""
    held: dict[int, KeyLoad | SeedLoad] = {}
    written = 0
    for number, loads in enumerate(runs):
        for load in loads:
            if number and held.get(load.index) != load:
                written += load.mask.bit_count()
            held[load.index] = load
    return written
