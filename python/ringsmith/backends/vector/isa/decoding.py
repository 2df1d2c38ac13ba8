"""Instructions from their bits: what ``encoding.py`` makes, back to the compiler's records.

What an instruction does is there again; what only the compiler knows is not. The origin of a
decoded instruction is -1, and a forward transform reduces all of its sources, as the hardware does.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ringsmith.backends.vector.isa.instruction_set import INSTRUCTION, LOAD, ORIGIN, STORE
from ringsmith.backends.vector.isa.instructions import (
    Automorph,
    Computing,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Result,
    Same,
    Slot,
    Source,
    Store,
    Stream,
    Transform,
)
from ringsmith.errors import ProgramError

_ORIGINS = tuple(ORIGIN.values)


def instruction(number: int) -> Computing:
    """An instruction of list ``computing``.

    Args:
        number: The bits of structure ``instruction``.

    Raises:
        ProgramError: If there are bits above the structure.
    """
    _check("instruction", number, INSTRUCTION.width)
    found = INSTRUCTION.unpack(number)
    return Computing(_operation(found["operation"]), found["gap"], found["tables"], -1)


def load(number: int, limbs: Mapping[int, Limb]) -> Load:
    """An instruction of list ``loads``.

    Args:
        number: The bits of structure ``load``.
        limbs: What lies in memory, by its first row.

    Raises:
        ProgramError: If nothing begins at its address, or reserved bits are not zero.
    """
    _check("load", number, LOAD.width)
    found = LOAD.unpack(number)
    _check_reserved("load", found)
    after = (found["after_cluster"], found["after_store"]) if found["after_store"] else None
    return Load(
        _limb(found["address"], limbs),
        found["rows"],
        None if found["to_table"] else found["stream"],
        found["table_row"],
        after,
        found["after_computing"],
    )


def store(number: int, limbs: Mapping[int, Limb]) -> Store:
    """An instruction of list ``stores``; arguments and errors are those of ``load``."""
    _check("store", number, STORE.width)
    found = STORE.unpack(number)
    _check_reserved("store", found)
    return Store(_limb(found["address"], limbs), found["rows"], found["stream"])


def _check(what: str, number: int, width: int) -> None:
    if not 0 <= number < 1 << width:
        raise ProgramError(
            f"{number:#x} is no {what}: it has {number.bit_length()} bits, and structure {what} "
            f"{width}: check where its words begin"
        )


def _check_reserved(what: str, found: Mapping[str, Any]) -> None:
    if found["reserved"]:
        raise ProgramError(
            f"{what}.reserved = {found['reserved']} is not 0: check where its words begin"
        )


def _limb(address: int, limbs: Mapping[int, Limb]) -> Limb:
    if address not in limbs:
        raise ProgramError(
            f"nothing begins at row {address} of memory: give the addresses of the same program"
        )
    return limbs[address]


def _operation(found: Mapping[str, Any]) -> Operation:
    if not found["point"]:
        inverse = bool(found["inverse"])
        entries = found["entry"][: found["last"] + 1]
        return Transform(inverse, tuple(_entry(each, not inverse) for each in entries))
    x = _source(found["x"], 0)
    if not isinstance(x, Slot | Stream):
        _refuse("x", x)
    results = _results(found["result"])
    if found["element"] == 1:
        return Point(x, results)
    if len(results) != 1 or results[0].target is None or not isinstance(x, Slot):
        _refuse("an automorphism", (x, results))
    return Automorph(found["element"], results[0].prime, x, results[0].target)


def _refuse(what: str, found: object) -> NoReturn:
    raise ProgramError(f"{what} cannot be {found}: these are no bits of an instruction")


def _entry(found: Mapping[str, Any], reduce: bool) -> Entry:
    source = _source(found["source"], 0)
    if not isinstance(source, Slot | Stream):
        _refuse("the source of a transform", source)
    return Entry(found["prime"], found["table_row"], source, _slot(found["target"]), reduce)


def _results(found: Sequence[Mapping[str, Any]]) -> tuple[Result, ...]:
    """The results of a point instruction: up to the last one that goes anywhere."""
    used = [number for number, each in enumerate(found) if each["writes"] or each["stores"]]
    return tuple(_result(each) for each in found[: max(used, default=-1) + 1])


_NONE = {"origin": ORIGIN.number("from_word"), "slot": {"bank": 0, "index": 0}}


def _result(found: Mapping[str, Any]) -> Result:
    z = (
        None
        if found["z"] == _NONE and not found["z_word"]
        else _source(found["z"], found["z_word"])
    )
    if isinstance(z, Stream):
        _refuse("z", z)
    return Result(
        found["prime"],
        _source(found["y"], found["y_word"]),
        z,
        bool(found["subtract"]),
        _slot(found["target"]) if found["writes"] else None,
        bool(found["stores"]),
    )


def _slot(found: Mapping[str, int]) -> Slot:
    return Slot(found["bank"], found["index"])


def _source(found: Mapping[str, Any], word: int) -> Source:
    origin, slot = _ORIGINS[found["origin"]], _slot(found["slot"])
    if origin == "from_bank":
        return slot
    if origin == "from_stream":
        return Stream(slot.bank)
    return Constant(word) if origin == "from_word" else Same()
