"""The executable of an accelerator: instructions, constants, and the location of every polynomial.

An executable contains no residues of inputs and no keys: these are arguments of a run. It is a JSON
file, so that it can be read, stored and checked. A file may come from an untrusted source:
everything in it is checked.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ringsmith.backends.rpau.compiler.timeline import HALT
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import prime_error
from ringsmith.backends.rpau.design.conversions import addresses
from ringsmith.backends.rpau.design.design import MAX_LOG_DEGREE, RpauDesign
from ringsmith.backends.rpau.design.slot_order import SlotOrder
from ringsmith.backends.rpau.isa.assembler import check_program
from ringsmith.backends.rpau.isa.instruction_set import Instruction
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, SEED
from ringsmith.errors import ProgramError, RingsmithError
from ringsmith.files.budget import Budget
from ringsmith.files.json_text import parse_json
from ringsmith.files.records import Decoder, Encoder
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import MAX_PRIMES
from ringsmith.graph.types import checked_integer, checked_name
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
        """The executable as a JSON file, for ``read_executable``."""
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


MAX_FILE_BYTES = 1 << 28
MAX_CYCLES = 1 << 48
"""Of one run: days at any clock, and its double still fits a device's 64-bit counter."""

_MAX_WORD = (1 << 64) - 1
_MAX_VALUES = 1 << 48


def read_executable(text: str, budget: Budget | None = None) -> Executable:
    """Reads what ``Executable.to_json`` wrote.

    Args:
        text: The text.
        budget: Memory that it may take; None: what a file of its length may.

    Raises:
        ProgramError: If the text is not an executable of this version, or does not fit its own
            design.
    """
    budget = Budget.of(len(text)) if budget is None else budget
    try:
        budget.spend_text(len(text), "the text")
        table = parse_json(text, ProgramError)
        if not isinstance(table, dict) or (table.get("format"), table.get("version")) != (
            FORMAT,
            VERSION,
        ):
            raise ProgramError(f"not a {FORMAT} file of version {VERSION}")
        executable: Executable = Decoder(budget=budget).decode(
            table.get("content"), Executable, "content"
        )
        check_executable(executable)
    except RingsmithError as error:
        raise ProgramError(
            f"damaged executable ({error!s:.400}): compile the program again"
        ) from error
    return executable


def check_executable(executable: Executable) -> None:
    """Checks that an executable is whole and fits its own design.

    Raises:
        ProgramError: Otherwise; says where.
    """
    _check_numbers(executable)
    executable.design.check_ring(executable.log_degree)
    if sorted(executable.order.rpaus) != [*range(executable.design.rpaus)]:
        raise ProgramError("its slots are not the RPAUs of its design, each once")
    _check_primes(executable)
    _check_conversions(executable)
    limbs = executable.limbs
    for values in (*executable.inputs.values(), *executable.outputs.values()):
        if not values or not set(values) <= set(range(len(executable.primes))):
            raise ProgramError("an input or an output has no limb, or one of no prime")
    if not executable.runs:
        raise ProgramError("it has no run")
    known = {place for each in executable.inputs.values() for place in _limbs(each, executable)}
    for run in executable.runs:
        _check_run(run, executable, len(limbs))
        if not {(v, rpau) for v, places in run.loads.items() for rpau in places} <= known:
            raise ProgramError("it loads a value that the host does not have")
        known |= {(v, rpau) for v, places in run.stores.items() for rpau in places}
    keys = {load.key for run in executable.runs for load in run.keys}
    if not executable.seeded <= keys:
        raise ProgramError("it loads the seed of a key, but no other part of the key")
    wanted = {place for each in executable.outputs.values() for place in _limbs(each, executable)}
    if not wanted <= known:
        raise ProgramError("an output is never stored")


def _check_primes(executable: Executable) -> None:
    """Checks primes, roots, and the constants of each slot."""
    design, primes, limbs = executable.design, executable.primes, executable.limbs
    SubroutineGraph(executable.n, primes, executable.roots, ())  # refuses no primes and no roots
    own = limbs[: len(primes)] == tuple(range(len(primes)))
    if not own or len(limbs) > design.limbs or not set(limbs) <= set(range(len(primes))):
        raise ProgramError(
            f"its limbs do not lie in the {design.limbs} modulus banks of its design"
        )
    if len(executable.constants) != len(limbs):
        raise ProgramError("it has not one constant file a slot")
    for slot, limb in enumerate(limbs):
        width = design.bits_of(executable.order.rpau(slot))
        problem = prime_error(primes[limb], design, executable.log_degree, width)
        if problem:
            raise ProgramError(problem)
    for limb, constants in zip(limbs, executable.constants, strict=True):
        if len(constants) > design.constants or not all(0 <= c < primes[limb] for c in constants):
            raise ProgramError("a constant file is too long, or holds what is no residue")


def _check_conversions(executable: Executable) -> None:
    """Checks that the device can hold the conversions."""
    design, conversions = executable.design, executable.conversions
    size = len(addresses(design)) if conversions and design.converters else 0
    if len(conversions) > design.conversions or any(
        len(words) != size or any(word >> design.word_bits for word in words)
        for words in conversions
    ):
        raise ProgramError("its conversions are not of its design, or more than it holds")


def _check_run(run: Run, executable: Executable, slot_count: int) -> None:
    """Checks a run of an executable with this number of slots."""
    design = executable.design
    program = check_program(run.words, design)
    if not len(run.words) == len(run.starts) == len(run.origins):
        raise ProgramError("its instructions, starts and origins differ in number")
    if list(run.starts) != sorted(run.starts) or run.starts[-1] > run.cycles:
        raise ProgramError("its starts do not ascend to its cycles")
    if run.peak_polys > design.work_polys:
        raise ProgramError("it uses more work polynomials than its design has")
    for what, kind, loads, size in (
        ("key", KEY_POLY, run.keys, design.key_polys),
        ("seed", SEED, run.seeds, design.seeds),
    ):
        for load in loads:
            if load.index >= size or load.mask >> design.rpaus:
                raise ProgramError(f"a {what} lies outside the {what} store")
            of_load = [executable.order.slot(load.modulus_bank, r) for r in bits_of(load.mask)]
            if any(slot >= slot_count for slot in of_load):
                raise ProgramError(f"a {what} belongs to a slot that holds no limb")
        if any(
            isinstance(load, KeyLoad) and load.sub_poly >= executable.sub_polys for load in loads
        ):
            raise ProgramError("a key has a sub-polynomial that a polynomial of its ring has not")
        _check_loaded(what, kind, loads, program)
    for values in (run.loads, run.stores):
        for slots in values.values():
            if any(
                slot >= design.work_polys or rpau >= design.rpaus for rpau, slot in slots.items()
            ):
                raise ProgramError("a value lies outside the work memory")


def _check_loaded(
    what: str, kind: str, loads: Sequence[KeyLoad | SeedLoad], program: Sequence[Instruction]
) -> None:
    """Checks that instructions find what they name in a store, and of their own modulus bank."""
    held: dict[tuple[int, int], int] = {}
    for load in loads:
        for rpau in bits_of(load.mask):
            if (load.index, rpau) in held:
                raise ProgramError(f"two {what}s have the same index in the {what} store")
            held[load.index, rpau] = load.modulus_bank
    for instruction in program:
        for operand, index in zip(instruction.operation.operands, instruction.values, strict=True):
            if operand.kind != kind:
                continue
            if any(held.get((index, rpau)) != instruction.prime for rpau in instruction.rpaus()):
                raise ProgramError(
                    f"{instruction.operation.name} takes a {what} that is not loaded for its "
                    "modulus bank"
                )


def _limbs(values: Mapping[int, int], executable: Executable) -> set[tuple[int, int]]:
    """The (value, RPAU) pairs of an input or an output."""
    return {
        (first + sub_poly, executable.order.rpau(limb))
        for limb, first in values.items()
        for sub_poly in range(executable.sub_polys)
    }


def _check_numbers(executable: Executable) -> None:
    """Checks that each number and name is one that it can be at all."""
    checked_integer("log_degree", executable.log_degree, 1, MAX_LOG_DEGREE)
    for name, places in (*executable.inputs.items(), *executable.outputs.items()):
        checked_name("name", name)
        _check_all("value of an input or output", (*places, *places.values()), _MAX_VALUES)
    _check_all("RPAU of a slot", executable.rpaus)
    for words in (executable.primes, executable.roots, executable.limbs, *executable.constants):
        _check_all("prime, root, limb or constant", words)
    for words in executable.conversions:
        _check_all("conversion", words)
    for run in executable.runs:
        _check_all("word", run.words)
        _check_all("start", run.starts, MAX_CYCLES)
        checked_integer("cycles", run.cycles, 0, MAX_CYCLES)
        checked_integer("peak_polys", run.peak_polys, 0, _MAX_WORD)
        for origin in {*run.origins}:
            op, colon, node = origin.rpartition(":")
            if colon and not (node.isascii() and node.isdecimal() and len(node) < 15):
                raise ProgramError(f"origin {origin!r:.80} does not end with the number of a node")
            checked_name("origin", op if colon else origin)
        for values in (run.loads, run.stores):
            for value, places in values.items():
                _check_all("value index", (value, *places, *places.values()), _MAX_VALUES)
        loads: Sequence[KeyLoad | SeedLoad] = (*run.keys, *run.seeds)
        for load in loads:
            checked_name("key", load.key)
            checked_integer("mask of a key", load.mask, 1, _MAX_WORD)
            _check_all("key index", (load.modulus_bank, load.index))
        for key in run.keys:
            checked_integer("digit of a key", key.digit, 0, MAX_PRIMES - 1)
            checked_integer("half of a key", key.half, 0, 1)
            checked_integer("sub-polynomial of a key", key.sub_poly, 0, _MAX_WORD)


def _check_all(what: str, numbers: Sequence[int], most: int = _MAX_WORD) -> None:
    if numbers and not (min(numbers) >= 0 and max(numbers) <= most):
        raise ProgramError(f"a {what} is outside 0 … {most}")
