"""Designs as TOML files: the named ones in ``designs/``, and files of users."""

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from ringsmith.caching import cached
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files import read_bounded
from ringsmith.files.records import fields_of
from ringsmith.files.toml_text import parse_toml

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Design = TypeVar("Design", bound=DataclassInstance)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,._:-]{0,63}")


def check_name(name: object) -> None:
    """Refuses a design's name that could not be the name of a file.

    Raises:
        ParameterError: If it is no text of 1 to 64 letters, digits, spaces, ``-``, ``_``, ``:``,
            ``,`` and ``.``, a letter or digit first.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            f"name = {name!r:.80} is no design's name: take 1 to 64 letters, digits, spaces, "
            "'-', '_', ':', ',' and '.', a letter or digit first"
        )


SUFFIX = ".toml"
"""What ends with it is the path of a file, and no name."""
MAX_FILE_BYTES = 1 << 16


@cached
def _texts() -> dict[str, str]:
    """The files' texts by design, sorted."""
    folder = resources.files("ringsmith") / "designs"
    entries = (entry for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return {
        Path(entry.name).stem: entry.read_text(encoding="utf-8")
        for entry in sorted(entries, key=lambda entry: entry.name)
    }


def named(architecture: str | None = None) -> list[str]:
    """Names of the designs that come with Ringsmith: all, or those of one architecture."""
    return [name for name, own in _architectures().items() if architecture in (None, own)]


@cached
def _architectures() -> dict[str, str]:
    """Architectures by named design."""
    return {name: str(tomllib.loads(text)["architecture"]) for name, text in _texts().items()}


def architecture_of(name: str, known: Collection[str] | None = None) -> str:
    """The architecture of a design: of a name, or of the path of a TOML file.

    Args:
        name: The design's, or the path of its file.
        known: The architectures that there are; None: those of the named designs.

    Raises:
        ParameterError: If there is no design of that name, or the file does not describe a design.
    """
    table = _table(_text(name, named()), _origin(name))
    architecture = table.get("architecture")
    known = sorted(set(_architectures().values())) if known is None else known
    if architecture not in known:
        raise ParameterError(
            f"{_origin(name)}: architecture = {architecture!r:.60} is not one of {', '.join(known)}"
        )
    return str(architecture)


def text(name: str) -> str:
    """The text of a design's file.

    Args:
        name: The design's, or the path of a TOML file.

    Raises:
        ParameterError: If there is no such design, or the file cannot be read.
    """
    return _text(name, named())


def to_toml(design: "DataclassInstance", architecture: str) -> str:
    """A design as the text of its file: what differs from its parameters' defaults."""
    lines = [f'architecture = "{architecture}"']
    for field in fields(design):
        value = getattr(design, field.name)
        if value != field.default:
            lines.append(f"{field.name} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _text(name: str, known: list[str]) -> str:
    """The text of a design's file."""
    if not name.endswith(SUFFIX):
        if name in _texts():
            return _texts()[name]
        raise ParameterError(
            f"there is no design {name!r}: choose one of {', '.join(known)}, or give the path of a "
            f"file that ends with {SUFFIX}"
        )
    try:
        return read_bounded(Path(name), MAX_FILE_BYTES).decode()
    except InteropError as error:
        raise ParameterError(f"design {error}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"design {name}: not a text file") from None


def _origin(name: str) -> str:
    return f"design {name}"


def _table(text: str, origin: str) -> dict[str, Any]:
    return parse_toml(text, lambda why: ParameterError(f"{origin}: {why}"))


def load(name: str, architecture: str, kind: "type[Design]") -> "Design":
    """Loads a design of an architecture.

    Args:
        name: The design's, or the path of a TOML file.
        architecture: What its file must say.
        kind: Dataclass of that architecture's designs, which checks their values.

    Raises:
        ParameterError: If there is no such design, or it is of another architecture.
    """
    known = named(architecture)
    text = _text(name, known)
    if architecture_of(name) != architecture:
        raise ParameterError(
            f"design {name!r} is of architecture {architecture_of(name)!r}, and a design of "
            f"{architecture!r} is wanted: choose one of {', '.join(known)}"
        )
    return parse(text, _origin(name), architecture, kind)


_WORDS = {str: "a text", int: "a whole number", bool: "true or false", float: "a number"}


def _check_types(table: Mapping[str, Any], kind: type, origin: str) -> None:
    """Refuses plain values of another type than their parameters."""
    for field, hint in fields_of(kind):
        value, types = table.get(field.name), {*get_args(hint)} or {hint}
        if field.name not in table or not types <= {*_WORDS, type(None)}:
            continue
        given = {type(value)} | ({float} if type(value) is int else set())
        if not given & types:
            wanted = " or ".join(words for each, words in _WORDS.items() if each in types)
            raise ParameterError(f"{origin}: {field.name} = {value!r:.60} is to be {wanted}")


def parse(text: str, origin: str, architecture: str, kind: "type[Design]") -> "Design":
    """Reads a design from TOML text.

    Args:
        text: The file's.
        origin: What errors call it.
        architecture: What it must say.
        kind: Dataclass of that architecture's designs, which checks their values.

    Raises:
        ParameterError: If the text is of another architecture, or a key is missing, unknown or has
            an illegal value.
    """
    table = _table(text, origin)
    given = table.pop("architecture", None)
    if given != architecture:
        raise ParameterError(
            f"{origin}: architecture = {given!r}, and only {architecture!r} is known here"
        )
    known = {field.name for field in fields(kind)}
    required = {field.name for field in fields(kind) if field.default is MISSING}
    missing, unknown = sorted(required - table.keys()), sorted(table.keys() - known)
    if missing or unknown:
        raise ParameterError(f"{origin}: missing keys: {missing}; unknown keys: {unknown}")
    _check_types(table, kind, origin)
    try:
        return kind(**table)
    except TypeError as error:
        raise ParameterError(f"{origin}: a value is not of its parameter's type: {error}") from None
