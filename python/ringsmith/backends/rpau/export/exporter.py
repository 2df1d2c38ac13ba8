"""Writing designs of architecture ``rpau`` out: RTL with its buses, program and testbench."""

from collections.abc import Mapping
from importlib import resources
from typing import cast

from ringsmith.backends.base import CompiledGraph
from ringsmith.backends.exporter import (
    Demonstration,
    Estimate,
    Exporter,
    Greeting,
    Hardware,
    assumed_mhz,
)
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.area import (
    key_rams,
    outside_area,
    rpau_estimates,
    twiddle_rams,
    work_rams,
)
from ringsmith.backends.rpau.design.design import ASSUMED_MHZ, RpauDesign
from ringsmith.backends.rpau.design.register_table import Register
from ringsmith.backends.rpau.design.sample_parameters import sample_parameters
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.interface import BEAT_BITS
from ringsmith.backends.rpau.device.rtl import VERILATOR_FLAGS
from ringsmith.backends.rpau.export import pages, script
from ringsmith.backends.rpau.export.script import Recorder
from ringsmith.backends.types import Design
from ringsmith.errors import ParameterError
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, folded_dsps, product_dsps
from ringsmith.hdl.sources import macros
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, total_area
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import RlweParameters
from ringsmith.platforms import NO_PLATFORM, load_platform

_BUS_MHZ = 250.0
"""The clock of a card's buses, where no platform says another."""
_AXIL_ADDRESS_BITS = 12
_PAGE_BITS = 4
"""Bits of a card's addresses that select its register page."""
_DATA_ID_BITS, _DATA_ADDRESS_BITS = 4, 40
_HOST_ADDRESS_BITS = 64
_LEAST_LOG_DEGREE = 10
"""log2 of the smallest ring of an encryption scheme."""
_PLAIN_MODULUS = 65537
"""t of BFV: 1 modulo 2N up to N = 2^15, so that messages are vectors."""
_HEADROOM_BITS = 6
"""Bits of each data prime that CKKS's scale leaves to the message."""
_DATA_PRIMES = {"ckks": 2, "bfv": 3}
"""Data primes of a demonstration: a product's errors and message fit them."""


class RpauExporter(Exporter):
    """One accelerator on its buses, or a card of several; see ``Exporter``."""

    def hardware(self, design: Design) -> Hardware:
        """The accelerator behind its registers and data path; several behind a card's DMA."""
        own = cast("RpauDesign", design)
        card = own.coprocessors > 1
        return Hardware(
            top=rtl.CARD_TOP if card else rtl.BUS_TOP,
            folders=rtl.CARD_FOLDERS if card else rtl.BUS_FOLDERS,
            parameters=rtl.card_parameters(own) if card else rtl.parameters(own),
            interfaces=_card(own) if card else _device(),
            greeting=Greeting("s_axil", pages.greeting(own, page=int(card))),
            clocks=_clocks(own),
            platform=own.platform,
            macros=macros(own.target),
            simulation=VERILATOR_FLAGS,
            files=pages.files(own, card=card),
        )

    def parameters(self, design: Design) -> RlweParameters:
        """Two data primes and a special one in CKKS, or three data primes in BFV."""
        own = cast("RpauDesign", design)
        scheme = "bfv" if own.converters and own.modulus_banks > 1 else "ckks"
        log_degree = max(own.min_log_n, min(_LEAST_LOG_DEGREE, own.max_log_n))
        return sample_parameters(
            own,
            f"{own.name} demonstration",
            log_degree=log_degree,
            data_primes=min(_DATA_PRIMES[scheme], own.rpaus - 1),
            plain_modulus=_PLAIN_MODULUS,
            headroom_bits=_HEADROOM_BITS,
        )

    def demonstrate(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> tuple[Demonstration, Mapping[str, Residues]]:
        """Loads, runs and reads as the host of a device does; see ``Exporter.demonstrate``."""
        executable = cast("Executable", compiled.executable)
        design, recorder = executable.design, Recorder(executable.design)
        result = RpauDevice(recorder).execute(compiled, inputs, keys)
        counts = {"cycles": executable.cycles, "instructions": executable.instructions}
        values = {**script.sizes(recorder.steps), **_bench(design)}
        found = Demonstration(
            script.files(recorder.steps), _text("testbench.sv.in"), values, counts
        )
        return found, result.outputs

    def estimate(self, design: Design) -> Estimate:
        """Multipliers and memories of all RPAUs and of what joins them."""
        return estimated(cast("RpauDesign", design))


def _clocks(design: RpauDesign) -> dict[str, float]:
    """The clocks of the top module."""
    found = {"clk_i": assumed_mhz(ASSUMED_MHZ, design.platform)}
    if design.coprocessors > 1:
        named = design.platform != NO_PLATFORM
        found["bus_clk_i"] = load_platform(design.platform).bus_megahertz if named else _BUS_MHZ
    return found


def _device() -> tuple[buses.Interface, ...]:
    return (
        buses.clock("clk_i", "the accelerator's clock"),
        buses.reset("rst_ni", "clk_i", "the device prolongs it"),
        buses.axi_lite_slave("s_axil", _AXIL_ADDRESS_BITS, "clk_i", "registers"),
        buses.axi_bus(
            "s_axi",
            master=False,
            id_bits=_DATA_ID_BITS,
            address_bits=_DATA_ADDRESS_BITS,
            data_bits=BEAT_BITS,
            of="clk_i",
            about="data path: work and key polynomials",
        ),
    )


def _card(design: RpauDesign) -> tuple[buses.Interface, ...]:
    count = design.coprocessors
    return (
        buses.clock("bus_clk_i", "the clock of all buses"),
        buses.clock("clk_i", "the accelerators' clock, of any frequency and phase"),
        buses.reset("bus_rst_ni", "bus_clk_i", "at least 16 cycles of the slower clock"),
        buses.reset("rst_ni", "clk_i", "at least 16 cycles of the slower clock"),
        buses.interrupt("irq_o", count, "bus_clk_i", "register `reported` of each channel"),
        buses.axi_lite_slave("s_axil", _AXIL_ADDRESS_BITS + _PAGE_BITS, "bus_clk_i", "registers"),
        buses.axi_bus(
            "m_axi",
            master=True,
            id_bits=(count - 1).bit_length(),
            address_bits=_HOST_ADDRESS_BITS,
            data_bits=design.host_bits,
            of="bus_clk_i",
            about="the host's memory",
        ),
    )


_TOLD = {
    "MagicNumber": Register.MAGIC,
    "Control": Register.CONTROL,
    "Status": Register.STATUS,
    "Refused": Register.REFUSED,
    "Cycles": Register.CYCLES,
    "Instructions": Register.INSTRUCTIONS,
    "ProgramAddress": Register.PROGRAM_ADDRESS,
    "ProgramData": Register.PROGRAM_DATA,
    "HostSpace": Register.HOST_SPACE,
    "HostUnit": Register.HOST_UNIT,
    "HostIndex": Register.HOST_INDEX,
    "HostWord": Register.HOST_WORD,
    "HostData": Register.HOST_DATA,
    "Ring": Register.RING,
}


def _text(name: str) -> str:
    """A part of the testbench."""
    return (resources.files("ringsmith.backends.rpau.export") / name).read_text(encoding="utf-8")


def _bench(design: RpauDesign) -> dict[str, object]:
    """The parameters of the testbench, without the sizes of its files."""
    card = design.coprocessors > 1
    registers = (
        f"  localparam int unsigned {name} = 32'h{int(address):03x};"
        for name, address in _TOLD.items()
    )
    clocks = [
        f"  always #{500 / mhz:.3f} {name} = ~{name};  // {mhz:g} MHz"
        for name, mhz in _clocks(design).items()
    ]
    begin = [] if card else _DATA_PATH_AT_REST
    return {
        "registers": "\n".join(registers),
        "degree": design.n,
        "address_bits": _AXIL_ADDRESS_BITS + _PAGE_BITS * card,
        "clocks": "\n".join(clocks),
        "poly_bus": "the registers, too" if card else "the AXI4 data path",
        "blocks": _text("register_words.sv.in" if card else "data_path.sv.in"),
        "begin": "\n".join(begin),
        "release": "\n".join(
            f"    {name} = 1'b1;" for name in (["bus_rst_ni"] if card else []) + ["rst_ni"]
        ),
        "devices": design.coprocessors,
        "device_step": max(1, design.coprocessors - 1),
        "first_page": 4096 * card,
    }


_DATA_PATH_AT_REST = [
    "    s_axi_awsize = 3'd6;  // beats of 64 bytes",
    "    s_axi_arsize = 3'd6;",
    "    s_axi_awburst = 2'b01;  // at ascending addresses",
    "    s_axi_arburst = 2'b01;",
    "    s_axi_wstrb = '1;",
    "    s_axi_bready = 1'b1;",
    "    s_axi_rready = 1'b1;",
]


# ---- Resources of a whole design, counted from its parameters: no synthesis ----------------------


def estimated(design: RpauDesign) -> Estimate:
    """DSP slices of all multipliers, block RAMs and UltraRAMs of all memories, LUTs and flip-flops.

    The last two are left out where no RPAU of the design's kind was synthesized.
    """
    brams, urams, dsps = 0.0, 0, 0
    for rpau in range(design.rpaus):
        for rams in (kind(design, rpau) for kind in (work_rams, key_rams, twiddle_rams)):
            brams += rams.brams
            urams += rams.urams
        dsps += _unit_dsps(design, rpau)
    outside = outside_area(design)
    brams += outside.brams
    dsps += outside.dsps
    found: dict[str, float] = {
        "dsps": dsps * design.coprocessors,
        "brams": brams * design.coprocessors,
        "urams": urams * design.coprocessors,
    }
    return Estimate(ULTRASCALE_PLUS, {**found, **_fabric(design)})


def _fabric(design: RpauDesign) -> dict[str, float]:
    """LUTs and flip-flops; nothing where they are not known."""
    try:
        area = total_area([*rpau_estimates(design), outside_area(design)])
    except ParameterError:
        return {}
    return {"luts": area.lut_sites, "flip_flops": area.fabric_flip_flops}


def _unit_dsps(design: RpauDesign, rpau: int) -> int:
    """DSP slices of an RPAU: its multipliers, and what shortens words that reach a narrow one."""
    width = design.bits_of(rpau)
    one = {
        "barrett": lambda: barrett_dsps(width, DspSlice.DSP48E2),
        "folded": lambda: folded_dsps(width, DspSlice.DSP48E2),
        "sparse": lambda: product_dsps(width, DspSlice.DSP48E2),
    }[design.reduction]()
    shortening = design.lanes if width < design.word_bits else 0
    multipliers = design.cores * design.core_multipliers + design.dyadic_cores
    return multipliers * one + shortening
