"""What the tests of RTL share: built blocks, the latency of a pipeline, and cocotb's benches."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import cocotb_tools.config
import numpy as np
import pytest
from cocotb_tools.runner import get_results, get_runner
from find_libpython import find_libpython

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import XILINX, include_folders, macros, rtl_root, rtl_sources
from ringsmith.hdl.toolchain import compiler, run_tool, run_tools, run_verilator, verilator
from ringsmith.hdl.verilate import build_block

BENCHES = Path(__file__).parent / "blocks"

VERILATE = ("--cc", "-O3", "--no-timing", "--quiet", "--vpi", "-fno-dfg", "--assert")
OFF = ("COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_SAIF", "TRACE_VCD")
COMPILE = (
    *("-std=c++20", "-w", "-faligned-new", "-pthread", "-DVERILATOR=1"),
    *(f"-DVM_{name}=0" for name in OFF),
)
RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_vpi.cpp", "verilated_threads.cpp")

MakeBlock = Callable[..., Block]


@pytest.fixture
def make_block() -> Iterator[MakeBlock]:
    """Builds (once, in the cache) and opens a block that architectures share, or a bench."""
    with ExitStack() as opened:

        def make(
            top: str, assertions: bool = False, target: str = XILINX, **parameters: int | str
        ) -> Block:
            bench = BENCHES / f"{top}.sv"
            sources = [
                *rtl_sources("mem", "arith", "prng", "baseconv", "vector"),
                *([bench] if bench.exists() else []),
            ]
            flags = [f"-D{macro}" for macro in macros(target)]
            library = build_block(top, sources, parameters, assertions=assertions, flags=flags)
            return opened.enter_context(Block(library))

        yield make


@pytest.fixture
def latency_of() -> Callable[[Words, Words], int]:
    """Finds by how many cycles an output stream lags behind the expected results."""

    def find(output: Words, expected: Words) -> int:
        lags = [
            lag
            for lag in range(64)
            if np.array_equal(output[lag:], expected[: len(expected) - lag], equal_nan=False)
        ]
        assert len(lags) == 1, f"the output equals the expected stream at lags {lags}"
        return lags[0]

    return find


ONCE, OFTEN = "-O0", "-Og"
"""Optimization of what runs once, and of what runs in each cycle."""


def compiled(sources: Mapping[Path, str], folders: Sequence[Path], target: Path) -> list[Path]:
    """Object files of C++ sources with their optimization, in the folder ``target``."""
    objects = [target / f"{source.stem}.o" for source in sources]
    include = [f"-I{folder}" for folder in folders]
    commands = [
        [compiler().program, *COMPILE, level, *include, "-c", source, "-o", made]
        for (source, level), made in zip(sources.items(), objects, strict=True)
    ]
    run_tools(commands, target)
    return objects


def runtime() -> Path:
    """The folder of Verilator's library, compiled once for all designs."""
    include = verilator().include
    sources = [include / name for name in RUNTIME]

    def build(work: Path) -> None:
        compiled(dict.fromkeys(sources, OFTEN), [include, include / "vltstd"], work)

    inputs = [*COMPILE, OFTEN, compiler().version]
    return built("cocotb-runtime", fingerprint(inputs, sources), build)


def simulator(
    top: str, sources: Sequence[Path], values: Values, public: str, flags: Sequence[str]
) -> Path:
    """The folder of a program that is the simulated device, with cocotb linked in."""
    libraries = Path(cocotb_tools.config.libs_dir)
    main = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    files = [rtl_root() / "verilator.vlt", *sources]
    parameters = [f"-G{name}={value}" for name, value in values.items()]
    tool, cxx = verilator(), compiler()
    include = [f"-I{folder}" for folder in include_folders(sources)]
    options = [*VERILATE, *flags, *include, *parameters]
    inputs = [*options, *COMPILE, ONCE, OFTEN, public, tool.version, cxx.version, str(libraries)]

    def build(work: Path) -> None:
        cpp, chosen = work / "cpp", work / "public.vlt"
        chosen.write_text(public)
        names = ["--top-module", top, "--prefix", "Vtop", "-Mdir", cpp]
        run_verilator([*options, *names, chosen, *files], work)
        bundles: dict[str, list[Path]] = {OFTEN: [main], ONCE: []}
        for file in cpp.glob("V*.cpp"):
            bundles[ONCE if file.stem.endswith("__Slow") else OFTEN].append(file)
        sources = {cpp / f"bundle{level}.cpp": level for level in bundles}
        for bundle, level in sources.items():
            bundle.write_text("".join(f'#include "{file}"\n' for file in bundles[level]))
        objects = compiled(sources, [cpp, tool.include, tool.include / "vltstd"], cpp)
        objects += sorted(runtime().glob("*.o"))
        link = ["-pthread", f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcocotbvpi_verilator"]
        run_tool([cxx.program, *objects, *link, "-o", work / top], work)
        shutil.rmtree(cpp)

    return built(f"{top}-cocotb", fingerprint(inputs, [*files, main]), build)


@pytest.fixture
def run_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs a bench of cocotb on a design (built once, in the cache): all of its tests must pass.

    ``signals`` are patterns of the top's ports that the bench reaches, besides clk_i and rst_ni:
    with every signal public, as cocotb's own build has it, the C++ is ten times as large.
    """
    if find_libpython() is None:
        pytest.skip("cocotb needs Python as a shared library: apt install python3-dev")

    def run(
        bench: Path,
        top: str,
        sources: Sequence[Path],
        parameters: Values,
        signals: Sequence[str],
        environment: Mapping[str, str],
        flags: Sequence[str] = (),
    ) -> None:
        public = "`verilator_config\n" + "".join(
            f'public_flat_rw -module "{top}" -var "{name}"\n'
            for name in ("clk_i", "rst_ni", *signals)
        )
        monkeypatch.syspath_prepend(str(bench.parent))
        results = get_runner("verilator").test(
            test_module=bench.stem,
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            build_dir=simulator(top, sources, parameters, public, flags),
            test_dir=tmp_path,
            results_xml=str(tmp_path / "results.xml"),
            log_file=str(tmp_path / "log.txt"),
            extra_env=dict(environment),
        )
        wanted = re.findall(r"@cocotb\.test\(\)\nasync def \w+", bench.read_text())
        assert wanted
        assert get_results(results) == (len(wanted), 0), (tmp_path / "log.txt").read_text()

    return run


@pytest.fixture
def bus_design() -> RpauDesign:
    """A small design, for what is outside its RPAUs."""
    return RpauDesign(
        name="bus",
        log_n=8,
        word_bits=40,
        rpaus=2,
        cores=2,
        dyadic_cores=1,
        work_polys=4,
        key_polys=2,
        constants=8,
        program_words=16,
        reduction="barrett",
    )


@pytest.fixture
def run_bus_bench(run_bench: Callable[..., None]) -> Callable[..., None]:
    """Runs a bench of cocotb on an accelerator behind its buses, as ``run_bench`` does.

    The bench finds the design's capabilities in ``RINGSMITH_BENCH``, and further ``settings`` in
    ``RINGSMITH_BENCH_*``.
    """

    def run(bench: Path, design: RpauDesign, settings: Mapping[str, str]) -> None:
        known = {"RINGSMITH_BENCH": json.dumps(rtl.capabilities(design))}
        more = {f"RINGSMITH_BENCH_{name}": text for name, text in settings.items()}
        sources, parameters = rtl_sources(*rtl.BUS_FOLDERS), rtl.parameters(design)
        run_bench(bench, rtl.BUS_TOP, sources, parameters, ["s_axi*"], known | more)

    return run
