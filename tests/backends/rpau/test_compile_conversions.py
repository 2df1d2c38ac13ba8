"""Programs with base conversions, compiled for designs with converters: the interpreter's bits."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.backends.rpau.interpreted import run_both, switched
from tests.backends.rpau.test_key_stream import SMALL as KEYS_LATE

from ringsmith import _core, runtime
from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_inputs, random_key, random_keys
from ringsmith.backends.rpau.compiler import compile as compiler
from ringsmith.backends.rpau.compiler.executable import Executable, read_executable
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import fits_at_once
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.compiler.selection import Selection
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import ProgramError
from ringsmith.graph import Form, SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.graph.subroutines import Cut
from ringsmith.lower import lower_operation
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    KeyShape,
    RlweParameters,
)
from ringsmith.params.sets import parameter_set

HEAWS = load_design("heaws")
SMALL = replace(HEAWS, name="heaws-small", log_n=10, work_uram_polys=0)


def parameters(log_n: int, **variant: object) -> BfvParameters:
    """Six primes of 30 bits, as HEAWS has them, and seven of the extension."""
    chosen = {
        "prime_bits": (30,) * 6,
        "multiplication": "hps",
        "relinearization": "residue",
        "dnum": 2,
    } | variant
    return BfvParameters.create(n=1 << log_n, plain_bits=17, security=None, **chosen)


class Compiled:
    """One operation, compiled, run on random operands and compared with the interpreter.

    Args:
        device: The device, or its kind: ``model`` or ``rtl``.
        design: Its design.
        of: Parameters.
        operation: What is run.
        rng: What inputs and keys are drawn with.
        limbs: Data limbs of its operands; 0: all.
    """

    def __init__(
        self,
        device: str | RpauDevice,
        design: RpauDesign,
        of: RlweParameters,
        operation: str | SubroutineGraph,
        rng: np.random.Generator,
        limbs: int = 0,
    ) -> None:
        graph = operation
        if isinstance(graph, str):
            graph = lower_operation(graph, of, limbs or of.limbs, steps=1)
        opened = runtime.open_device(device, design) if isinstance(device, str) else device
        assert isinstance(opened, RpauDevice)
        self._device, self._graph, self._rng = opened, graph, rng
        self._compiled = runtime.compile_graph(graph, design)
        assert isinstance(self._compiled.executable, Executable)
        self.executable = self._compiled.executable
        self._core = graph.to_core()
        self._keys = random_keys(graph, rng)

    def check(self) -> None:
        """Runs the operation once, and holds its residues to the interpreter's."""
        inputs = random_inputs(self._graph, self._rng)
        whole = {name: core_key(key) for name, key in self._keys.items()}
        wanted = self._core.run(inputs, whole)
        result = self._device.execute(self._compiled, inputs, self._keys)
        assert result.cycles == self.executable.cycles
        for name, residues in wanted.items():
            np.testing.assert_array_equal(result.outputs[name], residues)


OPERATIONS = (
    "add",
    "multiply",
    "square",
    "relinearize",
    "multiply_relinearize",
    "rotate",
    "swap_columns",
    "mod_switch",
)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_has_the_interpreters_bits(operation: str, rng: np.random.Generator) -> None:
    Compiled("model", SMALL, parameters(10), operation, rng).check()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_papers_parameters_have_the_interpreters_bits(
    operation: str, rng: np.random.Generator
) -> None:
    run = Compiled("model", HEAWS, parameter_set("heaws"), operation, rng)
    run.check()
    assert run.executable.host_transfers == 0


@pytest.mark.parametrize("operation", ["multiply", "square"])
@pytest.mark.parametrize("change", [{"rpaus": 13, "modulus_banks": 1}, {"rpaus": 8}, {"rpaus": 16}])
def test_the_extension_may_lie_in_some_rpaus(
    operation: str, change: dict[str, int], rng: np.random.Generator
) -> None:
    design = replace(SMALL, name="heaws-wide", **change)
    Compiled("model", design, parameters(10), operation, rng).check()


@pytest.mark.parametrize("limbs", range(1, 6))
def test_a_product_below_the_first_level(limbs: int, rng: np.random.Generator) -> None:
    """The extension then has fewer primes, and some RPAUs none."""
    Compiled("model", SMALL, parameters(10), "multiply_relinearize", rng, limbs).check()


@pytest.mark.parametrize("limbs", [2, 3])
def test_what_is_scaled_down_is_still_there_for_others(
    limbs: int, rng: np.random.Generator
) -> None:
    of = parameters(10)
    graph = lower_operation("multiply", of, limbs)
    for node in [node for node in graph.nodes if node.op == "scale"]:
        scaled = graph.scale(graph.neg(node.operands[0]), **node.attrs)
        graph.output(scaled, f"negative{node.id}")
    Compiled("model", replace(SMALL, work_polys=32), of, graph, rng).check()


@pytest.mark.full
def test_a_product_below_the_first_level_on_the_rtl(rng: np.random.Generator) -> None:
    design = replace(SMALL, name="heaws-tiny", cores=4, converters=4)
    Compiled("rtl", design, parameters(10), "multiply_relinearize", rng, limbs=3).check()


@pytest.mark.parametrize(("operation", "most"), [("multiply_relinearize", 270_000), ("add", 2_100)])
def test_the_papers_size_takes_fewer_cycles_than_the_paper(operation: str, most: int) -> None:
    graph = lower_operation(operation, parameter_set("heaws"), 6)
    executable = runtime.compile_graph(graph, HEAWS).executable
    assert isinstance(executable, Executable)
    assert executable.cycles < most


@pytest.mark.full
def test_ten_thousand_products_on_the_model(rng: np.random.Generator) -> None:
    run = Compiled("model", HEAWS, parameter_set("heaws"), "multiply_relinearize", rng)
    for _ in range(10_000):
        run.check()


@pytest.mark.full
@pytest.mark.parametrize(
    ("operation", "count"),
    [("multiply_relinearize", 200), *((each, 20) for each in OPERATIONS)],
)
def test_random_products_on_the_rtl(operation: str, count: int, rng: np.random.Generator) -> None:
    run = Compiled("rtl", HEAWS, parameter_set("heaws"), operation, rng)
    for _ in range(count):
        run.check()


@pytest.mark.parametrize(
    ("design", "primes"),
    [
        (KEYS_LATE, 3),
        pytest.param(
            replace(SMALL, name="heaws-tiny", cores=4, converters=4), 6, marks=pytest.mark.full
        ),
    ],
    ids=lambda value: getattr(value, "name", f"{value}-primes"),
)
def test_the_rtl_multiplies_and_relinearizes(
    design: RpauDesign, primes: int, rng: np.random.Generator
) -> None:
    device = RpauDevice(RtlCoprocessor(design, assertions=True))
    of = parameters(10, prime_bits=(30,) * primes)
    Compiled(device, design, of, "multiply_relinearize", rng).check()


HYBRID = replace(
    SMALL,
    name="heaws-hybrid",
    rpaus=4,
    work_polys=20,
    key_polys=24,
    conversions=8,
)
"""For CKKS with digits of several primes: six data primes and two special ones."""


def hybrid(limbs: int, special: int) -> CkksParameters:
    """CKKS with three digits, N = 2^10."""
    return CkksParameters.create(
        n=1 << 10,
        prime_bits=(30,) * limbs,
        special_bits=(30,) * special,
        scale_bits=29,
        dnum=3,
        security=None,
    )


@pytest.mark.parametrize("kind", ["model", pytest.param("rtl", marks=pytest.mark.full)])
@pytest.mark.parametrize("operation", ["multiply_relinearize", "rotate"])
def test_ckks_switches_keys_with_digits_of_several_primes(
    kind: str, operation: str, rng: np.random.Generator
) -> None:
    Compiled(kind, HYBRID, hybrid(6, 2), operation, rng).check()


@pytest.mark.full
@pytest.mark.parametrize("operation", ["multiply_relinearize", "rotate"])
def test_ckks_of_the_framework_set_2_at_a_small_degree(
    operation: str, rng: np.random.Generator
) -> None:
    """24 data primes, 8 special ones, three digits of 8: 32 limbs in 16 RPAUs."""
    design = replace(
        HYBRID, name="heaws-hybrid-16", rpaus=16, work_polys=24, constants=64, program_words=1024
    )
    Compiled("rtl", design, hybrid(24, 8), operation, rng).check()


def test_an_executable_keeps_its_conversions() -> None:
    graph = lower_operation("multiply", parameters(10), 6)
    executable = runtime.compile_graph(graph, SMALL).executable
    assert isinstance(executable, Executable)
    assert len(executable.conversions) == 3
    text = executable.to_json()
    assert read_executable(text) == executable
    first, *_ = executable.conversions
    for conversions in (executable.conversions * 3, ((0,),), ((1 << 30,) * len(first),)):
        with pytest.raises(ProgramError, match="its conversions are not of its design"):
            read_executable(replace(executable, conversions=conversions).to_json())


@pytest.mark.parametrize(
    ("design", "variant", "message"),
    [
        ({"conversions": 2}, {}, "needs 3 conversions and design heaws-small has conversions = 2"),
        ({"rpaus": 6, "modulus_banks": 3}, {}, "an RPAU has several primes of the extension"),
        ({"rpaus": 5, "modulus_banks": 3}, {}, "an RPAU has several primes of its base"),
        ({}, {"multiplication": "behz"}, "take multiplication = 'hps'"),
        ({"converters": 0, "conversions": 0}, {}, "architecture rpau has no lift"),
    ],
)
def test_what_does_not_suit_the_converters_is_refused(
    design: dict[str, int], variant: dict[str, str], message: str
) -> None:
    graph = lower_operation("multiply", parameters(10, **variant), 6)
    with pytest.raises(ProgramError, match=message):
        runtime.compile_graph(graph, replace(SMALL, **design))


def test_word_decomposition_is_refused() -> None:
    of = parameters(10, relinearization="word", dnum=0, word_bits=30)
    graph = lower_operation("multiply_relinearize", of, 6)
    with pytest.raises(ProgramError, match="architecture rpau has no decompose"):
        runtime.compile_graph(graph, SMALL)


# Divisions by several primes at once, and scaled summands: the interpreter's bits on the model


DESIGN = replace(
    load_design("nano"), name="small", log_n=8, rpaus=5, work_polys=48, key_polys=32, constants=128
)
DATA, KEYS = (0, 1, 2), {"relin": 3}


@cache
def ring(special: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Three data primes and some special ones, with their roots."""
    bits = (46, 41, 47, 48, 45)[: len(DATA) + special]
    primes = tuple(q for each in bits for q in _core.prime_search(each, DESIGN.n, 1))
    return primes, tuple(_core.smallest_root(q, DESIGN.n) for q in primes)


def empty_graph(special: int = 1, keys: dict[str, int] = KEYS) -> SubroutineGraph:
    primes, roots = ring(special)
    shapes = {name: KeyShape(digits) for name, digits in keys.items()}
    return SubroutineGraph(DESIGN.n, primes, roots, tuple(range(len(DATA), len(primes))), shapes)


def relinearize_and_rescale(graph: SubroutineGraph) -> None:
    """Both at once, of inputs ``a`` and ``b`` and a key switching of ``b``."""
    pair = [graph.input(name, DATA) for name in "ab"]
    cut = Cut((1,) * len(DATA), "fast_base_conv", (*DATA, *graph.special))
    drop = (DATA[-1], *graph.special)
    switched = graph.key_switch(pair[1], "relin", cut, drop, added=pair)
    for half, value in enumerate(graph.halves(switched)):
        graph.output(value, f"y{half}")


@pytest.mark.parametrize(
    "shape",
    [
        {"rpaus": 4},
        {"rpaus": 6},
        {"rpaus": 2, "modulus_banks": 2},
        {"rpaus": 3, "modulus_banks": 2},
        {"rpaus": 6, "dyadic_cores": 0},
        {"rpaus": 4, "work_polys": 8, "key_polys": 4},
        {"rpaus": 6, "prng": "trivium", "seeds": 1},
        {"rpaus": 6, "link": True, "interconnect": "gather"},
        {"rpaus": 2, "modulus_banks": 2, "link": True},
        {"rpaus": 3, "modulus_banks": 2, "link": True},
    ],
    ids=str,
)
def test_relinearization_fused_with_rescaling(
    shape: dict[str, int], rng: np.random.Generator
) -> None:
    graph = empty_graph()
    relinearize_and_rescale(graph)
    executable = run_both(graph, replace(DESIGN, **shape), rng)
    spare = min(2, replace(DESIGN, **shape).limbs - 4)
    assert executable.limbs in ((0, 1, 2, 3), (0, 1, 2, 3) + (3,) * spare)


def test_the_fused_form_shares_the_special_primes_work_and_is_shorter(
    rng: np.random.Generator,
) -> None:
    graph, design = empty_graph(), replace(DESIGN, rpaus=6, dyadic_cores=8)
    relinearize_and_rescale(graph)
    shared = run_both(graph, design, rng)
    assert shared.limbs == (0, 1, 2, 3, 3, 3)
    assert shared.cycles < run_both(graph, replace(design, rpaus=4), rng).cycles


def test_two_special_primes_are_divided_away_together(rng: np.random.Generator) -> None:
    graph = empty_graph(special=2)
    relinearize_and_rescale(graph)
    run_both(graph, DESIGN, rng)


def test_scaled_values_that_are_no_summands_of_key_products(rng: np.random.Generator) -> None:
    graph = empty_graph(keys={})
    x = graph.input("x", DATA)
    raised = graph.mod_up_scaled(x, (*DATA, 3))
    graph.output(graph.mod_down(graph.intt(raised), (2, 3)), "coefficients")
    graph.output(graph.mod_down(graph.add(raised, raised), 3), "twice")
    graph.output(graph.mod_down(graph.mul(raised, raised), (1, 3)), "squared")
    y = graph.input("y", DATA, Form.COEFF)
    graph.output(graph.mod_down(y, (1, 2)), "short")
    run_both(graph, DESIGN, rng)


# ---- Sums of key products, initialised and added up in each way: the interpreter's bits ----------


KEY_SUMS_DESIGN = replace(
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
KEY_SUMS_DATA, SPECIAL = (0, 1, 2, 3, 4), 5


@cache
def program(log_degree: int) -> SubroutineGraph:
    """A relinearized product and its rotation; one summand is needed later, too."""
    n = 1 << log_degree
    primes = tuple(q for bits in range(42, 48) for q in _core.prime_search(bits, n, 1))
    roots = tuple(_core.smallest_root(q, n) for q in primes)
    graph = SubroutineGraph(
        n, primes, roots, (SPECIAL,), {"relin": KeyShape(5), "galois:5": KeyShape(5)}
    )

    a, b = (graph.input(name, KEY_SUMS_DATA) for name in "ab")
    square = graph.mul(a, a)
    half0, half1 = switched(graph, graph.mul(a, b), "relin")
    total = graph.add(half1, square)
    rotated0, rotated1 = switched(graph, graph.automorph(total, 5), "galois:5")
    graph.output(graph.add(graph.add(b, half0), rotated0), "y0")
    graph.output(graph.add(rotated1, square), "y1")
    return graph


def run_key_sums(graph: SubroutineGraph, design: RpauDesign) -> Executable:
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
    graph, design = program(log_degree), replace(KEY_SUMS_DESIGN, rpaus=rpaus)
    way = {"preinitialised": preinitialised, "eager": eager}

    def only(*_: object) -> Iterator[Selection]:
        expanded = expand(graph)
        layout = layouts(expanded, design)[-1]
        seeded = graph.keys if log_degree == design.log_n else ()
        yield select(expanded, design, layout, per_rpau=True, **way, seeded=seeded)

    monkeypatch.setattr(compiler, "_selections", only)
    run_key_sums(graph, design)


def relinearization(log_degree: int) -> SubroutineGraph:
    """Of three polynomials that are handed in."""
    whole = program(log_degree)
    graph = SubroutineGraph(
        whole.n, whole.primes, whole.roots, whole.special, {"relin": KeyShape(5)}
    )
    c0, c1, c2 = (graph.input(f"c{i}", KEY_SUMS_DATA) for i in range(3))
    for half, (c, switch) in enumerate(zip((c0, c1), switched(graph, c2, "relin"), strict=True)):
        graph.output(graph.add(c, switch), f"y{half}")
    return graph


def test_a_larger_ring_needs_no_transfers_where_digits_need_not_wait_for_each_other() -> None:
    """As many work polynomials as Medha has, in two sub-polynomials each."""
    graph, design = relinearization(9), replace(KEY_SUMS_DESIGN, rpaus=6, work_polys=13)
    expanded = expand(graph)
    (layout,) = layouts(expanded, design)
    waiting = select(expanded, design, layout, per_rpau=False, preinitialised=True)
    at_once = select(expanded, design, layout, per_rpau=False, preinitialised=True, eager=True)
    assert not fits_at_once(waiting, design)
    assert fits_at_once(at_once, design)
    executable = run_key_sums(graph, design)
    assert executable.host_transfers == 0
    assert len(executable.runs) == 1
