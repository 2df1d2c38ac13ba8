"""The RTL written as plain Verilog: Icarus Verilog, which reads Verilog of 2005, runs it."""

import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau.backend import BACKEND
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.register_table import CAPABILITIES
from ringsmith.generate import wrapper
from ringsmith.generate.packaging import Names
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.plain_verilog import plain_verilog, plain_verilog_of
from ringsmith.hdl.sources import sources_below

icarus = pytest.mark.skipif(
    not shutil.which("iverilog"), reason="Icarus Verilog, a system package, is not installed"
)

SMALL = replace(
    load_design("nano"), name="small", log_n=8, rpaus=2, cores=2, dyadic_cores=1, work_polys=4
)

DRIVEN = {"clk_i", "rst_ni", "s_axil_araddr", "s_axil_arvalid", "s_axil_rready"}


def simulated(folder: Path, *texts: str) -> list[str]:
    """What a testbench prints, line by line."""
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"{number}.v")
        files[-1].write_text(text)
    binary = folder / "simulation"
    # -g2005: nothing newer than IEEE 1364-2005 is read.
    subprocess.run(["iverilog", "-g2005", "-o", binary, *files], check=True, timeout=120)
    done = subprocess.run(
        ["vvp", "-n", binary], check=True, timeout=120, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def ports(text: str, module: str) -> list[str]:
    """Input ports of a module of plain Verilog."""
    body = text.partition(f"\nmodule {module}(")[2].partition("endmodule")[0]
    lines = (line.split() for line in body.splitlines() if line.startswith("  input "))
    return [words[-1].rstrip(";") for words in lines]


@pytest.mark.full
@icarus
def test_a_modular_multiplier_multiplies(tmp_path: Path) -> None:
    width, q, count = 30, 1_073_707_009, 50
    mu = (1 << (2 * width)) // q - (1 << width)
    rng = random.Random(1)
    pairs = [(rng.randrange(q), rng.randrange(q)) for _ in range(count)]
    text = plain_verilog("rs_mod_mul_barrett", ["mem", "arith"], {"Width": width})
    feeds = "\n".join(f"    a = {a}; b = {b}; #2;" for a, b in pairs)
    bench = f"""
module bench;
  reg clk = 0;
  reg [{width - 1}:0] a = 0, b = 0;
  wire [{width - 1}:0] p;
  always #1 clk = !clk;
  rs_mod_mul_barrett dut (.clk_i(clk), .a_i(a), .b_i(b), .q_i({q}), .mu_i({mu}),
                          .shift_i({width}), .p_o(p));
  always @(negedge clk) $display("%0d", p);
  initial begin
{feeds}
    #100 $finish;
  end
endmodule
"""
    printed = simulated(tmp_path, text, bench)
    expected = [str(a * b % q) for a, b in pairs]
    assert contains(printed, expected)


def contains(lines: Sequence[str], part: Sequence[str]) -> bool:
    """Whether some lines follow each other among others."""
    return any(lines[i : i + len(part)] == part for i in range(len(lines)))


ATTRIBUTES = ("async_reg", "ram_style", "no_rw_check", "rw_addr_collision", "X_INTERFACE_INFO")


@pytest.mark.full
@pytest.mark.parametrize(
    ("top", "folders", "registers"),
    [("rs_async_fifo", ["mem", "dma"], 2), ("rs_ram_1r1w", ["mem"], 0)],
)
def test_attributes_of_the_sources_stay(top: str, folders: list[str], registers: int) -> None:
    """A FIFO's synchronizers are one module of two registers; both have a memory."""
    text = plain_verilog(top, folders, {})
    counts = Counter(re.findall(r"^ *\(\* (\w+) = .* \*\)$", text, re.M))
    assert counts["async_reg"] == registers
    assert counts["ram_style"] == counts["rw_addr_collision"] == counts["no_rw_check"] == 1
    assert not counts.keys() & {"src", "hdlname"}


@pytest.mark.full
def test_attributes_are_as_many_as_in_the_elaborated_sources(tmp_path: Path) -> None:
    """Of a card of two accelerators: synchronizers, memories, and interfaces of its top module."""
    design = replace(SMALL, name="card", host_bits=128, coprocessors=2)
    hardware = BACKEND.exporter().hardware(design)
    names = Names.of(design.name, "1")
    top = wrapper.top_module(names.top, hardware, "a card")
    files = sources_below(hardware.top, hardware.folders)
    sources = {file.name: file.read_text() for file in files} | {f"{names.top}.v": top}
    (tmp_path / f"{names.top}.v").write_text(top)
    work = tmp_path / "work"
    work.mkdir()
    found = elaborated(names.top, [*files, tmp_path / f"{names.top}.v"], [], work)
    wanted = Counter(
        name
        for module in found["modules"].values()
        for part in ("netnames", "memories")
        for entry in module.get(part, {}).values()
        for name in entry["attributes"]
        if name in ATTRIBUTES
    )
    written = plain_verilog_of(names.top, sources)
    there = Counter(re.findall(r"^ *\(\* (\w+) = .* \*\)$", written, re.M))
    assert {name: there[name] for name in ATTRIBUTES} == dict(wanted)
    assert min(wanted[name] for name in ATTRIBUTES) >= 8


@pytest.mark.full
@icarus
def test_an_accelerator_says_over_its_bus_what_it_is(tmp_path: Path) -> None:
    text = plain_verilog(rtl.BUS_TOP, rtl.BUS_FOLDERS, rtl.parameters(SMALL))
    others = "".join(f", .{name}(0)" for name in ports(text, rtl.BUS_TOP) if name not in DRIVEN)
    reads = "\n".join(f"    read({capability.address});" for capability in CAPABILITIES)
    bench = f"""
module bench;
  reg clk = 0, rst_n = 0, arvalid = 0;
  reg [11:0] araddr = 0;
  wire [31:0] rdata;
  wire arready, rvalid;
  always #1 clk = !clk;
  {rtl.BUS_TOP} dut (.clk_i(clk), .rst_ni(rst_n), .s_axil_araddr(araddr), .s_axil_rready(1'b1),
      .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_rvalid(rvalid),
      .s_axil_rdata(rdata){others});
  task read(input [11:0] address);
    begin
      @(negedge clk) araddr = address;
      arvalid = 1;
      while (!arready) @(negedge clk);
      @(negedge clk) arvalid = 0;
      while (!rvalid) @(negedge clk);
      $display("%0d", rdata);
      @(negedge clk);
    end
  endtask
  initial begin
    #20 rst_n = 1;
    #400;
{reads}
    $finish;
  end
  initial #100000 $finish;
endmodule
"""
    assert simulated(tmp_path, text, bench) == [str(value) for value in capabilities(SMALL)]


def capabilities(design: RpauDesign) -> list[int]:
    """What the registers hold, in their order."""
    return list(rtl.capabilities(design).values())
