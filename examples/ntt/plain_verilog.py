"""Writes ring_multiplier_ntt.v: the example's hardware as one file of Verilog of 2005, by Yosys."""

from pathlib import Path

from ringsmith.hdl.plain_verilog import plain_verilog_of
from ringsmith.hdl.sources import rtl_sources

HERE = Path(__file__).parent
TOP = "ring_multiplier_ntt"

if __name__ == "__main__":
    files = [*rtl_sources("mem", "arith", "ntt"), HERE / f"{TOP}.sv"]
    sources = {file.name: file.read_text(encoding="utf-8") for file in files}
    (HERE / f"{TOP}.v").write_text(plain_verilog_of(TOP, sources), encoding="utf-8")
