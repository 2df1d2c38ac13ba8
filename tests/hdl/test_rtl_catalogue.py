"""rtl/README.md lists every block as its source describes it, and other tools read the lists."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.hdl.fusesoc import run_fusesoc

from ringsmith.errors import ToolError
from ringsmith.hdl.catalogue import blocks, lists
from ringsmith.hdl.catalogue.checks import find_checks
from ringsmith.hdl.catalogue.figure import Plan
from ringsmith.hdl.catalogue.files import FILES, README, render, settings
from ringsmith.hdl.verilate import run_verilator

CHECKOUT = Path(__file__).resolve().parents[2]
RTL = CHECKOUT / "rtl"
SOURCES = {path.stem: path.read_text() for path in RTL.glob("*/*.sv")}
BLOCKS = blocks.read_blocks(RTL)
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in (CHECKOUT / README).read_text().splitlines()
    if line.startswith("| [`rs_")
]


def test_the_catalogue_and_the_lists_are_those_of_the_sources() -> None:
    assert FILES.stale(CHECKOUT) == [], f"run {FILES.command}"


def test_every_module_and_every_package_is_listed_once() -> None:
    text = (CHECKOUT / README).read_text()
    listed = Counter(re.findall(r"^(?:\| |Package )\[`(rs_\w+)`\]", text, re.M))
    assert listed == Counter(SOURCES.keys())


def test_a_latency_is_a_function_that_the_header_and_its_package_have() -> None:
    functions = set(blocks.defined_in_packages(SOURCES))
    named = 0
    for row in ROWS:
        module = row[0].partition("`")[2].partition("`")[0]
        header = re.match(r"(?://.*\n)+", SOURCES[module])
        assert header
        for function in re.findall(r"`(rs_\w+::\w+)`", row[2]):
            assert function in functions
            assert function.partition("::")[2] in header[0]
            named += 1
    assert named > 50


def test_a_block_that_states_a_latency_or_a_cost_has_it_in_the_catalogue() -> None:
    silent = [
        (name, column)
        for column, word in ((2, r"^// (?:.*[.,;] )?[Ll]atency[: ]"), (3, r"^// (?:.*\. )?Cost\b"))
        for name, text in SOURCES.items()
        if re.search(word, text.partition("\nmodule")[0], re.M) and not name.endswith("_pkg")
        if next(row for row in ROWS if f"`{name}`" in row[0])[column] == "–"
    ]
    assert silent == []


def test_every_block_has_its_proof() -> None:
    proven = {row[0].partition("`")[2].partition("`")[0] for row in ROWS if "[proof]" in row[4]}
    files = (CHECKOUT / "tests/rtl/formal").glob("*_proof.sv")
    assert proven == {path.stem.removesuffix("_proof") for path in files}


def test_every_module_is_checked_by_something() -> None:
    assert [row[0] for row in ROWS if row[4] == "–"] == []


def test_links_of_the_catalogue_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (CHECKOUT / README).read_text())
    missing = [link for link in links if not (RTL / link).resolve().is_file()]
    assert len(links) > len(SOURCES)
    assert missing == []


def test_a_header_gives_summary_latency_and_cost(tmp_path: Path) -> None:
    folder = tmp_path / "arith"
    folder.mkdir()
    (folder / "rs_a_pkg.sv").write_text(
        "// Times.\npackage rs_a_pkg;\n  function automatic int unsigned slow_cycles();\n"
        "endpackage\n"
    )
    (folder / "rs_a.sv").write_text(
        "// Sum: of two\n// words. More.\n//\n// One a cycle, latency rs_a_pkg::slow_cycles().\n"
        "// Cost, a bit: one LUT. No more.\nmodule rs_a;\n  localparam int T = "
        "rs_a_pkg::slow_cycles();\n  rs_b #(.W(1)) u_b (.*);  // rs_c u_c ();\nendmodule\n"
    )
    (folder / "rs_b.sv").write_text("// Wire; latency 3.\nmodule rs_b;\nendmodule\n")
    found = blocks.read_blocks(tmp_path)
    assert found["rs_a"].summary == "Sum: of two words"
    assert found["rs_a"].latency == "`rs_a_pkg::slow_cycles`"
    assert found["rs_a"].cost == "a bit: one LUT"
    assert (found["rs_a"].instances, found["rs_a"].packages) == (["rs_b"], ["rs_a_pkg"])
    assert found["rs_b"].latency == "3"
    assert [each.name for each in blocks.in_order(found)] == ["rs_a_pkg", "rs_b", "rs_a"]


def test_a_block_without_a_test_of_its_own_is_checked_in_the_nearest_one_that_has() -> None:
    checks = find_checks(CHECKOUT, BLOCKS, {"rs_rpau_top": ["tests/x.py"]})
    assert checks["rs_rpau_chain"].inside == ("rs_rpau_top",)
    assert checks["rs_delay"].tests == ["tests/rtl/test_mem.py"]
    assert checks["rs_word_halves"].proof == "tests/rtl/formal/rs_word_halves_proof.sv"


def test_tests_that_are_named_for_a_block_exist() -> None:
    tested = settings(CHECKOUT)["tested"]
    assert tested.keys() <= BLOCKS.keys()
    assert all((CHECKOUT / file).is_file() for files in tested.values() for file in files)


def test_a_diagram_that_leaves_a_block_out_is_found() -> None:
    plan = Plan({"rs_vector_array": ["rs_vector_permute > rs_vector_unit"]}, {})
    (sentence,) = plan.wrong(BLOCKS)
    assert "rs_vector_moduli" in sentence


def test_a_folder_without_a_description_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rtl" / "new").mkdir(parents=True)
    (tmp_path / "rtl" / "new" / "rs_new.sv").write_text("// New.\nmodule rs_new;\nendmodule\n")
    (tmp_path / "rtl" / "catalogue.toml").write_text("folders = {}\n")
    with pytest.raises(ToolError, match="describe each one there"):
        render(tmp_path)


def test_all_lists_have_every_file_behind_those_that_it_uses() -> None:
    in_list = re.findall(r"^\w+/(rs_\w+)\.sv$", (CHECKOUT / lists.LIST).read_text(), re.M)
    groups = yaml.safe_load((CHECKOUT / lists.BENDER).read_text())["sources"]
    in_bender = [Path(file).stem for group in groups for file in group["files"]]
    assert in_list == in_bender
    assert sorted(in_list) == sorted(SOURCES)
    place = {name: number for number, name in enumerate(in_list)}
    for name, block in BLOCKS.items():
        assert all(place[used] < place[name] for used in (*block.instances, *block.packages))
    assert all((CHECKOUT / file).is_file() for group in groups for file in group["files"])


def fusesoc_files(name: str) -> list[str]:
    """Blocks of a core and of those that it depends on, in the order in which they are read."""
    folder = name.rpartition(":")[2]
    path = CHECKOUT / (lists.CORE if folder == "all" else lists.folder_core(folder))
    core = yaml.safe_load(path.read_text().partition("\n")[2])
    found: list[str] = []
    for part in core["targets"]["default"]["filesets"]:
        for used in core["filesets"][part].get("depend", []):
            found += fusesoc_files(used)
        listed = core["filesets"][part].get("files", [])
        found += [Path(file).stem for file in listed if isinstance(file, str)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("folder", ["all", *{each.folder: None for each in BLOCKS.values()}])
def test_a_core_has_every_file_behind_those_that_it_uses(folder: str) -> None:
    files = fusesoc_files(f"ringsmith:rtl:{folder}")
    place = {name: number for number, name in enumerate(files)}
    wanted = {n for n, each in BLOCKS.items() if folder in ("all", each.folder)}
    assert wanted <= place.keys()
    for name in files:
        used = (*BLOCKS[name].instances, *BLOCKS[name].packages)
        assert all(place[each] < place[name] for each in used)


def test_shared_folders_use_nothing_of_an_architecture(tmp_path: Path) -> None:
    shared = {*settings(CHECKOUT)["shared"]}
    assert {"arith", "mem", "ntt", "baseconv"} <= shared
    assert all(used <= shared for name, used in lists.uses(BLOCKS).items() if name in shared)
    for folder in ("mem", "rpau"):
        (tmp_path / "rtl" / folder).mkdir(parents=True)
    (tmp_path / "rtl" / "catalogue.toml").write_text(
        'shared = ["mem"]\nfolders = {mem = "", rpau = ""}\n'
    )
    (tmp_path / "rtl/rpau/rs_a_pkg.sv").write_text("// A.\npackage rs_a_pkg;\nendpackage\n")
    (tmp_path / "rtl/mem/rs_b.sv").write_text(
        "// B.\nmodule rs_b;\n  import rs_a_pkg::*;\nendmodule\n"
    )
    with pytest.raises(ToolError, match="rtl/mem is shared and uses rpau"):
        render(tmp_path)


@pytest.mark.parametrize("top", ["rs_stream_axis", "rs_mod_addsub"])
def test_verilator_reads_the_list(top: str, tmp_path: Path) -> None:
    run_verilator(["--lint-only", "-F", CHECKOUT / lists.LIST, "--top-module", top], tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("top", lists.tops(BLOCKS))
def test_fusesoc_lints_every_top_of_the_core(top: str, tmp_path: Path) -> None:
    run_fusesoc(tmp_path, [RTL], f"lint_{top}", "ringsmith:rtl:all")
