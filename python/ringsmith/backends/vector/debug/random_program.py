"""Random legal programs of one cluster: lists of instructions, and what lies in memory.

No compiler has made them: every source, target and order that the instruction set allows is drawn.
What is legal: words that are read were written, and are below the prime where that is asked for;
operands of an instruction share a layout; the banks that an instruction reads all differ, and those
that it writes; no result goes where the same instruction still reads. Gaps are the schedule's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ringsmith import _core
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.timeline import Cycles, with_gaps
from ringsmith.backends.vector.design.design import VectorDesign, parameter_limits
from ringsmith.backends.vector.design.word_layout import table_rows
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.instructions import (
    BANK_OPERANDS,
    FACTOR_STREAMS,
    MAX_ENTRIES,
    SPILLED,
    X_STREAM,
    Automorph,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Same,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
)
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.types import Form

_NAMES = {Form.NTT: "ntt", Form.COEFF: "coefficients"}
"""Inputs and outputs by their form."""

PRIMES = 5
"""Primes of a program."""

_PRIME_BITS_MORE = 9
"""Bits of a prime in addition to those of 2N, so that there are enough primes of each width."""

_PRIMES_OF_A_WIDTH = 12

Item = TypeVar("Item")


@dataclass(frozen=True)
class RandomProgram:
    """A random program.

    Attributes:
        executable: Its lists, with a graph that says no more than ring and primes.
        memory: The inputs' words.
    """

    executable: VectorExecutable
    memory: Mapping[Limb, Words] = field(repr=False)

    def fetch(self, limb: Limb) -> Words:
        """The words of an input."""
        return self.memory[limb]


def random_program(design: VectorDesign, seed: int, length: int) -> RandomProgram:
    """A program of this many random instructions, and those that store all that is left.

    Args:
        design: The design, of one cluster.
        seed: What it is drawn from; also the ring, of those that the design has.
        length: Instructions of list computing.
    """
    random = np.random.default_rng([seed, *design.name.encode()])
    log_n = int(random.integers(design.min_log_n, design.log_n + 1))
    maker = _Maker(design, log_n, random)
    for _ in range(length):
        maker.instruction()
    return maker.program()


@dataclass(frozen=True)
class _Held:
    """A limb: its words are below a prime; None: any words.

    Attributes:
        prime: Index of the prime.
        form: Its layout.
    """

    prime: int | None
    form: Form


class _Maker:
    """The lists as they grow."""

    def __init__(self, design: VectorDesign, log_n: int, random: np.random.Generator) -> None:
        self._design, self._random = design, random
        self._shape = design.shape(log_n)
        self._primes = _primes(design, random)
        self._slots = [
            Slot(bank, index)
            for bank in range(design.banks)
            for index in range(design.bank_rows // self._shape.rows)
        ]
        self._held: dict[Slot, _Held] = {}
        self._memory: dict[Limb, Words] = {}
        self._spills: list[tuple[Limb, _Held, int]] = []  # with the stores up to its own
        self._loads: list[tuple[int, Load]] = []
        self._stores: list[Store] = []
        self._operations: list[Operation] = []
        self._tables_before: list[int] = []
        self._tables: dict[tuple[int, bool], int] = {}  # first row, by prime and direction
        self._users: dict[int, int] = {}  # by first row: instructions up to the last user
        self._table_loads, self._table_position = 0, 0
        self._outputs = 0

    # ---- draws -----------------------------------------------------------------------------------

    def _one(self, items: "list[Item]") -> Item:
        return items[int(self._random.integers(len(items)))]

    def _chance(self, share: float) -> bool:
        return bool(self._random.random() < share)

    def _form(self) -> Form:
        return self._one([Form.NTT, Form.COEFF])

    def _prime(self) -> int:
        return int(self._random.integers(len(self._primes)))

    def _placed(self, form: Form, primes: "list[int] | None" = None) -> list[Slot]:
        """Slots with a limb of a form, and of some primes."""
        return [
            slot
            for slot, held in self._held.items()
            if held.form is form and (primes is None or held.prime in primes)
        ]

    # ---- instructions ----------------------------------------------------------------------------

    def instruction(self) -> None:
        """Adds one, and sometimes a table that it need not wait for, before it."""
        if self._chance(0.1):
            self._load_tables([self._prime()], self._chance(0.5))
        kinds: list[Callable[[], bool]] = [
            self._point, self._point, self._transform, self._transform, self._automorph, self._copy
        ]  # fmt: skip
        while not self._one(kinds)():
            pass

    def _emit(self, operation: Operation) -> None:
        self._operations.append(operation)
        self._tables_before.append(self._table_loads)

    def _copy(self) -> bool:
        """A limb from memory to a slot."""
        form, prime = self._form(), self._prime()
        target = self._one(self._slots)
        source = self._load(X_STREAM, _Held(prime, form))
        self._emit(Point(source, (self._kept(prime, target),)))
        self._held[target] = _Held(prime, form)
        return True

    def _kept(self, prime: int, target: Slot | None) -> Result:
        """A result that is x itself, to a slot or to memory."""
        one = Constant(self._design.factor(self._primes[prime]))
        return Result(prime, one, None, False, target, target is None)

    def _automorph(self) -> bool:
        sources = self._placed(Form.NTT)
        if not sources:
            return False
        source = self._one(sources)
        target = self._one([slot for slot in self._slots if slot != source])
        prime = self._held[source].prime
        assert prime is not None  # scratchpad words are residues
        element = 2 * int(self._random.integers(1, 1 << self._shape.log_n)) + 1
        self._emit(Automorph(element, prime, source, target))
        self._held[target] = self._held[source]
        return True

    def _transform(self) -> bool:
        inverse = self._chance(0.5)
        form = Form.NTT if inverse else Form.COEFF
        most = self._design.table_rows // table_rows(self._shape)
        primes = [int(p) for p in self._random.permutation(len(self._primes))[:most]]
        limit = min(MAX_ENTRIES, len(self._slots) // 2)  # sources and targets may all differ
        count = int(self._random.integers(1, limit + 1))
        streamed = self._design.stream_rows // self._shape.rows
        read: list[tuple[int, Slot | None]] = []  # prime, and slot; None: stream x
        for _ in range(count):
            prime = self._one(primes)
            there = self._placed(form, [prime] if inverse else self._reducible(prime))
            if there and (not streamed or self._chance(0.7)):
                read.append((prime, self._one(there)))
            elif streamed:
                read.append((prime, None))
                streamed -= 1
        if not read:
            return False
        self._transform_of(inverse, form, read)
        return True

    def _reducible(self, prime: int) -> list[int]:
        """Primes whose residues are below twice another one: what a forward transform takes."""
        q = self._primes[prime]
        return [index for index, p in enumerate(self._primes) if p <= 2 * q]

    def _transform_of(
        self, inverse: bool, form: Form, read: "list[tuple[int, Slot | None]]"
    ) -> None:
        sources = [slot for _, slot in read]
        entries: list[Entry] = []
        free = [slot for slot in self._slots if slot not in sources]
        self._random.shuffle(free)
        for prime, slot in read:
            own = slot is not None and sources.count(slot) == 1 and self._chance(0.5)
            target = slot if own and slot is not None else free.pop()
            held = _Held(prime, form) if slot is None else self._held[slot]
            if slot is None and not inverse:
                held = _Held(self._one(self._reducible(prime)), form)
            assert held.prime is not None
            q, words = self._primes[prime], self._primes[held.prime]
            source = self._load(X_STREAM, held) if slot is None else slot
            entries.append(Entry(prime, 0, source, target, words > q))
        tables = self._load_tables([prime for prime, _ in read], inverse)
        entries = [
            Entry(each.prime, tables[each.prime], each.source, each.target, each.reduce)
            for each in entries
        ]
        self._emit(Transform(inverse, tuple(entries)))
        for row in tables.values():
            self._users[row] = len(self._operations)
        for each in entries:
            self._held[each.target] = _Held(each.prime, Form.COEFF if inverse else Form.NTT)

    def _point(self) -> bool:
        form = self._form()
        there = self._placed(form)
        streamed = not there or self._chance(0.3)
        x: Slot | Stream = Stream(X_STREAM) if streamed else self._one(there)
        banks = set() if isinstance(x, Stream) else {x.bank}
        held = _Held(None if self._chance(0.5) else self._prime(), form)
        if isinstance(x, Slot):
            held = self._held[x]
        streams = [int(s) for s in self._random.permutation(FACTOR_STREAMS)]
        banks_left, factors = BANK_OPERANDS, []
        parts: list[tuple[int, Source, Slot | Constant | Same | None]] = []
        for _ in range(int(self._random.integers(1, self._design.results + 1))):
            prime = self._prime() if held.prime is None or self._chance(0.4) else held.prime
            y = self._part(form, prime, held, banks, banks_left, bool(streams))
            if isinstance(y, Slot):
                banks_left -= 1
                banks.add(y.bank)
            if isinstance(y, Stream):
                y = Stream(streams.pop())
                factors.append((y.number, _Held(prime, form)))
            z = (
                None
                if self._chance(0.2)
                else self._part(form, prime, held, banks, banks_left, False)
            )
            assert not isinstance(z, Stream)
            if isinstance(z, Slot):
                banks_left -= 1
                banks.add(z.bank)
            parts.append((prime, y, z))
        loads = [(X_STREAM, held)] if isinstance(x, Stream) else []
        for number, each in [*loads, *factors]:
            self._load(number, each)
        self._emit(Point(x, tuple(self._results(x, form, parts))))
        return True

    def _part(
        self, form: Form, prime: int, x: _Held, banks: "set[int]", banks_left: int, stream: bool
    ) -> Source:
        """A y or z: residues of a prime."""
        there = [slot for slot in self._placed(form, [prime]) if slot.bank not in banks]
        kinds = (
            ["constant"] + ["slot"] * (3 if there and banks_left else 0) + ["stream"] * 2 * stream
        )
        kinds += ["same"] * (x.prime == prime)
        kind = self._one(kinds)
        if kind == "slot":
            return self._one(there)
        if kind == "stream":
            return Stream(0)  # one of them; the caller says which
        q = self._primes[prime]
        words = [0, 1, q - 1, self._design.factor(q), int(self._random.integers(q))]
        return Same() if kind == "same" else Constant(self._one(words))

    def _results(
        self,
        x: Slot | Stream,
        form: Form,
        parts: "list[tuple[int, Source, Slot | Constant | Same | None]]",
    ) -> list[Result]:
        """Results with their targets: never where the instruction reads for another result."""
        read = {part for _, y, z in parts for part in (y, z) if isinstance(part, Slot)}
        taken: set[int] = set()
        found = []
        for number, (prime, y, z) in enumerate(parts):
            own = {part for part in (x, y, z) if isinstance(part, Slot)}
            places = [s for s in self._slots if s.bank not in taken and (s in own or s not in read)]
            again = [slot for slot in places if slot in own]
            target = self._one(again if again and self._chance(0.3) else places)
            kind = self._one(["slot", "slot", "memory", "both"])
            subtract = z is not None and self._chance(0.5)
            if kind != "memory":
                taken.add(target.bank)
                self._held[target] = _Held(prime, form)
            if kind != "slot":
                self._store(number, _Held(prime, form))
            place = None if kind == "memory" else target
            found.append(Result(prime, y, z, subtract, place, kind != "slot"))
        return found

    # ---- memory ----------------------------------------------------------------------------------

    def _load(self, stream: int, held: _Held) -> Stream:
        """The next limb of a stream: an input's, or one that was stored."""
        position, rows = len(self._operations), self._shape.rows
        stored = [each for each in self._spills if each[1] == held]
        after: tuple[int, int] | None = None
        if stored and self._chance(0.7):
            limb, _, count = self._one(stored)
            after = (0, int(self._random.integers(count, len(self._stores) + 1)))
        else:
            limb = self._input(held)
            if self._stores and self._chance(0.1):
                after = (0, int(self._random.integers(1, len(self._stores) + 1)))
        computing = int(self._random.integers(position + 1)) if self._chance(0.2) else 0
        self._loads.append((position, Load(limb, rows, stream, 0, after, computing)))
        return Stream(stream)

    def _input(self, held: _Held) -> Limb:
        """New words of memory."""
        limb = Limb("input", _NAMES[held.form], (len(self._memory),))
        top = 1 << self._design.word_bits if held.prime is None else self._primes[held.prime]
        words = self._random.integers(0, top, 1 << self._shape.log_n, dtype=np.uint64)
        edges = self._random.random(words.size) < 1 / 16
        words[edges] = self._random.choice(np.array([0, 1, top - 1], np.uint64), edges.sum())
        self._memory[limb] = words
        return limb

    def _store(self, stream: int, held: _Held) -> None:
        """The next limb of a store stream: to be loaded again, or an output."""
        if self._chance(0.5):
            limb = Limb(SPILLED, "", (len(self._stores),))
            self._spills.append((limb, held, len(self._stores) + 1))
        else:
            limb = self._output(held.form)
        self._stores.append(Store(limb, self._shape.rows, stream))

    def _output(self, form: Form) -> Limb:
        self._outputs += 1
        return Limb("output", _NAMES[form], (self._outputs - 1,))

    def _load_tables(self, primes: "list[int]", inverse: bool) -> dict[int, int]:
        """First rows of tables of factors, which are loaded where they are not there."""
        rows = table_rows(self._shape)
        wanted = [(prime, inverse) for prime in dict.fromkeys(primes)]
        for key in wanted:
            if key in self._tables:
                continue
            if len(self._tables) < self._design.table_rows // rows:
                row = len(self._tables) * rows
            else:
                row = self._tables.pop(self._one([k for k in self._tables if k not in wanted]))
            self._tables[key] = row
            now, users = len(self._operations), self._users.get(row, 0)
            self._table_position = int(
                self._random.integers(max(users, self._table_position), now + 1)
            )
            load = Load(Limb("table", "", (key[0], int(inverse))), rows, None, row, None, users)
            self._loads.append((self._table_position, load))
            self._table_loads += 1
        return {prime: self._tables[prime, inverse] for prime in primes}

    # ---- the whole -------------------------------------------------------------------------------

    def program(self) -> RandomProgram:
        """All of it, and instructions that store what lies in the scratchpad, and what was stored.

        Everything that was computed is an output then, or went into one.
        """
        for slot, held in list(self._held.items()):
            self._to_output(slot, held)
        for limb, held, count in self._spills:
            load = Load(limb, self._shape.rows, X_STREAM, 0, (0, count))
            self._loads.append((len(self._operations), load))
            self._to_output(Stream(X_STREAM), held)
        n = 1 << self._shape.log_n
        roots = tuple(_core.smallest_root(q, n) for q in self._primes)
        graph = SubroutineGraph(n, tuple(self._primes), roots, ())
        for form, name in _NAMES.items():
            graph.output(graph.input(name, [0], form), name)
        count = len(self._operations)
        cycles = Cycles(self._design, self._shape)
        program = Program(
            tuple(load for _, load in sorted(self._loads, key=lambda each: each[0])),
            with_gaps(self._operations, self._tables_before, [-1] * count, cycles),
            tuple(self._stores),
        )
        return RandomProgram(VectorExecutable(self._design, graph, (program,)), self._memory)

    def _to_output(self, source: Slot | Stream, held: _Held) -> None:
        assert held.prime is not None  # so is all that was computed
        self._emit(Point(source, (self._kept(held.prime, None),)))
        self._stores.append(Store(self._output(held.form), self._shape.rows, 0))


def _primes(design: VectorDesign, random: np.random.Generator) -> list[int]:
    """Primes that a design takes: of a word's width, and shorter ones."""
    limits = parameter_limits(design)
    shortest = max(limits.min_prime_bits, design.log_n + _PRIME_BITS_MORE)
    widths = [design.word_bits, *random.integers(shortest, design.word_bits + 1, PRIMES - 1)]
    found: list[int] = []
    for bits in widths:
        there = _core.prime_search(int(bits), design.n, _PRIMES_OF_A_WIDTH)
        found.append(int(random.choice([q for q in there if q not in found])))
    return found
