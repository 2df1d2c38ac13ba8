"""A server's folder: its lock and its layout.

::

    lock               held by the server that runs
    secret             what revisions of programs are made with
    service.sqlite3    clients, keys, jobs
    programs/          what workers load, by name and revision
    keys/CLIENT/PARAMETERS/DIGEST    uploaded keys; with ".part" while they come
    jobs/JOB/NUMBER                  encrypted inputs; links, where they are kept outputs
    jobs/JOB/attempt-N-RANDOM/NUMBER encrypted outputs
"""

import fcntl
import os
import shutil
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from ringsmith.errors import ParameterError
from ringsmith.service.database import Database, KeyRecord

_MODE = 0o700


class Folder:
    """A server's folder, locked until it is closed."""

    def __init__(self, path: Path, *, lock: bool = True) -> None:
        """Opens a folder; creates it if there is none.

        Raises ParameterError if it is no such folder, or another server uses it.
        """
        self.path = Path(path)
        try:
            self.path.mkdir(mode=_MODE, parents=True, exist_ok=True)
            for name in ("programs", "keys", "jobs"):
                (self.path / name).mkdir(mode=_MODE, exist_ok=True)
        except OSError as error:
            raise ParameterError(f"--data {path}: cannot be made: {error.strerror}") from None
        self._lock = self._locked() if lock else None
        self.database = Database(self.tables)
        os.chmod(self.tables, 0o600)  # noqa: PTH101

    def _locked(self) -> int:
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ParameterError(
                f"--data {self.path}: another server uses this folder: end it, or name another one"
            ) from None
        return descriptor

    def close(self) -> None:
        """Closes the tables and unlocks the folder."""
        self.database.close()
        if self._lock is not None:
            os.close(self._lock)

    @property
    def tables(self) -> Path:
        """The path of the database."""
        return self.path / "service.sqlite3"

    @property
    def programs(self) -> Path:
        """The path of the workers' programs."""
        return self.path / "programs"

    def key(self, key: KeyRecord) -> Path:
        """The path of uploaded keys."""
        return self.path / "keys" / str(key.client) / key.parameters / key.digest

    def key_part(self, key: KeyRecord) -> Path:
        """The path of keys that are being uploaded."""
        return self.key(key).with_suffix(".part")

    def remove_key(self, key: KeyRecord) -> None:
        """Removes the files of uploaded keys."""
        self.key(key).unlink(missing_ok=True)
        self.key_part(key).unlink(missing_ok=True)

    def job(self, identifier: str) -> Path:
        """The path of a job's files."""
        return self.path / "jobs" / identifier

    def make_job(self, identifier: str) -> Path:
        """Makes a job's folder for its inputs."""
        folder = self.job(identifier)
        folder.mkdir(mode=_MODE)
        return folder

    def remove_job(self, identifier: str) -> None:
        """Removes a job's files."""
        shutil.rmtree(self.job(identifier), ignore_errors=True)

    def input_files(self, identifier: str, names: Sequence[str]) -> dict[str, str]:
        """Paths of a job's inputs by name."""
        return {name: str(self.job(identifier) / str(i)) for i, name in enumerate(names)}

    def link_input(self, output: Path, identifier: str, number: int) -> None:
        """Makes a stored output an input of a job, without a copy; each can be removed alone.

        Raises OSError if the output is gone.
        """
        (self.job(identifier) / str(number)).hardlink_to(output)

    def sweep(self, jobs: Container[str], keys: Iterable[KeyRecord]) -> None:
        """Removes files that a killed server left."""
        for path in (self.path / "jobs").iterdir():
            if path.name not in jobs:
                shutil.rmtree(path, ignore_errors=True)
        known = {path for key in keys for path in (self.key(key), self.key_part(key))}
        for path in (self.path / "keys").glob("*/*/*"):
            if path not in known:
                path.unlink(missing_ok=True)
