"""BFV's products and rotations, compiled for a design with converters: the interpreter's bits."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.design import RpauDesign
from ringsmith.backends.rpau.device.accelerator import Accelerator
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.objects import KeySwitchKey
from ringsmith.params import BfvParameters, SecurityWarning

Residues = NDArray[np.uint64]

HEAWS = RpauDesign(
    name="heaws-like",
    log_n=12,
    word_bits=30,
    rpaus=7,
    cores=2,
    dyadic_cores=0,
    work_polys=12,
    key_polys=4,
    constants=16,
    program_words=512,
    reduction="barrett",
    prime_sets=2,
    twiddles="stored",
    key_ram="block",
    converters=2,
    conversions=6,
)
"""The paper's coprocessor with twelve polynomials in place of eight."""

SMALL = replace(HEAWS, name="heaws-small", log_n=10)


def parameters(log_n: int, **variant: object) -> BfvParameters:
    """Six primes of 30 bits, as HEAWS has them, and seven of the extension."""
    chosen = {"multiplication": "hps", "relinearization": "residue", "dnum": 2} | variant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=1 << log_n, prime_bits=(30,) * 6, plain_bits=17, security=None, **chosen
        )


def drawn(
    graph: SubroutineGraph, of: BfvParameters, rng: np.random.Generator
) -> tuple[dict[str, Residues], dict[str, Residues]]:
    """Random inputs and keys."""

    def residues(primes: tuple[int, ...], *lead: int) -> Residues:
        limbs = [rng.integers(0, q, (*lead, of.n), dtype=np.uint64) for q in primes]
        return np.ascontiguousarray(np.stack(limbs, axis=len(lead)))

    inputs = {name: residues(of.data_primes) for name in graph.inputs}
    keys = {name: residues(of.primes, digits, 2) for name, digits in graph.keys.items()}
    return inputs, keys


def run(kind: str, design: RpauDesign, operation: str, rng: np.random.Generator) -> Executable:
    """Runs an operation, and holds its residues to the interpreter's."""
    of = parameters(design.log_n)
    graph = lower_operation(operation, of, 6, steps=1)
    inputs, keys = drawn(graph, of, rng)
    wanted = graph.to_core().run(inputs, keys)
    compiled = runtime.compile_graph(graph, design)
    machine = runtime.open_device(kind, design)
    assert isinstance(machine, Accelerator)
    whole = {name: KeySwitchKey(key) for name, key in keys.items()}
    result = machine.execute(compiled, inputs, whole)
    for name, residues in wanted.items():
        np.testing.assert_array_equal(result.outputs[name], residues)
    assert isinstance(compiled.executable, Executable)
    assert result.cycles == compiled.executable.cycles
    return compiled.executable


@pytest.mark.parametrize(
    "operation",
    ["add", "multiply", "square", "multiply_relinearize", "rotate", "swap_columns", "mod_switch"],
)
def test_an_operation_has_the_interpreters_bits(operation: str, rng: np.random.Generator) -> None:
    run("model", SMALL, operation, rng)


@pytest.mark.full
def test_the_rtl_multiplies_and_relinearizes(rng: np.random.Generator) -> None:
    run(
        "rtl", replace(SMALL, name="heaws-tiny", cores=4, converters=4), "multiply_relinearize", rng
    )


def test_the_papers_size_multiplies_without_a_spill_in_fewer_cycles(
    rng: np.random.Generator,
) -> None:
    executable = run("model", HEAWS, "multiply_relinearize", rng)
    assert executable.host_transfers == 0
    assert executable.cycles < 270_000  # the paper: 868,000 with its drivers


def test_an_executable_keeps_its_conversions() -> None:
    graph = lower_operation("multiply", parameters(10), 6)
    executable = runtime.compile_graph(graph, SMALL).executable
    assert isinstance(executable, Executable)
    assert len(executable.conversions) == 3
    text = executable.to_json()
    assert read_executable(text) == executable
    table = json.loads(text)
    for conversions in (
        table["conversions"] * 3,
        [[0]],
        [[1 << 30] * len(table["conversions"][0])],
    ):
        with pytest.raises(ProgramError, match="its conversions are not of its design"):
            read_executable(json.dumps(table | {"conversions": conversions}))


@pytest.mark.parametrize(
    ("design", "variant", "message"),
    [
        ({"conversions": 2}, {}, "needs 3 conversions and design heaws-small has conversions = 2"),
        ({"rpaus": 13, "prime_sets": 1}, {}, "the extension has not one prime in each RPAU"),
        ({"rpaus": 5, "prime_sets": 3}, {}, "one in each"),
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
