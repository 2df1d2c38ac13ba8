"""What requests take: times of models and of records, and bytes of real keys and ciphertexts."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from rich.console import Console

from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.apps.gmdh.steps import StepServer, begin_steps
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.framework.cases import parameters as network_parameters
from ringsmith.bench.framework.networks import NETWORKS
from ringsmith.bench.heaws.cases import MAIN_OPERATION, PARAMS, SEVERAL, parameters
from ringsmith.bench.heaws.coprocessors import several_rate
from ringsmith.bench.heaws.forecast import DEVICE, HOST
from ringsmith.bench.records import Found, Record
from ringsmith.bench.scaling.fleet import Workload
from ringsmith.client import encode, encrypt, generate_keys
from ringsmith.client.integers import encode_coefficients
from ringsmith.errors import ParameterError, ToolError
from ringsmith.interop.object_file import object_bytes
from ringsmith.objects import PlainPolynomial, Plaintext
from ringsmith.params import KeyNeeds, RlweParameters

PRODUCT, FORECAST, NETWORK, ON_CPU = "product", "forecast", "mnist", "product on cpu"
WORKLOADS = (PRODUCT, FORECAST, NETWORK, ON_CPU)

NETWORK_DESIGN = "framework-512"
_NETWORK = "lola-mnist"
_HOST_WORD, _CARD_WORD = 8, 4
"""Bytes of a residue of the network's primes in a host's memory, and in a card's."""

_METRICS = MappingProxyType(
    {
        "slots": "count",
        "card_seconds": "seconds",
        "host_seconds": "seconds",
        "request_bytes": "bytes",
        "result_bytes": "bytes",
        "key_bytes": "bytes",
        "key_memory_bytes": "bytes",
        "card_bytes": "bytes",
        "card_key_bytes": "bytes",
    }
)
"""Field of a workload -> metric of its record."""

Rows = Iterator[Found]


def rows_of(work: Workload, sources: Mapping[str, str], conditions: str) -> Rows:
    """A workload as records.

    Args:
        work: The workload.
        sources: Field -> where its number comes from; the others are counted: ``program``.
        conditions: What must be known of the numbers.
    """
    for name, metric in _METRICS.items():
        source = sources.get(name, "program")
        value = getattr(work, name)
        yield Found(
            work.design, work.params, f"{work.name}: {name}", metric, value, source, conditions
        )


def workload_of(records: Sequence[Record], name: str) -> Workload | None:
    """The workload of records; None: they have none of that name."""
    values: dict[str, float] = {}
    of = None
    for each in records:
        work, _, field = each.operation.partition(": ")
        if work == name and field in _METRICS:
            values[field], of = each.value, each
    if of is None:
        return None
    whole = {f.name for f in fields(Workload) if f.type in (int, "int")}
    exact = {field: int(v) if field in whole else v for field, v in values.items()}
    return Workload(name, of.design, of.params, **exact)  # type: ignore[arg-type]


# ---- objects -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Objects:
    """A client's objects.

    Attributes:
        keys: Bytes of its evaluation keys, as a file.
        memory: That they take in a host's memory.
        ciphertext: Bytes of a fresh ciphertext, as a file.
        residues: Of that ciphertext.
    """

    keys: int
    memory: int
    ciphertext: int
    residues: int


def _objects(
    of: RlweParameters,
    needs: KeyNeeds,
    message: Plaintext | PlainPolynomial,
    *,
    any_plain_modulus: bool = False,
) -> _Objects:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, public, keys = generate_keys(of, needs, any_plain_modulus=any_plain_modulus)
        one = encrypt(of, public, message)
    whole = [*([] if keys.relin is None else [keys.relin]), *keys.galois.values()]
    memory = sum(key.data.nbytes for key in whole)
    files = (len(object_bytes(each, of)) for each in (keys, one))
    key_bytes, ciphertext = files
    return _Objects(key_bytes, memory, ciphertext, one.data.size)


# ---- workloads -----------------------------------------------------------------------------------


def product(say: Callable[[str], None]) -> Rows:
    """One multiplication and relinearization, two ciphertexts in and one out."""
    of = parameters()
    slots, per_second = several_rate()
    say(f"{SEVERAL}: {per_second:,.0f} products per second")
    own = _objects(of, KeyNeeds(relin=of.limbs), encode_coefficients(of, [1]))
    work = Workload(
        PRODUCT,
        SEVERAL,
        PARAMS,
        slots,
        slots / per_second,
        0.0,
        2 * own.ciphertext,
        own.ciphertext,
        own.keys,
        own.memory,
    )
    text = (
        f"{MAIN_OPERATION} by the model, operands, keys and results over the link's model; devices "
        f"at {ASSUMED_HZ / 1e6:.0f} MHz, assumed; bytes of files of one pair of keys"
    )
    yield from rows_of(work, {"card_seconds": "model"}, text)


def on_cpu(kept: Sequence[Record], base: Workload) -> Rows:
    """The same on the cpu device: a replica is a processor of the host, and has no link."""
    micros = _kept(kept, REFERENCE, PARAMS, MAIN_OPERATION, "microseconds")
    work = Workload(
        ON_CPU,
        REFERENCE,
        PARAMS,
        1,
        micros.value / 1e6,
        0.0,
        base.request_bytes,
        base.result_bytes,
        base.key_bytes,
        base.key_memory_bytes,
    )
    yield from rows_of(
        work, {"card_seconds": "cpu"}, f"of `ringsmith bench heaws`: {micros.conditions}"
    )


def forecast(kept: Sequence[Record], slots: int, say: Callable[[str], None]) -> Rows:
    """The smart-grid forecast: all meters' readings modulo plain moduli; nothing without data."""
    try:
        server = begin_steps(Stages(Console(quiet=True)), SEVERAL).server
        assert isinstance(server, StepServer), "of begin_steps"
    except ToolError as error:
        say(f"the forecast is left out: {error}")
        return
    rate = _kept(kept, SEVERAL, PARAMS, DEVICE, "per_second")
    host = _kept(kept, REFERENCE, PARAMS, HOST, "seconds")
    of, runs = server.parameters[0], len(server.parameters)
    own = _objects(
        of, KeyNeeds(relin=of.limbs), encode_coefficients(of, [1]), any_plain_modulus=True
    )
    work = Workload(
        FORECAST,
        SEVERAL,
        PARAMS,
        slots,
        slots / rate.value,
        host.value,
        own.ciphertext * runs * len(server.kits[0].inputs),
        own.ciphertext * runs,
        own.keys,
        own.memory,
    )
    text = f"of `ringsmith bench heaws`: {rate.conditions}; the host's share: {host.conditions}"
    yield from rows_of(work, {"card_seconds": "model", "host_seconds": "cpu"}, text)


def network(kept: Sequence[Record]) -> Rows:
    """LoLa's network for MNIST on one image; keys lie in the card's memory."""
    of = network_parameters(NETWORKS[_NETWORK].params)
    program = NETWORKS[_NETWORK].plan(of)
    own = _objects(of, program.key_needs, encode(of, [1.0]))
    time = _kept(kept, NETWORK_DESIGN, _NETWORK, _NETWORK, "milliseconds")
    inputs = len(program.inputs)
    work = Workload(
        NETWORK,
        NETWORK_DESIGN,
        _NETWORK,
        1,
        time.value / 1e3,
        0.0,
        inputs * own.ciphertext,
        len(program.outputs) * own.ciphertext,
        own.keys,
        own.memory,
        inputs * own.residues * _CARD_WORD,
        own.memory // _HOST_WORD * _CARD_WORD,
    )
    text = (
        f"of `ringsmith bench framework`: {time.conditions}; results counted as long as inputs; "
        "words of 32 bits on the card"
    )
    yield from rows_of(work, {"card_seconds": "model"}, text)


def _kept(
    records: Sequence[Record], design: str, params: str, operation: str, metric: str
) -> Record:
    """A record of another bench.

    Raises:
        ParameterError: If it is not there; says what to do.
    """
    for each in records:
        if (each.design, each.params, each.operation, each.metric) == (
            *(design, params, operation, metric),
        ) and each.peer in ("", "Ringsmith's cpu device"):
            return each
    raise ParameterError(
        f"the records have no {metric} of {operation} on {design}: give those of a whole run, such "
        "as bench/records/heaws.jsonl and bench/records/framework.jsonl"
    )
