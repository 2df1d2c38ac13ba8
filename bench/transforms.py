"""``ringsmith bench transforms``: products of matrices and encrypted vectors, on every device.

The figures of an earlier commit are values of the bench's file, so that pages show both.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, cast

import numpy as np

from bench.cpu.sets import SETS, parameters_of
from bench.cpu.timing import timed
from bench.framework import HERTZ, design_text
from bench.heir import FOR_DESIGN, OURS, cpu_call, inputs_of, seal_call, wish_of
from bench.heir_modules import Module, read_modules
from bench.measure import SEAL, counted, empty_cache, one_thread, security_text
from bench.record import Record, machine_state
from bench.run import ROOT, Run
from ringsmith import matvec, trace
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.vector.compiler.cost import estimate
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.heir import Scheme, program_of, trace_module
from ringsmith.heir.compiler import module_text
from ringsmith.lower import lower
from ringsmith.params import CkksParameters, parameter_set
from ringsmith.params.keys import galois_key_name
from ringsmith.program import Program
from ringsmith.runtime import compile_graph
from ringsmith.runtime.designs import named_design

MATVEC = "matvec"
"""The operation of all records of products of a matrix."""


def product(parameters: CkksParameters, size: int) -> Program:
    """Returns the product of a dense plain matrix, ``size`` times ``size``, and a vector."""
    weights = np.random.default_rng(1).uniform(-1, 1, (size, size))
    return trace(lambda x: matvec(weights, x), parameters, {"x": size})


# ---- designs -----------------------------------------------------------------------------------


def products(run: Run) -> Iterator[Record]:
    """Yields cycles and compile times of dense products on designs.

    Values of the part: ``cases``, a list of tables with ``design``, ``params`` and ``size``. Raises
    ProgramError if a product does not fit its design.
    """
    for case in run["cases"]:
        of = cast(CkksParameters, parameter_set(case["params"]))
        design, size = named_design(case["design"]), case["size"]
        graph = lower(product(of, size)).graph
        with empty_cache():
            begin = time.process_time()
            executable = compile_graph(graph, design).executable
            seconds = time.process_time() - begin
            rows = counted(graph, design, "model", MATVEC, of)
        matrix = f"a dense matrix of {size} × {size}"
        cycles = replace(rows[0], conditions=f"{matrix}, {rows[0].conditions}")
        run.say(f"{design.name}, {of.name}: {matrix}: {cycles.value:,.0f} cycles, {seconds:.1f} s")
        yield cycles
        if isinstance(executable, Executable):
            yield replace(cycles, metric="transfers", value=executable.host_transfers)
        text = f"{matrix}, processor time of all threads, once, {machine_state()}"
        what = (design.name, of.name, MATVEC)
        yield Record(*what, "compile_seconds", float(f"{seconds:.3g}"), REFERENCE, text)


def diagonals(run: Run) -> Iterator[Record]:
    """Yields cycles and milliseconds of a transform with few diagonals in a set of the part's.

    Values of the part: ``design``; ``name``, ``degree``, ``prime_bits``, ``special_bits`` and
    ``digits`` of the set; ``limbs`` that the vector has; ``diagonals``, an odd number of them
    around the main one; ``babies``, rotations that all giant steps share.
    """
    of = CkksParameters.create(
        n=run["degree"],
        prime_bits=run["prime_bits"],
        special_bits=run["special_bits"],
        scale_bits=40,
        name=run["name"],
        dnum=run["digits"],
    )
    design = cast(VectorDesign, named_design(run["design"]))
    graph = diagonal_graph(of, run["limbs"], run["diagonals"], run["babies"])
    cost = estimate(graph, design)
    text = (
        f"{run['diagonals']} diagonals at {run['limbs']} limbs, {run['babies']} baby steps, one "
        f"division for each giant step, rescaling by two primes; estimated from one try of the "
        f"compiler; {security_text(of)}; {design_text(design)}"
    )
    run.say(f"{design.name}, {of.name}: {cost.cycles:,} cycles")
    what = (design.name, of.name, MATVEC)
    yield Record(*what, "cycles", cost.cycles, "estimate", text)
    at = f"{text}; at {HERTZ / 1e6:.0f} MHz, assumed"
    yield Record(*what, "milliseconds", cost.cycles / HERTZ * 1e3, "estimate", at)


def diagonal_graph(of: CkksParameters, limbs: int, count: int, babies: int) -> SubroutineGraph:
    """Returns a transform as a subroutine graph: the sum of diagonals times rotations of x.

    Digits of x are shared by all baby steps. Sums of products are over the extended base, P times
    what they stand for. Of each giant step only the half that it cuts is divided by P; the last
    division takes two data primes, too.

    Args:
        of: The parameters, with several special primes.
        limbs: Data primes of x.
        count: Diagonals: those at -(count // 2) … count // 2.
        babies: Rotations that each giant step has: by 0 … babies - 1, 2 or more. Giant steps are
            multiples of it. Each has a diagonal that a baby step rotates.
    """
    low, high = -(count // 2), count - count // 2
    giants = range(low // babies * babies, high, babies)
    steps = {*range(1, babies), *giants} - {0}
    elements = {step: of.galois_element(step) for step in steps}
    names = {step: galois_key_name(element) for step, element in elements.items()}
    graph = SubroutineGraph.for_parameters(of, dict.fromkeys(names.values(), of.key_shape(limbs)))
    base = tuple(range(limbs))
    extended = (*base, *of.special)
    cut = Cut(tuple(len(digit) for digit in of.digits(limbs)), "fast_base_conv", extended)
    x = [graph.input(f"x.{half}", base) for half in (0, 1)]
    digits = graph.digits(x[1], cut)
    rotated = {
        step: graph.key_product(digits, names[step], elements[step], [x[0]])
        for step in range(1, babies)
    }
    turned: list[int] = []  # pairs of giant steps
    rest: list[int] = []  # what no step rotates
    for giant in giants:
        offsets = range(max(low, giant), min(giant + babies, high))
        plains = {each: graph.input(f"diagonal.{each}", extended) for each in offsets}
        total = reduce(
            graph.add,
            [graph.mul(rotated[each - giant], plains[each]) for each in offsets if each != giant],
        )
        own = []
        if giant in plains:
            near = graph.drop_limbs(plains[giant], base)
            own = [graph.mul(each, near) for each in x]
        if not giant:
            rest = own
        else:
            halves = _added(graph, graph.halves(total), own, extended)
            divided = graph.digits(graph.mod_down(halves[1], of.special), cut)
            total = graph.key_product(divided, names[giant], elements[giant], halves[:1])
        turned.append(total)
    ends = _added(graph, graph.halves(reduce(graph.add, turned)), rest, extended)
    for half, part in enumerate(ends):
        graph.output(graph.mod_down(part, (*base[-2:], *of.special)), f"y.{half}")
    return graph


def _added(
    graph: SubroutineGraph, totals: Sequence[int], own: Sequence[int], extended: Sequence[int]
) -> list[int]:
    """Sums over the extended base plus P times what is there once; nothing: the sums."""
    if not own:
        return [*totals]
    return [
        graph.add(total, graph.mod_up_scaled(each, extended))
        for total, each in zip(totals, own, strict=True)
    ]


# ---- the CPU -----------------------------------------------------------------------------------


def on_cpu(run: Run) -> Iterator[Record]:
    """Yields times of a dense product on the CPU, with SEAL's for the same operations.

    Values of the part: ``set``, one of ``bench.cpu.sets``; ``size`` of the matrix; ``rounds``.
    """
    item = SETS[run["set"]]
    of = cast(CkksParameters, parameters_of(item))
    # The sets of this bench have a scale for operations alone: results are checked here.
    program = product(replace(of, scale=2.0 ** (min(item.data_bits) - 1)), run["size"])
    inputs = {"x": np.random.default_rng(2).uniform(-1, 1, run["size"])}
    matrix = f"a dense matrix of {run['size']} × {run['size']}"
    yield from _least(run, MATVEC, program, inputs, matrix)


def networks(run: Run) -> Iterator[Record]:
    """Yields times on the CPU and cycles on a design of modules that HEIR compiles.

    Values of the part: ``modules``, a list of HEIR's modules, relative to the clone; ``names`` of
    those that are measured; ``design``; ``rounds``. Says so and yields nothing where the list is
    not there. Raises ToolError when ``heir-opt`` is not installed.
    """
    path = ROOT / run["modules"]
    if not path.exists():
        run.say(f"{run['modules']} is not there: examples/heir/networks.py writes it")
        return
    for module in read_modules(path):
        if module.name in run["names"]:
            yield from _network(run, module)


def _network(run: Run, module: Module) -> Iterator[Record]:
    text, name = module_text(module.file, module.lowering(None))
    traced = trace_module(text, name, module.clear)
    program = program_of(traced, wish_of(OURS, module, Scheme.CKKS))
    yield from _least(run, module.name, program, dict(inputs_of(module, traced)), "HEIR's module")
    program = program_of(traced, wish_of(FOR_DESIGN, module, Scheme.CKKS, run["design"]))
    executable = compile_graph(lower(program).graph, run["design"]).executable
    assert executable is not None, "compiled for a design"
    run.say(f"{run['design']}: {module.name}: {executable.cycles:,} cycles")
    what = (run["design"], program.parameters.name, module.name, "cycles", executable.cycles)
    yield Record(*what, "model", "HEIR's module, operands and full keys resident")


def _least(
    run: Run, operation: str, program: Program, inputs: Mapping[str, Any], what: str
) -> Iterator[Record]:
    """The shortest times of a program of ours and of SEAL, which run in turn."""
    calls: dict[str, Callable[[], object]] = {}
    with one_thread():
        _, calls[""] = cpu_call(program, inputs)
        if (missing := seal_missing()) is None:
            calls[SEAL] = seal_call(program, inputs)
        else:
            run.say(missing)
        works = {name: timed(call) for name, call in calls.items()}
        rounds = [{name: work() for name, work in works.items()} for _ in range(run["rounds"])]
    text = (
        f"{what}, one thread, CPU time, the least of {run['rounds']} rounds in which ours and "
        f"SEAL's ran in turn, keys from seeds, {machine_state()}"
    )
    for name in calls:
        value = float(f"{min(each[name] for each in rounds) * 1e3:.4g}")
        run.say(f"{name or REFERENCE}, {program.parameters.name}: {operation}: {value:,g} ms")
        key = (REFERENCE, program.parameters.name, operation, "milliseconds", value)
        yield Record(*key, REFERENCE, text, name)
