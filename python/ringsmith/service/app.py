"""The HTTP interface: what docs/guide/service.md describes, and ``/v1/openapi.json`` in detail."""

import json
import re
import secrets
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from dataclasses import replace
from importlib import resources
from statistics import median
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from ringsmith import __version__
from ringsmith.interop import SealParameters, write_parameters
from ringsmith.interop.seal_stream import DEFAULT_VERSION
from ringsmith.service.access import Access
from ringsmith.service.bodies import chunks, read_form
from ringsmith.service.clock import now
from ringsmith.service.database import ENDED, Client, JobRecord, KeyRecord, KeyState, RunState
from ringsmith.service.protocol import (
    ADDRESS_MEDIA,
    API_VERSION,
    KEY_MEDIA,
    KIT_MEDIA,
    OBJECT_MEDIA,
    PARAMETERS_MEDIA,
    PROBLEM_MEDIA,
    ProblemError,
)
from ringsmith.service.published import Publication
from ringsmith.service.results import (
    SealVersion,
    no_seal_format,
    output_response,
    parsed,
    results_response,
)
from ringsmith.service.schemas import (
    Arrays,
    ArraySpec,
    ClientStatus,
    FailureStatus,
    Health,
    Jobs,
    JobStatus,
    KeySpec,
    KeyStatus,
    Latency,
    OutputSpec,
    PortSpec,
    ProblemDetails,
    ProgramName,
    Programs,
    ProgramSpec,
    ServerStatus,
    WorkerStatus,
)
from ringsmith.service.state import State, Timing, address_of
from ringsmith.service.storage import disk_problems

PREFIX = f"/v{API_VERSION}"
_NOTED_BYTES = 8 << 20
"""The progress of a key upload is stored each time this number of bytes was received."""
_JOBS = 100
_EVENT_SECONDS = 0.25
_FAILURES = 20
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
_DIGEST = "[0-9a-f]{64}"
_REQUEST_NAME = re.compile(r"[!-~]{1,128}")

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "content": {PROBLEM_MEDIA: {}}, "description": text}
    for status, text in (
        (400, "A body that cannot be read."),
        (401, "No token, or an unknown one."),
        (403, "Not for this client."),
        (404, "Not there, or another client's."),
        (405, "Another method."),
        (406, "No form of it that SEAL reads."),
        (408, "The body did not come in time."),
        (409, "Something else has to come first."),
        (410, "It was there, and is lost."),
        (413, "Too large."),
        (415, "Another media type."),
        (422, "Not what the program takes."),
        (429, "A quota is used up."),
        (503, "The server is full, or cannot use its disk now."),
        (507, "The server's disk is full."),
    )
}

Name = Annotated[str, InPath(max_length=64, description="The program's name.")]
Digest = Annotated[
    str, InPath(pattern=f"^{_DIGEST}$", description="SHA-256 of all bytes, in hexadecimal.")
]
Identifier = Annotated[str, InPath(max_length=64, description="The job's id.")]

router = APIRouter(prefix=PREFIX, responses=_PROBLEMS)


async def state_of(request: Request) -> State:
    """The server's state."""
    found: State = request.app.state.ringsmith
    return found


async def client_of(request: Request) -> Client:
    """Returns the client of the request. Raises ProblemError if the client is unknown."""
    access: Access = request.app.state.access
    client = await access.client(request)
    request.scope["ringsmith.client"] = client.name
    return client


async def operator_of(client: Annotated[Client, Depends(client_of)]) -> Client:
    """Returns the client of the request if it is an operator, who may see the whole server.

    Raises ProblemError if it is no operator.
    """
    if not client.operator:
        raise ProblemError(
            403, "not-operator", "this is for the operator: take an operator's token"
        )
    return client


StateOf = Annotated[State, Depends(state_of)]
ClientOf = Annotated[Client, Depends(client_of)]
OperatorOf = Annotated[Client, Depends(operator_of)]


# ---- programs ---------------------------------------------------------------------------------


@router.get("/health", tags=["server"])
async def health(state: StateOf) -> Health:
    """Whether the server can work; needs no token."""
    workers = state.dispatcher.workers
    ready = sum(worker.replica.places > 0 for worker in workers)
    storage = "failing" if state.storage.trouble else "slow" if state.storage.is_slow else "ok"
    if not ready or storage == "failing":
        status = "down"
    else:
        status = "ok" if ready == len(workers) and storage == "ok" else "degraded"
    return Health(
        status=status,
        storage=storage,
        api=API_VERSION,
        version=__version__,
        workers=len(workers),
        workers_ready=ready,
    )


@router.get("/programs", tags=["programs"])
async def programs(state: StateOf, client: ClientOf) -> Programs:
    """The programs that are offered."""
    found = [ProgramName(name=one.name, revision=one.revision) for one in state.programs.values()]
    return Programs(api=API_VERSION, version=__version__, programs=found)


@router.get("/programs/{name}", tags=["programs"])
async def program(name: Name, state: StateOf, client: ClientOf) -> ProgramSpec:
    """What a client may know of a program."""
    found = state.program(name)
    kit, parameters = found.kit, found.kit.parameters
    return ProgramSpec(
        api=API_VERSION,
        name=found.name,
        revision=found.revision,
        scheme=parameters.scheme,
        parameters=found.parameters_id,
        n=parameters.n,
        data_primes=list(parameters.data_primes),
        special_primes=list(parameters.special_primes),
        security=parameters.security_text,
        inputs={
            key: PortSpec(
                limbs=port.limbs,
                scale=port.scale,
                length=port.length,
                max_bytes=found.input_bytes[key],
            )
            for key, port in kit.inputs.items()
        },
        outputs={
            key: PortSpec(limbs=port.limbs, scale=port.scale, length=port.length, max_bytes=None)
            for key, port in kit.outputs.items()
        },
        keys=KeySpec(
            relinearization=kit.key_needs.relin is not None,
            galois_elements=list(kit.key_needs.galois),
            bootstrapping=kit.key_needs.raised is not None,
            max_bytes=found.key_bytes,
        ),
        device=state.device.kind,
        design=found.design,
    )


@router.get("/programs/{name}/arrays", tags=["programs"])
async def arrays(name: Name, state: StateOf, client: ClientOf) -> Arrays:
    """Where the numbers of a program's arrays lie in the slots of its inputs and outputs."""
    kit = state.program(name).kit
    inputs, outputs = (
        {
            key: ArraySpec(
                shape=list(packing.shape),
                ports=list(packing.ports),
                slots=packing.slots,
                table=packing.table.tolist(),
            )
            for key, packing in packings.items()
        }
        for packings in (kit.packed_inputs, kit.packed_outputs)
    )
    return Arrays(inputs=inputs, outputs=outputs)


@router.get("/programs/{name}/kit", tags=["programs"], response_class=Response)
async def kit(name: Name, state: StateOf, client: ClientOf) -> Response:
    """The client kit, a file for `ringsmith.ClientKit.load`; it holds no weights."""
    found = state.program(name)
    headers = {"Ringsmith-Revision": found.revision}
    return Response(found.kit_bytes, media_type=KIT_MEDIA, headers=headers)


@router.get("/programs/{name}/parameters", tags=["programs"], response_class=Response)
async def parameters(
    name: Name, state: StateOf, client: ClientOf, seal: SealVersion = None
) -> Response:
    """The parameters as SEAL's `EncryptionParameters`, for clients without Ringsmith."""
    found = _seal_parameters(state.program(name))
    version = DEFAULT_VERSION if seal is None else parsed(seal)
    return Response(write_parameters(found, version=version), media_type=PARAMETERS_MEDIA)


def _seal_parameters(program: Publication) -> SealParameters:
    """Returns a program's parameters as SEAL holds them.

    Raises ProblemError if SEAL cannot hold them.
    """
    found = program.kit.parameters
    if found.seal_obstacle() is not None:
        raise no_seal_format(program.name)
    return SealParameters.from_parameters(found)


# ---- keys -------------------------------------------------------------------------------------


@router.get("/programs/{name}/keys/{digest}", tags=["keys"])
async def key(name: Name, digest: Digest, state: StateOf, client: ClientOf) -> KeyStatus:
    """How far uploaded keys are: an upload goes on from `received`."""
    return _key_status(await state.key(client, state.program(name), digest))


@router.delete("/programs/{name}/keys/{digest}", tags=["keys"], status_code=204)
async def remove_key(name: Name, digest: Digest, state: StateOf, client: ClientOf) -> None:
    """Removes keys."""
    await state.remove_key(await state.key(client, state.program(name), digest))


@router.put(
    "/programs/{name}/keys/{digest}",
    tags=["keys"],
    status_code=201,
    responses={
        200: {"model": KeyStatus, "description": "They are here already."},
        202: {"model": KeyStatus, "description": "The chunk is here, and more is to come."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                media: {"schema": {"type": "string", "format": "binary"}} for media in KEY_MEDIA
            },
        }
    },
)
async def put_key(
    name: Name,
    digest: Digest,
    request: Request,
    state: StateOf,
    client: ClientOf,
    content_range: Annotated[
        str | None,
        Header(max_length=80, description="`bytes FIRST-LAST/SIZE` of a chunk; else all comes."),
    ] = None,
) -> Response:
    """Accepts evaluation keys, whole or in consecutive parts.

    The answer to the last part is sent after the keys were checked.
    """
    publication = state.program(name)
    media = request.headers.get("content-type", OBJECT_MEDIA).partition(";")[0].strip().lower()
    if media not in KEY_MEDIA:
        raise ProblemError(
            415, "wrong-media", f"keys of type {media!r:.80}: send {' or '.join(KEY_MEDIA)}"
        )
    first, last, size = _range(request, content_range)
    limit = state.settings.limits.upload_bytes
    if last + 1 - first > limit:
        text = (
            f"a chunk of {last + 1 - first} bytes, and at most {limit} are taken: send smaller ones"
        )
        raise ProblemError(413, "too-large", text, {"Connection": "close"})
    record = await state.begin_upload(client, publication, digest, media, first, size)
    if record.state is not KeyState.PARTIAL:
        return _answer(200, _key_status(record), {"Connection": "close"})
    try:
        record = await _receive(request, state, record, last + 1 - first)
        if record.received < record.size:
            return _answer(202, _key_status(record))
        record = await state.complete(record, publication)
    finally:
        state.end_upload(record)
    if record.state is KeyState.REFUSED:
        raise ProblemError(422, "keys-refused", record.detail)
    return _answer(201, _key_status(record))


async def _receive(request: Request, state: State, key: KeyRecord, size: int) -> KeyRecord:
    """Appends a part to keys that are being uploaded."""
    path = state.folder.key_part(key)
    noted = received = first = key.received

    async def note() -> KeyRecord:
        record = replace(key, received=received)
        await state.storage.write(lambda database: database.put_key(record))
        return record

    with disk_problems(), path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(received)
        file.seek(received)
        try:
            async for chunk in chunks(request, size, state.settings.limits.idle_seconds):
                file.write(chunk)
                received += len(chunk)
                if received - noted >= _NOTED_BYTES:
                    file.flush()
                    noted = received
                    await note()
        finally:
            file.flush()
            key = await note()
    if received == first:
        raise ProblemError(400, "cut-off", "the chunk is empty")
    return key


def _range(request: Request, text: str | None) -> tuple[int, int, int]:
    """Returns the first and last byte of a part, and the total size.

    Raises ProblemError if the header is invalid or the part empty.
    """
    if text is None:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) == 0:
            raise ProblemError(
                411, "no-length", "keys need a Content-Length above 0, or a Content-Range"
            )
        return 0, int(length) - 1, int(length)
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ProblemError(
            400, "malformed", f"Content-Range {text!r:.80}: write bytes FIRST-LAST/SIZE"
        )
    first, last, size = map(int, found.groups())
    if not first <= last < size:
        raise ProblemError(400, "malformed", f"Content-Range {text}: is not FIRST <= LAST < SIZE")
    return first, last, size


def _key_status(key: KeyRecord) -> KeyStatus:
    return KeyStatus(
        digest=key.digest,
        size=key.size,
        received=key.received,
        state=key.state.value,
        detail=key.detail,
    )


# ---- runs and jobs ----------------------------------------------------------------------------


@router.post(
    "/programs/{name}/runs",
    tags=["jobs"],
    response_class=Response,
    responses={
        200: {
            "description": "The job, in JSON, as part `job`, and a part for each output.",
            "content": {"multipart/form-data": {}},
        },
        202: {"model": JobStatus, "description": "The job, which has not ended."},
        500: {"model": JobStatus, "description": "The job, which failed."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {
                            "keys": {
                                "type": "string",
                                "description": "SHA-256 of each file of keys that the run needs, "
                                "in hexadecimal, separated by spaces or commas, in any order.",
                                "pattern": f"^{_DIGEST}([ ,]+{_DIGEST})*$",
                                "example": f"{'1f' * 32},{'2e' * 32}",
                            },
                            "revision": {
                                "type": "string",
                                "description": "The program's revision for which the inputs were "
                                "made; without it, any.",
                            },
                            "keep": {
                                "type": "string",
                                "description": "Names of outputs, separated by spaces or commas, "
                                "that stay on the server as inputs of later runs: the answer and "
                                "`results` leave them out, and `outputs` has them.",
                            },
                        },
                        "additionalProperties": {
                            "type": "string",
                            "format": "binary",
                            "description": "An input: a file, or, with the content type "
                            f"`{ADDRESS_MEDIA}`, the address (`href`) of a kept output.",
                        },
                    }
                }
            },
        }
    },
)
async def run(
    name: Name,
    request: Request,
    state: StateOf,
    client: ClientOf,
    idempotency_key: Annotated[
        str | None,
        Header(
            max_length=128,
            description="The client's name for this request: sent again, the job is not run again.",
        ),
    ] = None,
    prefer: Annotated[
        str | None, Header(max_length=80, description="`respond-async`: answer at once.")
    ] = None,
    seal: SealVersion = None,
) -> Response:
    """Runs a program on encrypted inputs: a part for each, and `keys`, `revision` and `keep`."""
    publication = state.program(name)
    if seal is not None:  # before the program runs in vain
        _seal_parameters(publication)
    if idempotency_key is not None and not _REQUEST_NAME.fullmatch(idempotency_key):
        raise ProblemError(
            400, "malformed", "Idempotency-Key: 1 to 128 printable characters of ASCII"
        )
    identifier = secrets.token_hex(16)
    kept = False
    async with state.arriving(client, publication, idempotency_key) as arrival:
        try:
            with disk_problems():
                parts = await read_form(
                    request,
                    state.folder.make_job(identifier),
                    publication.input_bytes,
                    state.settings.limits.idle_seconds,
                )
            job = await state.accept(
                client, publication, arrival, identifier, idempotency_key, parts
            )
            kept = job.id == identifier
        finally:
            if not kept:
                state.discard(identifier)
    request.scope["ringsmith.job"] = job.id
    if prefer is None or "respond-async" not in prefer:
        job = await state.dispatcher.wait(job, state.settings.limits.answer_seconds) or job
    if job.state is RunState.DONE:
        return _results(state, job, seal)
    if job.state in ENDED:
        return _answer(_status_of(job), _job_status(job))
    return _answer(202, _job_status(job), {"Location": f"{PREFIX}/jobs/{job.id}"})


@router.get("/jobs", tags=["jobs"])
async def jobs(state: StateOf, client: ClientOf) -> Jobs:
    """The newest jobs of the client that asks."""
    found = await state.storage.read(lambda database: database.jobs(client.id, _JOBS))
    return Jobs(jobs=[_job_status(job) for job in found])


@router.get("/jobs/{identifier}", tags=["jobs"])
async def job(
    identifier: Identifier,
    state: StateOf,
    client: ClientOf,
    wait: Annotated[
        float, Query(ge=0, le=3600, description="Seconds to wait for the job's end.")
    ] = 0.0,
) -> JobStatus:
    """How far a job is."""
    found = await state.job(client, identifier)
    if wait and found.state not in ENDED:
        seconds = min(wait, state.settings.limits.answer_seconds)
        found = await state.dispatcher.wait(found, seconds) or await state.job(client, identifier)
    return _job_status(found)


@router.get(
    "/jobs/{identifier}/events",
    tags=["jobs"],
    response_class=StreamingResponse,
    responses={200: {"description": "Events `state`.", "content": {"text/event-stream": {}}}},
)
async def events(identifier: Identifier, state: StateOf, client: ClientOf) -> StreamingResponse:
    """A job's states as they change, as server-sent events, until it has ended."""
    first = await state.job(client, identifier)

    async def states() -> AsyncIterator[str]:
        found: JobRecord | None = first
        said = None
        while found is not None:
            if found.state is not said:
                said = found.state
                yield f"event: state\ndata: {_job_status(found).model_dump_json()}\n\n"
            if found.state in ENDED:
                return
            found = await state.dispatcher.wait(found, _EVENT_SECONDS)

    return StreamingResponse(states(), media_type="text/event-stream")


@router.get("/jobs/{identifier}/results", tags=["jobs"], response_class=Response)
async def results(
    identifier: Identifier, state: StateOf, client: ClientOf, seal: SealVersion = None
) -> Response:
    """A job that is done, with all outputs that are not kept, as the answer to a run."""
    found = await state.job(client, identifier)
    if found.state in ENDED and found.state is not RunState.DONE:
        return _answer(_status_of(found), _job_status(found))
    if found.state is not RunState.DONE:
        raise ProblemError(409, "not-done", f"the job is {found.state}: ask later")
    return _results(state, found, seal)


@router.get("/jobs/{identifier}/outputs/{name}", tags=["jobs"], response_class=Response)
async def output(
    identifier: Identifier,
    name: Annotated[str, InPath(max_length=256)],
    state: StateOf,
    client: ClientOf,
    seal: SealVersion = None,
) -> Response:
    """An encrypted output: a file of SEAL's, or where SEAL cannot hold the parameters, of ours."""
    job = await state.job(client, identifier)
    return output_response(state.output(job, name), job.program, seal)


@router.delete("/jobs/{identifier}/outputs/{name}", tags=["jobs"], status_code=204)
async def free_output(
    identifier: Identifier,
    name: Annotated[str, InPath(max_length=256)],
    state: StateOf,
    client: ClientOf,
) -> None:
    """Removes a kept output. Jobs that were sent with its address run all the same."""
    await state.free_output(await state.job(client, identifier), name)


@router.delete("/jobs/{identifier}", tags=["jobs"])
async def remove_job(identifier: Identifier, state: StateOf, client: ClientOf) -> JobStatus:
    """Cancels a job that has not ended; removes one that has, with its results."""
    found = await state.job(client, identifier)
    if found.state in ENDED:
        await state.remove_job(identifier)
        return _job_status(found)
    return _job_status(await state.cancel(client, found))


def _job_status(job: JobRecord) -> JobStatus:
    return JobStatus(
        id=job.id,
        request=job.request,
        program=job.program,
        revision=job.revision,
        state=job.state.value,
        attempts=job.attempts,
        created=job.created,
        started=job.started,
        ended=job.ended,
        code=job.code,
        message=job.message,
        seconds=job.outcome.get("seconds"),
        figures=job.outcome.get("figures", {}),
        outputs={
            name: OutputSpec(href=address_of(job, name), size=size, kept=name in job.keep)
            for name, size in job.outputs.items()
        },
    )


def _status_of(job: JobRecord) -> int:
    """Returns the HTTP status for a job's end."""
    by_code = {"malformed": 422, "not-this-program": 422, "refused": 422, "cancelled": 409}
    by_code |= {"queue-time": 503, "run-time": 503, "disk-full": 507}
    return by_code.get(job.code, 500)


def _results(state: State, job: JobRecord, seal: str | None) -> Response:
    """Returns a job that is done and its outputs that are not kept as one body."""
    outputs = {name: state.output(job, name) for name in job.outputs if name not in job.keep}
    return results_response(_job_status(job).model_dump_json().encode(), outputs, job.program, seal)


# ---- for the operator -------------------------------------------------------------------------


@router.get("/status", tags=["server"])
async def status(state: StateOf, client: OperatorOf) -> ServerStatus:
    """Devices, queue, clients, throughput, latency and the last errors."""
    dispatcher = state.dispatcher
    names, counts, every, failures, used = await state.storage.read(
        lambda database: (
            database.client_names(),
            database.counts(),
            database.all_keys(),
            database.failures(_FAILURES),
            {
                number: (database.job_bytes(number), database.seconds_used(number))
                for number in database.client_names()
            },
        )
    )
    keys: dict[int, int] = {}
    for one in every:
        keys[one.client] = keys.get(one.client, 0) + one.size
    return ServerStatus(
        version=__version__,
        device=" ".join(filter(None, (state.device.kind, state.device.design))),
        storage=state.storage.trouble,
        uptime_seconds=now() - state.started,
        waiting=dispatcher.waiting,
        running=sum(
            not task.is_check for one in dispatcher.workers for task in one.running.values()
        ),
        done_last_minute=state.done.count(now()),
        latency=latency_of(state.timings),
        workers=[
            WorkerStatus(
                name=one.replica.name,
                ready=one.replica.places > 0,
                trouble=one.replica.trouble if not one.replica.places else "",
                places=one.replica.places,
                running=len(one.running),
                jobs=one.jobs,
                busy_seconds=one.busy_seconds,
                restarts=one.restarts,
                key_bytes=one.key_bytes,
                keys_held=len(one.held),
            )
            for one in dispatcher.workers
        ],
        clients=[
            ClientStatus(
                name=name,
                jobs=counts.get(number, {}),
                key_bytes=keys.get(number, 0),
                job_bytes=used[number][0],
                seconds_this_hour=used[number][1],
            )
            for number, name in names.items()
        ],
        failures=[
            FailureStatus(
                job=one.id,
                client=names.get(one.client, ""),
                program=one.program,
                ended=one.ended or 0,
                code=one.code,
                message=one.message,
            )
            for one in failures
        ],
    )


def latency_of(timings: Collection[Timing]) -> Latency:
    """Returns the median and the 99th percentile of the jobs' times; 0 if there are no jobs."""

    def of(seconds: Iterable[float]) -> tuple[float, float]:
        ordered = sorted(seconds) or [0.0]
        return median(ordered), ordered[len(ordered) * 99 // 100]

    whole, queue, device = (
        of(getattr(timing, name) for timing in timings) for name in ("whole", "queue", "device")
    )
    return Latency(
        count=len(timings),
        p50=whole[0],
        p99=whole[1],
        queue_p50=queue[0],
        queue_p99=queue[1],
        device_p50=device[0],
        device_p99=device[1],
    )


plain = APIRouter()


@plain.get("/metrics", response_class=Response, include_in_schema=False)
async def metrics(state: StateOf, client: OperatorOf) -> Response:
    """What Prometheus reads."""
    dispatcher, counted = state.dispatcher, state.metrics
    counted.waiting.set(dispatcher.waiting)
    counted.running.set(sum(len(one.running) for one in dispatcher.workers))
    counted.workers.set(sum(one.replica.places > 0 for one in dispatcher.workers))
    counted.storage.set(not state.storage.trouble)
    return Response(counted.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@plain.get("/", response_class=HTMLResponse, include_in_schema=False)
async def page() -> HTMLResponse:
    """The operator's page, which gets its data from ``/v1/status``."""
    text = (resources.files("ringsmith.service") / "page.html").read_text(encoding="utf-8")
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'"
    )
    return HTMLResponse(
        text, headers={"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}
    )


# ---- the application --------------------------------------------------------------------------


def _answer(
    status: int, model: KeyStatus | JobStatus, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    return JSONResponse(json.loads(model.model_dump_json()), status, dict(headers or {}))


def problem_response(problem: ProblemError) -> JSONResponse:
    """Returns the answer for a problem."""
    details = ProblemDetails(
        title=problem.code.replace("-", " "),
        status=problem.status,
        code=problem.code,
        detail=str(problem),
    )
    return JSONResponse(
        details.model_dump(), problem.status, problem.headers, media_type=PROBLEM_MEDIA
    )


def make_app(state: State, access: Access) -> FastAPI:
    """Makes the application of a server."""
    app = FastAPI(
        title="Ringsmith",
        version=__version__,
        description="Encrypted programs: get a kit, put evaluation keys, run on ciphertexts.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.ringsmith, app.state.access = state, access
    app.include_router(router)
    app.include_router(plain)

    @app.exception_handler(ProblemError)
    async def refused(_: Request, problem: ProblemError) -> JSONResponse:
        return problem_response(problem)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "request"
        return problem_response(ProblemError(422, "invalid", f"{where:.80}: {first['msg']:.200}"))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        codes = {404: "not-found", 405: "method"}
        text = str(error.detail)
        if error.status_code == 404:
            text = f"there is nothing at this address; the interface begins with {PREFIX}/"
        return problem_response(
            ProblemError(
                error.status_code, codes.get(error.status_code, "http"), text, error.headers
            )
        )

    return app
