"""Random programs that obey every rule: what the model and the RTL are compared on.

Made from the records of ``isa.yaml``: an instruction added there is drawn here. The first draws
are one of every operation, the rest are uniform; masks, operands and wait bits are random, and
wait bits are set where the hazard rule needs them and sometimes where it does not. Where the design
has a key stream, the keys of some programs come while they run, late or in time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from ringsmith import _core
from ringsmith.backends.rpau.compiler.timeline import HALT, Timeline, Timing
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.constants import PrimeTables, Words, prime_tables, seed_words
from ringsmith.backends.rpau.design.conversions import conversion_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.rpau.isa.assembler import check, encode
from ringsmith.backends.rpau.isa.instruction_set import (
    CONTROL,
    ISA,
    SOURCES,
    Instruction,
    Operand,
    Operation,
    instruction,
)
from ringsmith.backends.rpau.isa.kinds import (
    ARRIVALS,
    CONVERSION,
    GALOIS_ELEMENT,
    KEY_POLY,
    KINDS,
    MODULUS_BANK,
    POLY,
    RPAU,
    SEED,
    SUB_POLY,
)
from ringsmith.hdl.base_conversion import FRACTION_BITS, Conversion

_Item = TypeVar("_Item")

_LOADED_KEYS = 4  # polynomials of the key store that are loaded and used, at most; or two a set
_EXTRA_WAITS = 0.25  # how often wait bits are drawn, rather than set where needed alone
_AVOID_CONFLICT = 0.8  # how often operands are drawn anew rather than waited for
_ANY_PRIME = -1  # stands for the modulus bank of words that are residues of none in particular
_NEAR_STEPS = 100  # multiples of 2N above and below a power of two that are tried for primes
_FULL_MASK = 0.25  # how often every RPAU takes part
_ONE_RPAU = 0.5  # how often one takes part, where not every one does
_STREAMED = 0.5  # how often keys come while the program runs, where the design has a key stream
_MOST_GAP = 3  # between the rows of two keys that come, at most, in rows of one


@dataclass(frozen=True)
class RandomProgram:
    """A program with the memory contents that it starts from.

    Attributes:
        instructions: The program, ``halt`` last.
        words: Its encoding.
        starts: Cycle in which each instruction issues, by the timeline.
        cycles: Cycles of the whole program, by the timeline.
        primes: Prime of each RPAU and modulus bank, of different sizes.
        roots: The root of unity of each prime, likewise.
        tables: Modulus words and twiddle tables of each RPAU and modulus bank.
        constants: Constant file of each RPAU and modulus bank.
        keys: Contents of the key store by (RPAU, index), as far as loaded: residues of modulus bank
            index mod ``modulus_banks``.
        seeds: Entries of the seed store by (RPAU, index), as far as loaded.
        conversions: The loaded conversions: those of odd numbers have outputs with own inputs.
        conversion_words: Their words in address space ``conversion``.
        streamed: RPAU and index of the keys that come while the program runs, in their order.
        arrivals: The cycle in which each comes, as ``interface.KeyStream`` has it; None: all keys
            are loaded before.
        polys: Initial work polynomials by (RPAU, index), as far as loaded.
        written: For each RPAU, the work polynomials that hold something at the end.
    """

    instructions: tuple[Instruction, ...]
    words: Words
    starts: tuple[int, ...]
    cycles: int
    primes: tuple[tuple[int, ...], ...]
    roots: tuple[tuple[int, ...], ...]
    tables: tuple[tuple[PrimeTables, ...], ...]
    constants: tuple[tuple[Words, ...], ...]
    keys: dict[tuple[int, int], Words]
    seeds: dict[tuple[int, int], Words]
    conversions: tuple[Conversion, ...]
    conversion_words: tuple[Words, ...]
    streamed: tuple[tuple[int, int], ...]
    arrivals: tuple[int, ...] | None
    polys: dict[tuple[int, int], Words]
    written: tuple[frozenset[int], ...]

    def loads(self) -> Iterator[tuple[str, int, int, Words]]:
        """Everything to write before the run: address space name, RPAU, index, words."""
        for rpau, sets in enumerate(self.tables):
            for modulus_bank, tables in enumerate(sets):
                for space, words in tables.loads():
                    yield space, rpau, modulus_bank, words
                yield "CONSTANT", rpau, modulus_bank, self.constants[rpau][modulus_bank]
        for (rpau, index), words in self.keys.items():
            if (rpau, index) not in self.streamed:
                yield "KEY", rpau, index, words
        for (rpau, index), words in self.seeds.items():
            yield "SEED", rpau, index, words
        for index, words in enumerate(self.conversion_words):
            yield "CONVERSION", 0, index, words
        for (rpau, index), words in self.polys.items():
            yield "POLY", rpau, index, words


def random_program(
    design: RpauDesign,
    seed: int,
    length: int,
    timing: Timing | None = None,
    log_degree: int | None = None,
) -> RandomProgram:
    """Draws a program of ``length`` instructions, ``halt`` included, and initial contents.

    Args:
        design: The accelerator.
        seed: Equal seeds give equal programs.
        length: Instructions; one of every operation needs as many as the set has.
        timing: Latencies to use in place of the design's own.
        log_degree: log2 of the degree of the ring that it runs in; None for N's own.
    """
    ring = design.log_n if log_degree is None else log_degree
    return _Draw(design, seed, timing or Timing.of(design, ring), ring).run(length)


def ring_in_turn(design: RpauDesign, seed: int) -> int:
    """log2 of the degree of a ring of the design: all of its rings, as seeds go up."""
    rings = range(design.min_log_n, design.max_log_n + 1)
    return rings[seed % len(rings)]


@dataclass(frozen=True)
class _Sender:
    """Who sends, and in which of its modulus banks where it computes."""

    rpau: int
    prime: int


def _has_own(operation: Operation) -> bool:
    """Whether an operation converts to outputs that have inputs of their own."""
    return operation.operand("b") is not None


class _Draw:
    """The state of one draw: what is written where, and the timeline so far."""

    def __init__(self, design: RpauDesign, seed: int, timing: Timing, log_degree: int) -> None:
        self.design = design
        self.log_degree = log_degree
        self.sub_polys = design.sub_polys(log_degree)
        self.rng: Generator = np.random.default_rng(seed)
        self.primes = self._primes()
        self.keys = range(min(max(_LOADED_KEYS, 2 * design.modulus_banks), design.key_polys))
        self.position: dict[tuple[int, int], int] = {}  # of the keys that come, counted from 1
        self.arrivals: tuple[int, ...] | None = None
        if design.key_stream and self.rng.random() < _STREAMED:
            self.arrivals = self._arrivals()
        self.awaited = 0
        self.timeline = Timeline(timing, design, self.arrivals)
        self.seeds = range(min(_LOADED_KEYS, design.seeds))
        # For each RPAU, the polynomials that hold something: index -> modulus bank of the residues.
        # Those that all RPAUs hold are of the same set everywhere: then all can take part.
        common = self._sample(range(design.work_polys), max(2, design.work_polys // 2))
        everywhere = {poly: self._set() for poly in common}
        self.loaded = [everywhere | self._own_polys() for _ in self.primes]
        self.written = [dict(polys) for polys in self.loaded]

    def run(self, length: int) -> RandomProgram:
        every = [each for each in ISA.available(self.design) if self._runs(each)]
        queue = [every[i] for i in self.rng.permutation(len(every))]
        program: list[Instruction] = []
        starts: list[int] = []
        while len(program) < length - 1:
            operation = queue.pop() if queue else self._choice(every)
            drawn = self._instruction(operation)
            if drawn is None:
                queue.insert(0, operation)
                drawn = self._next_key(operation)
            if drawn is None:
                continue
            program.append(drawn)
            starts.append(self._issue(drawn))
        program.append(instruction(HALT))
        starts.append(self.timeline.issue(program[-1]))
        return self._result(program, starts)

    def _runs(self, operation: Operation) -> bool:
        """Whether an operation is drawn: not halt, and what the ring and the design have."""
        whole = self.sub_polys == 1
        if operation.converts and _has_own(operation):
            return self.design.conversions > 1
        return (
            operation.name != HALT
            and (not whole or operation.needs != "larger_rings")
            and (whole or not operation.takes_whole)
        )

    def _result(self, program: list[Instruction], starts: list[int]) -> RandomProgram:
        for each in program:
            check(each, self.design)
        assert self.timeline.cycles is not None
        design, degree = self.design, 1 << self.log_degree
        n = degree // self.sub_polys
        conversions = tuple(self._conversion(each) for each in range(design.conversions))
        roots = tuple(tuple(_core.smallest_root(q, degree) for q in sets) for sets in self.primes)
        return RandomProgram(
            instructions=tuple(program),
            words=np.array([encode(each) for each in program], dtype=np.uint64),
            starts=tuple(starts),
            cycles=self.timeline.cycles,
            primes=self.primes,
            roots=roots,
            tables=tuple(
                tuple(
                    prime_tables(*pair, design, self.log_degree, rpau)
                    for pair in zip(*both, strict=True)
                )
                for rpau, both in enumerate(zip(self.primes, roots, strict=True))
            ),
            constants=tuple(
                tuple(self._residues(q, design.constants) for q in sets) for sets in self.primes
            ),
            keys={
                (i, k): self._residues(sets[k % design.modulus_banks], n)
                for i, sets in enumerate(self.primes)
                for k in self.keys
            },
            seeds={
                (i, s): seed_words(self.rng.bytes(10), int(self.rng.integers(1 << 16)))
                for i in range(design.rpaus)
                for s in self.seeds
            },
            conversions=conversions,
            conversion_words=tuple(conversion_words(design, each) for each in conversions),
            streamed=tuple(self.position),
            arrivals=self.arrivals,
            polys={
                (i, poly): self._residues(self.primes[i][polys[poly]], n)
                for i, polys in enumerate(self.loaded)
                for poly in sorted(polys)
            },
            written=tuple(frozenset(polys) for polys in self.written),
        )

    def _arrivals(self) -> tuple[int, ...]:
        """Draws the order in which keys come, and when."""
        places = [(rpau, key) for rpau in range(self.design.rpaus) for key in self.keys]
        for count, place in enumerate(self.rng.permutation(len(places)), 1):
            self.position[places[place]] = count
        rows = (1 << self.log_degree) // self.sub_polys // host_words(self.design)
        gaps = rows + self.rng.integers(0, _MOST_GAP * rows, len(places))
        gaps[self.rng.random(len(places)) < 0.5] = rows  # at once behind the one before
        return tuple(int(cycle) for cycle in gaps.cumsum())

    def _next_key(self, operation: Operation) -> Instruction | None:
        """Waits for more keys where an operation lacks one; None where it does not, or all came."""
        lacks = any(operand.kind == KEY_POLY for operand in operation.operands)
        if not lacks or self.awaited == len(self.position):
            return None
        more = int(self.rng.integers(self.awaited, len(self.position), endpoint=True))
        return instruction("await", arrived=more)

    def _issue(self, drawn: Instruction) -> int:
        if self.position and drawn.operation.awaits:
            self.awaited = max(self.awaited, drawn["arrived"])
        for rpau in drawn.rpaus():
            for operand, index in drawn.accesses(rpau):
                if operand.kind == POLY and operand.writes:
                    self.written[rpau][index] = _ANY_PRIME if operand.any_words else drawn.prime
        return self.timeline.issue(drawn)

    def _instruction(self, operation: Operation) -> Instruction | None:
        """A legal instruction of the operation, or None if the draw led nowhere."""
        mask = (1 << self.design.rpaus) - 1 if operation.everyone else self._mask(operation)
        rpaus = [rpau for rpau in range(self.design.rpaus) if mask >> rpau & 1]
        sender = _Sender(self._choice(rpaus), self._set()) if operation.source else None
        prime = self._set() if operation.computes else 0
        values: dict[str, int] = self._inputs(operation)
        sources = range(values["first"], values["last"] + 1) if values else rpaus
        together: list[int] = []
        for operand in operation.operands:
            if operand.name in values:
                continue
            here = list(sources) if operand.where == SOURCES else rpaus
            legal = self._legal(operand, here, prime, sender)
            if operand.kind == CONVERSION:
                legal = legal[int(_has_own(operation)) :: 2]
            if operand.name in operation.distinct:
                taken = {values[name] for name in operation.distinct if name in values}
                legal = [value for value in legal if value not in taken]
            reads = operand.kind == POLY and operand.reads
            if reads:
                legal = [poly for poly in legal if self._readable(poly, together)]
            if not legal:
                return None
            values[operand.name] = self._choice(legal)
            together += [values[operand.name]] if reads else []
        waits: list[str] = []
        if self.rng.random() < _EXTRA_WAITS:
            waits = [unit for unit in ISA.execution_units if self.rng.random() < 0.5]
        drawn = instruction(operation.name, mask, prime=prime, waits=waits, **values)
        if self.timeline.conflicts(drawn) and self.rng.random() < _AVOID_CONFLICT:
            return None
        drawn = self.timeline.guarded(drawn)
        return None if self.timeline.ring_conflict(drawn) else drawn

    def _inputs(self, operation: Operation) -> dict[str, int]:
        """The first and the last RPAU that are inputs, of an operation that converts."""
        if not operation.converts:
            return {}
        most = self.design.rpaus - _has_own(operation)
        first, last = sorted(int(rpau) for rpau in self.rng.integers(0, most, 2))
        return {"first": first, "last": last}

    def _conversion(self, number: int) -> Conversion:
        """A conversion with any constants, between any modulus banks."""
        rpaus, has_own = self.design.rpaus, number % 2
        q = [sets[self._set()] for sets in self.primes[: rpaus - has_own]]
        p = [sets[self._set()] for sets in self.primes]

        def below(limits: Sequence[int]) -> tuple[int, ...]:
            return tuple(int(self._residues(limit, 1)[0]) for limit in limits)

        def fraction() -> int:
            return int.from_bytes(self.rng.bytes(12), "little") % (1 << FRACTION_BITS)

        return Conversion(
            inputs=tuple(q),
            factors=below(q),
            fractions=tuple(fraction() for _ in q),
            outputs=tuple(p),
            weights=tuple(below(p) for _ in q),
            quotient_factors=below(p),
            own_weights=below(p) if has_own else (),
        )

    def _mask(self, operation: Operation) -> int:
        everyone = (1 << self.design.rpaus) - 1
        if self.rng.random() < _FULL_MASK:
            return everyone
        if self.rng.random() < _ONE_RPAU:
            return 1 << int(self.rng.integers(self.design.rpaus))
        lowest = 0 if operation.unit == CONTROL else 1
        return int(self.rng.integers(lowest, everyone, endpoint=True))

    def _legal(
        self, operand: Operand, rpaus: list[int], prime: int, sender: _Sender | None
    ) -> Sequence[int]:
        """Values of the operand if ``rpaus`` compute with a modulus bank, and one sends."""
        if sender and operand.kind == RPAU:
            return [sender.rpau]
        if sender and operand.kind == MODULUS_BANK:
            return [sender.prime]
        if operand.kind == KEY_POLY:
            return [
                key
                for key in self.keys
                if key % self.design.modulus_banks == prime
                and all(self.position.get((rpau, key), 0) <= self.awaited for rpau in rpaus)
            ]
        if operand.kind == ARRIVALS and self.position:
            return range(len(self.position) + 1)
        if operand.kind == SEED:
            return self.seeds
        if operand.kind == SUB_POLY:
            return range(self.sub_polys)
        if operand.kind == GALOIS_ELEMENT:
            return range(1, 2 << self.log_degree, 2)
        every = range(KINDS[operand.kind].limit(self.design))
        if operand.kind != POLY or not operand.reads:
            return every
        if sender and operand.where == "source":
            rpaus, prime = [sender.rpau], sender.prime
        elif sender and operand.where == "others":
            rpaus = [rpau for rpau in rpaus if rpau != sender.rpau]
        readable = (
            [poly for poly, held in self.written[i].items() if operand.any_words or held == prime]
            for i in rpaus
        )
        return sorted(set(every).intersection(*readable))

    def _readable(self, poly: int, together: Sequence[int]) -> bool:
        """Whether a polynomial can be read at once with others: by a port that none of them has."""
        bank_of = self.design.bank_of_poly
        return all(other == poly or bank_of[other] != bank_of[poly] for other in together)

    def _set(self) -> int:
        return int(self.rng.integers(self.design.modulus_banks))

    def _own_polys(self) -> dict[int, int]:
        polys = range(self.design.work_polys)
        return {poly: self._set() for poly in self._sample(polys, len(polys) // 4)}

    def _primes(self) -> tuple[tuple[int, ...], ...]:
        """An NTT prime for each RPAU and set, the first as wide as a word.

        All are different, where the design does not take fewer.
        """
        design = self.design
        primes = {"sparse": self._sparse_primes, "folded": self._near_primes}.get(
            design.reduction, self._any_primes
        )()
        return tuple(
            tuple(primes[first : first + design.modulus_banks])
            for first in range(0, design.limbs, design.modulus_banks)
        )

    def _sparse_primes(self) -> list[int]:
        family = sorted(self.design.sparse_primes, reverse=True)
        rest = [self._choice(family) for _ in range(self.design.limbs)]
        return [*family, *rest][: self.design.limbs]

    def _near_primes(self) -> list[int]:
        """Primes that folds take, of every size and above and below a power of two; repeated.

        The first that words of a width hold is as wide as they are.
        """
        design, primes = self.design, []
        for width in design.widths:
            count = len(design.rpaus_of(width)) * design.modulus_banks
            primes += self._near_primes_of(width, count)
        return primes

    def _near_primes_of(self, width: int, count: int) -> list[int]:
        order, found = 2 << self.log_degree, []
        for bits in range(width - folded.shifts(width), width + 1):
            for steps in (range(_NEAR_STEPS), range(-1, -_NEAR_STEPS, -1)):
                near = ((1 << bits) + order * step + 1 for step in steps)
                found += [q for q in near if folded.fits(q, width) and _core.is_prime(q)][:1]
        found.sort(reverse=True)
        return [found[0], *(self._choice(found) for _ in range(count))][:count]

    def _any_primes(self) -> list[int]:
        design = self.design
        lowest = max((design.word_bits + 1) // 2, self.log_degree + 8)
        bits = [design.word_bits]
        while len(bits) < design.limbs:
            bits.append(int(self.rng.integers(lowest, design.word_bits, endpoint=True)))
        primes: list[int] = []
        for size in bits:
            found = _core.prime_search(size, 1 << self.log_degree, bits.count(size))
            primes.append(next(prime for prime in found if prime not in primes))
        return primes

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
