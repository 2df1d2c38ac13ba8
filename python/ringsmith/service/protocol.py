"""The interface's version, the types of bodies, and error answers: problem details of RFC 9457."""

from collections.abc import Mapping

from ringsmith.errors import RingsmithError

API_VERSION = 1
"""The version in the path: ``/v1``."""

OBJECT_MEDIA = "application/x-ringsmith-object"
RELIN_MEDIA = "application/x-seal-relin-keys"
GALOIS_MEDIA = "application/x-seal-galois-keys"
KEY_MEDIA = (OBJECT_MEDIA, RELIN_MEDIA, GALOIS_MEDIA)
"""Formats of uploaded keys: a Ringsmith container, or SEAL's RelinKeys or GaloisKeys."""
KIT_MEDIA = "application/x-ringsmith-kit"
PARAMETERS_MEDIA = "application/x-seal-parameters"
PROBLEM_MEDIA = "application/problem+json"
ADDRESS_MEDIA = "text/uri-list"
"""Type of a part that has the address of a kept output in place of an input's ciphertext."""


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
