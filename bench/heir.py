"""``ringsmith bench heir``: programs that HEIR compiles, planned by HEIR and by Ringsmith."""

import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bench.heir_modules import Module, read_modules
from bench.measure import CLOCK, SEAL, SealExact, empty_cache, one_thread
from bench.record import Record, machine_state
from bench.run import ROOT, Run
from ringsmith import compile_program, open_device, progress
from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.apps.seal_baseline import SealBaseline, median_seconds, seal_missing
from ringsmith.apps.seal_program import SealProgram, rotation_steps
from ringsmith.backends.registry import REFERENCE
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.heir import PlanBy, Scheme, Traced, Wish, program_of, trace_module
from ringsmith.heir.compiler import heir_opt, module_text
from ringsmith.heir.plan import HEADROOM_BITS
from ringsmith.heir.text import HeirError
from ringsmith.params import BfvParameters, CkksParameters
from ringsmith.program import Program
from ringsmith.program.packing import tensors as unpacked
from ringsmith.program.packing import vectors
from ringsmith.runtime.designs import limits_of

HEIRS, OURS, FEWER_KEYS, FOR_DESIGN = "HEIR's", "ours", "ours, fewer keys", "ours, for the design"
"""Plans: operations and levels of HEIR; planned anew; with composed rotations; with parameters that
a design takes."""
PLANS = (HEIRS, OURS, FEWER_KEYS)
"""Plans that the cpu device runs."""

LARGEST_ERROR = 1e-4
"""A CKKS result that errs by more, or by more than this part of the largest number, is refused."""
LARGEST_ERROR_ON_DESIGN = 0.01
"""The same with parameters for a design, whose words may be narrow; its row is then left out."""

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A module as ``heir-opt`` compiled it to one level.

    Attributes:
        traced: The traced module.
        heir_seconds: Of ``heir-opt``.
        trace_seconds: Of reading and tracing.
    """

    traced: Traced
    heir_seconds: float
    trace_seconds: float


def programs(run: Run) -> Iterator[Record]:
    """Measures modules, each compiled to each of its schemes.

    Values of the part: ``modules``, files of HEIR, or lists of some, relative to the clone;
    ``designs`` whose cycles are counted; ``calls``, runs of each program. Raises HeirError when no
    module is compiled or read; else those are left out; ProgramError when none can be planned;
    likewise; DeviceError when a result is not the program's; ParameterError when there is no such
    design; ToolError when ``heir-opt`` is not installed.
    """
    for design in run["designs"]:
        limits_of(design)
    heir_opt()
    if (missing := seal_missing()) is not None:
        run.say(missing)
    modules = [module for path in run["modules"] for module in read_modules(_file(path))]
    if run.quick:
        modules = modules[:1]
    todo = [(module, scheme) for module in modules for scheme in module.schemes]
    failed: list[HeirError | ProgramError] = []
    with progress.task("measuring", len(todo), "programs") as task:
        for module, scheme in todo:
            run.say(f"{module.name}, {scheme.upper()}")
            try:
                yield from [*_program(module, scheme, run, with_seal=missing is None)]
            except (HeirError, ProgramError) as error:
                failed.append(error)
                run.say(f"{module.name}, {scheme.upper()}: left out: {error}")
            task.advance()
    if failed and len(failed) == len(todo):
        raise failed[0]


def _file(path: str) -> Path:
    """A file as given, else of the clone."""
    return Path(path) if Path(path).exists() else ROOT / path


def operation(module: Module, scheme: Scheme, plan: str) -> str:
    """Returns the operation that a plan's numbers are of."""
    return f"{module.name}, {scheme.upper()}, {plan}"


def wish_of(plan: str, module: Module, scheme: Scheme, design: str | None = None) -> Wish:
    """Returns what an import is asked for by a plan."""
    exact = scheme is not Scheme.CKKS
    headroom = module.headroom_bits if design is not None else None
    # A promise: each result is compared with that of the program in the clear.
    promised = None if exact else HEADROOM_BITS if headroom is None else headroom
    if plan == HEIRS:
        return Wish(PlanBy.HEIR, headroom_bits=promised)
    return Wish(
        scheme=scheme,
        plain_modulus=module.plain_modulus if exact else None,
        headroom_bits=promised,
        fewer_keys=plan == FEWER_KEYS,
        design=design,
    )


def counts(program: Program) -> dict[str, int]:
    """Returns what is counted of a program: metric -> number."""
    ops = [node.op for node in program.nodes]
    parameters, needs = program.parameters, program.key_needs
    return {
        "degree": parameters.n,
        "data_primes": parameters.limbs,
        "rotations": ops.count(Op.ROTATE),
        "products": sum(op.record.multiplies for op in ops),
        "plain_products": ops.count(Op.MULTIPLY_PLAIN),
        "digits": sum(
            program.nodes[node.operands[0]].limbs
            for node in program.nodes
            if node.op.record.key is not None
        ),
        "rotation_keys": len(needs.galois),
        "key_bytes": needs.bytes(parameters),
    }


def _program(module: Module, scheme: Scheme, run: Run, *, with_seal: bool) -> Iterator[Record]:
    """All numbers of a module in one scheme."""
    heirs, vector = _compiled(module, scheme), _compiled(module, None)
    tensors = inputs_of(module, vector.traced)
    text = (
        f"CPU time; runs on one thread, the median of {run['calls']}; heir_py "
        f"{heir_opt().version}, {machine_state()}"
    )
    for plan in PLANS:
        source = heirs if plan == HEIRS else vector
        begin = time.process_time()
        program = program_of(source.traced, wish_of(plan, module, scheme))
        planning = time.process_time() - begin
        record = partial(_record, REFERENCE, program, operation(module, scheme, plan))
        for metric, value in counts(program).items():
            yield record(metric, value, "program", _KEYS if metric == "key_bytes" else "")
        yield record("heir_seconds", source.heir_seconds, "cpu", text)
        yield record("plan_seconds", source.trace_seconds + planning, "cpu", text)
        error, seconds = on_cpu(program, tensors, run["calls"])
        yield record("milliseconds", seconds * 1e3, "cpu", text)
        if not program.parameters.exact:
            yield record("largest_error", error, "cpu", "")
        if plan == HEIRS and with_seal:
            seconds = on_seal(program, tensors, run["calls"])
            yield record("milliseconds", seconds * 1e3, "cpu", text, SEAL)
    for design in run["designs"]:
        for plan, traced in ((HEIRS, heirs.traced), (FOR_DESIGN, vector.traced)):
            try:
                yield from _on_design(module, scheme, plan, design, traced, tensors)
            except ProgramError as error:
                run.say(f"{operation(module, scheme, plan)}: left out for {design}: {error}")


_KEYS = (
    "keys are those of rotations and relinearization, both parts of each over the limbs that the "
    "program needs; seed-compressed keys take half the bytes"
)
_SCHEDULED = f"scheduled; operands, keys and results lie in the design's memory; {CLOCK}"


def _record(
    design: str,
    program: Program,
    what: str,
    metric: str,
    value: float,
    source: str,
    text: str,
    baseline: str = "",
) -> Record:
    rounded = value if isinstance(value, int) else float(f"{value:.4g}")
    return Record(design, program.parameters.name, what, metric, rounded, source, text, baseline)


def _compiled(module: Module, scheme: Scheme | None) -> _Compiled:
    """Compiles a module anew, whatever the cache has."""
    with empty_cache():
        begin = _children_seconds()
        text, name = module_text(module.file, module.lowering(scheme))
        heir_seconds = _children_seconds() - begin
    begin = time.process_time()
    traced = trace_module(text, name, module.clear)
    return _Compiled(traced, heir_seconds, time.process_time() - begin)


def _children_seconds() -> float:
    """CPU seconds of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def inputs_of(module: Module, traced: Traced) -> Tensors:
    """Returns the secret arguments: the module's, and numbers that are the same in every run."""
    rng = np.random.default_rng(1)
    drawn = {
        each.name: rng.integers(0, int(module.bound) + 1, each.shape)
        if each.whole
        else rng.uniform(-module.bound, module.bound, each.shape)
        for each in traced.inputs
    }
    return {**drawn, **module.inputs}


def on_cpu(
    program: Program, tensors: Tensors, calls: int, most: float = LARGEST_ERROR
) -> tuple[float, float]:
    """Returns the largest error on the cpu device, and the median CPU seconds on one thread.

    Raises DeviceError when the error is more.

    Args:
        program: The program.
        tensors: Its inputs.
        calls: Timed runs, after one to warm up.
        most: The largest error that is taken, of a CKKS result.
    """
    error, call = cpu_call(program, tensors, most)
    times = []
    with one_thread():
        for _ in range(calls):
            begin = time.process_time()
            call()
            times.append(time.process_time() - begin)
    return error, statistics.median(times)


def cpu_call(
    program: Program, tensors: Tensors, most: float = LARGEST_ERROR
) -> tuple[float, Callable[[], object]]:
    """Returns the largest error on the cpu device, and what runs the program there once more.

    Arguments and errors are those of ``on_cpu``.
    """
    secret_key, public_key, keys = program.generate_keys(seeded=True)
    inputs = program.encrypt(public_key, tensors)
    compiled, device = compile_program(program), open_device(REFERENCE)
    outputs = compiled.run(device, inputs, keys).outputs
    error = _largest_error(program, tensors, program.decrypt(secret_key, outputs), most)
    return error, partial(compiled.run, device, inputs, keys)


def on_seal(program: Program, tensors: Tensors, calls: int) -> float:
    """Returns the median CPU seconds of Microsoft SEAL, with the same operations and primes.

    Arguments are those of ``on_cpu``. Raises DeviceError when its result is not the program's.
    """
    return median_seconds(seal_call(program, tensors), calls)


def seal_call(program: Program, tensors: Tensors) -> Callable[[], object]:
    """Returns what runs a program once on Microsoft SEAL; arguments and errors as ``on_seal``."""
    packed: Tensors = tensors
    if program.packed_inputs:
        packed = vectors(program.packed_inputs, tensors, program.lengths)
    steps = rotation_steps(program)
    context: SealBaseline | SealExact
    if program.parameters.exact:
        context = SealExact(cast(BfvParameters, program.parameters), steps)
        given = {name: context.encrypt(packed[name]) for name in program.inputs}
    else:
        context = SealBaseline(cast(CkksParameters, program.parameters), steps)
        given = {
            name: context.encrypt(packed[name], node.scale, node.limbs)
            for name, node in program.inputs.items()
        }
    on_seal = SealProgram(context, program)
    found: Tensors = {name: context.decrypt(value) for name, value in on_seal.run(given).items()}
    if program.packed_outputs:
        found = unpacked(program.packed_outputs, found)
    else:
        found = {name: found[name][: len(each)] for name, each in program.evaluate(tensors).items()}
    _largest_error(program, tensors, found, LARGEST_ERROR)
    return partial(on_seal.run, given)


def _largest_error(program: Program, tensors: Tensors, found: Tensors, most: float) -> float:
    """The largest difference from the program in the clear.

    Raises DeviceError when it is more than ``most``, or than this part of the largest number.
    """
    errors = []
    for name, expected in program.evaluate(tensors).items():
        error = float(np.abs(found[name] - expected).max())
        bound = 0.0 if program.parameters.exact else most * max(1, np.abs(expected).max())
        if not error <= bound:
            raise DeviceError(f"{program.name}: {name} errs by {error:g}, and {bound:g} is allowed")
        errors.append(error)
    return max(errors)


def _on_design(
    module: Module, scheme: Scheme, plan: str, design: str, traced: Traced, tensors: Tensors
) -> Iterator[Record]:
    """Cycles on a design.

    Raises ProgramError when the design does not hold the program, or its words are too narrow for
    it; DeviceError when an exact result is wrong.
    """
    program = program_of(traced, wish_of(plan, module, scheme, None if plan == HEIRS else design))
    executable = compile_program(program, design).compiled_graph.executable
    assert executable is not None, "compiled for a design"
    try:
        error, _ = on_cpu(program, tensors, 1, LARGEST_ERROR_ON_DESIGN)
    except DeviceError as failure:
        if program.parameters.exact:
            raise
        raise ProgramError(f"{failure}: its scale is too small") from failure
    record = partial(_record, design, program, operation(module, scheme, plan))
    yield record("degree", program.parameters.n, "program", "")
    yield record("data_primes", program.parameters.limbs, "program", "")
    yield record("cycles", executable.cycles, "estimate", _SCHEDULED)
    yield record("milliseconds", executable.cycles / ASSUMED_HZ * 1e3, "estimate", _SCHEDULED)
    if not program.parameters.exact:
        yield record("largest_error", error, "cpu", "")
