"""Reads an executable's JSON file. It may come from an untrusted source: everything is checked.

Reading takes integers and texts for what they are only, never a 3.0 or a "3", and bounds each of
them; checking then holds the executable against its own design.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ringsmith.backends.rpau.compiler.executable import (
    FORMAT,
    LATER,
    VERSION,
    Executable,
    KeyLoad,
    Places,
    Run,
    SeedLoad,
)
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import prime_refusal
from ringsmith.backends.rpau.design.conversions import addresses
from ringsmith.backends.rpau.design.design import MAX_LOG_DEGREE, RpauDesign
from ringsmith.backends.rpau.isa.assembler import check_program
from ringsmith.backends.rpau.isa.instruction_set import Instruction
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, SEED
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import MAX_PRIMES
from ringsmith.graph.types import checked_integer, checked_name

MAX_FILE_BYTES = 1 << 28
MAX_CYCLES = 1 << 48
"""Of one run: days at any clock, and its double still fits a device's 64-bit counter."""

_DAMAGES = (
    *(ProgramError, KeyError, TypeError, ValueError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What reading a damaged file raises, here and in the classes that are made of what is read."""

_MAX_WORD = (1 << 64) - 1
_MAX_VALUES = 1 << 48


def read_executable(text: str) -> Executable:
    """Reads what ``Executable.to_json`` wrote.

    Raises:
        ProgramError: If the text is not an executable of this version, or does not fit its own
            design.
    """
    if len(text) > MAX_FILE_BYTES:
        raise ProgramError(
            f"the executable has {len(text)} characters and the limit is {MAX_FILE_BYTES}: "
            "split the program"
        )
    try:
        table = json.loads(text)
        found = (table.pop("format"), table.pop("version"))
        current = found == (FORMAT, VERSION) and type(found[1]) is int
        executable = _executable(table) if current else None
        if executable is not None:
            check_executable(executable)
    except _DAMAGES as error:
        raise ProgramError(
            f"damaged executable ({error!s:.400}): compile the program again"
        ) from error
    if executable is None:
        raise ProgramError(f"not a {FORMAT} file of version {VERSION}: compile the program again")
    return executable


def check_executable(executable: Executable) -> None:
    """Checks that an executable is whole and fits its own design.

    Raises:
        ProgramError: Otherwise; says where.
    """
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
        raise ProgramError("it loads the seed of a key of which it loads no other part")
    wanted = {place for each in executable.outputs.values() for place in _limbs(each, executable)}
    if not wanted <= known:
        raise ProgramError("an output is never stored")


def _check_primes(executable: Executable) -> None:
    """Checks primes, roots, and the constants of each slot."""
    design, primes, limbs = executable.design, executable.primes, executable.limbs
    SubroutineGraph(executable.n, primes, executable.roots, ())  # refuses no primes and no roots
    own = limbs[: len(primes)] == tuple(range(len(primes)))
    if not own or len(limbs) > design.limbs or not set(limbs) <= set(range(len(primes))):
        raise ProgramError(f"its limbs do not lie in the {design.limbs} prime sets of its design")
    if len(executable.constants) != len(limbs):
        raise ProgramError("it has not one constant file a slot")
    for slot, limb in enumerate(limbs):
        width = design.bits_of(executable.order.rpau(slot))
        refusal = prime_refusal(primes[limb], design, executable.log_degree, width)
        if refusal:
            raise ProgramError(refusal)
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
    """Checks a run of an executable with so many slots."""
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
            of_load = [executable.order.slot(load.prime_set, r) for r in bits_of(load.mask)]
            if any(slot >= slot_count for slot in of_load):
                raise ProgramError(f"a {what} belongs to a slot that holds no limb")
        if any(isinstance(load, KeyLoad) and load.piece >= executable.pieces for load in loads):
            raise ProgramError("a key has a piece that a polynomial of its ring has not")
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
                raise ProgramError(f"two {what}s lie in one place of the {what} store")
            held[load.index, rpau] = load.prime_set
    for instruction in program:
        for operand, index in zip(instruction.operation.operands, instruction.values, strict=True):
            if operand.kind != kind:
                continue
            if any(held.get((index, rpau)) != instruction.prime for rpau in instruction.rpaus()):
                raise ProgramError(
                    f"{instruction.operation.name} takes a {what} that is not loaded for its "
                    "prime set"
                )


def _limbs(values: Mapping[int, int], executable: Executable) -> set[tuple[int, int]]:
    """The (value, RPAU) pairs of an input or an output."""
    return {
        (first + piece, executable.order.rpau(limb))
        for limb, first in values.items()
        for piece in range(executable.pieces)
    }


# Reading: from JSON values to integers and texts within bounds --------------------------------


def _executable(table: object) -> Executable:
    entries = {name: [] for name in LATER} | _entries("the file", table, Executable, LATER)
    design = RpauDesign(**entries["design"])
    return Executable(
        design=design,
        log_degree=checked_integer("log_degree", entries["log_degree"], 1, MAX_LOG_DEGREE),
        primes=_integers("prime", entries["primes"]),
        roots=_integers("root", entries["roots"]),
        limbs=_integers("limb", entries["limbs"]),
        constants=tuple(
            _integers("constant", values) for values in _list("constants", entries["constants"])
        ),
        inputs=_named("input", entries["inputs"]),
        outputs=_named("output", entries["outputs"]),
        runs=tuple(_run(run) for run in _list("runs", entries["runs"])),
        rpaus=_integers("RPAU of a slot", entries["rpaus"]),
        conversions=tuple(
            _integers("conversion", words) for words in _list("conversions", entries["conversions"])
        ),
    )


def _run(value: object) -> Run:
    entries = _entries("a run", value, Run)
    return Run(
        words=_integers("word", entries["words"]),
        starts=_integers("start", entries["starts"], MAX_CYCLES),
        origins=tuple(_origin(origin) for origin in _list("origins", entries["origins"])),
        cycles=checked_integer("cycles", entries["cycles"], 0, MAX_CYCLES),
        peak_polys=checked_integer("peak_polys", entries["peak_polys"], 0, _MAX_WORD),
        keys=tuple(_key(load) for load in _list("keys", entries["keys"])),
        seeds=tuple(_seed(load) for load in _list("seeds", entries["seeds"])),
        loads=_places("load", entries["loads"]),
        stores=_places("store", entries["stores"]),
    )


def _key(value: object) -> KeyLoad:
    entries = _entries("a key", value, KeyLoad)
    return KeyLoad(
        key=checked_name("key", entries["key"]),
        digit=checked_integer("digit of a key", entries["digit"], 0, MAX_PRIMES - 1),
        half=checked_integer("half of a key", entries["half"], 0, 1),
        prime_set=checked_integer("prime set of a key", entries["prime_set"], 0, _MAX_WORD),
        piece=checked_integer("piece of a key", entries["piece"], 0, _MAX_WORD),
        index=checked_integer("index of a key", entries["index"], 0, _MAX_WORD),
        mask=checked_integer("mask of a key", entries["mask"], 1, _MAX_WORD),
    )


def _seed(value: object) -> SeedLoad:
    entries = _entries("a seed", value, SeedLoad)
    return SeedLoad(
        key=checked_name("key", entries["key"]),
        prime_set=checked_integer("prime set of a seed", entries["prime_set"], 0, _MAX_WORD),
        index=checked_integer("index of a seed", entries["index"], 0, _MAX_WORD),
        mask=checked_integer("mask of a seed", entries["mask"], 1, _MAX_WORD),
    )


def _origin(value: object) -> str:
    """The op of an HE operation, with or without the number of its node: ``rotate:12``."""
    if not isinstance(value, str):
        raise ProgramError(f"origin {value!r:.80} is no text")
    op, colon, node = value.rpartition(":")
    if colon:
        _number("node of an origin", node)
    checked_name("origin", op if colon else value)
    return value


def _named(what: str, value: object) -> dict[str, dict[int, int]]:
    """The values of inputs or outputs by their names."""
    return {
        checked_name(f"{what} name", name): _numbered(what, values)
        for name, values in _object(what, value).items()
    }


def _places(what: str, value: object) -> Places:
    return {
        _number(f"value of a {what}", number): _numbered(what, places)
        for number, places in _object(what, value).items()
    }


def _numbered(what: str, value: object) -> dict[int, int]:
    """A mapping from numbers, which JSON made texts, to numbers."""
    return {
        _number(what, number): checked_integer(what, entry, 0, _MAX_VALUES)
        for number, entry in _object(what, value).items()
    }


def _number(what: str, text: str) -> int:
    number = checked_integer(what, int(text), 0, _MAX_VALUES)
    if str(number) != text:  # such as " 1", "+1", "1_0"
        raise ProgramError(f"{what} {text!r:.80} is not how number {number} is written")
    return number


def _integers(what: str, value: object, high: int = _MAX_WORD) -> tuple[int, ...]:
    return tuple(checked_integer(what, each, 0, high) for each in _list(what, value))


def _list(what: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ProgramError(f"{what} {value!r:.80} stands where a list belongs")
    return value


def _object(what: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProgramError(f"{what} {value!r:.80} stands where an object belongs")
    return value


def _entries(
    what: str,
    value: object,
    kind: type[Executable | Run | KeyLoad | SeedLoad],
    later: Sequence[str] = (),
) -> dict[str, Any]:
    """An object with the attributes of a dataclass, no more, and no fewer but the later ones."""
    entries, names = _object(what, value), {field.name for field in fields(kind)}
    wrong = sorted((entries.keys() ^ names) - (set(later) - entries.keys()))
    if wrong:
        raise ProgramError(f"{what} lacks, or has without need, {wrong[:8]!r:.200}")
    return entries
