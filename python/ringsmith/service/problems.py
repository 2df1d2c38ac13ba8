"""What the server answers where it does not do what it was asked: RFC 9457's problem details."""

from collections.abc import Mapping

from ringsmith.errors import RingsmithError

MEDIA = "application/problem+json"


class ProblemError(RingsmithError):
    """A request that is refused.

    Attributes:
        status: HTTP status.
        code: A word for programs, such as ``queue-full``.
        headers: Headers of the answer.
    """

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code = status, code
        self.headers = dict(headers or {})


def not_found(what: str) -> ProblemError:
    """The answer for what is not there, and for what is another client's."""
    return ProblemError(404, "not-found", f"there is no {what}")
