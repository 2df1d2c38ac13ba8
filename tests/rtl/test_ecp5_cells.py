"""The models of ECP5's cells against what the maker's documents say, written again in Python.

TN1264 (FPGA-TN-02204) for the memories, TN1267 (FPGA-TN-02205) for the multiplier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from tests.rtl.ecp5.netlist import cell_sources

from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.ecp5.flow import Hierarchy, timed_block
from ringsmith.hdl.verilate import build_block

BENCHES = Path(__file__).parent / "blocks"
ROWS = 3000
NARROW = (1, 2, 4)
NORMAL, THROUGH, BEFORE = "NORMAL", "WRITETHROUGH", "READBEFOREWRITE"


def bench(top: str, parameters: Mapping[str, int | str]) -> Path:
    return build_block(top, [*cell_sources(), BENCHES / f"{top}.sv"], parameters)


def bits_of(width: int, address: int) -> list[int]:
    """The bits of the memory that a place has, the lowest first."""
    if width not in NARROW:
        size = width
        return [address // (8 * width // 9) * size + bit for bit in range(width)]
    first = address // width * width
    return [9 * (bit // 8) + bit % 8 for bit in range(first, first + width)]


def enabled(width: int, address: int, bit: int) -> bool:
    """Whether a write changes this bit of a place."""
    return width in NARROW or width == 9 or bool(address >> bit // 9 & 1)


@dataclass
class PortModel:
    """What a port shows, cycle by cycle."""

    width: int
    mode: str = NORMAL
    registered: bool = False
    latch: int = 0
    out: int = 0
    writes: dict[int, int] = field(default_factory=dict)

    def begin(self, row: Mapping[str, int]) -> None:
        """Finds what the port writes in this cycle: bit of the memory -> value."""
        acts = row["ce"] and row["we"] and not row["rst"]
        places = enumerate(bits_of(self.width, row["ad"])) if acts else ()
        self.writes = {
            place: row["di"] >> bit & 1
            for bit, place in places
            if enabled(self.width, row["ad"], bit)
        }

    def end(self, row: Mapping[str, int], memory: list[int], other: Mapping[int, int]) -> None:
        """Finds what the port shows after the cycle."""
        if row["rst"]:
            self.latch = self.out = 0
            return
        if row["oce"]:
            self.out = self.latch
        if not row["ce"] or (row["we"] and self.mode == NORMAL):
            return
        found = 0
        for bit, place in enumerate(bits_of(self.width, row["ad"])):
            value = memory[place]
            if row["we"] and self.mode == THROUGH:
                value = self.writes.get(place, value)
            elif place in other:
                value ^= 1  # undefined: wrong on purpose
            found |= value << bit
        self.latch = found

    @property
    def shown(self) -> int:
        """What its pins show."""
        return self.out if self.registered else self.latch


def random_rows(rng: np.random.Generator, width: int, data_bits: int) -> dict[str, Words]:
    """Inputs of a port, at few places, so that ports meet."""
    high = rng.choice([0, 0x3FC0], ROWS)
    return {
        "ce": rng.random(ROWS) < 0.8,
        "oce": rng.random(ROWS) < 0.7,
        "we": rng.random(ROWS) < 0.5,
        "rst": rng.random(ROWS) < 0.03,
        "ad": high | rng.integers(0, 64, ROWS),
        "di": rng.integers(0, 1 << min(width, data_bits), ROWS),
    }


CONFIGURATIONS = [
    (PortModel(18), PortModel(18, THROUGH), 0),
    (PortModel(18, BEFORE, True), PortModel(9, THROUGH, True), 0xFFFFFFFF),
    (PortModel(9, THROUGH), PortModel(9, BEFORE), 1),
    (PortModel(4, NORMAL, True), PortModel(18), 0x12345678),
    (PortModel(2, BEFORE), PortModel(1, THROUGH), 0),
]


@pytest.mark.parametrize(
    "configuration", CONFIGURATIONS, ids=lambda c: f"{c[0].width}-{c[1].width}"
)
def test_a_memory_with_two_ports_does_what_is_documented(
    configuration: tuple[PortModel, PortModel, int], rng: np.random.Generator
) -> None:
    a, b = (PortModel(p.width, p.mode, p.registered) for p in configuration[:2])
    rows = {"a": random_rows(rng, a.width, 18), "b": random_rows(rng, b.width, 18)}
    for cycle in range(ROWS):  # two writes of one place are undefined: B gives way
        one, other = ({k: int(v[cycle]) for k, v in rows[p].items()} for p in "ab")
        a.begin(one)
        b.begin(other)
        if a.writes.keys() & b.writes.keys():
            rows["b"]["we"][cycle] = False
    first = configuration[2]
    parameters = {
        **{f"Width{p.upper()}": m.width for p, m in zip("ab", (a, b), strict=True)},
        **{f"WriteMode{p.upper()}": m.mode for p, m in zip("ab", (a, b), strict=True)},
        **{
            f"RegMode{p.upper()}": "OUTREG" if m.registered else "NOREG"
            for p, m in zip("ab", (a, b), strict=True)
        },
        "FirstWords": first,
    }
    with Block(bench("rs_dp16kd_bench", parameters)) as block:
        out = block.run({f"{k}_{p}_i": v for p in "ab" for k, v in rows[p].items()})
    memory = [0] * 2048 * 9
    for bit in range(18):
        memory[bit], memory[18 + bit] = first >> bit & 1, first >> 20 + bit & 1
    clashes = 0
    for cycle in range(ROWS):
        assert int(out["do_a_o"][cycle]) == a.shown, cycle
        assert int(out["do_b_o"][cycle]) == b.shown, cycle
        one, other = ({k: int(v[cycle]) for k, v in rows[p].items()} for p in "ab")
        a.begin(one)
        b.begin(other)
        clashes += bool(b.writes.keys() & set(bits_of(a.width, one["ad"])))
        a.end(one, memory, b.writes)
        b.end(other, memory, a.writes)
        for place, value in (a.writes | b.writes).items():
            memory[place] = value
    assert clashes


@pytest.mark.parametrize(("width", "registered"), [(36, False), (36, True), (18, False), (4, True)])
def test_a_memory_of_36_bits_is_written_by_bytes_and_read_at_every_width(
    width: int, registered: bool, rng: np.random.Generator
) -> None:
    reader = PortModel(width, registered=registered)
    writer = PortModel(36)
    written = random_rows(rng, 36, 36)
    read = random_rows(rng, width, 18)
    read["we"][:] = False
    written["we"][:] = True
    written["rst"][:] = False
    written["ad"] &= ~0x10
    mode = "OUTREG" if registered else "NOREG"
    inputs = {
        "cew_i": written["ce"],
        "adw_i": written["ad"] >> 5,
        "be_i": written["ad"] & 15,
        "di_i": written["di"],
        **{"cer_i": read["ce"], "ocer_i": read["oce"], "rst_i": read["rst"], "adr_i": read["ad"]},
    }
    with Block(bench("rs_pdpw16kd_bench", {"WidthR": width, "RegMode": mode})) as block:
        found = block.run(inputs)["do_o"]
    pins = {
        "ce_a_i": written["ce"],
        "we_a_i": written["we"],
        "ad_a_i": written["ad"],
        "di_a_i": written["di"] & 0x3FFFF,
        "di_b_i": written["di"] >> 18,
        **{f"{name}_b_i": read[name] for name in ("ce", "oce", "rst", "ad")},
    }
    parameters = {"WidthA": 36, "WidthB": width, "RegModeB": mode}
    with Block(bench("rs_dp16kd_bench", parameters)) as block:
        out = block.run(pins)
    by_pins = out["do_b_o"] << 18 | out["do_a_o"] if width == 36 else out["do_b_o"]
    memory = [0] * 2048 * 9
    for cycle in range(ROWS):
        assert int(found[cycle]) == int(by_pins[cycle]) == reader.shown, cycle
        writer.begin({k: int(v[cycle]) for k, v in written.items()})
        reader.end({k: int(v[cycle]) for k, v in read.items()}, memory, writer.writes)
        for place, value in writer.writes.items():
            memory[place] = value


def test_an_asynchronous_reset_acts_without_a_clock_and_lets_writes_pass() -> None:
    with Block(bench("rs_dp16kd_bench", {"ResetMode": "ASYNC", "WriteModeA": THROUGH})) as block:
        for name, value in {"ce_a_i": 1, "we_a_i": 1, "ad_a_i": 3, "di_a_i": 0x2BEEF}.items():
            block.poke(name, value)
        block.step()
        block.eval()
        assert block.peek("do_a_o")[0] == 0x2BEEF
        block.poke("rst_a_i", 1)
        block.eval()
        assert block.peek("do_a_o")[0] == 0
        block.poke("di_a_i", 0x11111)
        block.step()
        block.poke("rst_a_i", 0)
        block.poke("we_a_i", 0)
        block.step()
        assert block.peek("do_a_o")[0] == 0x11111


def test_a_port_acts_only_where_its_selects_have_their_values() -> None:
    with Block(bench("rs_dp16kd_bench", {"SelectA": "0b101", "SelectB": "0b010"})) as block:
        block.poke("ce_a_i", 1)
        block.poke("ce_b_i", 1)
        block.poke("ad_a_i", 3)
        for select in range(8):
            block.poke("cs_a_i", select)
            block.poke("we_a_i", 1)
            block.poke("di_a_i", 0x100 + select)
            block.step()
        block.poke("we_a_i", 0)
        for select in range(8):
            block.poke("cs_b_i", select)
            block.step()
            assert block.peek("do_b_o")[0] == (0x105 if select >= 2 else 0)


def test_an_inverted_clock_acts_at_the_falling_edge() -> None:
    undefined = 0x3FFFF  # what is read and written at one edge: 0, inverted
    for clock, shown in (("CLKB", [0, undefined, 0x155]), ("INV", [0, 0x155, 0x155])):
        with Block(bench("rs_dp16kd_bench", {"ClockB": clock})) as block:
            for name, value in {"we_a_i": 1, "ad_a_i": 3, "di_a_i": 0x155, "ce_b_i": 1}.items():
                block.poke(name, value)
            assert block.run({"ce_a_i": [1, 0, 0]})["do_b_o"].tolist() == shown


@pytest.mark.parametrize("number", range(4))
def test_cells_act_at_one_edge_with_their_registers(number: int) -> None:
    with Block(bench("rs_dp16kd_bench", {"FirstWords": 5, "Registers": 1})) as block:
        block.poke("ce_b_i", 1)
        assert block.run({"ad_b_i": [0, 32, 32, 32]})["do_b_o"].tolist()[1:] == [5, 5, 0]
    clocks = dict.fromkeys(("ClockA", "ClockB", "ClockOutput"), f"CLK{number}")
    with Block(bench("rs_mult18_bench", {**clocks, "Registers": 1})) as block:
        block.poke("ce_i", 15)
        block.poke("b_i", 7)
        assert block.run({"a_i": [3, 0, 0, 0, 0]})["p_o"].tolist() == [0, 0, 0, 21, 0]


def test_widths_that_no_port_has_are_refused() -> None:
    for widths in ({"WidthA": 8}, {"WidthB": 36}):
        with pytest.raises(ToolError, match="are not modelled"):
            bench("rs_dp16kd_bench", widths)


def signed(value: int, is_signed: int, bits: int = 18) -> int:
    return value - (1 << bits) if is_signed and value >> bits - 1 else value


@pytest.mark.parametrize(
    ("registers", "reset"),
    [
        ((0, 0, 0, 0), "SYNC"),
        ((1, 1, 0, 1), "SYNC"),
        ((1, 1, 1, 1), "SYNC"),
        ((1, 0, 1, 0), "SYNC"),
        ((1, 1, 1, 1), "ASYNC"),
    ],
)
def test_a_multiplier_does_what_is_documented(
    registers: tuple[int, ...], reset: str, rng: np.random.Generator
) -> None:
    edges = np.array([0, 1, 0x1FFFF, 0x20000, 0x3FFFF])
    words = {
        name: np.where(
            rng.random(ROWS) < 0.3, rng.choice(edges, ROWS), rng.integers(0, 1 << 18, ROWS)
        )
        for name in ("a_i", "b_i", "sri_a_i", "sri_b_i")
    }
    flags = {
        name: rng.integers(0, 2, ROWS)
        for name in ("signed_a_i", "signed_b_i", "source_a_i", "source_b_i")
    }
    enables = rng.integers(0, 16, ROWS) | rng.integers(0, 16, ROWS)
    resets = np.where(rng.random(ROWS) < 0.1, rng.integers(0, 16, ROWS), 0)
    names = ("ClockA", "ClockB", "ClockPipeline", "ClockOutput")
    parameters: dict[str, int | str] = {
        name: f"CLK{number}" if there else "NONE"
        for number, (name, there) in enumerate(zip(names, registers, strict=True))
    }
    inputs = {**words, **flags, "ce_i": enables, "rst_i": resets}
    with Block(bench("rs_mult18_bench", {**parameters, "ResetMode": reset})) as block:
        out = block.run(inputs)
    held: list[tuple[int, int]] = [(0, 0)] * 4
    for cycle in range(ROWS):
        row = {name: int(values[cycle]) for name, values in inputs.items()}
        if reset == "ASYNC":
            held = [(0, 0) if row["rst_i"] >> i & 1 else held[i] for i in range(4)]
        given = [
            (row[f"sri_{x}_i"] if row[f"source_{x}_i"] else row[f"{x}_i"], row[f"signed_{x}_i"])
            for x in "ab"
        ]
        a, b = (held[i] if registers[i] else given[i] for i in range(2))
        product = (signed(*a) * signed(*b) % (1 << 36), a[1] | b[1])
        piped = held[2] if registers[2] else product
        shown = held[3] if registers[3] else piped
        assert (int(out["p_o"][cycle]), int(out["signed_p_o"][cycle])) == shown, cycle
        assert (int(out["sro_a_o"][cycle]), int(out["sro_b_o"][cycle])) == (a[0], b[0])
        following = [*given, product, piped]
        for i in range(4):
            if row["rst_i"] >> i & 1:
                held[i] = (0, 0)
            elif row["ce_i"] >> i & 1:
                held[i] = following[i]


# ---- Leaf blocks on an ECP5, placed and routed: a floor for their clock, and their cells ---------


FLOOR_MHZ = 150


@pytest.mark.full
def test_a_modular_multiplier_of_30_bits_reaches_its_clock_in_eleven_slices() -> None:
    found = timed_block(Hierarchy("rs_mod_mul", ("mem", "arith"), {"Width": 30}), FLOOR_MHZ)
    assert found.used["MULT18X18D"].used == 11
    assert "DP16KD" not in found.used
    (clock,) = found.clocks
    assert clock.reached
    assert clock.wanted_mhz == FLOOR_MHZ
    assert found.worst_path
