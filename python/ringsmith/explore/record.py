"""What was tried, in a file of lines that a later run goes on from.

The first line says what was explored for, each further one is a point. A line is written whole as
soon as its point is known; the last one of a run that was stopped may be cut off, and is left out.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ringsmith.errors import InteropError
from ringsmith.explore.points import Tried
from ringsmith.explore.request import Request

FORMAT = "ringsmith-explore"
VERSION = 1


class Record:
    """A file of what was tried.

    Args:
        path: The file; None: nothing is kept.
        request: What is explored for.

    Raises:
        InteropError: If the file is none of this request; says what to do.
    """

    def __init__(self, path: Path | None, request: Request) -> None:
        self._path, self._request = path, request
        self.host: dict[str, dict[str, float]] = {}
        self.points: list[Tried] = []
        if path is not None and path.exists() and path.stat().st_size:
            self._read(path)

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        rows = list(_rows(lines, path))
        head = rows[0] if rows else {}
        if head.get("format") != FORMAT or head.get("version") != VERSION:
            raise InteropError(f"{path} is no record of explored points: give another file")
        if head.get("identity") != self._request.identity:
            raise InteropError(
                f"{path} is a record of another request ({head.get('subject')} on "
                f"{head.get('platform')}): give another file, or the same options"
            )
        if head.get("sources") != self._request.sources:
            raise InteropError(
                f"{path} is of another version of {', '.join(self._request.architectures)} or of "
                f"{self._request.platform}, which may have other numbers: give another file"
            )
        self.host = head["host"]
        self.points = [Tried.of_row(row) for row in rows[1:]]
        if lines and not lines[-1].endswith("\n"):
            path.write_text("".join(lines[:-1]), encoding="utf-8")

    def begin(self, host: dict[str, dict[str, float]]) -> None:
        """Writes the first line, if the file is new."""
        self.host = host
        if self._path is None or (self._path.exists() and self._path.stat().st_size):
            return
        head = {
            "format": FORMAT,
            "version": VERSION,
            "identity": self._request.identity,
            "sources": self._request.sources,
            "subject": self._request.subject,
            **asdict(self._request),
            "host": host,
        }
        self._write(head)

    def add(self, point: Tried) -> None:
        """Adds a point."""
        self.points.append(point)
        if self._path is not None:
            self._write(point.to_row())

    def _write(self, row: dict[str, Any]) -> None:
        assert self._path is not None
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _rows(lines: list[str], path: Path) -> Iterator[dict[str, Any]]:
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
