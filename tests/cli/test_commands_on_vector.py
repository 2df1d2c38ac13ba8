"""Commands that take a design do their work with one of architecture vector, or say why not."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_client_commands import params, public, refused, run

DESIGN = "vector-small"


def numbers_of(output: Path, *words: object) -> dict[str, Any]:
    """Runs an application; returns what it wrote."""
    done = run("run", *words, "--design", DESIGN, "--output", output)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(output.read_text())
    program = found["program"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert f"{program['cycles']:,}" in done.stdout
    assert "scratchpad busy" in done.stdout
    return found


def test_the_demos_program_classifies_on_the_rtl_with_the_predicted_cycles(tmp_path: Path) -> None:
    numbers = numbers_of(tmp_path / "x.json", "logreg", "--device", "rtl", "--size", "demo")
    quality = numbers["quality"]
    assert quality["same_class_as_polynomial"] == quality["patients"] == 114
    assert quality["largest_error_to_polynomial"] < 1e-5


@pytest.mark.full
@pytest.mark.parametrize("device", ["model", "rtl"])
def test_the_largest_logreg_classifies(device: str, tmp_path: Path) -> None:
    numbers = numbers_of(tmp_path / "x.json", "logreg", "--device", device)
    quality = numbers["quality"]
    assert quality["same_class_as_polynomial"] == quality["patients"] == 455


@pytest.mark.full
@pytest.mark.parametrize("device", ["model", "rtl"])
def test_the_network_reads_digits(device: str, tmp_path: Path) -> None:
    quality = numbers_of(tmp_path / "x.json", "cnn", "--device", device)["quality"]
    assert quality["images"] == quality["same_digit"] == 32


@pytest.mark.full
def test_a_record_is_looked_up(tmp_path: Path) -> None:
    numbers_of(tmp_path / "x.json", "lookup", "--device", "model")


def test_the_server_computes_on_it_what_the_cpu_does(tmp_path: Path) -> None:
    assert run("keys", tmp_path / "keys", "--set", "pico", "--rotate", 1).exit_code == 0
    (tmp_path / "values.txt").write_text("1.5\n-2\n")
    cipher = tmp_path / "cipher.seal"
    done = run("encrypt", tmp_path / "values.txt", *public(tmp_path), "-o", cipher)
    assert done.exit_code == 0, done.output
    galois = tmp_path / "keys" / "evaluation" / "galois_keys.seal"
    command = ["seal", "eval", "rotate", cipher, *params(tmp_path), "--galois-keys", galois]
    made = []
    for device in (["cpu"], ["model", "--design", DESIGN]):
        made.append(tmp_path / f"{device[0]}.seal")
        done = run(*command, "--steps", 1, "--device", *device, "-o", made[-1])
        assert done.exit_code == 0, done.output
    assert made[0].read_bytes() == made[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["waves", "x.vcd", "--operation", "rotate", "--cycles", "0:9"],
            "records no waves: choose",
        ),
        (["trace", "--operation", "else"], "no operation of ckks is called 'else': choose one of"),
        (
            ["trace", "--operation", "rotate", "--parameters", "medha-set2"],
            "rings of N = 256 to 16",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words, "--design", DESIGN)
    assert done.exit_code == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_it_is_built_for_no_board(tmp_path: Path) -> None:
    done = run("bitstream", DESIGN, "--board", "ulx3s", "-o", tmp_path / "out")
    refused(done, "architecture vector is built for no board: choose a design of another")
