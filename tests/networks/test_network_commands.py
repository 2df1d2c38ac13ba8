"""The commands of docs/guide/onnx.md, from a file of ONNX to scores on a simulated accelerator."""

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.networks.models import mlp
from typer.testing import CliRunner

from ringsmith import trace
from ringsmith.cli.main import app
from ringsmith.networks import accuracy, from_onnx
from ringsmith.params import SecurityWarning

ROOT = Path(__file__).resolve().parents[2]
MAKE = ROOT / "examples" / "networks" / "make.py"


def done(*words: object) -> str:
    """What a command prints; it must end well."""
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    return result.output


def test_two_commands_lead_from_onnx_to_a_class(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    runpy.run_path(str(MAKE))["main"]("mlp", tmp_path)
    program, samples = tmp_path / "mlp.rsp", tmp_path / "few.npy"
    images = np.load(tmp_path / "mlp.npy")
    np.save(samples, images[:60])
    np.save(tmp_path / "labels.npy", np.load(tmp_path / "mlp-labels.npy")[:60])
    text = done(
        "import", "onnx", tmp_path / "mlp.onnx", "-o", program, "--calibrate", samples,
        "--labels", tmp_path / "labels.npy", "--encrypt", 2, "--simulate", 3, "--degree", 6,
        "--design", "vector-small", "--input-range", "image=0,1",
    )  # fmt: skip
    assert "mlp.onnx, relu (Relu):2: relu by 1 polynomial of degree 6" in text
    assert "encrypted: 2 samples" in text
    assert "simulated slots: 3 samples" in text
    text = done(
        "run-program", program, "--input", f"image={tmp_path / 'mlp-one.npy'}", "--device", "model",
        "--design", "vector-small", "--output-dir", tmp_path / "scores",
    )  # fmt: skip
    assert "clock cycles" in text
    assert np.load(tmp_path / "scores" / "result.npy").shape == (1, 10)


def made(name: str) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
    """A network of the examples, and images with their classes."""
    model, (images, labels) = runpy.run_path(str(MAKE))["NETWORKS"][name]()
    return model, np.asarray(images, np.float64), labels


def test_a_transformer_block_keeps_its_classes_with_polynomials() -> None:
    pytest.importorskip("sklearn")
    model, images, labels = made("transformer")
    network = from_onnx(
        model, calibrate=images[:100], bounds={"image": (0, 1)}, error=0.02, margin=0.1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        program = trace(network, "boot-test", network.inputs)
    clear, polynomial = accuracy(network, program, images[:100], labels[:100])
    assert clear.right is not None
    assert clear.right >= 88
    assert polynomial.same >= 95


def test_resnet20_has_its_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skimage")
    monkeypatch.syspath_prepend(str(MAKE.parent))
    model, images, labels = made("resnet20")
    network = from_onnx(model)
    found = [int(network(image[None]).argmax()) for image in images[:40]]
    assert np.mean(found == labels[:40]) > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encrypt", "1"], "go with --calibrate"),
        (["--input-range", "x=1"], "write NAME=LOW,HIGH"),
        (["--input-range", "x=2,1"], "LOW must be below HIGH"),
        (["--until", "nothing"], "no node of"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "network.onnx"
    file.write_bytes(mlp(np.random.default_rng(1)).SerializeToString())
    result = CliRunner().invoke(
        app, ["import", "onnx", str(file), "-o", str(tmp_path / "p.rsp"), *options]
    )
    assert result.exit_code != 0
    assert message in f"{result.output}{result.exception}"
    assert not (tmp_path / "p.rsp").exists()
