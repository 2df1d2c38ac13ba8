"""The encrypted lookup: packing, the encrypted program on every device, and errors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.apps.commands import run
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.lookup import (
    FIELDS,
    RECORDS,
    Lookup,
    load_records,
    packed,
    parameters,
    picture,
    plan,
)
from ringsmith.apps.session import begin
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.params import BfvParameters, security_level
from ringsmith.program import Op

STAGES = Stages(Console(quiet=True))


@pytest.fixture(scope="module")
def small() -> BfvParameters:
    """N = 2^10, for tables of at most 512 records; of no security."""
    return BfvParameters.create(
        n=1024,
        prime_bits=(43, 43, 44, 44),
        special_bits=44,
        plain_bits=17,
        multiplication="hps",
        security=None,
    )


def test_records_are_images_of_four_bits_a_pixel() -> None:
    records = load_records()
    assert records.shape == (RECORDS, FIELDS)
    assert records.min() >= 0
    assert records.max() < 1 << 16
    assert len(np.unique(records, axis=0)) > 1000
    pixels = np.zeros((1, 8, 8))
    pixels[0, 0, 1], pixels[0, 7, 7], pixels[0, 1, 0] = 1.0, 0.5, 2 / 16
    (record,) = packed(pixels)
    assert record[0] == 15 << 4
    assert record[2] == 2
    assert record[15] == 8 << 12
    lines = picture(record)
    assert len(lines) == 8
    assert {len(line) for line in lines} == {16}
    assert lines[0] == "  @@" + " " * 12


def test_the_program_is_secure_and_keeps_noise_budget() -> None:
    program = plan(load_records(), parameters())
    of = program.parameters
    assert (security_level(of.n, of.log_qp) or 0) >= 128
    assert min(program.forecast().outputs.values()) > 20
    ops = [node.op for node in program.nodes]
    assert ops.count(Op.MULTIPLY) == 1
    assert ops.count(Op.ROTATE) == 20  # ten for each of the two outputs


def test_every_record_comes_back(small: BfvParameters, rng: np.random.Generator) -> None:
    """Of a table whose last output is not full."""
    records = rng.integers(0, small.plain_modulus, (64, 19))
    application = Lookup(range(64), records, small, columns=8)
    current = begin(STAGES, application)
    assert list(current.server.program.outputs) == ["fields0", "fields1"]
    answer = current.answer(STAGES, runtime.open_device("cpu"))
    np.testing.assert_array_equal(answer.outcome, records)
    assert application.right(answer.outcome)
    assert len(answer.noise_budgets) == 64
    assert min(answer.noise_budgets) > 0


@pytest.mark.parametrize("kind", ["model", pytest.param("rtl", marks=pytest.mark.full)])
def test_an_accelerator_makes_the_cpu_devices_residues(
    kind: str, small: BfvParameters, rng: np.random.Generator
) -> None:
    design = replace(
        load_design("heaws-seal"), name="small", log_n=10, work_uram_polys=0, host_bits=0
    )
    records = rng.integers(0, small.plain_modulus, (32, 4))
    current = begin(STAGES, Lookup([21], records, small, columns=8), design)
    answer = current.answer(STAGES, runtime.open_device(kind, design))
    assert current.server.executable is not None
    assert answer.results[0].cycles == current.server.executable.cycles
    assert answer.equal_bits is True
    np.testing.assert_array_equal(answer.outcome[0], records[21])


@pytest.mark.full
def test_the_rtl_of_heaws_seal_looks_a_record_up() -> None:
    application = Lookup([1000])
    current = begin(STAGES, application, "heaws-seal")
    answer = current.answer(STAGES, runtime.open_device("rtl", load_design("heaws-seal")))
    assert application.right(answer.outcome)
    assert answer.equal_bits is True


def test_what_does_not_fit_is_refused(small: BfvParameters) -> None:
    table = np.ones((64, 4), dtype=np.int64)
    for count in (1, 48, 1024):
        with pytest.raises(ParameterError, match=f"{count} records: take a power of two from 2 to"):
            plan(np.zeros((count, 4), dtype=np.int64), small)
    for record in (-1, 64):
        with pytest.raises(ParameterError, match=f"record {record}: take one of 0 … 63"):
            Lookup([record], table, small)
    with pytest.raises(ProgramError, match="design medha has no unit for BFV products"):
        Lookup([0], table, small).server("medha")


def test_other_numbers_than_the_tables_end_the_command(small: BfvParameters) -> None:
    table = np.ones((64, 4), dtype=np.int64)
    with pytest.raises(DeviceError, match=r"records \[3\] came back with other numbers"):
        Lookup([3], table, small).check(np.zeros((1, 4), dtype=np.int64))


def test_run_lookup_prints_the_record_and_writes_its_numbers(tmp_path: Path) -> None:
    numbers, said = run(["run", "lookup", "--device", "model", "--record", "7"], tmp_path)
    records = load_records()
    assert numbers["fields"] == records[7].tolist()
    assert numbers["right"] is True
    # Keys come in parts, each while the program runs that needs it: it waits for most.
    assert numbers["program"]["cycles"] > numbers["program"]["predicted_cycles"] > 0
    assert numbers["program"]["equal_bits_with_cpu"] is True
    for line in picture(records[7]):
        assert line.rstrip() in said


def test_a_record_that_is_not_there_is_refused_at_once() -> None:
    done = CliRunner().invoke(app, ["run", "lookup", "--record", "1024"])
    assert done.exit_code == 2
    assert "record 1024: take one of 0 … 1023" in done.stderr
