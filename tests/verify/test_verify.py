"""``ringsmith verify``: campaigns of random programs, their numbers, records and failures."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ringsmith.backends.inspector import Inspector
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.registry import backends_with_designs, named_design
from ringsmith.backends.types import CompiledGraph, GraphResult
from ringsmith.backends.vector.device.device import VectorDevice
from ringsmith.cli.main import app
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.objects import Residues
from ringsmith.verify import campaign as campaigns
from ringsmith.verify.campaign import Campaign, Ran, run_campaign

SMALL = {
    "rpau": """name = "small"
        log_n = 8
        word_bits = 30
        rpaus = 2
        cores = 1
        dyadic_cores = 0
        work_polys = 6
        key_polys = 2
        constants = 8
        program_words = 128
        reduction = "barrett"
        """,
    "stream": 'name = "small"\nlog_n = 8\nlanes = 2\nword_bits = 20\n',
    "vector": """name = "small"
        log_n = 10
        log_lanes = 4
        log_radix = 2
        word_bits = 30
        reduction = "barrett"
        bank_rows = 512
        table_rows = 512
        stream_rows = 128
        """,
}
"""A small design of each architecture, as a file has it."""


def verify(*words: object, status: int = 0) -> Result:
    done = CliRunner().invoke(app, ["verify", *map(str, words)])
    assert done.exit_code == status, done.output
    return done


def design_file(architecture: str, folder: Path) -> Path:
    path = folder / f"{architecture}.toml"
    lines = (line.strip() for line in SMALL[architecture].splitlines())
    path.write_text(f'architecture = "{architecture}"\n' + "\n".join(lines))
    return path


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    return design_file("vector", tmp_path)


def rows_of(record: Path) -> dict[int, Ran]:
    rows = [Ran.of_row(json.loads(line)) for line in record.read_text().splitlines()[1:]]
    found = {each.number: each for each in rows}
    assert len(found) == len(rows)  # each once
    return found


# ---- campaigns ----------------------------------------------------------------------------------


def test_the_command_compares_programs_on_the_rtl_by_several_workers(tmp_path: Path) -> None:
    design, written, record = design_file("rpau", tmp_path), tmp_path / "x.json", tmp_path / "ran"
    options = ("--seed", 5, "--workers", 2, "--record", record)
    done = verify(design, "--programs", 12, *options, "--json", written)
    assert "small, device rtl, seed 5: 12 of 12 random programs as they should be" in done.output
    found = json.loads(written.read_text())
    assert (found["design"]["architecture"], found["design"]["log_n"]) == ("rpau", 8)
    assert (found["programs"], found["failures"]) == (12, [])
    assert found["equal"].keys() == {"instructions", "cycles", "polynomials"}
    ran = rows_of(record)
    assert sorted(ran) == list(range(12))
    alone = Campaign(named_design(str(design)), "rtl", 5)
    assert run_campaign(alone, [7]).ran == (ran[7],)  # in another process, without the others
    longer = verify(design, "--programs", 15, *options)
    assert "15 of 15 random programs" in longer.output
    assert rows_of(record).items() > ran.items()


@pytest.mark.full
@pytest.mark.parametrize("architecture", SMALL)
def test_every_architecture_with_designs_is_verified(architecture: str, tmp_path: Path) -> None:
    inspectors = {each.name: each.inspector() for each in backends_with_designs()}
    assert {name for name, each in inspectors.items() if each and each.verified} == set(SMALL)
    inspector = inspectors[architecture]
    assert inspector is not None
    design = design_file(architecture, tmp_path)
    for device in inspector.verified:
        done = verify(design, "--programs", 8, "--device", device, "--workers", 2)
        assert "8 of 8 " in done.output


def test_programs_follow_from_the_seed_and_their_number_alone(vector: Path) -> None:
    design = named_design(str(vector))
    one, other = (Campaign(design, "model", seed) for seed in (1, 2))
    seeds = {each.seed_of(number) for each in (one, other) for number in range(1000)}
    assert len(seeds) == 2000
    report = run_campaign(one, range(4))
    assert [each.number for each in report.ran] == [0, 1, 2, 3]
    assert run_campaign(one, [3, 2]).ran == report.ran[2:]
    assert report.ran[1].equal != report.ran[2].equal
    assert run_campaign(other, [2]).ran != (report.ran[2],)


# ---- failures -----------------------------------------------------------------------------------


class Off(VectorDevice):
    """A model with a wrong word where an odd number of limbs goes in."""

    def execute(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, AnyKey],
    ) -> GraphResult:
        """See ``Device.execute``."""
        found = super().execute(compiled, inputs, keys)
        if len(next(iter(inputs.values()))) % 2:
            next(iter(found.outputs.values()))[0, 5] ^= np.uint64(1)
        return found


def test_a_program_that_differs_is_named_and_fails_again_alone(
    vector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringsmith.backends.vector.debug.compare_operations.VectorDevice", Off)
    written, options = tmp_path / "x.json", (vector, "--device", "model", "--workers", 1)
    done = verify(*options, "--programs", 12, "--json", written, status=1)
    failures = json.loads(written.read_text())["failures"]
    assert 0 < len(failures) < 12
    assert f"{12 - len(failures)} of 12 random programs as they should be" in done.output
    for each in failures:
        assert "differs from the interpreter's" in each["difference"]
        told = f"small, device model, seed 1, program {each['number']}: {each['difference']}\n"
        again = f"ringsmith verify {vector} --seed 1 --device model --only {each['number']}\n"
        assert told + "  again: " + again in done.output
    last = failures[-1]
    alone = verify(*options, "--only", last["number"], status=1)
    assert f"program {last['number']}: {last['difference']}" in alone.output
    assert "0 of 1 random programs" in alone.output


def test_a_program_that_failed_stays_failed_in_a_record(
    vector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "ran"
    options = (vector, "--device", "model", "--workers", 1, "--programs", 12, "--record", record)
    with monkeypatch.context() as patched:
        patched.setattr("ringsmith.backends.vector.debug.compare_operations.VectorDevice", Off)
        first = verify(*options, status=1)
    before = record.read_text()
    assert "program " in first.stdout
    assert verify(*options, status=1).stdout == first.stdout
    assert record.read_text() == before


# ---- records ------------------------------------------------------------------------------------


def test_a_record_that_was_cut_off_is_gone_on_from(vector: Path, tmp_path: Path) -> None:
    record, own = tmp_path / "ran", Campaign(named_design(str(vector)), "model", 1)
    report = run_campaign(own, range(4), record=record)
    whole = record.read_text()
    record.write_text(whole[:-20])
    assert run_campaign(own, range(4), record=record) == report
    assert record.read_text() == whole


def test_a_record_of_another_campaign_or_version_is_refused(
    vector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, own = tmp_path / "ran", Campaign(named_design(str(vector)), "model", 1)
    run_campaign(own, [0], record=record)
    with pytest.raises(InteropError, match=r"another campaign .seed 1 of small on model"):
        run_campaign(replace(own, seed=2), [0], record=record)
    monkeypatch.setattr(campaigns, "source_files", lambda _: [vector])
    with pytest.raises(InteropError, match="another version of the RTL, model or compiler"):
        run_campaign(own, [0], record=record)
    record.write_text("{}\n")
    with pytest.raises(InteropError, match="no record of verified programs: give another file"):
        run_campaign(own, [0], record=record)


@pytest.mark.parametrize("row", ['{"number": 1}', '{"number": 1, "equal": [], "difference": ""}'])
def test_a_row_of_a_record_that_is_none_is_refused(row: str, vector: Path, tmp_path: Path) -> None:
    record, own = tmp_path / "ran", Campaign(named_design(str(vector)), "model", 1)
    run_campaign(own, [0], record=record)
    record.write_text(record.read_text().splitlines()[0] + f"\n{row}\n")
    with pytest.raises(InteropError, match="a row of a record is no program"):
        run_campaign(own, [0], record=record)


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nano", "--device", "card"), "'card' of nano is not verified: choose one of rtl, axi"),
        (("rpm", "--device", "axi-lite"), "of rpm is not verified: choose one of rtl"),
        (("nano", "--engine", "slurm"), "no engine 'slurm': choose one of processes, ray"),
        (("nano", "--workers", "-1"), "-1 workers: give at least one"),
        (("nemo",), "there is no design 'nemo'"),
        (("nano", "--only", "3", "--record", "x"), "--only with --record"),
        (("nano", "--record", "/no/folder/ran"), "/no/folder is no folder: make it first"),
    ],
)
def test_bad_input_is_refused_in_a_line(words: tuple[str, ...], said: str) -> None:
    done = verify(*words, status=2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_design_without_simulated_rtl_is_refused(vector: Path) -> None:
    text = vector.read_text().replace("log_lanes = 4", "ports = 1\nlog_lanes = 2")
    longer = text.replace("_rows = ", "_rows = 8")  # rows are of a quarter of the words
    vector.write_text(longer.replace("word_bits = 30", "word_bits = 60"))
    assert "design small has 4 lanes, and the RTL's network 16" in verify(vector, status=2).stderr


class Bare(Inspector):
    """Looks into an architecture that has nothing to look at."""

    architecture = "bare"


def test_an_architecture_without_random_programs_refuses_by_name(vector: Path) -> None:
    with pytest.raises(ProgramError, match="architecture bare has no random programs: choose a"):
        Bare().verification(named_design(str(vector)), "rtl", lower_operation)


def test_a_campaign_without_programs_is_refused(vector: Path) -> None:
    with pytest.raises(ParameterError, match="no programs: give --programs N, at least 1"):
        run_campaign(Campaign(named_design(str(vector)), "model", 1), [])
