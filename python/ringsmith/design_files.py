"""The named designs in ``designs/``: one TOML file each, of whichever architecture it says."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ringsmith.caching import cached
from ringsmith.errors import ParameterError

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
    return [name for name in _texts() if architecture in (None, architecture_of(name))]


def architecture_of(name: str) -> str:
    """The architecture of a named design.

    Raises:
        ParameterError: If there is no design of that name.
    """
    if name not in _texts():
        raise ParameterError(f"there is no design {name!r}: choose one of {', '.join(_texts())}")
    return str(tomllib.loads(_texts()[name])["architecture"])


def load(name: str, architecture: str, kind: "type[Design]") -> "Design":
    """Loads a named design of an architecture.

    Args:
        name: The design's.
        architecture: What its file must say.
        kind: Dataclass of that architecture's designs, which checks their values.

    Raises:
        ParameterError: If there is no such design, or it is of another architecture.
    """
    known = ", ".join(named(architecture))
    if name not in _texts():
        raise ParameterError(f"there is no design {name!r}: choose one of {known}")
    if architecture_of(name) != architecture:
        raise ParameterError(
            f"design {name!r} is of architecture {architecture_of(name)!r}, and a design of "
            f"{architecture!r} is wanted: choose one of {known}"
        )
    return parse(_texts()[name], f"design {name}", architecture, kind)


def parse(
    text: str,
    origin: str,
    architecture: str,
    kind: "type[Design]",
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> "Design":
    """Reads a design from TOML text.

    Args:
        text: The file's.
        origin: What errors call it.
        architecture: What it must say.
        kind: Dataclass of that architecture's designs, which checks their values.
        replaced: Key that files may have from another version -> what to write instead.

    Raises:
        ParameterError: If the text is of another architecture, or a key is missing, unknown or has
            an illegal value.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{origin}: not a TOML file: {error}") from error
    told = table.pop("architecture", None)
    if told != architecture:
        raise ParameterError(
            f"{origin}: architecture = {told!r}, and only {architecture!r} is known here"
        )
    for key in sorted(table.keys() & replaced.keys()):
        raise ParameterError(
            f"{origin}: {key} = {table[key]!r} is no parameter of {architecture}: {replaced[key]}"
        )
    known = {field.name for field in fields(kind)}
    required = {field.name for field in fields(kind) if field.default is MISSING}
    missing, unknown = sorted(required - table.keys()), sorted(table.keys() - known)
    if missing or unknown:
        raise ParameterError(f"{origin}: missing keys: {missing}; unknown keys: {unknown}")
    return kind(**table)
