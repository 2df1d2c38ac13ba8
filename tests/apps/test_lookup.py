"""The encrypted lookup: packing, the encrypted program on every device, and refusals."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.lookup import session
from ringsmith.apps.lookup.client import Client
from ringsmith.apps.lookup.records import FIELDS, RECORDS, load_records, packed, picture
from ringsmith.apps.lookup.server import Server, parameters, plan
from ringsmith.apps.stages import Stages
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import BfvParameters, SecurityWarning, security_level
from ringsmith.program import Op

STAGES = Stages(Console(quiet=True))


@pytest.fixture(scope="module")
def small() -> BfvParameters:
    """N = 2^10, for tables of at most 512 records; of no security."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
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
    server = Server(records, None, small)
    assert list(server.program.outputs) == ["fields0", "fields1"]
    client = Client(replace(server.interface, columns=8))
    machine = runtime.open_device("cpu")
    queries = [client.encrypt(record) for record in range(64)]
    results = server.run(machine, queries, client.evaluation_keys)
    outputs = [output for result in results for output in result.outputs.values()]
    np.testing.assert_array_equal(client.decrypt(outputs, 64), records)


@pytest.mark.parametrize("kind", ["model", pytest.param("rtl", marks=pytest.mark.full)])
def test_an_accelerator_makes_the_cpu_devices_residues(
    kind: str, small: BfvParameters, rng: np.random.Generator
) -> None:
    design = replace(
        load_design("heaws-seal"), name="small", log_n=10, work_uram_polys=0, host_bits=0
    )
    records = rng.integers(0, small.plain_modulus, (32, 4))
    server = Server(records, design, small)
    client = Client(replace(server.interface, columns=8))
    query, keys = [client.encrypt(21)], client.evaluation_keys
    (mine,) = server.run(runtime.open_device(kind, design), query, keys)
    (other,) = server.run(runtime.open_device("cpu"), query, keys)
    assert mine.cycles == server.compiled.compiled_graph.executable.cycles  # type: ignore[union-attr]
    for name, output in other.outputs.items():
        np.testing.assert_array_equal(mine.outputs[name].data, output.data)
    np.testing.assert_array_equal(client.decrypt([*mine.outputs.values()], 1)[0], records[21])


@pytest.mark.full
def test_the_rtl_of_heaws_seal_looks_a_record_up() -> None:
    current = session.begin(STAGES, 1000, "heaws-seal")
    answer = current.answer(STAGES, runtime.open_device("rtl", load_design("heaws-seal")))
    assert answer.outcome.right
    assert answer.equal_bits is True


def test_what_does_not_fit_is_refused(small: BfvParameters) -> None:
    table = np.ones((64, 4), dtype=np.int64)
    for count in (1, 48, 1024):
        with pytest.raises(ParameterError, match=f"{count} records: take a power of two from 2 to"):
            plan(np.zeros((count, 4), dtype=np.int64), small)
    client = Client(Server(table, None, small).interface)
    for record in (-1, 64):
        with pytest.raises(ParameterError, match=f"record {record}: take one of 0 … 63"):
            client.encrypt(record)
    with pytest.raises(ProgramError, match="design medha has no unit for BFV products"):
        Server(table, "medha", small)


def test_run_lookup_prints_the_record_and_writes_its_numbers(tmp_path: Path) -> None:
    output = tmp_path / "lookup.json"
    words = ["run", "lookup", "--device", "model", "--record", "7", "--output", str(output)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    numbers = json.loads(output.read_text())
    records = load_records()
    assert numbers["fields"] == records[7].tolist()
    assert numbers["right"] is True
    # Keys come in parts, each while the program runs that needs it: it waits for most.
    assert numbers["program"]["cycles"] > numbers["program"]["predicted_cycles"] > 0
    assert numbers["program"]["equal_bits_with_cpu"] is True
    for line in picture(records[7]):
        assert line.rstrip() in done.stdout


def test_a_record_that_is_not_there_is_refused_at_once() -> None:
    done = CliRunner().invoke(app, ["run", "lookup", "--record", "1024"])
    assert done.exit_code == 2
    assert "record 1024: take one of 0 … 1023" in done.stderr
