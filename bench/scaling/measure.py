"""``ringsmith bench scaling``: what requests take, and what fleets of cards make of it."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from rich.console import Console

from bench import heaws
from bench.framework import NETWORKS
from bench.measure import CLOCK, OURS
from bench.record import Record, read_records
from bench.run import ROOT, Run
from bench.scaling.fleet import Fleet, Workload, bound, grown
from bench.scaling.simulate import Simulated, simulate
from ringsmith.apps.gmdh.steps import StepServer, begin_steps
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.client import encode, encrypt, generate_keys
from ringsmith.client.integers import encode_coefficients
from ringsmith.errors import ParameterError, ToolError
from ringsmith.interop.object_file import object_bytes
from ringsmith.objects import PlainPolynomial, Plaintext
from ringsmith.params import KeyNeeds, RlweParameters, ckks_set

PRODUCT, FORECAST, NETWORK, ON_CPU = "product", "forecast", "mnist", "product on cpu"
NETWORK_DESIGN, _NETWORK = "framework-512", "lola-mnist"
DISPATCH = "dispatch"
"""The operation of the record that has the dispatcher's time for a request."""

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


# ---- what requests take ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Objects:
    """A client's objects.

    Attributes:
        keys: Bytes of its evaluation keys, as a file.
        memory: Bytes that they take in a host's memory.
        ciphertext: Bytes of a fresh ciphertext, as a file.
        residues: Of that ciphertext.
    """

    keys: int
    memory: int
    ciphertext: int
    residues: int

    @classmethod
    def of(
        cls,
        of: RlweParameters,
        needs: KeyNeeds,
        message: Plaintext | PlainPolynomial,
        *,
        any_plain_modulus: bool = False,
    ) -> "_Objects":
        """Makes real keys and a real ciphertext."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, public, keys = generate_keys(of, needs, any_plain_modulus=any_plain_modulus)
            one = encrypt(of, public, message)
        whole = [*([] if keys.relin is None else [keys.relin]), *keys.galois.values()]
        memory = sum(key.data.nbytes for key in whole)
        key_bytes, ciphertext = (len(object_bytes(each, of)) for each in (keys, one))
        return cls(key_bytes, memory, ciphertext, one.data.size)


def requests(run: Run) -> Iterator[Record]:
    """What requests take: times of models and of other benches' records, bytes of real objects.

    Values of the part: ``heaws`` and ``framework``, files of records, relative to the clone;
    ``dispatch_ms``, the dispatcher's CPU time for a request, without its inputs and outputs. Raises
    ParameterError if the records lack a number.
    """
    if not 0 < run["dispatch_ms"] < 1000:
        raise ParameterError(f"dispatch_ms = {run['dispatch_ms']}: give more than 0, below 1,000")
    what = ("any", "any", DISPATCH, "milliseconds", run["dispatch_ms"])
    yield Record(*what, "estimate", "CPU time of a dispatcher, without inputs and outputs")
    of_heaws, of_framework = (
        read_records(ROOT / run[name], name).records for name in ("heaws", "framework")
    )
    of = heaws.parameters()
    slots, rate = heaws.several_rate()
    own = _Objects.of(of, KeyNeeds(relin=of.limbs), encode_coefficients(of, [1]))
    product = Workload(
        name=PRODUCT,
        design=heaws.SEVERAL,
        params=heaws.PARAMS,
        slots=slots,
        card_seconds=slots / rate,
        host_seconds=0.0,
        request_bytes=2 * own.ciphertext,
        result_bytes=own.ciphertext,
        key_bytes=own.keys,
        key_memory_bytes=own.memory,
    )
    text = f"by the model, operands, keys and results over the link's model; devices {CLOCK}"
    yield from _records(product, {"card_seconds": "model"}, text)
    micros = _known(of_heaws, REFERENCE, heaws.PRODUCT, "microseconds", heaws.PARAMS)
    on_cpu = Workload(
        **{**vars(product), "name": ON_CPU, "design": REFERENCE, "slots": 1}
        | {"card_seconds": micros.value / 1e6}
    )
    yield from _records(on_cpu, {"card_seconds": "cpu"}, micros.conditions)
    yield from _forecast(run, of_heaws, slots)
    yield from _network(of_framework)


def _forecast(run: Run, known: Sequence[Record], slots: int) -> Iterator[Record]:
    """The smart-grid forecast: all meters' readings modulo plain moduli; nothing without data."""
    try:
        server = begin_steps(Stages(Console(quiet=True)), heaws.SEVERAL).server
    except ToolError as error:
        run.say(f"the forecast is left out: {error}")
        return
    assert isinstance(server, StepServer), "of begin_steps"
    rate = _known(known, heaws.SEVERAL, heaws.DEVICE, "per_second", heaws.PARAMS)
    host = _known(known, REFERENCE, heaws.HOST, "seconds", heaws.PARAMS)
    of, runs = server.parameters[0], len(server.parameters)
    needs, message = KeyNeeds(relin=of.limbs), encode_coefficients(of, [1])
    own = _Objects.of(of, needs, message, any_plain_modulus=True)
    work = Workload(
        name=FORECAST,
        design=heaws.SEVERAL,
        params=heaws.PARAMS,
        slots=slots,
        card_seconds=slots / rate.value,
        host_seconds=host.value,
        request_bytes=own.ciphertext * runs * len(server.kits[0].inputs),
        result_bytes=own.ciphertext * runs,
        key_bytes=own.keys,
        key_memory_bytes=own.memory,
    )
    text = f"{rate.conditions}; the host: {host.conditions}"
    yield from _records(work, {"card_seconds": "model", "host_seconds": "cpu"}, text)


def _network(known: Sequence[Record]) -> Iterator[Record]:
    """LoLa's network for MNIST on one image; keys lie in the card's memory."""
    of = ckks_set(NETWORKS[_NETWORK].params)
    program = NETWORKS[_NETWORK].plan(of)
    own = _Objects.of(of, program.key_needs, encode(of, [1.0]))
    time = _known(known, NETWORK_DESIGN, _NETWORK, "milliseconds", _NETWORK)
    inputs = len(program.inputs)
    work = Workload(
        name=NETWORK,
        design=NETWORK_DESIGN,
        params=_NETWORK,
        slots=1,
        card_seconds=time.value / 1e3,
        host_seconds=0.0,
        request_bytes=inputs * own.ciphertext,
        result_bytes=len(program.outputs) * own.ciphertext,
        key_bytes=own.keys,
        key_memory_bytes=own.memory,
        card_bytes=inputs * own.residues * _CARD_WORD,
        card_key_bytes=own.memory // _HOST_WORD * _CARD_WORD,
    )
    text = f"{time.conditions}; at 250 MHz, assumed; results counted as long as inputs"
    yield from _records(work, {"card_seconds": "model"}, text)


def _known(
    records: Sequence[Record], design: str, operation: str, metric: str, params: str
) -> Record:
    """A record of another bench. Raises ParameterError if it is not there; says what to do."""
    for each in records:
        found = (each.design, each.operation, each.metric, each.params)
        if found == (design, operation, metric, params) and each.baseline in ("", OURS):
            return each
    raise ParameterError(
        f"the records have no {metric} of {operation} on {design}: give those of a whole run, such "
        "as bench/records/heaws.jsonl"
    )


def _records(work: Workload, sources: Mapping[str, str], text: str) -> Iterator[Record]:
    """A workload as records; ``sources``: where numbers come from that are not counted."""
    for name, metric in _METRICS.items():
        what = (work.design, work.params, f"{work.name}: {name}", metric, getattr(work, name))
        yield Record(*what, sources.get(name, "program"), text)


def workload_of(records: Sequence[Record], name: str) -> Workload | None:
    """Returns the workload of records; None: they have none of that name."""
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


# ---- fleets ------------------------------------------------------------------------------------


def fleets(run: Run) -> Iterator[Record]:
    """Simulated fleets and their closed form, of the workloads and times of the records.

    The same records give the same numbers, on every machine. Values of the part: ``cards``, sizes
    of fleets; ``sweeps``, by name, each with ``work``, fields of ``Fleet``, and ``grown``: whether
    there are as many machines of each kind as the cards need.
    """
    seconds = next(r.value for r in run.records if r.operation == DISPATCH) / 1e3
    for name, sweep in run["sweeps"].items():
        work = workload_of(run.records, sweep["work"])
        if work is None:
            continue
        run.say(name)
        for count in run["cards"]:
            own = {key: value for key, value in sweep.items() if key not in ("work", "grown")}
            fleet = Fleet(cards=count, dispatch_seconds=seconds, **own)
            if sweep.get("grown"):
                fleet = grown(work, fleet)
            yield from _point(name, work, fleet, simulate(work, fleet))


def _point(name: str, work: Workload, fleet: Fleet, found: Simulated) -> Iterator[Record]:
    """The reported values of a fleet."""
    least, most = bound(work, fleet)
    text = (
        f"{fleet.hosts} × {fleet.host_bytes * 8 / 1e9:,.0f} Gb/s, dispatchers: "
        f"{fleet.dispatchers:,}, key stores: {fleet.stores}"
    )
    for operation, metric, value, source in (
        (least, "per_second", most, "formula"),
        (found.busiest, "per_second", found.per_second, "simulation"),
        ("busiest", "percent", 100 * found.busy[found.busiest], "simulation"),
        ("half", "seconds", found.median_seconds, "simulation"),
        ("99 of 100", "seconds", found.late_seconds, "simulation"),
        ("keys loaded", "percent", 100 * found.loads, "simulation"),
    ):
        what = f"{name}: {fleet.cards}: {operation}"
        rounded = float(f"{value:.6g}")
        yield Record(work.design, work.params, what, metric, rounded, source, text)
