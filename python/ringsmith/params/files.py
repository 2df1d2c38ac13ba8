"""Parameter sets as TOML files: the arguments of ``create`` or ``from_primes``, and the scheme."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ringsmith.errors import InteropError, ParameterError
from ringsmith.files.toml_text import read_toml
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.bootstrapping import Bootstrapping
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.ring import RlweParameters

SUFFIX = ".toml"
"""What ends with it is the path of a file, and no name of a set."""
MAX_FILE_BYTES = 1 << 16

_SCHEMES: Mapping[str, type[CkksParameters] | type[BfvParameters]] = {
    "ckks": CkksParameters,
    "bfv": BfvParameters,
}
_PRIMES = "data_primes"
"""The key that says that primes are given, and not their sizes."""
_BOOTSTRAPPING = "bootstrapping"
"""The key of the table of CKKS's bootstrapping."""
_ANY_SECURITY = 0
"""In a file, in place of None."""


def parameters_file(path: str | Path) -> CkksParameters | BfvParameters:
    """Reads a parameter set from a TOML file.

    ``scheme`` is ``ckks`` or ``bfv``. The other keys are the arguments of that class's ``create``,
    or of its ``from_primes`` where ``data_primes`` is among them. ``security = 0`` stands for None,
    and the name is the file's where none is given.

    Raises:
        ParameterError: When the file cannot be read, has a key that is missing, unknown or of
            another type, or its parameters cannot be; begins with the path.
    """
    table = _table(Path(path))
    scheme = table.pop("scheme", None)
    if not isinstance(scheme, str) or scheme not in _SCHEMES:
        raise ParameterError(f"{path}: scheme = {scheme!r:.40}: write one of {', '.join(_SCHEMES)}")
    kind = _SCHEMES[scheme]
    stages = table.pop(_BOOTSTRAPPING, None) if kind is CkksParameters else None
    make = kind.from_primes if _PRIMES in table else kind.create
    _check_keys(str(path), table, make)
    if table.get("security") == _ANY_SECURITY:
        table["security"] = None
    try:
        if stages is not None:
            table[_BOOTSTRAPPING] = _bootstrapping(str(path), stages)
        return make(**{"name": Path(path).stem, **table})
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def parameters_text(parameters: RlweParameters) -> str:
    """Returns a parameter set as the text of its file, with its primes."""
    given = {field.name: getattr(parameters, field.name) for field in fields(parameters)}
    special = given.pop("special_primes")
    given |= {"special_prime": special, "security": _ANY_SECURITY}
    given = {name: value for name, value in given.items() if value is not None}
    stages = given.pop(_BOOTSTRAPPING, None)
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in given.items()]
    if stages is not None:
        rows = [f"{field.name} = {getattr(stages, field.name)}" for field in fields(stages)]
        lines += [f"\n[{_BOOTSTRAPPING}]", *rows]
    return "\n".join([f'scheme = "{parameters.scheme}"', *lines, ""])


def _bootstrapping(path: str, stages: object) -> Bootstrapping:
    """Returns the table ``[bootstrapping]``, whose keys are the fields of ``Bootstrapping``."""
    known = [field.name for field in fields(Bootstrapping)]
    if not isinstance(stages, dict) or stages.keys() - set(known):
        raise ParameterError(
            f"{path}: [{_BOOTSTRAPPING}] = {stages!r:.80}: it is a table of {', '.join(known)}"
        )
    return Bootstrapping(**stages)


def _table(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, MAX_FILE_BYTES, lambda why: ParameterError(f"{path}: {why}"))
    except InteropError as error:
        raise ParameterError(f"parameters {error}") from None


def _check_keys(path: str, table: Mapping[str, object], make: Callable[..., object]) -> None:
    """Refuses keys that are missing, unknown or of another type."""
    known = inspect.signature(make).parameters
    needed = {name for name, each in known.items() if each.default is inspect.Parameter.empty}
    missing, unknown = sorted(needed - table.keys()), sorted(table.keys() - known.keys())
    if missing or unknown:
        raise ParameterError(
            f"{path}: missing keys: {missing}; unknown keys: {unknown}: the keys are "
            f"{', '.join(known)}"
        )
    for name, value in table.items():
        wanted = inspect.formatannotation(known[name].annotation)
        if not _is_of(value, wanted):
            raise ParameterError(f"{path}: {name} = {value!r:.60} is no {_word(wanted)}")


def _is_of(value: object, wanted: str) -> bool:
    """Whether a value of a TOML file is of an annotated type."""
    if isinstance(value, list):
        return "[" in wanted and all(type(each) is int for each in value)
    if type(value) is int:
        return wanted.startswith(("int", "float"))
    return type(value).__name__ == wanted


def _word(wanted: str) -> str:
    words = {"str": "text", "float": "number", "int": "whole number"}
    parts = [
        "list of whole numbers" if "[" in each else words.get(each, "")
        for each in wanted.split(" | ")
    ]
    return " or ".join(filter(None, parts))
