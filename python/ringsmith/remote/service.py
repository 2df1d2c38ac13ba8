"""Programs, keys and jobs of a service, as a client uses them."""

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote
from weakref import WeakKeyDictionary

from httpx import Response
from numpy.typing import ArrayLike, NDArray

from ringsmith.backends.handles import kept_names
from ringsmith.errors import InteropError, ProgramError, check_type
from ringsmith.forks import PerProcess
from ringsmith.interop import (
    SealParameters,
    decode_object,
    encode_object,
    with_key_tag,
    write_galois_keys,
    write_relin_keys,
)
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey, keys_by_name
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
        complex_numbers: bool | None = None,
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

    @property
    def url(self) -> str:
        """The server's URL."""
        return self._connection.url

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
        inputs: "Mapping[str, Ciphertext | RemoteHandle]",
        evaluation_keys: EvaluationKeys,
        *,
        keep: bool | Collection[str] = False,
        request: str | None = None,
    ) -> "RemoteJob":
        """Submits a run, and returns when the server has accepted the job.

        Args:
            program: The program, or its name.
            inputs: Ciphertexts by the input's name, from ``program.encrypt``, or handles of this
                service.
            evaluation_keys: The third result of ``generate_keys``; sent if the server lacks them.
            keep: Outputs that stay on the server, where later runs take them: all, or those of
                these names. ``RemoteJob.output`` has their handles.
            request: A name for this request; None: a new one. A second request of the same name
                returns the first one's job, also in another process.

        Raises:
            ServiceError: If the server refuses.
            InteropError: If an input or key is of other parameters.
            ProgramError: If ``keep`` names no output, or a handle cannot be an input of this run.
        """
        chosen = self._program(program)
        kept = kept_names(keep, chosen.kit.outputs)
        job, _ = self._run(chosen, inputs, evaluation_keys, request, kept)
        return RemoteJob(self, chosen, job, kept)

    def run(
        self,
        program: RemoteProgram | str,
        inputs: "Mapping[str, Ciphertext | RemoteHandle]",
        evaluation_keys: EvaluationKeys,
        *,
        request: str | None = None,
    ) -> dict[str, Ciphertext]:
        """Runs a program and returns its outputs by name; arguments are those of ``submit``.

        ``submit`` can keep outputs on the server.

        Raises:
            ServiceError: If the server refuses, or the job fails.
            InteropError: If an input, key or output is of other parameters.
        """
        chosen = self._program(program)
        job, outputs = self._run(chosen, inputs, evaluation_keys, request)
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
        inputs: "Mapping[str, Ciphertext | RemoteHandle]",
        keys: EvaluationKeys,
        request: str | None,
        keep: Collection[str] | None = None,
    ) -> tuple[JobStatus, dict[str, Ciphertext] | None]:
        """Sends a run; returns its job, and its outputs if the answer contains them.

        With ``keep``, the answer comes when the job is accepted; without, when it has ended.
        """
        check_type("inputs", inputs, Mapping, 'give ciphertexts by name: {"x": x}')
        check_type("evaluation_keys", keys, EvaluationKeys, "give the third of generate_keys")
        parameters = program.kit.parameters
        files, addresses = {}, {}
        for name, one in inputs.items():
            if isinstance(one, RemoteHandle):
                addresses[name] = one.address_for(self, program, name).encode()
            else:
                files[name] = _encoded(name, one, parameters)
        name = request or secrets.token_hex(16)
        headers = {"Idempotency-Key": name}
        if keep is not None:
            headers["Prefer"] = "respond-async"
        for attempt in range(2):
            digests = self.put_keys(program, keys)
            fields = {"keys": ",".join(digests).encode(), "revision": program.revision.encode()}
            if keep:
                fields["keep"] = ",".join(keep).encode()
            body, headers["Content-Type"] = write_form(fields, files, addresses)
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
            status, outputs = _results(answer, program, keep or ())
        else:
            status = JobStatus.of(json_of(answer))
        status.check_answers(request=name)
        return status, outputs

    def _job(self, identifier: str, wait: float = 0.0) -> JobStatus:
        found = self._connection.json("GET", f"/jobs/{identifier}", params={"wait": f"{wait:g}"})
        status = JobStatus.of(found)
        status.check_answers(identifier=identifier)
        return status

    def _results_of(
        self, identifier: str, program: RemoteProgram, kept: Collection[str]
    ) -> dict[str, Ciphertext]:
        answer = self._connection.ask(
            "GET", f"/jobs/{identifier}/results", most=_most_bytes(program)
        )
        status, outputs = _results(answer, program, kept)
        status.check_answers(identifier=identifier)
        return outputs

    def _delete(self, identifier: str) -> None:
        self._connection.ask("DELETE", f"/jobs/{identifier}", taken=(404,))

    def _output_of(self, identifier: str, program: RemoteProgram, name: str) -> Ciphertext:
        answer = self._connection.ask(
            "GET", f"/jobs/{identifier}/outputs/{name}", most=_most_bytes(program)
        )
        what = f"output {name!r:.80}"
        return decode_object(answer.content, Ciphertext, program.kit.parameters, what)

    def _free_output(self, identifier: str, name: str) -> None:
        self._connection.ask("DELETE", f"/jobs/{identifier}/outputs/{name}", taken=(404, 410))


class RemoteJob:
    """A job on a server.

    Attributes:
        id: The server's name for it.
        program: The program that it runs.
        kept: Outputs that stay on the server, by name.
    """

    def __init__(
        self,
        service: Service,
        program: RemoteProgram,
        status: JobStatus,
        kept: tuple[str, ...] = (),
    ) -> None:
        self._service, self._status = service, status
        self.id, self.program, self.kept = status.id, program, kept

    def poll(self) -> JobStatus:
        """Returns the job's current status.

        Raises:
            ServiceError: If the server does not answer, or has removed the job.
        """
        if not self._status.has_ended:
            self._status = self._service._job(self.id)
        return self._status

    def wait(self, timeout_seconds: float | None = None) -> dict[str, Ciphertext]:
        """Waits until the job is done, and returns its outputs that are not kept by name.

        Args:
            timeout_seconds: How long to wait; None: until it ends. The job continues after a
                timeout.

        Raises:
            ServiceError: If it failed, was cancelled, or has not ended in time.
        """
        self._wait_for_end(timeout_seconds)
        return self._service._results_of(self.id, self.program, self.kept)

    def output(self, name: str, timeout_seconds: float | None = None) -> "RemoteHandle":
        """Waits until the job is done, and returns the handle of an output that is kept.

        Args:
            name: The output's name.
            timeout_seconds: As for ``wait``.

        Raises:
            ProgramError: If there is no such output, or it is not kept.
            ServiceError: As ``wait``.
        """
        outputs = self.program.kit.outputs
        if name not in outputs:
            raise ProgramError(
                f"the program has the outputs {sorted(outputs)}, and no {name!r:.60}"
            )
        if name not in self.kept:
            raise ProgramError(
                f"output {name!r} is not kept, and wait() returns it: submit with keep=True, or "
                f"keep=[{name!r}], to leave it on the server"
            )
        self._wait_for_end(timeout_seconds)
        return RemoteHandle(self._service, self.id, self.program, name)

    def _wait_for_end(self, timeout_seconds: float | None) -> None:
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

    def cancel(self) -> None:
        """Cancels the job if it has not ended; otherwise removes it and its results.

        Raises:
            ServiceError: If the server does not answer.
        """
        self._service._delete(self.id)


class RemoteHandle:
    """A ciphertext on a server: an input of later runs there, until it is freed or expires.

    A job that was submitted with ``keep`` has one for each output that it keeps. The server
    removes it with its job: after ``keep_seconds``, or by ``RemoteJob.cancel``. A run that was
    accepted with it is not affected.

    Attributes:
        job: The server's name for the job that made it.
        program: The program of that job.
        output: The name of the output that it is.
        limbs: Number of data primes.
        scale: The scale, as a ciphertext's.
        freed: Whether it was freed here.
    """

    def __init__(self, service: Service, job: str, program: RemoteProgram, output: str) -> None:
        self._service = service
        self.job, self.program, self.output, self.freed = job, program, output, False
        port = program.kit.outputs[output]
        self.limbs, self.scale = port.limbs, port.scale

    def __repr__(self) -> str:
        return f"RemoteHandle(output {self.output!r} of job {self.job})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.free()

    def read(self) -> Ciphertext:
        """Fetches the ciphertext; the handle stays as it is.

        Raises:
            ServiceError: If it was freed, or has expired.
            InteropError: If the answer is no ciphertext of the program's parameters.
        """
        self._check_there("the handle")
        return self._service._output_of(self.job, self.program, self.output)

    def free(self) -> None:
        """Removes it from the server, so that it takes nothing of the quota; twice does nothing.

        Raises:
            ServiceError: If the server does not answer.
        """
        if not self.freed:
            self._service._free_output(self.job, self.output)
            self.freed = True

    def address_for(self, service: Service, program: RemoteProgram, name: str) -> str:
        """Returns its address on the server, for an input of a run.

        Args:
            service: Where the run is.
            program: The program that is run.
            name: Name of the input.

        Raises:
            ServiceError: If it was freed.
            ProgramError: If it is of another service, or its level, scale or parameters are others
                than the input's.
        """
        what = f"input {name!r:.80}"
        self._check_there(what)
        if service.url != self._service.url:
            raise ProgramError(
                f"{what} is a handle of {self._service.url}, and the run is at {service.url}: run "
                "there, or give handle.read()"
            )
        made, wanted = self.program.kit.parameters, program.kit.parameters
        if made.parameters_id != wanted.parameters_id:
            raise ProgramError(
                f"{what}: {self!r} is of the parameters {made.parameters_id.hex()[:8]}, and "
                f"{program.name!r} has {wanted.parameters_id.hex()[:8]}: trace both programs with "
                "the same parameters"
            )
        port = program.kit.inputs.get(name)
        if port is not None and (port.limbs, port.scale) != (self.limbs, self.scale):
            raise ProgramError(
                f"{what}: {self!r} has {self.limbs} limbs and scale {self.scale}, and the program "
                f"takes {port.limbs} and {port.scale}: they must be equal"
            )
        return f"/v{API_VERSION}/jobs/{self.job}/outputs/{quote(self.output)}"

    def _check_there(self, what: str) -> None:
        if self.freed:
            raise ServiceError(f"{what} was freed: run the job again", 410, "freed")


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
    every = keys_by_name(keys).values()
    if not every:
        return []
    seeded = all(key.seed is not None for key in every)
    if seeded or keys.to_sparse is not None or parameters.seal_obstacle() is not None:
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
    answer: Response, program: RemoteProgram, kept: Collection[str]
) -> tuple[JobStatus, dict[str, Ciphertext]]:
    """Reads a finished job and its outputs that are not kept from one body."""
    parts = read_form(answer.headers["content-type"], answer.content)
    try:
        status = JobStatus.of(json.loads(parts.pop("job")))
    except (KeyError, ValueError, RecursionError):
        raise ServiceError("an answer without its job", 200, "form") from None
    expected = program.kit.outputs.keys() - kept
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
