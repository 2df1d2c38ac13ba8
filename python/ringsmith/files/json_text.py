"""JSON texts from outside: what they make is bounded before they are parsed.

A few characters of JSON make a list or an object of a hundred bytes and more. Each value but the
first follows an opening bracket or a comma, so that those, counted, bound the values.
"""

import json
from collections.abc import Callable
from typing import Any, NoReturn

from ringsmith.errors import RingsmithError

VALUE_BYTES = 300
"""Memory that a value takes, at most: an entry of an object whose keys are all different."""

_WIDE = 4
"""Bytes that Python takes for a character of a text that is not ASCII."""


def parse_json(text: bytes | str, limit: int, refuse: Callable[[str], RingsmithError]) -> Any:  # noqa: ANN401 - a JSON value
    """Returns the value of a JSON text. An object has no key twice, and numbers are finite.

    Args:
        text: The text; bytes are UTF-8.
        limit: Values that it may have, in lists and objects inside each other.
        refuse: Makes the error of a reason.

    Raises:
        RingsmithError: When it is no such text, or has more values; as ``refuse`` makes it.
    """
    check_values(text, limit, refuse)
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise refuse(f"its text is not JSON: {error!s:.200}") from None


def check_values(text: bytes | str, limit: int, refuse: Callable[[str], RingsmithError]) -> None:
    """Refuses a JSON text of more values than ``limit``; see ``parse_json``."""
    if isinstance(text, str):
        values = sum(text.count(mark) for mark in "[{,")
    else:
        values = sum(text.count(mark) for mark in (b"[", b"{", b","))
    if values > limit:
        raise refuse(
            f"its text has {values} brackets and commas, and at most {limit} are read: it is made "
            "to exhaust memory, or too large"
        )
    if not text.isascii() and len(text) > limit * VALUE_BYTES // _WIDE:
        raise refuse(f"its text of {len(text)} characters is not ASCII, and too long for that")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has one key twice")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
