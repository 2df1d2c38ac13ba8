"""TOML files from outside: what they make is bounded before they are parsed."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ringsmith.errors import RingsmithError
from ringsmith.files.disk import read_bounded

MAX_POINTS = 1 << 10
"""Points in a text. A key of n parts, ``a.b.c``, takes memory of n² words."""
_LONG_WORD = re.compile(r"\w{4097}")
"""Letters and digits in a row. A number takes 300 bytes of memory for each of its digits."""

_INTEGER_BITS = 63
"""Of TOML 1.0. A longer one, in hexadecimal digits, may have more digits than Python prints."""


def read_toml(
    path: Path, most_bytes: int, refuse: Callable[[str], RingsmithError]
) -> dict[str, Any]:
    """Returns the table of a TOML file.

    Args:
        path: The file.
        most_bytes: Its bytes, at most.
        refuse: Makes the error of a reason.

    Raises:
        InteropError: When it cannot be read, or is larger.
        RingsmithError: When it is no TOML file; as ``refuse`` makes it.
    """
    try:
        text = read_bounded(path, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refuse("not a text file") from None
    return parse_toml(text, refuse)


def parse_toml(text: str, refuse: Callable[[str], RingsmithError]) -> dict[str, Any]:
    """Returns the table of a TOML text, whose length its caller bounds.

    Args:
        text: The text.
        refuse: Makes the error of a reason.

    Raises:
        RingsmithError: When it is no TOML, or has too many points; as ``refuse`` makes it.
    """
    points = text.count(".")
    if points > MAX_POINTS:
        raise refuse(f"not a TOML file: it has {points} points, and at most {MAX_POINTS} are read")
    if _LONG_WORD.search(text):
        raise refuse("not a TOML file: it has a word or number of more than 4096 characters")
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse(f"not a TOML file: {error}") from None
    if any(abs(each) >> _INTEGER_BITS for each in _integers(table)):
        raise refuse(f"not a TOML file: an integer has more than {_INTEGER_BITS} bits and a sign")
    return table


def _integers(table: dict[str, Any]) -> Iterator[int]:
    """Yields all integers of a table, of tables and of lists in it."""
    waiting: list[Any] = [table]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int):
            yield value
