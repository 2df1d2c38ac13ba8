"""Networks as HEIR compiles them: the perceptron and LoLa's network for MNIST, at both levels."""

import resource
import runpy
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import compile_program, open_device
from ringsmith.apps.mnist.network import Network
from ringsmith.apps.seal_baseline import SealBaseline, median_seconds
from ringsmith.apps.seal_program import SealProgram, rotation_steps
from ringsmith.heir import Imported, PlanBy, Wish, import_module, program_of, trace_module
from ringsmith.heir.compiler import Lowering, module_text
from ringsmith.heir.importing import key_bytes
from ringsmith.params import KeyNeeds
from ringsmith.program import CkksProgram, Program
from ringsmith.program.packing import vectors

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ("w1", "b1", "w2", "b2")
LOLA = Wish(slots=2048)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of both networks, as the example writes them."""
    write = runpy.run_path(str(ROOT / "examples" / "heir" / "networks.py"))["write"]
    made = tmp_path_factory.mktemp("networks")
    write("lola", made / "lola", ROOT / "tests" / "images" / "mnist-test-16.png")
    write("perceptron", made / "perceptron")
    return made


@pytest.fixture(scope="module")
def lola(folder: Path) -> Imported:
    return import_module(folder / "lola" / "lola.mlir", LOLA)


@pytest.fixture(scope="module")
def image(folder: Path) -> NDArray[Any]:
    return np.load(folder / "lola" / "image.npy")


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
    program, pixels = perceptron(folder, Wish(plan))
    inputs = {"arg4": pixels}
    expected = program.evaluate(inputs)["result"]
    np.testing.assert_allclose(decrypted(program, inputs), expected, rtol=0, atol=1e-5)
    w1, b1, w2, b2 = (np.load(folder / "perceptron" / f"{n}.npy").astype(float) for n in WEIGHTS)
    hidden = w1 @ pixels + b1
    assert -15 < hidden.min() < hidden.max() < 12  # the module's own promise
    plain = w2 @ np.maximum(hidden, 0) + b2
    assert np.abs(expected - plain).max() < 1.5  # ReLU is a polynomial of degree 4
    assert np.corrcoef(expected, plain)[0, 1] > 0.9


def test_lola_reads_the_digit_at_both_levels(
    folder: Path, lola: Imported, image: NDArray[Any]
) -> None:
    exact = Network.load().scores(image[0, :, 1:, 1:].astype(float))[0]
    assert exact.argmax() == 7
    heirs = import_module(folder / "lola" / "lola.mlir", Wish(PlanBy.HEIR, slots=2048))
    few = program_of(lola.traced, Wish(fewer_keys=True))
    for program in (lola.program, heirs.program, few):
        found = decrypted(program, {"arg0": image})
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-5)


def test_lola_is_read_and_planned_in_ten_seconds_and_a_gigabyte(
    folder: Path, lola: Imported
) -> None:
    """CPU seconds; the module comes from the cache, since ``lola`` was imported."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    text, name = module_text(folder / "lola" / "lola.mlir", Lowering(None, 2048))
    program_of(trace_module(text, name), Wish())
    assert time.process_time() - begin < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


def test_lola_needs_half_the_key_bytes_of_heirs_rotations(lola: Imported) -> None:
    few = program_of(lola.traced, Wish(fewer_keys=True))
    parameters = few.parameters
    turns = {step.amount for step in lola.traced.steps if step.amount}
    every = KeyNeeds(
        parameters.limbs, {parameters.galois_element(k): parameters.limbs for k in turns}
    )
    assert len(few.key_needs.galois) <= len(turns) / 2
    assert key_bytes(parameters, few.key_needs) <= key_bytes(parameters, every) / 2


def test_lola_is_three_times_faster_than_seal_operation_by_operation(
    folder: Path, lola: Imported, image: NDArray[Any]
) -> None:
    """CPU seconds of one thread; SEAL runs HEIR's own operations, with the same primes."""
    heirs = import_module(folder / "lola" / "lola.mlir", Wish(PlanBy.HEIR, slots=2048)).program
    assert isinstance(heirs, CkksProgram)
    seal = SealBaseline(heirs.parameters, rotation_steps(heirs))
    ((port, node),) = heirs.inputs.items()
    vector = vectors(heirs.packed_inputs, {"arg0": image}, heirs.lengths)[port]
    given = {port: seal.encrypt(vector, node.scale, node.limbs)}
    on_seal = SealProgram(seal, heirs)
    expected = heirs.evaluate({"arg0": image})["result"]
    slots = seal.decrypt(on_seal.run(given)["result"])
    found = np.concatenate([[0.0], slots])[heirs.packed_outputs["result"].table]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    theirs = median_seconds(lambda: on_seal.run(given), 3)

    secret_key, public_key, keys = lola.program.generate_keys(seeded=True)
    ciphertexts = lola.program.encrypt(public_key, {"arg0": image})
    compiled, machine = compile_program(lola.program), open_device("cpu")
    times = []
    for _ in range(4):
        begin = time.process_time()
        outputs = compiled.run(machine, ciphertexts, keys).outputs
        times.append(time.process_time() - begin)
    ours = statistics.median(times[1:])
    print(f"LoLa: SEAL {theirs:.2f} s, cpu {ours:.2f} s, {theirs / ours:.1f} times faster")
    result = lola.program.decrypt(secret_key, outputs)["result"]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5)
    assert theirs >= 3 * ours
