"""What the server answers in JSON; the OpenAPI description is made of these."""

from pydantic import BaseModel, Field


class ProblemDetails(BaseModel):
    """Why something was not done (RFC 9457)."""

    title: str
    status: int
    code: str = Field(description="A word for programs, such as `queue-full`.")
    detail: str = Field(description="A sentence for people.")


class Health(BaseModel):
    """Whether the server can work."""

    status: str = Field(
        description="`ok`; `degraded`: some workers are not there, or the database is slow; "
        "`down`: no worker is there, or the database fails, so that no job is taken."
    )
    storage: str = Field(
        description="`ok`; `slow`: an access to the database has taken more than a second; "
        "`failing`: the last one failed."
    )
    api: int
    version: str = Field(description="Ringsmith's.")
    workers: int
    workers_ready: int


class ProgramName(BaseModel):
    """A program that is offered."""

    name: str
    revision: str


class Programs(BaseModel):
    """All programs."""

    api: int
    version: str
    programs: list[ProgramName]


class PortSpec(BaseModel):
    """An encrypted input or output."""

    limbs: int = Field(description="Data primes of the ciphertext.")
    scale: float
    length: int = Field(description="Numbers that it holds, in its first slots.")
    max_bytes: int | None = Field(None, description="Of an input: bytes of its file, at most.")


class ArraySpec(BaseModel):
    """An array, and where its numbers lie: in the slots of one input or output, or of several."""

    shape: list[int]
    ports: list[str]
    slots: int = Field(description="Slots of a port that `table` has; all slots repeat them.")
    table: list[int] = Field(
        description="Of an input: for each slot of each port the position of its number in the "
        "array, row by row, from 1, or 0: it is zero. Of an output: for each number of the array, "
        "row by row, its position in the slots of all ports from 1, or 0: it is zero."
    )


class Arrays(BaseModel):
    """The arrays of a program; other inputs and outputs hold numbers in their first slots."""

    inputs: dict[str, ArraySpec]
    outputs: dict[str, ArraySpec]


class KeySpec(BaseModel):
    """The evaluation keys that a run needs."""

    relinearization: bool
    galois_elements: list[int]
    bootstrapping: bool
    max_bytes: int = Field(description="Of all keys together, at most.")


class ProgramSpec(BaseModel):
    """What a client may know of a program; the kit has the same for `ringsmith.ClientKit`."""

    api: int
    name: str
    revision: str
    scheme: str
    parameters: str = Field(description="The identity of the parameters.")
    n: int
    data_primes: list[int]
    special_primes: list[int]
    security: str = Field(description="The level of security by each standard.")
    inputs: dict[str, PortSpec]
    outputs: dict[str, PortSpec]
    keys: KeySpec
    device: str
    design: str


class KeyStatus(BaseModel):
    """How far uploaded keys are."""

    digest: str
    size: int
    received: int
    state: str = Field(description="`partial`, `checking`, `ready` or `refused`.")
    detail: str = ""


class OutputSpec(BaseModel):
    """An encrypted output that is there."""

    href: str
    size: int
    kept: bool = Field(
        description="Whether it was to be kept: it may be an input of later jobs, and is left out "
        "where all outputs are sent."
    )


class JobStatus(BaseModel):
    """How far a job is."""

    id: str
    request: str | None = Field(None, description="The client's `Idempotency-Key`.")
    program: str
    revision: str
    state: str = Field(description="`waiting`, `running`, `done`, `failed` or `cancelled`.")
    attempts: int
    created: float
    started: float | None = None
    ended: float | None = None
    code: str = ""
    message: str = ""
    seconds: float | None = Field(None, description="That the device was busy.")
    figures: dict[str, int] = Field(default_factory=dict, description="As the device counted.")
    outputs: dict[str, OutputSpec] = Field(default_factory=dict)


class Jobs(BaseModel):
    """A client's newest jobs."""

    jobs: list[JobStatus]


class WorkerStatus(BaseModel):
    """A worker, for the operator."""

    name: str
    ready: bool
    trouble: str
    places: int
    running: int
    jobs: int
    busy_seconds: float
    restarts: int
    key_bytes: int
    keys_held: int


class ClientStatus(BaseModel):
    """A client, for the operator."""

    name: str
    jobs: dict[str, int]
    key_bytes: int
    job_bytes: int
    seconds_this_hour: float


class FailureStatus(BaseModel):
    """A job that failed, for the operator."""

    job: str
    client: str
    program: str
    ended: float
    code: str
    message: str


class Latency(BaseModel):
    """How long the last jobs took, in seconds: in all, in the queue, on the device."""

    count: int
    p50: float
    p99: float
    queue_p50: float
    queue_p99: float
    device_p50: float
    device_p99: float


class ServerStatus(BaseModel):
    """Everything that the operator's page shows."""

    version: str
    device: str
    storage: str = Field(description="Why the database cannot be used now; empty: it can.")
    uptime_seconds: float
    waiting: int
    running: int
    done_last_minute: int
    latency: Latency
    workers: list[WorkerStatus]
    clients: list[ClientStatus]
    failures: list[FailureStatus]
