"""Programs with base conversions, compiled for designs with converters: the interpreter's bits."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.backends.rpau.test_key_stream import SMALL as KEYS_LATE

from ringsmith import runtime
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_inputs, random_keys
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import ProgramError
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters, SecurityWarning
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
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
        operation: str,
        rng: np.random.Generator,
        limbs: int = 0,
    ) -> None:
        graph = lower_operation(operation, of, limbs or of.limbs, steps=1)
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
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
