"""``examples/ntt``: another project takes the NTT by FuseSoC, and simulates it."""

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.hdl.fusesoc import run_fusesoc
from tests.rtl.package_values import elaborated

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLE = CHECKOUT / "examples" / "ntt"
CORE = "example:crypto:ring_multiplier_ntt"
PASSED = "PASS: 512 words as expected"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example, and of nothing else of the checkout."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def test_verilator_simulates_it(project: Path) -> None:
    printed = run_fusesoc(project.parent, [CHECKOUT / "rtl", project], "sim", CORE)
    assert PASSED in printed
    built = {path.stem for path in project.parent.glob("build/**/*.sv")}
    assert "rs_ntt" in built
    assert not any(name.startswith(("rs_rpau", "rs_vector", "rs_stream")) for name in built)
    (program,) = project.parent.glob("build/**/Vring_multiplier_ntt_tb")
    done = subprocess.run(
        [program, "+wrong_factors=1"], capture_output=True, text=True, timeout=60, check=True
    )
    assert PASSED not in done.stdout
    assert re.search(r"^FAIL: \d+ differences", done.stdout, re.M)


@pytest.mark.full
@pytest.mark.skipif(
    not shutil.which("iverilog"), reason="Icarus Verilog, a system package, is not installed"
)
def test_icarus_simulates_it_as_plain_verilog(project: Path) -> None:
    runpy.run_path(str(project / "plain_verilog.py"), run_name="__main__")
    assert PASSED in run_fusesoc(project.parent, [project], "sim_icarus", CORE)


def test_its_latencies_are_those_of_the_package() -> None:
    text = (EXAMPLE / "ring_multiplier_ntt_tb.sv").read_text()
    found = re.findall(r" = (\d+); +// (rs_ntt_pkg::\w+)\(\)", text)
    arguments = {"rs_ntt_pkg::transform_latency": "1, 0, 6, 2"}
    asked = [f"{name}({arguments.get(name, '')})" for _, name in found]
    assert len(asked) == 2
    assert elaborated(asked) == [int(number) for number, _ in found]
