"""Networks as HEIR compiles them: the perceptron and LoLa's networks for MNIST, at both levels."""

import resource
import runpy
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.heir import on_cpu, on_seal
from ringsmith import compile_program, open_device
from ringsmith.apps.mnist import trained_network
from ringsmith.heir import Imported, PlanBy, Wish, import_module, program_of, trace_module
from ringsmith.heir.compiler import Lowering, module_text
from ringsmith.params import KeyNeeds
from ringsmith.program import Program

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "heir" / "networks.py"))
WEIGHTS = ("w1", "b1", "w2", "b2")
SLOTS = 2048
PROMISED = 8
"""Results stay within ±2^8, whatever images of the worst case would make of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all networks, as the example writes them."""
    made = tmp_path_factory.mktemp("networks")
    EXAMPLE["write_all"](made, ROOT / "tests" / "images" / "mnist-test-16.png")
    return made


@dataclass(frozen=True, eq=False)
class Lola:
    """LoLa's network, imported with our plan."""

    file: Path
    image: NDArray[Any]
    exact: NDArray[np.float64]
    found: Imported


@pytest.fixture(scope="module", params=EXAMPLE["KINDS"])
def lola(request: pytest.FixtureRequest, folder: Path) -> Lola:
    """The network with trained weights, and the one in the shapes of HEIR's own example."""
    kind = request.param
    image = np.load(folder / kind / "image.npy")
    exact = EXAMPLE["KINDS"][kind][1]().scores(image[0, 0].astype(float))
    file = folder / kind / f"{kind}.mlir"
    return Lola(file, image, exact, import_module(file, Wish(slots=SLOTS, headroom_bits=PROMISED)))


def decrypted(program: Program, inputs: dict[str, NDArray[Any]]) -> NDArray[Any]:
    secret_key, public_key, keys = program.generate_keys(seeded=True)
    given = program.encrypt(public_key, inputs)
    outputs = compile_program(program).run(open_device("cpu"), given, keys).outputs
    return program.decrypt(secret_key, outputs)["result"]


def perceptron(folder: Path, wish: Wish) -> tuple[Program, NDArray[Any]]:
    own = folder / "perceptron"
    clear = {f"arg{i}": np.load(own / f"{name}.npy") for i, name in enumerate(WEIGHTS)}
    found = import_module(own / "perceptron.mlir", wish, clear)
    return found.program, np.load(own / "image.npy")


@pytest.mark.parametrize("plan", PlanBy)
def test_the_perceptron_computes_what_it_computes_in_the_clear(folder: Path, plan: PlanBy) -> None:
    program, pixels = perceptron(folder, Wish(plan, headroom_bits=PROMISED))
    inputs = {"arg4": pixels}
    expected = program.evaluate(inputs)["result"]
    np.testing.assert_allclose(decrypted(program, inputs), expected, rtol=0, atol=1e-5)
    w1, b1, w2, b2 = (np.load(folder / "perceptron" / f"{n}.npy").astype(float) for n in WEIGHTS)
    hidden = w1 @ pixels + b1
    assert -15 < hidden.min() < hidden.max() < 12  # the module's own promise
    plain = w2 @ np.maximum(hidden, 0) + b2
    assert np.abs(expected - plain).max() < 1.5  # ReLU is a polynomial of degree 4
    assert np.corrcoef(expected, plain)[0, 1] > 0.9


def test_the_example_computes_the_applications_scores(folder: Path) -> None:
    image = np.load(folder / "lola" / "image.npy").astype(float)
    exact = EXAMPLE["trained"]().scores(image[0, 0])
    np.testing.assert_allclose(exact, trained_network().scores(image[0, :, 1:, 1:])[0], atol=1e-12)
    assert exact.argmax() == 7


def test_lola_gives_its_scores_at_both_levels(lola: Lola) -> None:
    heirs = import_module(lola.file, Wish(PlanBy.HEIR, slots=SLOTS, headroom_bits=PROMISED))
    few = program_of(lola.found.traced, Wish(fewer_keys=True, headroom_bits=PROMISED))
    for program in (lola.found.program, heirs.program, few):
        found = decrypted(program, {"arg0": lola.image})
        np.testing.assert_allclose(found, lola.exact, rtol=0, atol=1e-5)


def test_lola_is_read_and_planned_in_ten_seconds_and_a_gigabyte(lola: Lola) -> None:
    """CPU seconds; the module comes from the cache, since ``lola`` was imported."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    text, name = module_text(lola.file, Lowering(None, SLOTS))
    program_of(trace_module(text, name), Wish(headroom_bits=PROMISED))
    assert time.process_time() - begin < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


def test_lola_needs_half_the_key_bytes_of_heirs_rotations(lola: Lola) -> None:
    traced = lola.found.traced
    few = program_of(traced, Wish(fewer_keys=True, headroom_bits=PROMISED))
    parameters = few.parameters
    rotations = {step.amount for step in traced.steps if step.amount}
    every = KeyNeeds(
        parameters.limbs, {parameters.galois_element(k): parameters.limbs for k in rotations}
    )
    ours, theirs = few.key_needs.bytes(parameters), every.bytes(parameters)
    print(
        f"{lola.file.name}: HEIR's {len(rotations)} rotations, {theirs:,} bytes of keys; "
        f"{len(few.key_needs.galois)} rotations, {ours:,} bytes, {ours // 2:,} with seeds"
    )
    assert len(few.key_needs.galois) <= len(rotations) / 2
    assert ours <= theirs / 2


def test_lola_is_three_times_faster_than_seal_operation_by_operation(lola: Lola) -> None:
    """CPU seconds of one thread; SEAL runs HEIR's own operations, with the same primes."""
    heirs = import_module(lola.file, Wish(PlanBy.HEIR, slots=SLOTS, headroom_bits=PROMISED)).program
    tensors = {"arg0": lola.image}
    theirs = on_seal(heirs, tensors, 3)
    error, ours = on_cpu(lola.found.program, tensors, 3)
    print(f"{lola.file.name}: SEAL {theirs:.2f} s, cpu {ours:.2f} s, {theirs / ours:.1f} times")
    assert error <= 1e-5
    assert theirs >= 3 * ours
