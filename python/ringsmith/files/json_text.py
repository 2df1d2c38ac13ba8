"""JSON texts from outside, and files of JSON lines that long work writes as it goes.

``files.budget`` has what a text takes in memory, by its length. The first line of a file says what
the work is, each further one is a result. A line is written whole as soon as it is known; the last
one of a run that was stopped may be cut off, and is left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ringsmith.errors import InteropError, RingsmithError
from ringsmith.files.disk import read_bounded


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


MAX_BYTES = 1 << 30


class Lines:
    """A file of results.

    Args:
        path: The file; None: nothing is kept.
        head: What every first line of such files begins with: its format and version.
        what: What the file is a record of, in the plural, for errors.

    Raises:
        InteropError: If the file is not one of JSON lines, or of another format; says what to do.
    """

    def __init__(self, path: Path | None, head: Mapping[str, Any], what: str) -> None:
        self._path, self._head = path, dict(head)
        self.head: Mapping[str, Any] | None = None
        """The first line; None: the file is new."""
        self.rows: list[Mapping[str, Any]] = []
        """The other lines that were there."""
        if path is not None and path.exists() and path.stat().st_size:
            self._read(path, what)

    def _read(self, path: Path, what: str) -> None:
        lines = read_bounded(path, MAX_BYTES).decode(errors="replace").splitlines(keepends=True)
        rows = list(_rows(lines, path))
        first = rows[0] if rows else {}
        if {name: first.get(name) for name in self._head} != self._head:
            raise InteropError(f"{path} is no record of {what}: give another file")
        self.head, self.rows = first, rows[1:]
        if not lines[-1].endswith("\n"):
            path.write_text("".join(lines[:-1]), encoding="utf-8")

    def begin(self, head: Mapping[str, Any]) -> None:
        """Writes the first line, if the file is new."""
        if self.head is None:
            self.head = {**self._head, **head}
            self.add(self.head)

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds a line."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _rows(lines: list[str], path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines) and not line.endswith("\n"):
                return  # a run was stopped while it wrote
            raise InteropError(f"{path}, line {number}: no JSON: give another file") from None
        if not isinstance(row, dict):
            raise InteropError(f"{path}, line {number}: no object: give another file")
        yield row
