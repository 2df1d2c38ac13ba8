"""Every command runs whole, at its smallest size: a new command without such a run fails here."""

import ast
import json
import stat
import sys
from pathlib import Path

import pytest
from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from ringsmith import _core
from ringsmith.apps.operations import OPERATIONS
from ringsmith.bench.cpu import lattigo_peer, tfhe_peer
from ringsmith.bench.cpu.sets import HOISTED
from ringsmith.bench.records import Record, read_records
from ringsmith.cli.main import app

TESTS = Path(__file__).parents[1]

_SERVICE = "service/test_service_commands.py::"
_REMOTE = _SERVICE + "test_the_remote_commands_run_a_program"
_TOKEN = _SERVICE + "test_a_token_comes_from_a_file_or_the_environment"

WHOLE_RUNS = {
    "bench cpu": "cli/test_whole_commands.py::test_bench_cpu_runs_whole_with_all_its_peers",
    "bench medha": "cli/test_whole_commands.py::test_bench_medha_runs_whole",
    "bench nano": "cli/test_whole_commands.py::test_bench_nano_runs_whole",
    "bench framework": "cli/test_whole_commands.py::test_bench_framework_runs_whole",
    "bench heaws": "cli/test_whole_commands.py::test_bench_heaws_runs_whole",
    "bench scaling": "cli/test_whole_commands.py::test_bench_scaling_runs_whole",
    "bench heir": "system/test_bench_heir.py::test_the_bench_measures_a_program_and_keeps_others",
    "bench rpm": "cli/test_whole_commands.py::test_bench_rpm_runs_whole",
    "bench service": "system/test_bench_service.py::"
    "test_the_bench_loads_a_service_and_writes_its_page",
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
    assert "ringsmith bench cpu" in commands(grown)


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


def records_of(tmp_path: Path, *words: object) -> tuple[tuple[Record, ...], Result]:
    """Runs a bench; its page must name the command, --quick in it."""
    target, page = tmp_path / "records.jsonl", tmp_path / "page.md"
    done = run("bench", *words, "--quick", "--json", target, "--page", page)
    assert "--quick" in page.read_text().partition("`ringsmith bench ")[2].partition("`")[0]
    return read_records(target, str(words[0])).records, done


# ---- the cpu device beside its peers -----------------------------------------------------------

GO = f"""#!{sys.executable}
import pathlib, sys
assert sys.argv[1:] == ["build", "-o", "peer", "."], sys.argv
peer = pathlib.Path("peer")
peer.write_text("#!{sys.executable}\\nimport sys\\nprint('ready', flush=True)\\n"
    "for line in sys.stdin: print(1e-3, flush=True)\\n")
peer.chmod(0o755)
"""
"""A go that makes a program which answers as Lattigo's does."""

CARGO = """#!/bin/sh
mkdir -p target/release
{
  for bits in 32 64; do
    echo "#include <stdint.h>"
    echo "#include <stddef.h>"
    echo "void *plan_$bits(size_t n, uint${bits}_t q) { static int plan; return &plan; }"
    echo "void forward_$bits(void *p, uint${bits}_t *x, size_t n) { x[0] += 1; }"
    echo "void inverse_$bits(void *p, uint${bits}_t *x, size_t n) { x[0] -= 1; }"
  done
} > peer.c
exec g++ -x c -shared -fPIC -o target/release/libpeer_ntt.so peer.c
"""
"""A cargo that makes a library which is called as tfhe-ntt's is."""

BROKEN = """#!/bin/sh
echo 'error: no toolchain is
configured' >&2
exit 1
"""
"""A tool that is there and does not work."""


def put_tools(monkeypatch: pytest.MonkeyPatch, folder: Path, **scripts: str) -> None:
    """Puts scripts first on PATH, and what they build into a cache of their own."""
    tools = folder / "tools"
    tools.mkdir()
    for name, text in scripts.items():
        path = tools / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    monkeypatch.setenv("RINGSMITH_CACHE", str(folder / "cache"))


@pytest.fixture
def two_threads() -> object:
    """As many threads as it takes to have some to compare."""
    threads = _core.threads()
    _core.set_threads(2)
    yield
    _core.set_threads(threads)


@pytest.mark.usefixtures("two_threads")
def test_bench_cpu_runs_whole_with_all_its_peers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=GO, cargo=CARGO)
    records, done = records_of(tmp_path, "cpu")
    assert "left out" not in done.stderr
    peers = {record.peer for record in records}
    assert {lattigo_peer.VERSION, tfhe_peer.VERSION, "ours, one thread"} <= peers
    assert any(peer.startswith("seal-python") for peer in peers)
    assert {"quick", "D", "demo", "N=2^12, 30 bits"} <= {record.params for record in records}
    assert {HOISTED, "ntt", "rotate, 2 threads"} <= {record.operation for record in records}


def test_a_peer_whose_tool_does_not_work_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=BROKEN, cargo="#!/no/such/interpreter\n")
    records, done = records_of(tmp_path, "cpu", "--sets", "ntt,quick")
    said = done.stderr
    assert "Lattigo is left out: go build -o peer . failed: error: no toolchain is config" in said
    assert "tfhe-ntt is left out: cargo build --release --quiet cannot be started" in said
    assert {record.params for record in records} == {"quick"}


def test_a_tool_that_makes_nothing_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go="#!/bin/sh\n", cargo="#!/bin/sh\n")
    assert str(lattigo_peer.missing()).endswith("failed: made no peer")
    assert str(tfhe_peer.missing()).endswith("failed: made no target/release/libpeer_ntt.so")


def test_a_seal_that_does_not_load_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tools(monkeypatch, tmp_path, go=BROKEN, cargo=BROKEN)
    monkeypatch.setitem(sys.modules, "seal", None)
    for bench in (("cpu", "--sets", "quick"), ("medha", "--no-ablations", "--no-applications")):
        folder = tmp_path / bench[0]
        folder.mkdir()
        records, done = records_of(folder, *bench)
        assert "Microsoft SEAL is left out: seal-python does not load: " in done.stderr
        assert records
        assert not any("seal" in record.peer for record in records)
        assert "SEAL" not in {record.peer for record in records if record.source == "cpu"}


@pytest.mark.full
def test_bench_cpu_runs_whole_beside_the_real_peers(tmp_path: Path) -> None:
    for why in (lattigo_peer.missing(), tfhe_peer.missing()):
        if why is not None:
            pytest.skip(why)
    records, done = records_of(tmp_path, "cpu", "--sets", "ntt,quick,D")
    assert "left out" not in done.stderr
    assert {lattigo_peer.VERSION, tfhe_peer.VERSION} <= {record.peer for record in records}
    assert all(record.value > 0 for record in records)


# ---- the others --------------------------------------------------------------------------------


def test_bench_medha_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "medha")
    found = {(record.operation, record.peer, record.source) for record in records}
    assert ("add", "SEAL", "cpu") in found
    assert ("logreg_fused_rescale", "", "model") in found
    assert ("privft", "", "estimate") in found
    assert {r.design for r in records} >= {"medha", "medha: no dyadic cores"}
    assert "medha, medha-set1: add: " in done.stderr


def test_bench_nano_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "nano")
    found = {(record.operation, record.metric, record.source): record for record in records}
    cycles = {source: found["logreg", "cycles", source].value for source in ("rtl", "estimate")}
    assert cycles["rtl"] == cycles["estimate"]
    alone = {op for op, _, source in found if source == "rtl"} - {"logreg"}
    assert alone == {f"{name}, 2 limbs" for name in OPERATIONS}
    assert ("rotate, 2 limbs", "seconds", "cpu") in found
    assert found["logreg", "seconds", "cpu"].peer == "SEAL"
    assert found["matvec, 32 columns", "found_seconds", "cpu"].value > 0
    assert "nano: single operations on the RTL, 2 limbs" in done.stderr


def test_bench_heaws_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "heaws")
    found = {(record.operation, record.metric): record for record in records}
    assert found["add", "cycles"].paper_value == 2000
    assert found["add", "speedup"].peer == "Ringsmith's cpu device"
    assert found["cores_4", "percent"].value > 100
    assert "heaws: add: 2,082 cycles" in done.stderr


def test_bench_framework_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "framework")
    found = {(r.operation, r.metric, r.source): r for r in records}
    sources = {record.source for record in records}
    assert sources == {"model", "cpu", "estimate", "formula", "program"}
    assert {r.params for r in records} == {"framework-set3", "all sets", "lola-mnist"}
    assert found["lola-mnist", "milliseconds", "model"].paper_value is None  # other operations
    assert found["alus", "dsp", "estimate"].paper_value == 3072
    assert found["multiply_relinearize", "speedup", "model"].peer == "Ringsmith's cpu device"
    assert "framework, framework-set3: add: 3,093 cycles" in done.stderr
    assert "framework: 64 ALUs, 128 GB per second" in {record.design for record in records}


def test_bench_scaling_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "scaling")
    found = {(record.operation, record.source): record.value for record in records}
    assert found["product: 8: dispatch", "simulation"] == found["product: 8: dispatch", "formula"]
    assert "the product alone: give --heaws FILE and --framework FILE" in done.stderr
    assert (tmp_path / "figures" / "scaling.svg").exists()


@pytest.mark.full
def test_bench_rpm_runs_whole(tmp_path: Path) -> None:
    records, done = records_of(tmp_path, "rpm")
    assert {record.source for record in records} == {"rtl", "model", "cpu", "estimate"}
    assert {record.params for record in records} == {"L1"}
    assert "L1: 2 products on the rtl" in done.stderr


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
    design, facts, page = (tmp_path / name for name in ("s.toml", "timing.json", "timing.md"))
    design.write_text(
        'architecture = "stream"\nname = "smallest"\nlog_n = 8\nlanes = 2\nword_bits = 20\n'
    )
    done = run("timing", design, "--json", facts, "--page", page)
    assert "nothing was placed or routed" in done.stdout.replace("\n", " ")
    found = json.loads(facts.read_text())
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
