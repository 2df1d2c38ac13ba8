"""What most benches measure: cycles of HE operations on designs, and times on the CPU."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.record import Record, machine_state
from bench.run import Run
from ringsmith import _core, runtime
from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.apps.operations import run_checked
from ringsmith.apps.seal_baseline import REPEATS, SealContext, median_seconds
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable import Run as Segment
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import KeyPoly, KeyStream, SegmentReport
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.types import Design
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.synthesis import Area
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, RlweParameters, parameter_set
from ringsmith.params.security import LOWEST
from ringsmith.program import Plain
from ringsmith.runtime.designs import named_design

LONGEST = 10_000_000
"""Cycles after which a program is given up; the longest here takes a tenth of that."""

OURS = "Ringsmith's cpu device"
"""How numbers call our own software."""

SEAL = "SEAL"
"""The records' name of Microsoft SEAL, for all versions and machines."""

CLOCK = f"at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"


# ---- operations of a list of cases -------------------------------------------------------------


def operations(run: Run) -> Iterator[Record]:
    """Cycles and instructions of HE operations, each a program of its own.

    Values of the part: ``device``, ``model`` or ``rtl``; ``cases``, a list of tables with
    ``design``, ``params``, ``operations``, and optionally ``name`` and ``change``: the design's
    name in records, and entries of the design that differ. Raises ProgramError if the parameters do
    not fit a design; DeviceError if a result on the RTL differs from the interpreter's.
    """
    for case in run["cases"]:
        design, of = design_of(case), parameter_set(case["params"])
        for operation in case["operations"]:
            graph = lower_operation(operation, of, of.limbs)
            rows = counted(graph, design, run["device"], operation, of)
            run.say(f"{design.name}, {of.name}: {operation}: {rows[0].value:,.0f} cycles")
            yield from rows


def design_of(case: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of any architecture
    """Returns the design of a case, with what the case changes."""
    design = named_design(case["design"])
    if "change" not in case:
        return design
    change = {"name": case.get("name", design.name), **case["change"]}
    return replace(design, **change)  # type: ignore[type-var]


def counted(
    graph: SubroutineGraph, design: Design, device: str, operation: str, of: RlweParameters
) -> list[Record]:
    """Returns cycles, and instructions where the design has them, of one program."""
    what = (design.name, of.name, operation)
    if not isinstance(design, RpauDesign):
        executable = runtime.compile_graph(graph, design).executable
        assert executable is not None, "compiled for a design"
        return [Record(*what, "cycles", executable.cycles, "model", security_text(of))]
    cycles, instructions, compiled = run_graph(graph, design, device)
    text = conditions(of, compiled)
    return [
        Record(*what, "cycles", cycles, device, text),
        Record(*what, "instructions", instructions, device, text),
    ]


def run_graph(
    graph: SubroutineGraph, design: RpauDesign, device: str = "model"
) -> tuple[int, int, Executable]:
    """Runs a graph on a design of architecture ``rpau``: cycles, instructions, and the executable.

    The model computes cycles alone; what the RTL computes is compared with the interpreter's.
    Raises ProgramError if it does not fit the design; DeviceError if a result on the RTL differs
    from the interpreter's.
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
    """Returns a graph's executable for a design. Raises ProgramError if it does not fit."""
    executable = runtime.compile_graph(graph, design).executable
    assert isinstance(executable, Executable), "compiled for a design"
    return executable


class KeyedModel:
    """The cycles of an executable's segments, with keys that come while they run where they may."""

    def __init__(self, executable: Executable) -> None:
        self._design = executable.design
        self._model = ModelCoprocessor(executable.design, timing_only=True)
        self._model.set_ring(executable.log_degree)
        degree = min(executable.n, executable.design.n)
        self._words = np.zeros(degree, dtype=np.uint64)

    def key_polynomials(self, segment: Segment) -> int:
        """Polynomials of a segment's keys, of all RPAUs together."""
        return sum(load.mask.bit_count() for load in segment.keys)

    def run(self, segment: Segment, came: tuple[int, ...] | None = None) -> SegmentReport:
        """Runs a segment.

        Args:
            segment: The segment.
            came: When its keys come, else as the design's bus goes; empty: they are there.
        """
        self._model.load_program(np.array(segment.words, dtype=np.uint64))
        if not self._design.key_stream or not segment.keys or came == ():
            return self._model.run(LONGEST)
        polys = tuple(
            KeyPoly(rpau, load.index, self._words, load.key)
            for load in segment.keys
            for rpau in bits_of(load.mask)
        )
        if came is None:
            came = arrivals(Link(self._design.host_bits), self._design, len(polys))
        return self._model.run(LONGEST, stream=KeyStream(polys, came))


def conditions(parameters: RlweParameters, executable: Executable) -> str:
    """Returns what must be known of an operation's cycles."""
    keys = ""
    if executable.seeded:
        keys = "keys resident, half of them expanded from seeds"
    elif any(run.keys for run in executable.runs):
        keys = "full keys resident"
        if executable.design.key_stream:
            keys = f"keys come over a bus of {executable.design.host_bits} bits while it runs"
    moved = executable.host_transfers
    parts = (
        security_text(parameters),
        "operands resident",
        keys,
        f"{moved} limbs moved to or from the host, not timed" if moved else "",
    )
    return ", ".join(filter(None, parts))


def security_text(parameters: RlweParameters) -> str:
    """Returns the level and its standard, or what the set's authors state where that is less."""
    level, stated = parameters.security, parameters.declared_security
    if stated and stated < (level or LOWEST):
        return f"{stated}-bit security, its authors say"
    if not level:
        return f"below {LOWEST}-bit security"
    return f"security of {parameters.security_text.partition(';')[0]}"


# ---- times on the CPU --------------------------------------------------------------------------


def cpu_times(
    parameters: RlweParameters, graphs: Mapping[str, SubroutineGraph], repeats: int
) -> Iterator[Record]:
    """Microseconds of our cpu device, which runs the graphs that an accelerator runs."""
    text = f"one thread; {machine_state()}; median of {repeats} calls; full keys"
    with one_thread():
        for operation, graph in graphs.items():
            compiled, device = runtime.compile_graph(graph), runtime.open_device(REFERENCE)
            rng = np.random.default_rng(1)
            inputs, keys = random_inputs(graph, rng), random_keys(graph, rng)
            call: Callable[[], object] = partial(runtime.run_graph, compiled, device, inputs, keys)
            value = median_seconds(call, repeats) * 1e6
            yield Record(
                REFERENCE, parameters.name, operation, "microseconds", value, "cpu", text, OURS
            )


@contextmanager
def one_thread() -> Iterator[None]:
    """The core computes on one thread, as SEAL does."""
    threads = _core.threads()
    _core.set_threads(1)
    try:
        yield
    finally:
        _core.set_threads(threads)


# ---- areas, and an empty cache ----------------------------------------------------------------

AREA_METRICS: Mapping[str, str] = MappingProxyType(
    {"dsps": "dsp", "brams": "bram", "urams": "uram", "lut_sites": "lut", "fabric_flip_flops": "ff"}
)
"""Numbers of an ``Area`` -> metrics."""

SYNTHESIZED = "Yosys, -family xcup, module by module"
"""How they were found, for the conditions."""


def area_records(
    design: str, params: str, operation: str, area: Area, source: str, text: str
) -> Iterator[Record]:
    """Yields an area's numbers, one a metric."""
    for field, metric in AREA_METRICS.items():
        value = float(getattr(area, field))
        yield Record(design, params, operation, metric, value, source, text)


@contextmanager
def empty_cache() -> Iterator[None]:
    """Has everything that is kept lie in an empty folder meanwhile; restores the environment."""
    before = dict(os.environ)
    with TemporaryDirectory() as folder:
        os.environ["RINGSMITH_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


# ---- Microsoft SEAL's BFV on this CPU ------------------------------------------------------------


if TYPE_CHECKING:
    import seal


class SealExact(SealContext):
    """SEAL's BFV, with batching."""

    parameters: BfvParameters

    def __init__(self, parameters: BfvParameters, steps: Sequence[int]) -> None:
        """Makes keys; arguments and errors are those of ``SealContext``."""
        super().__init__(parameters, steps)
        import seal

        self.encoder = seal.BatchEncoder(self.context)

    def encode(self, values: NDArray[np.generic]) -> "seal.Plaintext":
        """Returns SEAL's encoding of at most N whole numbers, taken modulo t."""
        residues = np.mod(values, self.parameters.plain_modulus)
        return self.encoder.encode(np.array(residues, dtype=np.uint64, order="C"))

    def encode_operand(self, plain: Plain, limbs: int) -> "seal.Plaintext":
        """Returns SEAL's encoding of a program's constant: the same at every level."""
        return self.encode(plain.vector(self.parameters.slots))

    def encrypt(self, values: NDArray[np.generic]) -> "seal.Ciphertext":
        """Returns a fresh SEAL ciphertext of a vector; see ``encode``."""
        return self._encryptor.encrypt(self.encode(values))

    def decrypt(self, ciphertext: "seal.Ciphertext") -> NDArray[np.int64]:
        """Returns the N slots of a SEAL ciphertext, centred modulo t."""
        return np.asarray(self.encoder.decode(self._decryptor.decrypt(ciphertext)), np.int64)

    def noise_budget(self, ciphertext: "seal.Ciphertext") -> int:
        """Returns SEAL's invariant noise budget, in bits."""
        return int(self._decryptor.invariant_noise_budget(ciphertext))

    def rotate(self, a: "seal.Ciphertext", steps: int) -> "seal.Ciphertext":
        """Returns both rows turned to the left."""
        return self.evaluator.rotate_rows(a, steps, self.galois_keys)

    def mirror(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns the rows swapped."""
        return self.evaluator.rotate_columns(a, self.galois_keys)

    def operation_seconds(self, steps: int, repeats: int = REPEATS) -> Mapping[str, float]:
        """Times single operations, with all data limbs.

        Returns:
            Median seconds by operation: ``add``, ``multiply``, ``relinearize``, ``rotate``.
        """
        rng = np.random.default_rng(1)
        t = self.parameters.plain_modulus
        a, b = (self.encrypt(rng.integers(0, t, self.parameters.n)) for _ in range(2))
        evaluator = self.evaluator
        product = evaluator.multiply(a, b)
        calls: dict[str, Callable[[], object]] = {
            "add": lambda: evaluator.add(a, b),
            "multiply": lambda: evaluator.multiply(a, b),
            "relinearize": lambda: evaluator.relinearize(product, self.relin_keys),
            "rotate": lambda: evaluator.rotate_rows(a, steps, self.galois_keys),
        }
        return {name: median_seconds(call, repeats) for name, call in calls.items()}
