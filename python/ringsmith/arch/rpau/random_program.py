"""Random programs that obey every rule: what the model and the RTL are compared on.

Made from the records of ``isa.yaml``: an instruction added there is drawn here. The first draws
are one of every operation, the rest are uniform; masks, operands and wait bits are random, and
wait bits are set where the hazard rule needs them and sometimes where it does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from ringsmith import _core
from ringsmith.arch.rpau.assembler import check, encode
from ringsmith.arch.rpau.constants import PrimeTables, Words, prime_tables
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import (
    CONTROL,
    ISA,
    KEY_POLY,
    KINDS,
    POLY,
    RPAU,
    Instruction,
    Operand,
    Operation,
    instruction,
)
from ringsmith.arch.rpau.timeline import HALT, Timeline, Timing

_Item = TypeVar("_Item")

_LOADED_KEYS = 4  # polynomials of the key store that are loaded and used, at most
_EXTRA_WAIT = 0.15  # how often a wait bit is set that nothing needs
_AVOID_CONFLICT = 0.8  # how often operands are drawn anew rather than waited for
_FULL_MASK = 0.5  # how often every RPAU takes part


@dataclass(frozen=True)
class RandomProgram:
    """A program with the memory contents that it starts from.

    Attributes:
        instructions: The program, ``halt`` last.
        words: Its encoding.
        starts: Cycle in which each instruction issues, by the timeline.
        cycles: Cycles of the whole program, by the timeline.
        primes: Prime of each RPAU, of different sizes.
        tables: Modulus words and twiddle tables of each RPAU.
        constants: Constant file of each RPAU.
        keys: Contents of the key store by (RPAU, index), as far as loaded.
        polys: Initial work polynomials by (RPAU, index), as far as loaded.
        written: For each RPAU, the work polynomials that hold something at the end.
    """

    instructions: tuple[Instruction, ...]
    words: Words
    starts: tuple[int, ...]
    cycles: int
    primes: tuple[int, ...]
    tables: tuple[PrimeTables, ...]
    constants: tuple[Words, ...]
    keys: dict[tuple[int, int], Words]
    polys: dict[tuple[int, int], Words]
    written: tuple[frozenset[int], ...]

    def loads(self) -> Iterator[tuple[str, int, int, Words]]:
        """Everything to write before the run: zone name, RPAU, index, words."""
        for rpau, tables in enumerate(self.tables):
            yield "MODULUS", rpau, 0, tables.modulus
            yield "TWIDDLE_LO", rpau, 0, tables.twiddle_lo
            yield "TWIDDLE_HI", rpau, 0, tables.twiddle_hi
            yield "CONSTANT", rpau, 0, self.constants[rpau]
        for (rpau, index), words in self.keys.items():
            yield "KEY", rpau, index, words
        for (rpau, index), words in self.polys.items():
            yield "POLY", rpau, index, words


def random_program(
    design: RpauDesign, seed: int, length: int, timing: Timing | None = None
) -> RandomProgram:
    """Draws a program of ``length`` instructions, ``halt`` included, and initial contents.

    Args:
        design: The accelerator.
        seed: Equal seeds give equal programs.
        length: Instructions; one of every operation needs as many as the set has.
        timing: Latencies to use in place of the design's own.
    """
    return _Draw(design, seed, timing or Timing.of(design)).run(length)


class _Draw:
    """The state of one draw: what is written where, and the timeline so far."""

    def __init__(self, design: RpauDesign, seed: int, timing: Timing) -> None:
        self.design = design
        self.rng: Generator = np.random.default_rng(seed)
        self.timeline = Timeline(timing, design.rpaus)
        self.primes = self._primes()
        self.keys = range(min(_LOADED_KEYS, design.key_polys))
        common = self._sample(range(design.work_polys), max(2, design.work_polys // 2))
        self.loaded = [
            set(common) | set(self._sample(range(design.work_polys), design.work_polys // 4))
            for _ in self.primes
        ]
        self.written = [set(polys) for polys in self.loaded]

    def run(self, length: int) -> RandomProgram:
        every = [operation for operation in ISA.operations if operation.name != HALT]
        queue = [every[i] for i in self.rng.permutation(len(every))]
        program: list[Instruction] = []
        starts: list[int] = []
        while len(program) < length - 1:
            operation = queue.pop() if queue else self._choice(every)
            drawn = self._instruction(operation)
            if drawn is None:
                queue.insert(0, operation)
                continue
            program.append(drawn)
            starts.append(self._issue(drawn))
        program.append(instruction(HALT))
        starts.append(self.timeline.issue(program[-1]))
        return self._result(program, starts)

    def _result(self, program: list[Instruction], starts: list[int]) -> RandomProgram:
        for each in program:
            check(each, self.design)
        assert self.timeline.cycles is not None
        n, design = self.design.n, self.design
        return RandomProgram(
            instructions=tuple(program),
            words=np.array([encode(each) for each in program], dtype=np.uint64),
            starts=tuple(starts),
            cycles=self.timeline.cycles,
            primes=self.primes,
            tables=tuple(
                prime_tables(prime, _core.smallest_root(prime, n), design) for prime in self.primes
            ),
            constants=tuple(self._residues(q, design.constants) for q in self.primes),
            keys={
                (i, k): self._residues(q, n) for i, q in enumerate(self.primes) for k in self.keys
            },
            polys={
                (i, poly): self._residues(self.primes[i], n)
                for i, polys in enumerate(self.loaded)
                for poly in sorted(polys)
            },
            written=tuple(frozenset(polys) for polys in self.written),
        )

    def _issue(self, drawn: Instruction) -> int:
        for rpau in drawn.rpaus():
            for operand, index in drawn.accesses(rpau):
                if operand.kind == POLY and operand.writes:
                    self.written[rpau].add(index)
        return self.timeline.issue(drawn)

    def _instruction(self, operation: Operation) -> Instruction | None:
        """A legal instruction of the operation, or None if the draw led nowhere."""
        mask = self._mask(operation)
        rpaus = [rpau for rpau in range(self.design.rpaus) if mask >> rpau & 1]
        source = self._choice(rpaus) if operation.source else None
        values: dict[str, int] = {}
        for operand in operation.operands:
            legal = self._legal(operand, rpaus, source)
            if operand.name in operation.distinct:
                taken = {values[name] for name in operation.distinct if name in values}
                legal = [value for value in legal if value not in taken]
            if not legal:
                return None
            values[operand.name] = self._choice(legal)
        waits = [unit for unit in ISA.execution_units if self.rng.random() < _EXTRA_WAIT]
        drawn = instruction(operation.name, mask, waits=waits, **values)
        if self.timeline.conflicts(drawn) and self.rng.random() < _AVOID_CONFLICT:
            return None
        drawn = self.timeline.guarded(drawn)
        return None if self.timeline.ring_conflict(drawn) else drawn

    def _mask(self, operation: Operation) -> int:
        everyone = (1 << self.design.rpaus) - 1
        if self.rng.random() < _FULL_MASK:
            return everyone
        lowest = 0 if operation.unit == CONTROL else 1
        return int(self.rng.integers(lowest, everyone, endpoint=True))

    def _legal(self, operand: Operand, rpaus: list[int], source: int | None) -> Sequence[int]:
        """Values that the operand may have if ``rpaus`` take part and ``source`` sends."""
        if operand.kind == RPAU:
            return [rpau for rpau in rpaus if rpau == source]
        if operand.kind == KEY_POLY:
            return self.keys
        kind = KINDS[operand.kind]
        every = range(1, kind.limit(self.design), 2) if kind.odd else range(kind.limit(self.design))
        if operand.kind != POLY or not operand.reads:
            return every
        readers = {
            "all": rpaus,
            "source": [i for i in rpaus if i == source],
            "others": [i for i in rpaus if i != source],
        }[operand.where]
        return sorted(set(every).intersection(*(self.written[i] for i in readers)))

    def _primes(self) -> tuple[int, ...]:
        """One NTT prime an RPAU, all different, the first as wide as a word."""
        design = self.design
        lowest = max((design.word_bits + 1) // 2, design.log_n + 8)
        bits = [design.word_bits]
        while len(bits) < design.rpaus:
            bits.append(int(self.rng.integers(lowest, design.word_bits, endpoint=True)))
        primes: list[int] = []
        for size in bits:
            found = _core.prime_search(size, design.n, bits.count(size))
            primes.append(next(prime for prime in found if prime not in primes))
        return tuple(primes)

    def _residues(self, prime: int, count: int) -> Words:
        """Random residues, about one in eight of them 0, 1 or q - 1."""
        words = self.rng.integers(0, prime, count, dtype=np.uint64)
        edges = np.array([0, 1, prime - 1], dtype=np.uint64)
        at_edge = self.rng.random(count) < 0.125
        words[at_edge] = self.rng.choice(edges, int(at_edge.sum()))
        return words

    def _choice(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.rng.integers(len(items)))]

    def _sample(self, items: Sequence[int], count: int) -> list[int]:
        return [items[i] for i in self.rng.permutation(len(items))[:count]]
