"""Cycles of programs on the model or the simulated RTL, and their times on the cpu device."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial

import numpy as np

from ringsmith import _core, runtime
from ringsmith.apps.conditions import machine_state
from ringsmith.apps.operations import run_checked
from ringsmith.apps.seal_baseline import median_seconds
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable, Run
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import KeyPoly, KeyStream, RunReport
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.backends.rpau.device.model import ModelDevice
from ringsmith.bench.records import Found, Record
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.build_cache import fingerprint
from ringsmith.hdl.sources import rtl_sources
from ringsmith.params import RlweParameters
from ringsmith.params.security import LOWEST

DEVICES = ("model", "rtl")
"""What counts cycles."""

LONGEST = 10_000_000
"""Cycles after which a program is given up; none here takes a tenth of that."""

_DIGEST_DIGITS = 12

OURS = "Ringsmith's cpu device"
"""How numbers call our own software."""


def run(graph: SubroutineGraph, design: RpauDesign, device: str) -> tuple[int, int, Executable]:
    """Runs a graph: cycles, instructions, and the executable.

    The model computes cycles alone; what the RTL computes is compared with the interpreter's.

    Raises:
        ProgramError: If it does not fit the design.
        DeviceError: If a result on the RTL differs from the interpreter's.
    """
    compiled = runtime.compile_graph(graph, design)
    executable = compiled_for(graph, design)
    if device == "rtl":
        instructions, cycles = run_checked(compiled, runtime.open_device("rtl", design))
        return cycles, instructions, executable
    model = KeyedModel(executable)
    reports = [model.run(each) for each in executable.runs]
    return sum(r.cycles for r in reports), sum(r.instructions for r in reports), executable


def compiled_for(graph: SubroutineGraph, design: RpauDesign) -> Executable:
    """A graph's executable for a design. Raises ProgramError if it does not fit."""
    executable = runtime.compile_graph(graph, design).executable
    assert isinstance(executable, Executable), "compiled for a design"
    return executable


class KeyedModel:
    """The cycles of an executable's runs, with keys that come while they run where they may."""

    def __init__(self, executable: Executable) -> None:
        self._design = executable.design
        self._model = ModelDevice(executable.design, timing_only=True)
        self._model.set_ring(executable.log_degree)
        degree = min(executable.n, executable.design.n)
        self._words = np.zeros(degree, dtype=np.uint64)

    def key_polynomials(self, run: Run) -> int:
        """Polynomials of a run's keys, of all RPAUs together."""
        return sum(load.mask.bit_count() for load in run.keys)

    def run(self, run: Run, came: tuple[int, ...] | None = None) -> RunReport:
        """Runs a run.

        Args:
            run: The run.
            came: When its keys come, else as the design's bus goes; empty: they are there.
        """
        self._model.load_program(np.array(run.words, dtype=np.uint64))
        if not self._design.key_stream or not run.keys or came == ():
            return self._model.run(LONGEST)
        polys = tuple(
            KeyPoly(rpau, load.index, self._words, load.key)
            for load in run.keys
            for rpau in bits_of(load.mask)
        )
        if came is None:
            came = arrivals(Link(self._design.host_bits), self._design, len(polys))
        return self._model.run(LONGEST, stream=KeyStream(polys, came))


def conditions(parameters: RlweParameters, executable: Executable) -> str:
    """What must be known of an operation's cycles."""
    keys = "keys resident, half of them expanded from seeds" if executable.seeded else ""
    if not executable.seeded and any(run.keys for run in executable.runs):
        keys = "keys resident and whole"
        if executable.design.key_stream:
            keys = f"keys come while it runs, over a bus of {executable.design.host_bits} bits"
    transfers = executable.host_transfers
    parts = (
        security_text(parameters),
        "operands resident",
        keys,
        f"{transfers} transfers of limbs with the host under way, not timed" if transfers else "",
        "host link not counted" if "bus" not in keys else "operands not counted",
    )
    return ", ".join(filter(None, parts))


def security_text(parameters: RlweParameters) -> str:
    """The level and its standard, or what the set's authors state where that is less."""
    level, stated = parameters.security, parameters.declared_security
    if stated and stated < (level or LOWEST):
        return f"{stated}-bit security, its authors say"
    if not level:
        return f"below {LOWEST}-bit security"
    return f"security of {parameters.security_text.partition(';')[0]}"


def cpu_times(
    parameters: RlweParameters, graphs: Mapping[str, SubroutineGraph], repeats: int
) -> Iterator[Found]:
    """Microseconds of our cpu device, which runs the graphs that an accelerator runs.

    Args:
        parameters: Their parameter set.
        graphs: By the name of the operation.
        repeats: Calls of each; the median counts.
    """
    text = (
        f"one thread; {machine_state()}; median of {repeats} calls; the graph that the accelerator "
        "runs, full keys"
    )
    with one_thread():
        for operation, graph in graphs.items():
            compiled, machine = runtime.compile_graph(graph), runtime.open_device(REFERENCE)
            rng = np.random.default_rng(1)
            inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
            call = partial(runtime.run_graph, compiled, machine, inputs, keys)
            value = median_seconds(call, repeats) * 1e6
            yield Found(
                REFERENCE, parameters.name, operation, "microseconds", value, "cpu", text, OURS
            )


def kept_times(earlier: Iterable[Record]) -> Iterator[Found]:
    """Times on a processor that an earlier run measured."""
    names = [each.name for each in fields(Found)]
    for record in earlier:
        if record.source == "cpu" and record.metric in ("microseconds", "seconds"):
            yield Found(**{name: getattr(record, name) for name in names})


@contextmanager
def one_thread() -> Iterator[None]:
    """The core computes on one thread, as SEAL does."""
    threads = _core.threads()
    _core.set_threads(1)
    try:
        yield
    finally:
        _core.set_threads(threads)


def rtl_digest(design: RpauDesign) -> str:
    """Digest of all that the RTL of a design is made of: parameters and sources."""
    return digest_of(rtl.parameters(design), rtl.ROOMS)


def digest_of(parameters: Mapping[str, int], folders: Sequence[str]) -> str:
    """Digest of parameters of a top module, and of the RTL in folders of ``rtl/``."""
    facts = [f"{name} = {value}" for name, value in parameters.items()]
    return fingerprint(facts, rtl_sources(*folders))[:_DIGEST_DIGITS]


def kept(found: Sequence[Found], earlier: Sequence[Record], design: RpauDesign) -> list[Found]:
    """All numbers of one program on a design, with the digest of the RTL where that counted them.

    What the model counted is the RTL's where the same RTL counted all of it in an earlier run.
    """
    digest = rtl_digest(design)
    seen = {_facts(record) for record in earlier if (record.source, record.rtl) == ("rtl", digest)}
    counted = [each for each in found if each.source in DEVICES]
    same = all(each.source == "rtl" or _facts(each) in seen for each in counted)
    return [
        replace(each, source="rtl", rtl=digest) if same and each in counted else each
        for each in found
    ]


def _facts(number: Found | Record) -> tuple[object, ...]:
    """What two runs must agree on, if they counted the same."""
    what = (number.design, number.params, number.operation, number.metric)
    return (*what, number.value, number.conditions)
