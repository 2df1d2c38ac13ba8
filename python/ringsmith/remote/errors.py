"""The error of a service that refuses a request or fails."""

from ringsmith.errors import RingsmithError


class ServiceError(RingsmithError):
    """A service that refused, failed, or did not answer.

    Attributes:
        status: HTTP status; 0: there was no answer.
        code: The server's error code, such as ``queue-full``; ``unreachable``: no answer.
    """

    def __init__(self, message: str, status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.code = status, code
