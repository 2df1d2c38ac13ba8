"""The server's error answers: problem details of RFC 9457."""

from collections.abc import Mapping

from ringsmith.errors import RingsmithError

MEDIA = "application/problem+json"


class ProblemError(RingsmithError):
    """A request that is refused.

    Attributes:
        status: HTTP status.
        code: An error code for programs, such as ``queue-full``.
        headers: Headers of the answer.
    """

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code = status, code
        self.headers = dict(headers or {})


def not_found(what: str) -> ProblemError:
    """Returns the answer for an object that does not exist or is another client's."""
    return ProblemError(404, "not-found", f"there is no {what}")
