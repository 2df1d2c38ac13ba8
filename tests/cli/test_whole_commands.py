"""Every command runs whole, at its smallest size: a new command without such a run fails here."""

import ast
import json
from pathlib import Path

import pytest
from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from ringsmith.cli.main import app

TESTS = Path(__file__).parents[1]

_SERVICE = "service/test_service_commands.py::"
_REMOTE = _SERVICE + "test_the_remote_commands_run_a_program"
_TOKEN = _SERVICE + "test_a_token_comes_from_a_file_or_the_environment"

WHOLE_RUNS = {
    "bench": "bench/test_run.py::quick",
    "bitstream": "cli/test_whole_commands.py::test_bitstream_runs_whole",
    "card": "backends/cards/test_cards.py::start",
    "coverage": "cli/test_whole_commands.py::test_coverage_runs_whole",
    "decrypt": "cli/test_client_commands.py::test_what_is_encrypted_is_decrypted",
    "demo": "apps/test_logreg.py::test_the_demo_classifies_on_the_rtl_with_the_predicted_cycles",
    "designs": "cli/test_whole_commands.py::test_designs_runs_whole",
    "doctor": "cli/test_cli.py::test_doctor_finds_everything_that_the_demo_needs",
    "explore": "explore/test_explore.py::"
    "test_the_command_finds_a_front_and_writes_json_page_and_report",
    "encrypt": "cli/test_client_commands.py::home",
    "fetch mnist": "apps/test_mnist.py::test_fetched_data_is_checked_and_kept",
    "generate": "generate/test_generate.py::made",
    "import onnx": "networks/test_network_commands.py::test_two_commands_lead_from_onnx_to_a_class",
    "import heir": "heir/test_heir_commands.py::test_a_module_is_imported_and_run",
    "keys": "cli/test_client_commands.py::home",
    "run-program": "heir/test_heir_commands.py::test_a_module_is_imported_and_run",
    "run lookup": "apps/test_lookup.py::test_run_lookup_prints_the_record_and_writes_its_numbers",
    "run cnn": "apps/test_cnn.py::test_run_cnn_prints_its_figures_and_writes_them",
    "run gmdh": "apps/test_gmdh.py::test_run_gmdh_prints_its_figures_and_writes_them",
    "run cifar10": "apps/test_cifar.py::test_one_encrypted_image_gets_the_clear_networks_scores",
    "run mnist": "apps/test_mnist.py::test_an_image_from_a_file_is_shown_and_read_on_the_model",
    "run logreg": "apps/test_logreg.py::test_run_logreg_prints_its_figures_and_writes_them",
    "remote kit": _REMOTE,
    "remote programs": _REMOTE,
    "remote run": _REMOTE,
    "seal eval": "cli/test_client_commands.py::test_the_server_computes_with_the_bundle_alone",
    "seal info": "cli/test_seal_commands.py::test_info_tells_a_file",
    "serve": _REMOTE,
    "synth": "generate/test_generate.py::test_yosys_counts_what_the_estimate_says",
    "timing": "cli/test_whole_commands.py::test_timing_runs_whole",
    "token add": _TOKEN,
    "token list": _TOKEN,
    "token remove": _TOKEN,
    "trace": "backends/rpau/test_debug_trace.py::test_the_trace_command_writes_all_its_files",
    "verify": "verify/test_verify.py::"
    "test_the_command_compares_programs_on_the_rtl_by_several_workers",
    "verilog": "cli/test_whole_commands.py::test_verilog_runs_whole",
    "waves": "backends/rpau/test_debug_waves.py::test_the_waves_command_records_a_saved_program",
}
"""Command -> the test or fixture that runs it whole, below tests/."""


def commands(typer_app: Typer) -> set[str]:
    """The commands of a command line, as they are typed."""

    def walk(command: object, path: str) -> set[str]:
        inner = getattr(command, "commands", None)
        if inner is None:
            return {path}
        return {name for word, each in inner.items() for name in walk(each, f"{path} {word}")}

    return {name.strip() for name in walk(get_command(typer_app), "")}


def test_every_command_has_a_whole_run() -> None:
    assert commands(app) == set(WHOLE_RUNS)
    grown = Typer()
    grown.add_typer(app, name="ringsmith")
    grown.command("new")(lambda: None)
    assert "new" in commands(grown)
    assert "ringsmith run cnn" in commands(grown)


@pytest.mark.parametrize("command", WHOLE_RUNS)
def test_the_whole_run_of_a_command_is_there_and_types_it(command: str) -> None:
    file, _, name = WHOLE_RUNS[command].partition("::")
    text = (TESTS / file).read_text()
    functions = {each.name: each for each in ast.parse(text).body if hasattr(each, "name")}
    assert isinstance(functions[name], ast.FunctionDef)
    assert f'"{command.split()[-1]}"' in text
    marks = "".join(map(ast.unparse, functions[name].decorator_list))
    assert "skip" not in marks


def run(*words: object, status: int = 0) -> Result:
    """Runs a command in this process."""
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


def test_designs_runs_whole(tmp_path: Path) -> None:
    table = tmp_path / "designs.md"
    done = run("designs", "--table", table, "--programs", 1, "--verify", "nano")
    assert "| `nano` | 1 |" in table.read_text()
    assert f"wrote {table}" in done.stdout.replace("\n", "")


@pytest.mark.full
def test_coverage_runs_whole(tmp_path: Path) -> None:
    report = tmp_path / "coverage.md"
    done = run("coverage", "--quick", "--report", report)
    for architecture in ("rpau", "vector"):
        assert f"{architecture}: not covered: " in done.stdout
        assert f"{architecture}: lines: " in done.stdout
    assert f"ringsmith coverage --report {report} --quick" in report.read_text()


@pytest.mark.full
def test_bitstream_runs_whole(tmp_path: Path) -> None:
    design, out = tmp_path / "least.toml", tmp_path / "out"
    values = {"log_n": 8, "word_bits": 30, "rpaus": 2, "cores": 1, "dyadic_cores": 0}
    values |= {"work_polys": 4, "key_polys": 1, "constants": 4, "program_words": 16}
    words = ["architecture", "name", "reduction", "key_ram", "target"]
    texts = zip(words, ["rpau", "least", "barrett", "block", "ecp5"], strict=True)
    lines = [f"{key} = {value}" for key, value in values.items()]
    design.write_text("\n".join([*lines, *(f'{key} = "{text}"' for key, text in texts)]))
    done = run("bitstream", design, "--board", "ulx3s", "-o", out, "--clock", 50)
    assert "MULT18X18D" in done.stdout
    bits = (out / "least-ulx3s.bit").read_bytes()
    assert b"Part: LFE5U-85F" in bits[:200]
    assert len(bits) > 100_000
    timing = (out / "least-ulx3s-timing.txt").read_text()
    (wanted, reached) = next(
        line.split()[1:] for line in timing.splitlines() if line.split()[1:2] == ["50.00"]
    )
    assert float(reached) >= float(wanted)


@pytest.mark.full
def test_timing_runs_whole(tmp_path: Path) -> None:
    design, data, page = (tmp_path / name for name in ("s.toml", "timing.json", "timing.md"))
    design.write_text(
        'architecture = "stream"\nname = "smallest"\nlog_n = 8\nlanes = 2\nword_bits = 20\n'
    )
    done = run("timing", design, "--json", data, "--page", page)
    assert "nothing was placed or routed" in done.stdout.replace("\n", " ")
    found = json.loads(data.read_text())
    blocks = {block["name"]: block for block in found["blocks"]}
    assert {"rs_stream_core", "rs_stream_mul", "rs_mul_block"} & blocks.keys()
    assert all(0 < path["delay_ps"] < 20_000 for path in found["paths"])
    assert max(path["levels"] for path in found["paths"]) > 1
    assert found["paths"][0]["end"] in page.read_text()


@pytest.mark.full
def test_verilog_runs_whole(tmp_path: Path) -> None:
    design, file = tmp_path / "s.toml", tmp_path / "smallest.v"
    design.write_text(
        'architecture = "stream"\nname = "smallest"\nlog_n = 8\nlanes = 2\nword_bits = 20\n'
    )
    done = run("verilog", design, "--output", file)
    assert f"wrote {file}" in done.stdout.replace("\n", "")
    assert "\nmodule rs_stream_axis(" in file.read_text()
