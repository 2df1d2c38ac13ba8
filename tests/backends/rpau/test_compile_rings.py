"""Programs in rings larger and smaller than a design's N: the interpreter's bits on the model."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.damage import changed
from tests.backends.rpau.interpreted import (
    assert_equal_outputs,
    random_inputs,
    random_keys,
    switched,
)

from ringsmith import _core
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import decode
from ringsmith.errors import ProgramError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.params import KeyShape

DESIGN = replace(
    load_design("nano"),
    name="rings",
    log_n=9,
    work_polys=64,
    key_polys=64,
    constants=128,
    larger_rings=2,
    smaller_rings=1,
)
DATA, SPECIAL = (0, 1, 2), 3
RINGS = (8, 9, 10, 11)


@cache
def program(log_degree: int) -> SubroutineGraph:
    """A product, relinearized, rotated, rescaled and transformed."""
    n = 1 << log_degree
    primes = tuple(q for bits in (46, 41, 47, 48) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    graph = SubroutineGraph(
        n, primes, roots, (SPECIAL,), {"relin": KeyShape(3), "galois:5": KeyShape(3)}
    )

    a, b, c = (graph.input(name, DATA) for name in "abc")
    relinearized = switched(graph, graph.mul(a, b), "relin")
    p0, p1 = graph.add(a, relinearized[0]), graph.add(b, relinearized[1])
    rotated = switched(graph, graph.automorph(p1, 5), "galois:5")
    graph.output(graph.add(graph.automorph(p0, 5), rotated[0]), "y0")
    graph.output(rotated[1], "y1")
    graph.output(graph.mod_down(p0, 2), "rescaled")
    graph.output(graph.automorph(c, 2 * n - 1), "conjugate")
    graph.output(graph.ntt(graph.input("d", DATA, Form.COEFF)), "transformed")
    return graph


class Counting(ModelCoprocessor):
    """The model, which counts the words that cross to and from the host by address space."""

    def __init__(self, design: RpauDesign) -> None:
        super().__init__(design)
        self.crossed: Counter[AddressSpace] = Counter()

    def write(self, space: AddressSpace, unit: int, index: int, words: Words) -> None:
        """Writes, and counts."""
        super().write(space, unit, index, words)
        self.crossed[space] += words.size

    def read(self, space: AddressSpace, unit: int, index: int) -> Words:
        """Reads, and counts."""
        words = super().read(space, unit, index)
        self.crossed[space] += words.size
        return words


def run_both(log_degree: int, device: RpauDevice) -> Executable:
    """Runs the program on a device and through the interpreter; checks contents and cycles."""
    graph, random = program(log_degree), np.random.default_rng(log_degree)
    inputs, keys = random_inputs(graph, random), random_keys(graph, random)
    executable = compile_graph(graph, device.coprocessor.design)
    compiled = CompiledGraph(graph, executable)
    coprocessor = device.coprocessor
    assert isinstance(coprocessor, Counting)
    coprocessor.crossed.clear()
    found = device.execute(compiled, inputs, keys)
    assert found.cycles == executable.cycles
    ends = [executable.runs[0].loads, executable.runs[-1].stores]
    limbs = sum(len(places) for values in ends for places in values.values())
    polynomials = limbs * min(graph.n, coprocessor.design.n) + found.report.spilled_words
    assert coprocessor.crossed[AddressSpace.POLY] == polynomials
    assert (
        coprocessor.crossed[AddressSpace.KEY] + coprocessor.crossed[AddressSpace.SEED]
        == found.report.key_words
    )
    assert_equal_outputs(found, Cpu().execute(compiled, inputs, keys))
    return executable


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"rpaus": 6, "link": True, "prng": "trivium", "seeds": 4},
        {"rpaus": 2, "modulus_banks": 2, "twiddles": "stored"},
        {"work_polys": 24, "key_polys": 24},
    ],
    ids=str,
)
def test_one_device_runs_programs_of_every_ring(change: dict[str, int | str | bool]) -> None:
    design: RpauDesign = replace(DESIGN, **change)
    device = RpauDevice(Counting(design))
    for log_degree in (*RINGS, RINGS[0]):
        executable = run_both(log_degree, device)
        assert executable.sub_polys == design.sub_polys(log_degree)
        # Half keys of a larger ring are whole: sub-polynomials of 2^9 words do not begin with
        # streams.
        assert bool(executable.seeded) == (design.seeds > 0 and log_degree <= design.log_n)
        assert read_executable(executable.to_json()) == executable


@pytest.mark.parametrize(("log_n", "log_degree"), [(14, 15), (15, 15)])
def test_a_device_for_whole_blocks_expands_the_keys_of_larger_rings(
    log_n: int, log_degree: int
) -> None:
    design = replace(DESIGN, log_n=log_n, larger_rings=1, prng="trivium", seeds=2)
    executable = run_both(log_degree, RpauDevice(Counting(design)))
    assert executable.seeded == {"relin", "galois:5"}
    assert executable.host_transfers == 0
    halves = {(load.half, load.sub_poly) for run in executable.runs for load in run.keys}
    assert halves == {(0, sub_poly) for sub_poly in range(executable.sub_polys)}
    assert {load.index for run in executable.runs for load in run.seeds} == {0, 1}


def test_a_larger_ring_splits_before_its_transforms_and_joins_after_them() -> None:
    executable = compile_graph(program(11), DESIGN)
    names = [decode(word).operation.name for word in executable.words]
    assert names.count("split") == names.count("ntt")  # 4 sub-polynomials: two stages of two pairs
    assert names.count("join") == names.count("intt")


def test_a_ring_that_the_device_does_not_run_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"N = 2048 .* built for N = 256 to 1024: choose"):
        compile_graph(program(11), replace(DESIGN, larger_rings=1))


def test_an_executable_of_a_wrong_ring_is_refused() -> None:
    executable = compile_graph(program(10), DESIGN)
    load = replace(executable.runs[0].keys[0], sub_poly=2)
    for path, value, message in (
        (("log_degree",), 12, "runs rings of degree"),
        (("log_degree",), 11, "modulo 2N|primitive"),
        (("runs", 0, "keys", 0), load, "a sub-polynomial that a polynomial of its ring has not"),
    ):
        with pytest.raises(ProgramError, match=message):
            read_executable(changed(executable, path, value).to_json())
