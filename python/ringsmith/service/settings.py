"""A server's settings from a TOML file: limits of sizes and times, and a quota per client."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ringsmith.errors import ParameterError
from ringsmith.files.toml_text import read_toml

_MAX_FILE = 1 << 20

T = TypeVar("T", "Limits", "Quota")


@dataclass(frozen=True)
class Quota:
    """The quota of one client.

    Attributes:
        key_bytes: Bytes of evaluation keys on the server's disk.
        key_files: Uploads of keys on the server's disk, also unfinished and refused ones.
        job_bytes: Bytes of inputs and results of jobs, from when a request begins to send them.
        waiting_jobs: Jobs whose inputs arrive, or that wait or run, at once.
        compute_seconds: Seconds of a worker in each hour: of its device, to read inputs and keys,
            also of jobs that fail and of keys that are refused.
    """

    key_bytes: int = 4 << 30
    key_files: int = 256
    job_bytes: int = 1 << 30
    waiting_jobs: int = 64
    compute_seconds: float = 3600.0


@dataclass(frozen=True)
class Limits:
    """Limits for all clients together, and time limits.

    Attributes:
        connections: TCP connections at once.
        address_connections: Those of one address, or of one network of IPv6 (/64).
        waiting_jobs: Jobs that wait at once.
        upload_bytes: Maximum bytes of one part of a key upload.
        header_seconds: From the first byte of a request's header to its last; also of a TLS
            handshake.
        idle_seconds: Time in which a client must send or receive some bytes.
        wait_seconds: How long a job may wait for a device.
        run_seconds: How long a job may run.
        silent_seconds: After how long a worker process that does not answer is replaced.
        answer_seconds: How long a request waits for its job before the client must ask again.
        keep_seconds: How long results and their jobs are kept, and unfinished uploads.
        attempts: How often a job is started if its worker process dies.
        patience_seconds: Device time by which jobs with loaded keys may overtake others.
    """

    connections: int = 512
    address_connections: int = 256
    waiting_jobs: int = 1024
    upload_bytes: int = 64 << 20
    header_seconds: float = 10.0
    idle_seconds: float = 30.0
    wait_seconds: float = 3600.0
    run_seconds: float = 3600.0
    silent_seconds: float = 30.0
    answer_seconds: float = 300.0
    keep_seconds: float = 86_400.0
    attempts: int = 3
    patience_seconds: float = 0.5


@dataclass(frozen=True)
class Settings:
    """Limits, the quota of clients, and those of single clients by name."""

    limits: Limits = field(default_factory=Limits)
    quota: Quota = field(default_factory=Quota)
    quotas: Mapping[str, Quota] = field(default_factory=dict)

    def of(self, client: str) -> Quota:
        """Returns the quota of a client."""
        return self.quotas.get(client, self.quota)


def load_settings(path: Path) -> Settings:
    """Reads settings from a TOML file: tables ``limits``, ``quota`` and ``quota.NAME``.

    Raises ParameterError if it is no such file; names the entry; InteropError if it cannot be read.
    """
    table = read_toml(path, _MAX_FILE, lambda why: ParameterError(f"{path}: {why}"))
    unknown = sorted(table.keys() - {"limits", "quota"})
    if unknown:
        raise ParameterError(f"{path}: unknown table {unknown[0]!r}: there are limits and quota")
    own = table.get("quota", {})
    if not isinstance(own, dict):
        raise ParameterError(f"{path}: quota is not a table")
    by_name = {name: value for name, value in own.items() if isinstance(value, dict)}
    general = {name: value for name, value in own.items() if name not in by_name}
    quota = _changed(Quota(), general, f"{path}: quota")
    return Settings(
        _changed(Limits(), table.get("limits", {}), f"{path}: limits"),
        quota,
        {name: _changed(quota, value, f"{path}: quota.{name}") for name, value in by_name.items()},
    )


def _changed(default: T, table: object, where: str) -> T:
    """Returns the values, overridden by those of a table.

    Raises ParameterError if an entry is unknown, or no positive number of its kind.
    """
    if not isinstance(table, dict):
        raise ParameterError(f"{where} is not a table")
    kinds = {each.name: type(getattr(default, each.name)) for each in fields(default)}
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name not in kinds:
            raise ParameterError(f"{where}.{name} is unknown: choose one of {', '.join(kinds)}")
        if isinstance(value, bool) or not isinstance(value, int | kinds[name]) or not value > 0:
            kind = "whole number" if kinds[name] is int else "number"
            raise ParameterError(f"{where}.{name} = {value!r:.40}: give a {kind} above 0")
        found[name] = kinds[name](value)
    return replace(default, **found)
