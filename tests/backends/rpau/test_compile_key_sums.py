"""Sums of key products, initialised and added up in each way: the interpreter's bits."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.interpreted import switched

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.compiler import compile as compiler
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import fits_at_once
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.compiler.selection import Selection
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.params import KeyShape

DESIGN = replace(
    load_design("nano"),
    name="sums",
    log_n=8,
    rpaus=7,
    work_polys=48,
    key_polys=64,
    constants=128,
    link=True,
    prng="trivium",
    seeds=4,
    larger_rings=1,
)
DATA, SPECIAL = (0, 1, 2, 3, 4), 5


@cache
def program(log_degree: int) -> SubroutineGraph:
    """A relinearized product and its rotation; one summand is needed later, too."""
    n = 1 << log_degree
    primes = tuple(q for bits in range(42, 48) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    graph = SubroutineGraph(
        n, primes, roots, (SPECIAL,), {"relin": KeyShape(5), "galois:5": KeyShape(5)}
    )

    a, b = (graph.input(name, DATA) for name in "ab")
    square = graph.mul(a, a)
    half0, half1 = switched(graph, graph.mul(a, b), "relin")
    total = graph.add(half1, square)
    rotated0, rotated1 = switched(graph, graph.automorph(total, 5), "galois:5")
    graph.output(graph.add(graph.add(b, half0), rotated0), "y0")
    graph.output(graph.add(rotated1, square), "y1")
    return graph


def run_both(graph: SubroutineGraph, design: RpauDesign) -> Executable:
    """Runs a graph on the model and through the interpreter; checks contents and cycles."""
    random = np.random.default_rng(graph.n)
    inputs = {
        name: np.stack([random.integers(0, graph.primes[i], graph.n, np.uint64) for i in kind.base])
        for name, kind in graph.inputs.items()
    }
    keys = {
        name: random_key(graph.primes, graph.n, shape, random, seeded=True)
        for name, shape in graph.keys.items()
    }
    executable = compiler.compile_graph(graph, design)
    compiled = CompiledGraph(graph, executable)
    expected = Cpu().execute(compiled, inputs, keys)
    found = RpauDevice(ModelCoprocessor(design)).execute(compiled, inputs, keys)
    assert found.cycles == executable.cycles
    for name, limbs in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], limbs, err_msg=name)
    return executable


@pytest.mark.parametrize(("rpaus", "log_degree"), [(7, 8), (6, 9)])
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("preinitialised", [False, True])
def test_sums_initialised_and_added_up_in_each_way_have_equal_bits(
    monkeypatch: pytest.MonkeyPatch, rpaus: int, preinitialised: bool, eager: bool, log_degree: int
) -> None:
    graph, design = program(log_degree), replace(DESIGN, rpaus=rpaus)
    way = {"preinitialised": preinitialised, "eager": eager}

    def only(*_: object) -> Iterator[Selection]:
        expanded = expand(graph)
        layout = layouts(expanded, design)[-1]
        seeded = graph.keys if log_degree == design.log_n else ()
        yield select(expanded, design, layout, per_rpau=True, **way, seeded=seeded)

    monkeypatch.setattr(compiler, "_selections", only)
    run_both(graph, design)


def relinearization(log_degree: int) -> SubroutineGraph:
    """Of three polynomials that are handed in."""
    whole = program(log_degree)
    graph = SubroutineGraph(
        whole.n, whole.primes, whole.roots, whole.special, {"relin": KeyShape(5)}
    )
    c0, c1, c2 = (graph.input(f"c{i}", DATA) for i in range(3))
    for half, (c, switch) in enumerate(zip((c0, c1), switched(graph, c2, "relin"), strict=True)):
        graph.output(graph.add(c, switch), f"y{half}")
    return graph


def test_a_larger_ring_needs_no_transfers_where_digits_need_not_wait_for_each_other() -> None:
    """As many work polynomials as Medha has, in two sub-polynomials each."""
    graph, design = relinearization(9), replace(DESIGN, rpaus=6, work_polys=13)
    expanded = expand(graph)
    (layout,) = layouts(expanded, design)
    waiting = select(expanded, design, layout, per_rpau=False, preinitialised=True)
    at_once = select(expanded, design, layout, per_rpau=False, preinitialised=True, eager=True)
    assert not fits_at_once(waiting, design)
    assert fits_at_once(at_once, design)
    executable = run_both(graph, design)
    assert executable.host_transfers == 0
    assert len(executable.runs) == 1
