"""Lists of HEIR's modules: what ``ringsmith bench heir`` measures."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ParameterError
from ringsmith.files.arrays import read_array
from ringsmith.files.toml_text import read_toml
from ringsmith.heir import guessed_scheme
from ringsmith.heir.compiler import DEFAULT_SLOTS, LARGEST_SLOTS, Lowering
from ringsmith.heir.module import PLAIN_MODULUS, Scheme

_MAX_FILE = 1 << 20
"""Bytes of a list, at most."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, eq=False)
class Module:
    """An input module of HEIR, and how it is compiled and run.

    Attributes:
        name: What results call it.
        file: The module.
        schemes: The schemes that it is compiled to.
        slots: Slots S of a vector.
        plain_modulus: t of BFV and BGV.
        bound: Secret numbers are drawn from -bound … bound, whole ones from 0 … bound.
        headroom_bits: Of CKKS for a design: messages stay within ±2^headroom_bits; None: 8.
        inputs: Values of secret arguments by name; others are drawn.
        clear: Values of arguments that are not secret, by name.
    """

    name: str
    file: Path
    schemes: tuple[Scheme, ...]
    slots: int = DEFAULT_SLOTS
    plain_modulus: int = PLAIN_MODULUS
    bound: float = 1.0
    headroom_bits: int | None = None
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    clear: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def lowering(self, scheme: Scheme | None) -> Lowering:
        """Returns how it is compiled to a scheme; None: to the vector level."""
        return Lowering(scheme, self.slots, self.plain_modulus)


def read_modules(path: Path) -> list[Module]:
    """Reads a list of modules: a TOML file with a table for each, or one module as an MLIR file.

    A table has the name of the module, and any of these entries: ``file`` (``NAME.mlir`` without
    it), ``schemes``, ``slots``, ``plain_modulus``, ``bound``, ``headroom_bits``, ``inputs`` and
    ``clear``. Files are named relative to the list. A value in ``inputs`` or ``clear`` is a list of
    numbers or the name of an .npy file. Raises ParameterError if it is no such list; names the
    entry; InteropError if a file cannot be read.
    """
    if path.suffix == ".mlir":
        return [Module(path.stem, path, (guessed_scheme(path),))]
    tables = read_toml(path, _MAX_FILE, lambda why: ParameterError(f"{path}: {why}"))
    if not tables:
        raise ParameterError(f"{path}: names no module: write a table [NAME] for each")
    return [_module(path, name, table) for name, table in tables.items()]


def _module(path: Path, name: str, table: object) -> Module:
    where = f"{path}: {name:.60}"
    if not _NAME.fullmatch(name):
        raise ParameterError(f"{where}: write up to 60 letters, digits, - and _")
    if not isinstance(table, dict):
        raise ParameterError(f"{where} is not a table: write [{name}]")
    known = [each.name for each in fields(Module) if each.name != "name"]
    for entry in table:
        if entry not in known:
            raise ParameterError(f"{where}.{entry:.60} is unknown: choose of {', '.join(known)}")
    file = path.parent / _text(where, "file", table.get("file", f"{name}.mlir"))
    schemes = table.get("schemes") or [guessed_scheme(file)]
    kinds = [each.value for each in Scheme]
    if not isinstance(schemes, list) or any(each not in kinds for each in schemes):
        raise ParameterError(f"{where}.schemes = {schemes!r:.60}: list some of {', '.join(kinds)}")
    slots = _whole(where, "slots", table.get("slots", DEFAULT_SLOTS), LARGEST_SLOTS)
    if slots & (slots - 1):
        raise ParameterError(f"{where}.slots = {slots} is not a power of two")
    bound = table.get("bound", 1.0)
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not 0 < bound < 2.0**31:
        raise ParameterError(f"{where}.bound = {bound!r:.40}: give a number above 0, below 2^31")
    headroom = table.get("headroom_bits")
    if headroom is not None:
        headroom = _whole(where, "headroom_bits", headroom, 30, least=0)
    return Module(
        name,
        file,
        tuple(Scheme(each) for each in schemes),
        slots,
        _whole(where, "plain_modulus", table.get("plain_modulus", PLAIN_MODULUS), 1 << 60),
        float(bound),
        headroom,
        _arrays(path, f"{where}.inputs", table.get("inputs", {})),
        _arrays(path, f"{where}.clear", table.get("clear", {})),
    )


def _arrays(path: Path, where: str, table: object) -> dict[str, NDArray[Any]]:
    """Arrays by the name of an argument."""
    if not isinstance(table, dict):
        raise ParameterError(f"{where} is not a table: write {{ arg1 = [1.0, 2.0] }}")
    return {arg: _array(path.parent, f"{where}.{arg:.40}", v) for arg, v in table.items()}


def _array(folder: Path, where: str, value: object) -> NDArray[Any]:
    """Numbers of a list, or of the file that it names."""
    if isinstance(value, str):
        return read_array(folder / value)
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if not isinstance(value, list) or found.size == 0:
        raise ParameterError(f"{where} = {value!r:.40}: list numbers, or name an .npy file")
    return found


def _text(where: str, name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ParameterError(f"{where}.{name} = {value!r:.40}: name a file")
    return value


def _whole(where: str, name: str, value: object, most: int, least: int = 2) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ParameterError(
            f"{where}.{name} = {value!r:.40}: give a whole number in {least} … {most}"
        )
    return value
