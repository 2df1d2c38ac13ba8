"""Files that commands write: reports, pictures, pages, records."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import InteropError
from ringsmith.files.disk import check_target, open_regular, whole_file, write_whole

_SEAL = b"\x5e\xa1"
_CONTAINER = b"\x89RSMITH\n"
_KEY_FORMATS = (b'"ringsmith-key-seeds"', b'"ringsmith-evaluation-keys"')
_HEAD = 4096
"""Bytes of a file in which its format is named."""


@dataclass(frozen=True)
class Target:
    """A file that a command writes when its work is done.

    Attributes:
        path: The file's name.
        force: Whether a file of that name may be replaced; a key never is.
    """

    path: Path
    force: bool = False

    def check(self, inputs: Iterable[Path | None] = ()) -> None:
        """Refuses what cannot or must not be written, before work is spent on it.

        Args:
            inputs: Files that the command reads; None for one that is not given.

        Raises:
            InteropError: When the file exists and ``force`` is not given; when it is an input, a
                key or no regular file; when its folder is missing or may not be written to.
        """
        if not self.force and self.path.is_file():
            raise InteropError(
                f"{self.path}: exists and is not overwritten: choose another name, or give --force"
            )
        check_target(self.path, overwrite=self.force, inputs=inputs)
        if self.path.exists():
            _refuse_keys(self.path)

    def write(self, content: str | bytes) -> None:
        """Writes the file, whole or not at all.

        Raises:
            InteropError: When it exists and ``force`` is not given, or it cannot be written.
        """
        data = content.encode() if isinstance(content, str) else content
        write_whole(self.path, data, overwrite=self.force)

    def whole(self) -> AbstractContextManager[Path]:
        """Returns ``whole_file`` of this file, for a writer that needs a name."""
        return whole_file(self.path, overwrite=self.force)


def check_targets(*targets: Target | None, inputs: Iterable[Path | None] = ()) -> None:
    """Checks all files of a command, None for one that is not written; see ``Target.check``.

    Raises:
        InteropError: As ``Target.check``, and when two are one file.
    """
    read, seen = list(inputs), set[Path]()
    for target in targets:
        if target is None:
            continue
        target.check(read)
        resolved = target.path.resolve()
        if resolved in seen:
            raise InteropError(f"{target.path}: two results cannot go to one file: name another")
        seen.add(resolved)


def _refuse_keys(path: Path) -> None:
    """Refuses to replace a file that may be a key: it could not be made again."""
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise InteropError(
            f"{path}: is not overwritten, since it cannot be read ({error.strerror}) and may be a "
            "key: choose another name"
        ) from None
    if head.startswith((_SEAL, _CONTAINER)) or any(name in head for name in _KEY_FORMATS):
        raise InteropError(
            f"{path}: is not overwritten, not even with --force: it may be a key: choose another "
            "name, or remove it"
        )
