"""Pages that list what there is: formats, the architecture's layers, coverage."""

import json
import re
from dataclasses import MISSING, fields, replace
from itertools import product
from pathlib import Path

import pytest

from ringsmith import runtime
from ringsmith.backends.rpau.compiler.limb_layout import layouts
from ringsmith.backends.rpau.compiler.segment import cut
from ringsmith.backends.rpau.compiler.select import select
from ringsmith.backends.rpau.debug import campaign as rpau_campaign
from ringsmith.backends.rpau.debug.summary import busy_cycles
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design import rtl as rpau
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.vector.debug import campaign as vector_campaign
from ringsmith.backends.vector.design import rtl as vector
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.hdl.instrument import Instrument
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import include_folders, rtl_root, rtl_sources
from ringsmith.hdl.toolchain import run_verilator
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

ROOT = Path(__file__).resolve().parents[2]
FORMATS_PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()


def written() -> dict[str, int]:
    """Formats that the package names, and the version of each name in the source."""
    found: dict[str, int] = {}
    for path in (ROOT / "python" / "ringsmith").glob("**/*.py"):
        text = path.read_text()
        both = re.findall(r'^_?FORMAT, _?VERSION = "(ringsmith-[\w-]+)", (\d+)', text, re.M)
        apart = re.findall(r'^FORMAT = "(ringsmith-[\w-]+)"\nVERSION = (\d+)', text, re.M)
        inside = re.findall(r'"format": "(ringsmith-[\w-]+)",\s+"version": (\d+)', text)
        found |= {name: int(version) for name, version in (*both, *apart, *inside)}
    return found


@pytest.mark.parametrize("name", written())
def test_the_page_has_a_format_with_its_version(name: str) -> None:
    told = re.search(rf"`{name}` (\d+)(?:; [^|]*?(\d+))?[ ,|]", FORMATS_PAGE)
    assert told is not None, f"{name} is not on the page"
    assert written()[name] == max(int(version) for version in told.groups() if version)


def test_formats_are_found_in_the_sources() -> None:
    assert len(written()) >= 10


def test_the_page_has_no_format_that_nobody_writes() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "python" / "ringsmith").glob("**/*.py"))
    assert [
        n for n in re.findall(r"`(ringsmith-[\w-]+)` \d", FORMATS_PAGE) if f'"{n}"' not in sources
    ] == []


# What docs/reference/rpau.md says of key switching and of parameters is what the compiler does


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "rpau.md"
SET1 = parameter_set("medha-set1")


def relinearize() -> SubroutineGraph:
    return lower_operation("relinearize", SET1, SET1.limbs)


def rpaus(count: int) -> RpauDesign:
    """``octo`` with other numbers of RPAUs and dyadic cores."""
    return replace(load_design("octo"), name=f"rpaus{count}", dyadic_cores=8, rpaus=count)


def test_with_a_shared_special_prime_all_rpaus_of_data_primes_work_equally_long() -> None:
    executable = runtime.compile_graph(relinearize(), rpaus(10)).executable
    assert executable is not None
    assert len(executable.runs) == 1
    trace = Trace.of_executable(executable)
    (work,) = {busy_cycles(trace, rpau, "main") for rpau in range(SET1.limbs)}
    assert work > 0.99 * executable.cycles


def test_a_seeded_key_takes_half_the_key_store_and_no_more_cycles() -> None:
    design = replace(rpaus(10), prng="trivium", seeds=1)
    full, seeded = (
        runtime.compile_graph(relinearize(), design, keys).executable for keys in ((), None)
    )
    assert full is not None
    assert seeded is not None
    (polys_full,), (polys_seeded,) = (
        {max(load.index for load in run.keys) + 1 for run in each.runs} for each in (full, seeded)
    )
    assert polys_full == 2 * polys_seeded
    assert seeded.cycles <= full.cycles


def test_sharing_the_special_prime_pays_only_with_instructions_of_each_rpaus_own() -> None:
    expanded, design = expand(relinearize()), rpaus(10)
    cycles = {}
    for layout, per_rpau in product(layouts(expanded, design), (False, True)):
        runs = cut(select(expanded, design, layout, per_rpau=per_rpau), design)
        cycles[bool(layout.moved), per_rpau] = sum(run.cycles for run in runs)
    assert min(cycles, key=lambda way: cycles[way]) == (True, True)
    assert cycles[True, False] > cycles[False, False]


def test_the_table_of_parameters_has_each_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.M))
    for field in fields(RpauDesign):
        default = "–" if field.default is MISSING else json.dumps(field.default).strip('"')
        assert rows[field.name].strip("`") == default, field.name


# ---- docs/results/coverage.md lists the files that make up today's accelerators ------------------


COVERAGE_PAGE = Path(__file__).resolve().parents[2] / "docs" / "results" / "coverage.md"

Build = tuple[str, list[Path], Values]


def builds() -> dict[str, Build]:
    """What a campaign elaborates, by architecture: top, sources, parameters."""
    ours, others = vector_campaign.campaign_design(), rpau_campaign.campaign_design()
    accelerator = vector.accelerator_sources(), vector.parameters(ours)
    return {
        "rpau": (rpau.TOP, rtl_sources(*rpau.FOLDERS), rpau.parameters(replace(others, cores=2))),
        "vector": ("rs_vector_top", *accelerator),
    }


def counted_files(build: Build, folder: Path) -> set[str]:
    """Files of rtl/, packages apart, in which Verilator would count something; builds nothing."""
    top, files, parameters = build
    values = [f"-G{name}={value}" for name, value in parameters.items()]
    options = ["--cc", *Instrument.COVERAGE.value.verilator, "--top-module", top]
    sources = [rtl_root() / "verilator.vlt", *files]
    options += [f"-I{each}" for each in include_folders(files)]
    run_verilator([*options, *values, "-Mdir", folder, *sources], folder)
    generated = "".join(file.read_text() for file in folder.glob("*.cpp"))
    return set(re.findall(r'"[^"]*/rtl/(\w+/\w+(?<!_pkg)\.sv)"', generated))


@pytest.mark.parametrize("name", builds())
def test_the_page_lists_the_files_of_todays_rtl(name: str, tmp_path: Path) -> None:
    """Otherwise measure again: `make coverage`."""
    [section] = re.findall(
        rf"^## Architecture `{name}`\n(.*?)(?=^## |\Z)", COVERAGE_PAGE.read_text(), re.M | re.S
    )
    listed = set(re.findall(r"`rtl/([\w/.]+)`(?= \||,$|\.$)", section, re.MULTILINE))
    assert len(listed) > 10
    assert listed == counted_files(builds()[name], tmp_path) - {vector_campaign.REGISTERS}
