"""The register block's AXI4-Lite bus under random stalls and back-pressure, driven by cocotb.

The bench itself is bus/registers_bench.py; here the simulator is built (once, in the cache),
started, and its verdicts are read.
"""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cocotb_tools.config
import pytest
from cocotb_tools.runner import get_results, get_runner
from find_libpython import find_libpython

from ringsmith.arch.rpau import rtl
from ringsmith.arch.rpau.assembler import encode
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import instruction
from ringsmith.devices.build_cache import built, fingerprint
from ringsmith.devices.sources import rtl_root, rtl_sources
from ringsmith.devices.toolchain import compiler, run_tool, run_verilator, verilator

BENCH = Path(__file__).parent / "bus" / "registers_bench.py"
DESIGN = RpauDesign(
    name="tiny",
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
VERILATE = ("--cc", "-O3", "--no-timing", "--quiet", "--vpi", "-fno-dfg", "--assert")
OFF = ("COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_SAIF", "TRACE_VCD")
COMPILE = (
    *("-std=c++20", "-O1", "-w", "-faligned-new", "-pthread", "-DVERILATOR=1"),
    *(f"-DVM_{name}=0" for name in OFF),
)
RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_vpi.cpp", "verilated_threads.cpp")
# cocotb sees these alone: with every signal public, as its own build has it, the C++ is ten times
# as large.
PUBLIC = "`verilator_config\n" + "".join(
    f'public_flat_rw -module "{rtl.BUS_TOP}" -var "{name}"\n'
    for name in ("clk_i", "rst_ni", "s_axil_*")
)


def simulator() -> Path:
    """The folder of a program that is the simulated device, with cocotb linked in."""
    libraries = Path(cocotb_tools.config.libs_dir)
    main = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    sources = [rtl_root() / "verilator.vlt", *rtl_sources(*rtl.BUS_ROOMS)]
    parameters = [f"-G{name}={value}" for name, value in rtl.parameters(DESIGN).items()]
    tool, cxx = verilator(), compiler()
    facts = [*VERILATE, *COMPILE, *parameters, PUBLIC, tool.version, cxx.version, str(libraries)]

    def build(work: Path) -> None:
        cpp, public = work / "cpp", work / "public.vlt"
        public.write_text(PUBLIC)
        names = ["--top-module", rtl.BUS_TOP, "--prefix", "Vtop", "-Mdir", cpp]
        run_verilator([*VERILATE, *parameters, *names, public, *sources], work)
        unity = cpp / "unity.cpp"
        unity.write_text("".join(f'#include "{file}"\n' for file in (*cpp.glob("V*.cpp"), main)))
        folders = [f"-I{folder}" for folder in (cpp, tool.include, tool.include / "vltstd")]

        def compile_one(source: Path) -> Path:
            result = cpp / f"{source.stem}.o"
            run_tool([cxx.program, *COMPILE, *folders, "-c", source, "-o", result], work)
            return result

        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compile_one, [unity, *(tool.include / f for f in RUNTIME)]))
        link = ["-pthread", f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcocotbvpi_verilator"]
        run_tool([cxx.program, *objects, *link, "-o", work / rtl.BUS_TOP], work)

    return built(f"{rtl.BUS_TOP}-cocotb", fingerprint(facts, [*sources, main]), build)


@pytest.mark.skipif(
    find_libpython() is None,
    reason="cocotb needs Python as a shared library: apt install python3-dev",
)
def test_the_bus_keeps_its_promises_under_random_stalls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCH.parent))
    halt = encode(instruction("halt", (1 << DESIGN.rpaus) - 1))
    results = get_runner("verilator").test(
        test_module=BENCH.stem,
        hdl_toplevel=rtl.BUS_TOP,
        hdl_toplevel_lang="verilog",
        build_dir=simulator(),
        test_dir=tmp_path,
        results_xml=str(tmp_path / "results.xml"),
        log_file=str(tmp_path / "log.txt"),
        extra_env={
            "RINGSMITH_BENCH": json.dumps(rtl.facts(DESIGN)),
            "RINGSMITH_BENCH_HALT": str(halt),
        },
    )
    wanted = re.findall(r"@cocotb\.test\(\)\nasync def \w+", BENCH.read_text())
    assert wanted
    assert get_results(results) == (len(wanted), 0), (tmp_path / "log.txt").read_text()
