"""Commands that need an extra: what is said where it is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """Names the extra of a command in the error of importing its packages.

    Raises ToolError if a package that is not ours is missing.
    """
    from ringsmith.errors import ToolError

    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ringsmith"):
            raise
        raise ToolError(
            f"ringsmith {command} needs the package {error.name}, which is not installed: "
            f"pip install 'ringsmith[{extra}]'"
        ) from None
