"""JSON texts from outside; ``files.budget`` has what one takes in memory, by its length."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

from ringsmith.errors import RingsmithError


def parse_json(text: bytes | str, refuse: Callable[[str], RingsmithError]) -> Any:  # noqa: ANN401 - a JSON value
    """Returns the value of a JSON text. An object has no key twice, and numbers are finite.

    Args:
        text: The text, whose length the caller limits; bytes are UTF-8.
        refuse: Makes the error of a reason.

    Raises:
        RingsmithError: When it is no such text; as ``refuse`` makes it.
    """
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise refuse(f"its text is not JSON: {error!s:.200}") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has one key twice")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
