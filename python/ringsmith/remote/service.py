"""Programs, keys and jobs of a service, as a client uses them."""

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import InteropError, check_type
from ringsmith.forks import PerProcess
from ringsmith.interop import (
    SealParameters,
    decode_object,
    encode_object,
    with_key_tag,
    write_galois_keys,
    write_relin_keys,
)
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import RlweParameters
from ringsmith.params.flooding import STATISTICAL_SECURITY
from ringsmith.program import ClientKit
from ringsmith.remote.connection import Connection, ServiceError, json_of
from ringsmith.remote.form import read_form, write_form
from ringsmith.schemes import program_file
from ringsmith.service.protocol import API_VERSION, GALOIS_MEDIA, OBJECT_MEDIA, RELIN_MEDIA
from ringsmith.short_repr import short_repr

if TYPE_CHECKING:
    from ringsmith.program.kit import SecretKey

_CHUNK = 8 << 20
_SLACK = 1 << 17
"""Bytes of a job's status, or of the headers of one output, at most."""
_WAIT_SECONDS = 60.0
"""Seconds that a request waits for a job; for a longer job the request is repeated."""


@short_repr
@dataclass(frozen=True, eq=False)
class RemoteProgram:
    """A program of a service, as clients see it: without its weights.

    Attributes:
        name: Its name on the service.
        revision: Changes with the program on the server.
        kit: Parameters, inputs, outputs and key needs.
    """

    name: str
    revision: str
    kit: ClientKit

    def generate_keys(
        self, *, seeded: bool = True
    ) -> "tuple[SecretKey, PublicKey, EvaluationKeys]":
        """Makes fresh keys; see ``ClientKit.generate_keys``.

        Args:
            seeded: Whether evaluation keys are seed-compressed: half of each key is sent.
        """
        return self.kit.generate_keys(seeded=seeded)

    def encrypt(
        self, public_key: PublicKey, inputs: Mapping[str, ArrayLike], *, partial: bool = False
    ) -> dict[str, Ciphertext]:
        """Encrypts inputs; see ``ClientKit.encrypt``."""
        return self.kit.encrypt(public_key, inputs, partial=partial)

    def decrypt(
        self,
        secret_key: "SecretKey",
        outputs: Mapping[str, Ciphertext],
        *,
        complex_numbers: bool = False,
        share: int | None = None,
        statistical_security: int = STATISTICAL_SECURITY,
    ) -> dict[str, NDArray[Any]]:
        """Decrypts outputs, in this process; see ``ClientKit.decrypt``."""
        return self.kit.decrypt(
            secret_key,
            outputs,
            complex_numbers=complex_numbers,
            share=share,
            statistical_security=statistical_security,
        )


@dataclass(frozen=True)
class JobStatus:
    """The status of a job.

    Attributes:
        id: The server's name for it.
        state: ``waiting``, ``running``, ``done``, ``failed`` or ``cancelled``.
        code: The error code if it failed.
        message: The error message if it failed.
        attempts: How often it was started.
        created: Time of acceptance, in seconds since 1970; ``started`` and ``ended`` likewise.
        seconds: Seconds in which the device was busy with it.
        figures: The device's counters, such as ``cycles``.
        request: The client's name for the request (``Idempotency-Key``).
    """

    id: str
    state: str
    code: str = ""
    message: str = ""
    attempts: int = 0
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    seconds: float | None = None
    figures: Mapping[str, int] = field(default_factory=dict)
    request: str | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "JobStatus":
        """Reads the status from a server's answer.

        Raises:
            ServiceError: If the answer has no status.
        """
        try:
            return cls(**{name: found[name] for name in cls.__dataclass_fields__})
        except KeyError as error:
            raise ServiceError(f"the answer has no {error} of a job", 0, "no-job") from None

    def check_answers(self, request: str | None = None, identifier: str | None = None) -> None:
        """Refuses the status of another job than the one that was asked for.

        Args:
            request: The name of the request that was sent; None: any.
            identifier: The server's name for the job that was asked for; None: any.

        Raises:
            ServiceError: If so; names both.
        """
        for what, asked, found in (
            ("request", request, self.request),
            ("job", identifier, self.id),
        ):
            if asked is not None and asked != found:
                raise ServiceError(
                    f"the answer is of {what} {found!s:.80}, and {what} {asked:.80} was asked for: "
                    "its results are another's; use one Service in each process, and look at "
                    "proxies between here and the server",
                    200,
                    "other-job",
                )

    @property
    def ended_well(self) -> bool:
        """Whether there are results."""
        return self.state == "done"

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended."""
        return self.state in ("done", "failed", "cancelled")


class Service:
    """An encrypted service under a URL. Close it, or use it in a ``with`` block.

    Unanswered requests are retried. Each job has a unique name, so that a retry does not run it
    twice.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_seconds: float = 120.0,
        patience_seconds: float = 30.0,
        security: int | None = 128,
    ) -> None:
        """Makes a client; nothing is sent yet.

        Args:
            url: The server's, such as ``https://he.example.org``.
            token: The client's token, if the server asks for one.
            timeout_seconds: Time limit of a single answer.
            patience_seconds: For how long a request is retried if the server does not answer, or
                is full.
            security: Level that a program's parameters must hold by the 2018 standard or the 2024
                guidelines, 128, 192 or 256: the server names them, and weak ones would give it the
                secret key. None: any, for experiments.

        Raises:
            ParameterError: If the URL is invalid, or the token would be sent unencrypted.
        """
        self._security = security
        self._connection = Connection(
            url,
            token,
            timeout_seconds=max(timeout_seconds, _WAIT_SECONDS + 10),
            patience_seconds=patience_seconds,
        )
        self._sent: WeakKeyDictionary[EvaluationKeys, dict[str, tuple[str, ...]]] = (
            WeakKeyDictionary()
        )
        self._lock = PerProcess(Lock)

    def __enter__(self) -> "Service":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._connection.close()

    def programs(self) -> dict[str, str]:
        """Returns the names of the programs that the server offers, each with its revision.

        Raises:
            ServiceError: If the server does not answer, refuses, or speaks another version.
        """
        found = self._connection.json("GET", "/programs")
        _check_version(found)
        return {str(one["name"]): str(one["revision"]) for one in found["programs"]}

    def program(self, name: str) -> RemoteProgram:
        """Returns a program as clients see it.

        Args:
            name: Its name: that of the program's file without ``.rsp``.

        Raises:
            ServiceError: If there is none, or the server speaks another version.
            InteropError: If the server's answer is no client kit.
            ParameterError: If the program's parameters are below the wanted security.
        """
        described = self._connection.json("GET", f"/programs/{name}")
        _check_version(described)
        answer = self._connection.ask("GET", f"/programs/{name}/kit", most=program_file.MAX_KIT)
        kit = program_file.from_bytes(answer.content, f"the kit of {name!r:.64}", kits_only=True)
        assert isinstance(kit, ClientKit), "nothing else was asked for"
        kit.check_security(f"the kit of {name!r:.64}", self._security)
        revision = answer.headers.get("ringsmith-revision", "")
        identity = kit.parameters.parameters_id.hex()
        if described["parameters"] != identity and revision == described["revision"]:
            raise ServiceError(
                f"the server says that {name!r} has parameters {described['parameters']:.8} and "
                f"its kit has {identity[:8]}: it is damaged, or of another Ringsmith",
                200,
                "other-parameters",
            )
        return RemoteProgram(name, revision, kit)

    def put_keys(self, program: RemoteProgram, keys: EvaluationKeys) -> tuple[str, ...]:
        """Sends the evaluation keys that the server does not have yet.

        An interrupted upload is resumed. ``run`` calls this method.

        Args:
            program: A program with the parameters of the keys.
            keys: The third result of ``generate_keys``.

        Returns:
            SHA-256 digests of the keys, by which runs refer to them.

        Raises:
            ServiceError: If the server refuses them.
            InteropError: If they are of other parameters.
        """
        parameters = program.kit.parameters
        identity = parameters.parameters_id.hex()
        with self._lock.get():
            known = self._sent.get(keys, {}).get(identity)
        if known is not None:
            return known
        digests = []
        for media, data in _key_files(keys, parameters):
            digest = hashlib.sha256(data).hexdigest()
            self._put(f"/programs/{program.name}/keys/{digest}", media, data)
            digests.append(digest)
        with self._lock.get():
            self._sent.setdefault(keys, {})[identity] = tuple(digests)
        return tuple(digests)

    def _put(self, path: str, media: str, data: bytes) -> None:
        received = self._received(path)
        while received is not None:
            last = min(received + _CHUNK, len(data)) - 1
            headers = {
                "Content-Type": media,
                "Content-Range": f"bytes {received}-{last}/{len(data)}",
            }
            answer = self._connection.ask(
                "PUT", path, content=data[received : last + 1], headers=headers, taken=(409,)
            )
            if (
                answer.status_code == 409
            ):  # another client sends the same keys, or a part was sent twice
                time.sleep(0.05)
                received = self._received(path)
            elif answer.status_code == 202:
                received = int(json_of(answer)["received"])
            else:
                received = None

    def _received(self, path: str) -> int | None:
        """Returns how many bytes of keys the server has; None: all."""
        while True:
            answer = self._connection.ask("GET", path, taken=(404,))
            if answer.status_code == 404:
                return 0
            found = json_of(answer)
            if found["state"] == "checking":
                time.sleep(0.05)
                continue
            if found["state"] == "ready":
                return None
            return 0 if found["state"] == "refused" else int(found["received"])

    def forget_keys(self, program: RemoteProgram, keys: EvaluationKeys) -> None:
        """Removes keys from the server.

        Raises:
            ServiceError: If a job needs them.
        """
        for digest in self.put_keys(program, keys):
            self._connection.ask("DELETE", f"/programs/{program.name}/keys/{digest}", taken=(404,))
        with self._lock.get():
            self._sent.pop(keys, None)

    def submit(
        self,
        program: RemoteProgram | str,
        inputs: Mapping[str, Ciphertext],
        evaluation_keys: EvaluationKeys,
        *,
        request: str | None = None,
    ) -> "RemoteJob":
        """Submits a run, and returns when the server has accepted the job.

        Args:
            program: The program, or its name.
            inputs: Ciphertexts by the input's name, from ``program.encrypt``.
            evaluation_keys: The third result of ``generate_keys``; sent if the server lacks them.
            request: A name for this request; None: a new one. A second request of the same name
                returns the first one's job, also in another process.

        Raises:
            ServiceError: If the server refuses.
            InteropError: If an input or key is of other parameters.
        """
        chosen = self._program(program)
        job, _ = self._run(chosen, inputs, evaluation_keys, request, at_once=True)
        return RemoteJob(self, chosen, job)

    def run(
        self,
        program: RemoteProgram | str,
        inputs: Mapping[str, Ciphertext],
        evaluation_keys: EvaluationKeys,
        *,
        request: str | None = None,
    ) -> dict[str, Ciphertext]:
        """Runs a program and returns its outputs by name; arguments are those of ``submit``.

        Raises:
            ServiceError: If the server refuses, or the job fails.
            InteropError: If an input, key or output is of other parameters.
        """
        chosen = self._program(program)
        job, outputs = self._run(chosen, inputs, evaluation_keys, request, at_once=False)
        if outputs is not None:
            return outputs
        return RemoteJob(self, chosen, job).wait()

    def _program(self, program: RemoteProgram | str) -> RemoteProgram:
        if isinstance(program, str):
            return self.program(program)
        check_type("program", program, RemoteProgram, "give service.program(name), or a name")
        return program

    def _run(
        self,
        program: RemoteProgram,
        inputs: Mapping[str, Ciphertext],
        keys: EvaluationKeys,
        request: str | None,
        *,
        at_once: bool,
    ) -> tuple[JobStatus, dict[str, Ciphertext] | None]:
        """Sends a run; returns its job, and its outputs if the answer contains them."""
        check_type("inputs", inputs, Mapping, 'give ciphertexts by name: {"x": x}')
        check_type("evaluation_keys", keys, EvaluationKeys, "give the third of generate_keys")
        parameters = program.kit.parameters
        files = {name: _encoded(name, one, parameters) for name, one in inputs.items()}
        name = request or secrets.token_hex(16)
        headers = {"Idempotency-Key": name}
        if at_once:
            headers["Prefer"] = "respond-async"
        for attempt in range(2):
            digests = self.put_keys(program, keys)
            fields = {"keys": ",".join(digests).encode(), "revision": program.revision.encode()}
            body, headers["Content-Type"] = write_form(fields, files)
            try:
                answer = self._connection.ask(
                    "POST",
                    f"/programs/{program.name}/runs",
                    content=body,
                    headers=headers,
                    most=_most_bytes(program),
                )
                break
            except ServiceError as error:
                if error.code != "keys-missing" or attempt:
                    raise
                with self._lock.get():  # the server has forgotten them
                    self._sent.pop(keys, None)
        outputs: dict[str, Ciphertext] | None = None
        if answer.status_code == 200:
            status, outputs = _results(answer.headers["content-type"], answer.content, program)
        else:
            status = JobStatus.of(json_of(answer))
        status.check_answers(request=name)
        return status, outputs

    def _job(self, identifier: str, wait: float = 0.0) -> JobStatus:
        found = self._connection.json("GET", f"/jobs/{identifier}", params={"wait": f"{wait:g}"})
        status = JobStatus.of(found)
        status.check_answers(identifier=identifier)
        return status

    def _results_of(self, identifier: str, program: RemoteProgram) -> dict[str, Ciphertext]:
        answer = self._connection.ask(
            "GET", f"/jobs/{identifier}/results", most=_most_bytes(program)
        )
        status, outputs = _results(answer.headers["content-type"], answer.content, program)
        status.check_answers(identifier=identifier)
        return outputs

    def _delete(self, identifier: str) -> None:
        self._connection.ask("DELETE", f"/jobs/{identifier}", taken=(404,))


class RemoteJob:
    """A job on a server.

    Attributes:
        id: The server's name for it.
        program: The program that it runs.
    """

    def __init__(self, service: Service, program: RemoteProgram, status: JobStatus) -> None:
        self._service, self._status = service, status
        self.id, self.program = status.id, program

    def poll(self) -> JobStatus:
        """Returns the job's current status.

        Raises:
            ServiceError: If the server does not answer, or has removed the job.
        """
        if not self._status.has_ended:
            self._status = self._service._job(self.id)
        return self._status

    def wait(self, timeout_seconds: float | None = None) -> dict[str, Ciphertext]:
        """Waits until the job is done, and returns its outputs by name.

        Args:
            timeout_seconds: How long to wait; None: until it ends. The job continues after a
                timeout.

        Raises:
            ServiceError: If it failed, was cancelled, or has not ended in time.
        """
        end = float("inf") if timeout_seconds is None else time.monotonic() + timeout_seconds
        while not self._status.has_ended:
            seconds = end - time.monotonic()
            if seconds <= 0:
                raise ServiceError(
                    f"job {self.id} is {self._status.state} after {timeout_seconds} seconds: "
                    "wait longer, or cancel it",
                    0,
                    "not-done",
                )
            self._status = self._service._job(self.id, min(seconds, _WAIT_SECONDS))
        if not self._status.ended_well:
            status = self._status
            raise ServiceError(
                f"job {self.id} {status.state}: {status.message:.1000}", 200, status.code
            )
        return self._service._results_of(self.id, self.program)

    def cancel(self) -> None:
        """Cancels the job if it has not ended; otherwise removes it and its results.

        Raises:
            ServiceError: If the server does not answer.
        """
        self._service._delete(self.id)


def _check_version(found: Mapping[str, Any]) -> None:
    """Refuses a server whose interface has another version.

    Raises ServiceError if so; names both versions.
    """
    if found.get("api") != API_VERSION:
        raise ServiceError(
            f"the server (Ringsmith {found.get('version')!s:.20}) speaks version "
            f"{found.get('api')!s:.20} of the interface, and this client version {API_VERSION}: "
            "install the client's Ringsmith there, or the server's here",
            200,
            "other-version",
        )


def _encoded(name: str, ciphertext: Ciphertext, parameters: RlweParameters) -> bytes:
    check_type(f"input {name!r:.80}", ciphertext, Ciphertext, "give what program.encrypt returns")
    try:
        return encode_object(ciphertext, parameters)
    except InteropError as error:
        raise InteropError(f"input {name!r:.80}: {error}") from None


def _key_files(keys: EvaluationKeys, parameters: RlweParameters) -> list[tuple[str, bytes]]:
    """Returns keys in the sent form: with seeds a Ringsmith container, else SEAL's format."""
    every = [*keys.galois.values()] + ([] if keys.relin is None else [keys.relin])
    if not every:
        return []
    if all(key.seed is not None for key in every) or parameters.seal_obstacle() is not None:
        return [(OBJECT_MEDIA, encode_object(keys, parameters))]
    shape = SealParameters.from_parameters(parameters)
    found = []
    if keys.relin is not None:
        data = with_key_tag(write_relin_keys(keys.relin, shape), keys.key_tag)
        found.append((RELIN_MEDIA, data))
    if keys.galois:
        data = with_key_tag(write_galois_keys(keys.galois, shape), keys.key_tag)
        found.append((GALOIS_MEDIA, data))
    return found


def _most_bytes(program: RemoteProgram) -> int:
    """Returns how many bytes a job's results may have, as files."""
    kit = program.kit
    words = sum(2 * port.limbs * kit.parameters.n for port in kit.outputs.values())
    return 8 * words + 8 * words // 128 + (1 + len(kit.outputs)) * _SLACK


def _results(
    content_type: str, body: bytes, program: RemoteProgram
) -> tuple[JobStatus, dict[str, Ciphertext]]:
    """Reads a finished job and its outputs from one body."""
    parts = read_form(content_type, body)
    try:
        status = JobStatus.of(json.loads(parts.pop("job")))
    except (KeyError, ValueError, RecursionError):
        raise ServiceError("an answer without its job", 200, "form") from None
    expected = program.kit.outputs.keys()
    if parts.keys() != expected:
        raise ServiceError(
            f"the answer has the outputs {sorted(parts)!s:.200}, and {program.name!r} has "
            f"{sorted(expected)!s:.200}",
            200,
            "other-outputs",
        )
    return status, {
        name: decode_object(data, Ciphertext, program.kit.parameters, f"output {name!r:.80}")
        for name, data in parts.items()
    }
