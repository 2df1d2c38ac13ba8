"""Encrypted logistic regression, from training to decryption, on every device."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.apps.commands import run
from tests.apps.seal_logreg import assert_equals_seal_from_seals_ciphertext
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.conditions import conditions
from ringsmith.apps.logreg import DEMO, OUTPUT, LogisticRegression, Predictions
from ringsmith.apps.operations import OPERATIONS
from ringsmith.apps.report import breakdown
from ringsmith.apps.session import Session, begin, open_device
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.cli.main import app
from ringsmith.errors import ProgramError
from ringsmith.objects import EvaluationKeys

STAGES = Stages(Console(quiet=True))


@pytest.fixture(scope="module")
def current() -> Session[Predictions]:
    """The program compiled for nano, keys, and the held-out patients encrypted."""
    return begin(STAGES, LogisticRegression(), "nano")


@pytest.mark.parametrize("kind", ["cpu", "model"])  # and rtl in the demo's test below
def test_decrypted_probabilities_are_the_clear_polynomials(
    current: Session[Predictions], kind: str
) -> None:
    device = open_device(STAGES, kind, "nano")
    answer = current.answer(STAGES, device)
    quality = answer.outcome.quality()
    assert quality["patients"] == 114
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert quality["largest_error_to_sigmoid"] < 0.09
    assert quality["same_class_as_polynomial"] == 114
    assert quality["accuracy_encrypted"] > 0.95
    executable = current.server.executable
    assert executable is not None
    if kind == "cpu":
        assert (answer.equal_bits, answer.results[0].cycles) == (None, None)
    else:
        assert answer.equal_bits is True
        assert answer.results[0].cycles == executable.cycles
        assert answer.results[0].report.instructions == len(executable.words)


def test_a_device_that_expands_keys_is_given_seeds_and_loads_half_the_keys(
    current: Session[Predictions],
) -> None:
    expander = replace(load_design("nano"), name="expander", prng="trivium", seeds=8)
    seeded = begin(STAGES, LogisticRegression(), expander)
    assert (seeded.server.seeded, current.server.seeded) == (True, False)
    answers = [
        each.answer(STAGES, open_device(STAGES, "model", design))
        for each, design in ((seeded, expander), (current, "nano"))
    ]
    executable = seeded.server.executable
    assert executable is not None
    assert answers[0].equal_bits is True
    assert answers[0].results[0].cycles == executable.cycles
    assert answers[0].results[0].report.host_transfers == 0
    forms = [
        conditions("", DEMO.parameters, seeded_keys=each.server.seeded)["keys"]
        for each in (seeded, current)
    ]
    assert [str(form).split()[0] for form in forms] == ["half", "whole"]
    whole = answers[1].results[0].report.key_words
    assert whole // 2 < answers[0].results[0].report.key_words < whole // 2 + 1000


def test_shares_of_the_breakdown_add_up_to_the_program(current: Session[Predictions]) -> None:
    executable = current.server.executable
    assert executable is not None
    shares = breakdown(executable)
    assert sum(share.cycles for share in shares) == executable.cycles
    assert sum(share.instructions for share in shares) == len(executable.words) - 1  # halt
    counts = {share.operation: share.count for share in shares}
    assert (counts["rotate"], counts["relinearize"], counts["rescale"]) == (5, 2, 4)


def test_the_program_uses_every_level_and_no_key_too_many(current: Session[Predictions]) -> None:
    program = current.server.program
    assert program.outputs[OUTPUT].limbs == 1
    assert len(program.key_needs.galois) == math.log2(32)


def test_a_server_without_the_needed_keys_says_so(current: Session[Predictions]) -> None:
    with pytest.raises(ProgramError, match=r"key .* is missing"):
        current.server.run(runtime.open_device("cpu"), current.inputs, EvaluationKeys())


def test_the_whole_program_equals_seals_residue_for_residue(current: Session[Predictions]) -> None:
    device = runtime.open_device("model", "nano")
    assert_equals_seal_from_seals_ciphertext(current, device)


def test_the_demo_classifies_on_the_rtl_with_the_predicted_cycles(tmp_path: Path) -> None:
    numbers, said = run(["demo"], tmp_path)
    program, quality = numbers["program"], numbers["quality"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert quality["same_class_as_polynomial"] == quality["patients"] == 114
    assert quality["largest_error_to_polynomial"] < 1e-5
    assert {row["name"] for row in numbers["operations"]} == set(OPERATIONS)
    assert all(row["cycles"] > 0 < row["seal_seconds"] for row in numbers["operations"])
    assert f"{program['cycles']:,}" in said
    assert "assumed" in said


@pytest.mark.parametrize("fused", [False, True])
def test_run_logreg_prints_its_figures_and_writes_them(fused: bool, tmp_path: Path) -> None:
    arguments = ["run", "logreg", "--device", "model", *["--fused-rescale"] * fused]
    numbers, said = run(arguments, tmp_path)
    assert ("--fused-rescale" in numbers["command"]) is fused
    assert numbers["program"]["equal_bits_with_cpu"] is True
    assert numbers["program"]["cycles"] == numbers["program"]["predicted_cycles"]
    assert numbers["quality"]["patients"] == 114
    assert f"{numbers['program']['cycles']:,}" in said
    assert "200 MHz (assumed)" in said


def test_an_output_file_in_no_folder_is_refused_before_anything_runs() -> None:
    done = CliRunner().invoke(app, ["run", "logreg", "--output", "/no/such/folder/x.json"])
    assert done.exit_code != 0
    assert "✓" not in done.stdout
