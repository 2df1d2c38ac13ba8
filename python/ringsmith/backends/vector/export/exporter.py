"""Writing designs of architecture ``vector`` out: RTL with its buses, program and testbench."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import cast

from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.exporter import Demonstration, Estimate, Exporter, Greeting, Hardware
from ringsmith.backends.types import Design
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.design import package, rtl
from ringsmith.backends.vector.design.area import device_area
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    MAGIC,
    ClusterRegister,
    VectorRegister,
)
from ringsmith.backends.vector.device.device import VectorDevice
from ringsmith.backends.vector.device.model import host_limb
from ringsmith.backends.vector.device.rtl import unsupported
from ringsmith.backends.vector.export import pages
from ringsmith.backends.vector.export.script import script
from ringsmith.errors import ParameterError
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.sources import sim_root
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import CkksParameters, RlweParameters
from ringsmith.platforms import Memory, load_platform

_AXIL_ADDRESS_BITS = 12
_LEAST_LOG_DEGREE = 10
"""log2 of the smallest ring of an encryption scheme."""
_DATA_PRIMES = 2
_HEADROOM_BITS = 6
"""Bits of each data prime that CKKS's scale leaves to the message."""
_MEMORY = "rs_vector_memory"
"""The simulated memory of a port, in ``sim/vector``."""


class VectorExporter(Exporter):
    """An accelerator of several clusters with AXI4 buses to memory; see ``Exporter``."""

    def hardware(self, design: Design) -> Hardware:
        """The whole accelerator."""
        own = cast("VectorDesign", design)
        if reason := unsupported(own):
            raise ParameterError(reason)
        return Hardware(
            top=rtl.SHELL,
            folders=rtl.SHELL_FOLDERS,
            parameters={
                **rtl.parameters(own, package.BANK_ULTRA),
                "Crossed": int(own.crossed_ports),
            },
            tied=(
                {} if own.crossed_ports else {rtl.MEMORY_CLOCK: "clk_i", rtl.MEMORY_RESET: "rst_ni"}
            ),
            interfaces=_interfaces(own),
            greeting=Greeting("s_axil", pages.greeting(own)),
            clocks=_clocks(own),
            platform=own.platform,
            files=pages.files(own),
        )

    def parameters(self, design: Design) -> RlweParameters:
        """CKKS with two data primes and a special one, as wide as the design's words."""
        own = cast("VectorDesign", design)
        narrower = own.word_bits - 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no data will ever be encrypted with these
            # Montgomery's reduction takes primes of the largest ring in smaller ones, too.
            largest = CkksParameters.create(
                n=own.n,
                prime_bits=(narrower,) * _DATA_PRIMES,
                special_bits=own.word_bits,
                scale_bits=narrower - _HEADROOM_BITS,
                security=None,
            )
            return CkksParameters.from_primes(
                n=1 << max(own.min_log_n, min(_LEAST_LOG_DEGREE, own.log_n)),
                data_primes=largest.data_primes,
                special_prime=largest.special_primes[0],
                scale=largest.scale,
                name=f"{own.name} demonstration",
                security=None,
            )

    def demonstrate(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> tuple[Demonstration, Mapping[str, Residues]]:
        """Loads, runs and reads as the host of a device does; see ``Exporter.demonstrate``."""
        executable = cast("VectorExecutable", compiled.executable)
        design = executable.design
        result = VectorDevice(design, "model").execute(compiled, inputs, keys)
        made = script(executable, host_limb(executable, inputs, keys), result.outputs)
        figures = {"cycles": executable.cycles, "instructions": executable.instructions}
        memory = (sim_root() / "vector" / f"{_MEMORY}.sv").read_text(encoding="utf-8")
        found = Demonstration(
            made.files,
            _text("testbench.sv.in"),
            {**made.sizes, **_bench(design)},
            figures,
            {f"{_MEMORY}.sv": memory},
        )
        return found, result.outputs

    def estimate(self, design: Design) -> Estimate:
        """All clusters, and what joins them to memory and host."""
        area = device_area(cast("VectorDesign", design))
        found = {
            "dsps": area.dsps,
            "brams": area.brams,
            "urams": area.urams,
            "luts": area.lut_sites,
            "flip_flops": area.fabric_flip_flops,
        }
        return Estimate(ULTRASCALE_PLUS, found)


def _clocks(design: VectorDesign) -> dict[str, float]:
    """The clocks of the top module."""
    found = {"clk_i": design.memory.megahertz}
    if design.crossed_ports:
        found[rtl.MEMORY_CLOCK] = load_platform(design.platform).memory_megahertz
    return found


def _interfaces(design: VectorDesign) -> tuple[buses.Interface, ...]:
    crossed = design.crossed_ports
    clocks = [buses.clock("clk_i", "the accelerator's clock" if crossed else "")]
    resets = [buses.reset("rst_ni", "clk_i", "may be short: the device prolongs it")]
    if crossed:
        both = "together with the other reset: both are low for four cycles of each clock"
        clocks.append(buses.clock(rtl.MEMORY_CLOCK, "memory's clock, of any frequency and phase"))
        resets = [
            buses.reset("rst_ni", "clk_i", both),
            buses.reset(rtl.MEMORY_RESET, rtl.MEMORY_CLOCK, both),
        ]
    rows = [
        buses.axi_bus(
            f"m_axi_{number}",
            master=True,
            id_bits=0,
            address_bits=rtl.ADDRESS_BITS,
            data_bits=design.memory.port_bits,
            of=rtl.MEMORY_CLOCK if crossed else "clk_i",
            about=f"memory of rows: port {number % design.ports} of cluster "
            f"{number // design.ports}",
        )
        for number in range(design.clusters * design.ports)
    ]
    lists = [
        buses.axi_bus(
            f"m_list_{cluster}",
            master=True,
            id_bits=0,
            address_bits=rtl.ADDRESS_BITS,
            data_bits=package.LIST_BITS,
            of="clk_i",
            about=f"memory of lists, only read, of cluster {cluster}",
            writes=False,
        )
        for cluster in range(design.clusters)
    ]

    def pulse(name: str, about: str) -> buses.Interface:
        return buses.plain(name, buses.OUTPUT, 1, "clk_i", about)

    return (
        *clocks,
        *resets,
        buses.axi_lite_slave("s_axil", _AXIL_ADDRESS_BITS, "clk_i", "registers"),
        *buses.merged_ports("m_axi", rows),
        *buses.merged_ports("m_list", lists),
        pulse("start_o", "in one cycle: a program was started"),
        pulse("run_o", "in one cycle: its lists are there, and it begins in the next one"),
        pulse("done_o", "in one cycle: it has ended"),
    )


_REGISTERS = {
    "MagicNumber": VectorRegister.MAGIC,
    "Status": VectorRegister.STATUS,
    "Control": VectorRegister.CONTROL,
    "Cycles": VectorRegister.CYCLES,
    "FirstFault": CLUSTERS + ClusterRegister.FAULT,
    "ClusterBytes": CLUSTER_BYTES,
}

_WIRES = {
    "m_axi": (
        "awvalid awaddr awlen wvalid wlast wdata bready arvalid araddr arlen rready",
        "awready wready bvalid bresp arready rvalid rlast rresp rdata",
    ),
    "m_list": ("arvalid araddr arlen rready", "arready rvalid rlast rresp rdata"),
}
"""Signals of buses that the testbench hears, and those that it drives."""


def _bench(design: VectorDesign) -> dict[str, object]:
    """The parameters of the testbench, without the sizes of its files."""
    registers = (
        f"  localparam int unsigned {name} = 32'h{int(address):03x};"
        for name, address in _REGISTERS.items()
    )
    memory = design.memory
    wires = [
        *_wires("m_axi", "", design.clusters * design.ports),
        *_wires("m_list", "list_", design.clusters),
    ]
    return {
        "registers": "\n".join(registers),
        "magic": f"{MAGIC:08x}",
        **_clock_values(design),
        "platform": design.platform,
        "clusters": design.clusters,
        "ports": design.ports,
        "port_bits": memory.port_bits,
        "span_bits": memory.port_bytes.bit_length() - 1,
        "row_cycles": design.row_cycles,
        "memory_address_bits": rtl.ADDRESS_BITS,
        "address_bits": _AXIL_ADDRESS_BITS,
        "wires": "\n".join(wires),
        "row_memory": _timing(_behind_ports(design)),
        "list_memory": _timing(design.list_memory),
    }


def _clock_values(design: VectorDesign) -> dict[str, object]:
    """The clocks of the testbench, and which of them memory has."""
    lines = [
        f"  always #{500 / mhz:.3f} {name} = ~{name};  // {mhz:g} MHz"
        for name, mhz in _clocks(design).items()
    ]
    crossed = design.crossed_ports
    return {
        "clocks": "\n".join(lines),
        "memory_clock": rtl.MEMORY_CLOCK if crossed else "clk_i",
        "memory_reset": rtl.MEMORY_RESET if crossed else "rst_ni",
        "memory_epoch": "1'b0" if crossed else "run_o",
        "release": "\n".join(
            f"    {name} = 1'b1;" for name in ([rtl.MEMORY_RESET] if crossed else []) + ["rst_ni"]
        ),
        "exact": int(not crossed),
    }


def _behind_ports(design: VectorDesign) -> Memory:
    """The memory that the simulated ports have: behind crossings, in cycles of its own clock.

    Its latency is as many of its own cycles as ports that do not cross count of theirs, its reads
    pause as long, and it takes writes no faster than the figures of crossed ports say.
    """
    platform, crossed = load_platform(design.platform), design.memory
    if not design.crossed_ports or platform.memory is None:
        return crossed
    own, faster = platform.memory, platform.memory_megahertz / crossed.megahertz
    written = (1 - crossed.write_pause / crossed.interval) / faster
    interval = round(own.interval * faster)
    return replace(
        own,
        megahertz=platform.memory_megahertz,
        interval=interval,
        read_pause=round(own.read_pause * faster),
        write_pause=round(interval * (1 - written)),
    )


def _timing(memory: Memory) -> str:
    """Parameters of a simulated port."""
    values = rtl.memory_parameters(memory).items()
    return ",\n".join(f"      .{name}({value})" for name, value in values)


def _wires(bus: str, prefix: str, count: int) -> Sequence[str]:
    """Lines that join the wires of buses with the testbench's arrays."""
    heard, driven = (signals.split() for signals in _WIRES[bus])

    def array(signal: str) -> str:
        channel = next(each for each in ("aw", "ar", "w", "b", "r") if signal.startswith(each))
        return f"{prefix}{channel}_{signal.removeprefix(channel)}"

    lines = []
    for number in range(count):
        lines += [
            f"  assign {array(signal)}[{number}] = {bus}_{number}_{signal};" for signal in heard
        ]
        lines += [
            f"  always_comb {bus}_{number}_{signal} = {array(signal)}[{number}];"
            for signal in driven
        ]
    return lines


def _text(name: str) -> str:
    """A template of this package."""
    return (resources.files("ringsmith.backends.vector.export") / name).read_text(encoding="utf-8")
