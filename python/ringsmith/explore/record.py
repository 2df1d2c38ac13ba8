"""What was tried, in a file of lines that a later run goes on from; see ``files/lines.py``."""

from pathlib import Path

from ringsmith.errors import InteropError
from ringsmith.explore.points import Tried
from ringsmith.explore.request import Request
from ringsmith.files.lines import Lines

FORMAT = "ringsmith-explore"
VERSION = 1


class Record:
    """A file of what was tried.

    Args:
        path: The file; None: nothing is kept.
        request: What is explored for.

    Raises:
        InteropError: If the file belongs to another request; says what to do.
    """

    def __init__(self, path: Path | None, request: Request) -> None:
        self._request = request
        head = {"format": FORMAT, "version": VERSION}
        self._lines = Lines(path, head, "explored points")
        self.host: dict[str, dict[str, float]] = {}
        if (found := self._lines.head) is not None:
            if found.get("identity") != request.identity:
                raise InteropError(
                    f"{path} is a record of another request ({found.get('subject')} on "
                    f"{found.get('platform')}): give another file, or the same options"
                )
            if found.get("sources") != request.sources:
                raise InteropError(
                    f"{path} is of another version of {', '.join(request.architectures)} or of "
                    f"{request.platform}, which may have other numbers: give another file"
                )
            self.host = found["host"]
        self.points = [Tried.of_row(row) for row in self._lines.rows]

    def begin(self, host: dict[str, dict[str, float]]) -> None:
        """Writes the first line, if the file is new."""
        self.host = host
        request = self._request
        self._lines.begin(
            {
                "identity": request.identity,
                "sources": request.sources,
                "subject": request.subject,
                **request.recorded,
                "host": host,
            }
        )

    def add(self, point: Tried) -> None:
        """Adds a point."""
        self.points.append(point)
        self._lines.add(point.to_row())
