"""Area by Yosys, which counts too many flip-flops: it packs none into DSPs."""

import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.rtl import vector_areas
from tests.rtl.vector_areas import (
    KEPT,
    control,
    crossing,
    network,
    ports,
    registers,
    sample,
    text,
    unit,
)

from ringsmith.backends.rpau.debug.area import rpau_area
from ringsmith.backends.rpau.design.area import estimate
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.stream.debug.area import stream_areas
from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.vector.debug.area import cluster_areas
from ringsmith.backends.vector.design import area as vector_area
from ringsmith.backends.vector.design import rtl as vector_rtl
from ringsmith.backends.vector.design.area import (
    PARTS,
    alu_dsps,
    cluster_area,
    cluster_parts,
    memory_ports,
    selectors,
)
from ringsmith.backends.vector.design.design import BARRETT, MONTGOMERY, VectorDesign
from ringsmith.backends.vector.design.die_placement import SHARE, placed
from ringsmith.backends.vector.design.rtl import TOP
from ringsmith.hdl.base_conversion import BaseConverter
from ringsmith.hdl.dsps import DspSlice, folded_dsps
from ringsmith.hdl.netlist import empty, kind
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.synthesis import (
    ULTRASCALE_PLUS,
    Area,
    block_rams,
    synthesized,
    total_area,
    ultra_rams,
)
from ringsmith.hdl.timing.synthesis import timed
from ringsmith.hdl.yosys import run_yosys
from ringsmith.platforms import load_platform
from ringsmith.runtime.designs import named_design

# A small RPAU: two cores, one dyadic core, and memories of few words, whose widths are no multiples
# of a RAM's.
SMALL = replace(
    load_design("nano"),
    name="small",
    log_n=8,
    word_bits=48,
    rpaus=2,
    cores=2,
    dyadic_cores=1,
    larger_rings=1,
    work_polys=4,
    key_polys=4,
)


def synthesize(folder: Path, top: str, **parameters: int | str) -> dict[str, int]:
    """Cells of a flattened module, by type."""
    sources = rtl_sources("mem", "arith", "prng")
    for file in sources:
        shutil.copy(file, folder)
    files = " ".join(file.name for file in sources)
    values = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    run_yosys(
        f"read_slang --threads 1 --keep-hierarchy --top {top} {values} {files}; "
        f"synth_xilinx -family xcup -flatten -top {top}; tee -q -o area.txt stat -tech xilinx",
        folder,
    )
    statistics = (folder / "area.txt").read_text()
    cells = re.findall(r"^ +(\d+) +([A-Z]\w+)$", statistics, re.M)
    return {cell: int(count) for count, cell in cells}


def folded(folder: Path, width: int) -> dict[str, int]:
    """Cells of a folded multiplier outside its pairs of DSP slices, and those slices."""
    sources = rtl_sources("mem", "arith")
    for file in sources:
        shutil.copy(file, folder)
    names = " ".join(file.name for file in sources)
    run_yosys(
        "read_slang --threads 1 --keep-hierarchy --top rs_mod_mul_folded "
        f"-G Width={width} {names}; write_json elaborated.json",
        folder,
    )
    netlist = json.loads((folder / "elaborated.json").read_text())
    pairs = [name for name in netlist["modules"] if kind(name) == "rs_mul_add_pair"]
    for name in pairs:
        netlist["modules"][name] = empty(netlist["modules"][name])
    (folder / "emptied.json").write_text(json.dumps(netlist))
    run_yosys(
        "read_json emptied.json; synth_xilinx -family xcup -flatten -top rs_mod_mul_folded; "
        "tee -q -o area.txt stat",
        folder,
    )
    found = re.findall(r"^ +(\d+) +([A-Z]\w+)$", (folder / "area.txt").read_text(), re.M)
    cells = {cell: int(count) for count, cell in found}
    return {**cells, "DSP48E2": cells.get("DSP48E2", 0) + 2 * len(pairs)}


@pytest.mark.full
@pytest.mark.parametrize(("width", "dsps", "most"), [(60, 15, 400), (54, 14, 380)])
def test_a_folded_multiplier_takes_few_luts_outside_its_slices(
    tmp_path: Path, width: int, dsps: int, most: int
) -> None:
    cells = folded(tmp_path, width)
    assert cells["DSP48E2"] == dsps == folded_dsps(width, DspSlice.DSP48E2)
    assert luts(cells) <= most
    assert cells["SRL16E"] <= 140
    assert cells["FDRE"] <= 400


@pytest.mark.full
@pytest.mark.parametrize(
    ("top", "values", "slices"),
    [
        ("rs_mul_add_pair", "-G XWidth=25", 2),
        ("rs_mul_block", "-G WidthA=34 -G WidthB=24", 2),
        ("rs_mul_add", "-G XWidth=25", 1),
        ("rs_mul_accumulate", "-G XWidth=24", 1),
        ("rs_mul_cascade", "-G Width=32", 4),
    ],
)
def test_slices_in_cascade_need_no_further_adder(
    tmp_path: Path, top: str, values: str, slices: int
) -> None:
    """On 7 series, whose registers and cascades Yosys packs into slices, in operands of 24 bits."""
    sources = rtl_sources("mem", "arith")
    for file in sources:
        shutil.copy(file, tmp_path)
    names = " ".join(file.name for file in sources)
    run_yosys(
        f"read_slang --threads 1 --top {top} {values} {names}; "
        f"synth_xilinx -family xc7 -flatten -noiopad -top {top}; tee -q -o area.txt stat",
        tmp_path,
    )
    found = re.findall(r"^ +(\d+) +([A-Z]\w+)$", (tmp_path / "area.txt").read_text(), re.M)
    cells = {cell: int(count) for count, cell in found}
    assert cells["DSP48E1"] == slices
    assert luts(cells) == 0
    assert "CARRY4" not in cells


def luts(cells: dict[str, int]) -> int:
    """LUTs of all sizes, without those that are shift registers."""
    return sum(count for cell, count in cells.items() if cell.startswith("LUT"))


@pytest.mark.full
@pytest.mark.parametrize(("width", "most"), [(30, 4), (43, 5), (48, 6), (54, 8), (60, 9)])
def test_product_takes_few_dsps(tmp_path: Path, width: int, most: int) -> None:
    assert synthesize(tmp_path, "rs_mul", Width=width)["DSP48E2"] <= most


@pytest.mark.full
@pytest.mark.parametrize(
    ("width", "reduction", "most"), [(30, 0, 6), (48, 0, 15), (60, 0, 23), (60, 1, 9)]
)
def test_modular_multiplier_takes_few_dsps(
    tmp_path: Path, width: int, reduction: int, most: int
) -> None:
    cells = synthesize(tmp_path, "rs_mod_mul", Width=width, Reduction=reduction)
    assert cells["DSP48E2"] <= most


@pytest.mark.full
@pytest.mark.parametrize(("width", "family", "most"), [(60, 1, 1150), (54, 1, 850), (48, 2, 800)])
def test_a_sparse_multiplier_chooses_its_terms_within_its_adders(
    tmp_path: Path, width: int, family: int, most: int
) -> None:
    cells = synthesize(tmp_path, "rs_mod_mul", Width=width, Reduction=1, Family=family)
    assert luts(cells) <= most


@pytest.mark.full
def test_a_modular_sum_takes_two_adders_and_a_selector(tmp_path: Path) -> None:
    width = 60
    assert luts(synthesize(tmp_path, "rs_mod_addsub", Width=width)) <= 3 * width + 5
    assert luts(synthesize(tmp_path, "rs_mod_halve", Width=width)) <= width


@pytest.mark.full
@pytest.mark.parametrize(
    ("lanes", "least_bits", "luts_most", "flip_flops"),
    [(8, 45, 3100, 3000), (8, 0, 3500, 3050), (1, 0, 950, 610)],
)
def test_the_key_expander_takes_little_more_than_trivium(
    tmp_path: Path, lanes: int, least_bits: int, luts_most: int, flip_flops: int
) -> None:
    cells = synthesize(tmp_path, "rs_key_expander", Width=60, Lanes=lanes, LeastBits=least_bits)
    assert "DSP48E2" not in cells
    assert luts(cells) <= luts_most
    assert sum(count for cell, count in cells.items() if cell.startswith("FD")) <= flip_flops


@pytest.mark.full
def test_trivium_takes_four_hundred_luts_a_word(tmp_path: Path) -> None:
    cells = synthesize(tmp_path, "rs_trivium", Words=2)
    assert luts(cells) <= 2 * 400


@pytest.mark.full
def test_memories_become_the_named_kind_of_memory(tmp_path: Path) -> None:
    blocks = synthesize(tmp_path, "rs_ram_1r1w", Width=60, Depth=512)
    assert blocks["RAMB36E2"] == block_rams(60, 512) == 1
    ultra = synthesize(tmp_path, "rs_ram_1r1w", Width=72, Depth=4096, RamStyle='"ultra"')
    assert ultra["URAM288"] == ultra_rams(72, 4096) == 1


@pytest.mark.full
def test_words_of_a_row_share_memories(tmp_path: Path) -> None:
    blocks = synthesize(tmp_path, "rs_ram_1r1w", Width=16 * 60, Depth=512)
    assert blocks["RAMB18E2"] == 2 * block_rams(16 * 60, 512) == 27
    ultra = synthesize(tmp_path, "rs_ram_1r1w", Width=16 * 60, Depth=4096, RamStyle='"ultra"')
    assert ultra["URAM288"] == ultra_rams(16 * 60, 4096) == 14


@pytest.mark.full
def test_an_rpau_has_a_multiplier_a_lane_and_the_memories_that_are_counted(
    tmp_path: Path,
) -> None:
    multiplier = synthesize(tmp_path, "rs_mod_mul", Width=SMALL.word_bits)
    flip_flops = sum(multiplier[cell] for cell in multiplier if cell.startswith("FD"))
    area = rpau_area(SMALL)
    multipliers = SMALL.lanes + SMALL.dyadic_cores
    assert area.dsps == multipliers * multiplier["DSP48E2"]
    counted = estimate(SMALL)
    assert (area.brams, area.urams) == (counted.bram, counted.uram) == (4 * 2 * 1.5, 3)
    assert area.flip_flops > multipliers * flip_flops
    assert area.luts > 0


@pytest.mark.full
def test_an_rpau_that_folds_has_fifteen_slices_a_multiplier() -> None:
    sparse = replace(SMALL, name="sparse", word_bits=60, reduction="sparse", family="medha")
    folds = replace(sparse, name="folds", reduction="folded", family="none")
    before, after = rpau_area(sparse), rpau_area(folds)
    multipliers = SMALL.lanes + SMALL.dyadic_cores
    assert after.dsps == multipliers * 15
    assert before.luts - after.luts > multipliers * 600
    assert before.flip_flops - after.flip_flops > multipliers * 1400


@pytest.mark.full
def test_a_streaming_multiplier_has_the_dsps_and_memories_that_are_counted() -> None:
    design = StreamDesign("area", 8, 2, 30)
    areas = stream_areas(design)
    device, multiplier = areas["rs_stream_axis"], areas["rs_stream_mul"]
    assert multiplier.dsps == area.multiplier_dsps(design)
    assert device.dsps == area.dsps(design)
    assert device.brams == area.memories(design).total
    assert device.luts > area.multipliers(design) * multiplier.luts
    assert device.flip_flops > area.multipliers(design) * multiplier.flip_flops


@pytest.mark.full
def test_a_base_converter_takes_fewer_dsps_than_the_papers() -> None:
    """HEAWS's Lift and Scale core of 30 bits: 76 DSPs, 13,807 LUTs, 6,157 flip-flops."""
    unit = BaseConverter()
    top, folders = "rs_base_convert", ("mem", "arith", "baseconv")
    area = synthesized(top, folders, unit.parameters, (), ULTRASCALE_PLUS)[top]
    assert area.dsps == unit.dsps == 50
    assert (area.brams, area.urams) == (0, 0)
    assert area.luts <= 2500
    assert area.flip_flops <= 2500


@pytest.mark.full
def test_a_base_converter_has_at_most_three_levels_between_registers() -> None:
    timing = timed("rs_base_convert", ("mem", "arith", "baseconv"), BaseConverter().parameters)
    assert max(block.levels for block in timing.blocks) <= 3
    assert timing.blocks[0].delay_ps <= 4800


# ---- Area of the vector architecture's blocks and clusters by Yosys, and its estimate ------------


FOLDERS = ("mem", "arith", "vector")
BY_BARRETT = {"Reduction": 0}

FEW = {"bank_rows": 1 << 14, "table_rows": 1 << 14, "stream_rows": 1 << 13}
BLOCKS = vector_rtl.configuration(VectorDesign("blocks", 16, 4, 2, 32, MONTGOMERY, **FEW)).changed(
    BankRows=1024, TableRows=1024, StreamRows=512
)
"""Of what a block alone is made of; some lie below what a whole cluster of N = 2^16 needs."""

U280 = load_platform("u280")


def vector(name: str) -> VectorDesign:
    """A named design."""
    design = named_design(name)
    assert isinstance(design, VectorDesign)
    return design


@pytest.mark.full
@pytest.mark.parametrize(
    ("top", "values", "dsps", "most"),
    [
        ("rs_mod_mul_two_steps", {}, 6, 90),
        ("rs_vector_alu", {}, 6, 380),
        ("rs_vector_alu", BY_BARRETT, 11, 1210),
        ("rs_vector_unit", {"LogRadix": 2}, 24, 2370),
        ("rs_vector_unit", {"LogRadix": 2} | BY_BARRETT, 44, 5600),
        ("rs_vector_unit", {"LogRadix": 4}, 192, 18_400),
        ("rs_vector_permute", {"LogLanes": 8, "LogRadix": 2}, 0, 274 * 256),
        ("rs_vector_permute", {"LogLanes": 8, "LogRadix": 4}, 0, 401 * 256),
        ("rs_vector_sequencer", {"LogLanes": 8, "LogRadix": 2}, 0, 2000),
        ("rs_vector_sequencer", {"LogLanes": 8, "LogRadix": 4}, 0, 2150),
        ("rs_vector_moduli", {"LogRadix": 4}, 0, 450),
    ],
    ids=str,
)
def test_a_block_takes_few_dsps_and_luts(
    top: str, values: dict[str, int], dsps: int, most: int
) -> None:
    whole = top.startswith("rs_vector_") and top != "rs_vector_permute"
    given: Values = {"Cfg": BLOCKS.changed(**values)} if whole else values
    found = synthesized(top, FOLDERS, given, (), ULTRASCALE_PLUS)[top]
    assert found.dsps == dsps
    assert found.luts <= most
    assert (found.brams, found.urams) == (0, 0)


# ---- whole clusters and their estimates --------------------------------------------------------


WHOLE = {
    "vector-small": (vector("vector-small"), 52_500),
    "16-lanes-radix-4": (VectorDesign("radix", 16, 4, 4, 32, MONTGOMERY, **FEW), 31_200),
}
"""Clusters that are synthesized whole, and the most LUT sites of each."""


@pytest.mark.full
@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_cluster_takes_what_is_estimated(name: str) -> None:
    design, most = WHOLE[name]
    found, estimate = cluster_areas(design)[TOP], cluster_area(design)
    for exact in ("dsps", "brams", "urams"):
        assert getattr(found, exact) == getattr(estimate, exact), exact
    for near in ("luts", "lut_sites", "flip_flops", "fabric_flip_flops"):
        assert getattr(estimate, near) == pytest.approx(getattr(found, near), rel=0.15), near
    assert found.lut_sites <= most


@pytest.mark.full
def test_the_blocks_of_the_estimate_are_those_of_today() -> None:
    """Otherwise: tests/rtl/vector_areas.py."""
    known = vector_area.synthesized_blocks()
    for key, width, found in [
        ((vector_area.UNIT, "two_steps", 2), 32, unit(sample("two_steps", 2, 32))),
        ((vector_area.UNIT, "barrett", 2), 60, unit(sample("barrett", 2, 60))),
        ((vector_area.CONTROL, 2, 4), 28, control(sample("barrett", 2, 28))),
        ((vector_area.NETWORK, 2, 4), 32, network(4, 2, 32)),
        ((vector_area.PORTS, 4, 1), 32, ports(4, 1)),
        ((vector_area.CROSSING, 2, 1), vector_area.PORT_BITS, crossing()),
        ((vector_area.REGISTERS, 2, 4), 32, registers()),
    ]:
        kept = known[key][width]
        for field in ("luts", "lut_pairs", "flip_flops", "absorbed_flip_flops"):
            assert getattr(kept, field) == getattr(found, field), (key, field)


def test_the_file_of_blocks_is_what_the_command_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tomllib.loads(KEPT.read_text())["measured"]
    assert text(rows) == KEPT.read_text()

    def nothing(top: str, *_: object, **__: object) -> dict[str, Area]:
        return {top: Area(0, 0, 0, 0, 0)}

    monkeypatch.setattr(vector_areas, "synthesized", nothing)
    monkeypatch.setattr(vector_areas, "synthesized_files", nothing)
    what = ("block", "arithmetic", "log_radix", "log_lanes", "ports", "word_bits")
    written = [[row.get(name) for name in what] for row in vector_areas.measured()]
    assert written == [[row.get(name) for name in what] for row in rows]


# ---- estimates ---------------------------------------------------------------------------------


def test_an_estimate_has_all_parts_and_their_memories() -> None:
    """128 lanes of 32 bits lie in 57 UltraRAMs, and 256 of them in 114 block RAMs of 512 rows."""
    design = vector("framework")
    parts = cluster_parts(design)
    assert set(parts) == set(PARTS)
    assert parts["alus"].dsps == 256 * alu_dsps(design) == 256 * 11
    assert (parts["scratchpad"].urams, parts["streams"].brams) == (4 * 114, 4 * 114)
    assert parts["twiddle_memory"].brams == 57 + 114
    assert total_area(parts.values()) == cluster_area(design)


def test_selectors_follow_from_their_structure() -> None:
    """A bit of 5 choices takes 2 LUTs, of 4 one; y's 7 choices are 4, and 3 with the first's."""
    found = selectors(VectorDesign("selectors", 14, 4, 2, 32, **FEW))
    operands = 16 * 32 * (2 + 2 + 2)  # x, z, y
    written = 4 * 8 * 32  # two words in the upper half of the lanes, one in the lower one
    assert found.luts == operands + written
    assert found.flip_flops == 16 * 32 * (3 + 4)
    assert found.lut_pairs == (16 * 2 + 4 * 8) * 16  # of two words: the second LUTs of x and z


def test_more_lanes_banks_and_bits_take_more() -> None:
    design = vector("framework")
    for change in ({"log_lanes": 6}, {"banks": 3}, {"word_bits": 28}, {"bank_rows": 512}):
        more = {"bank_rows": 1 << 14, "table_rows": 1 << 12, "stream_rows": 1 << 12, "ports": 8}
        small = replace(design, **(more | change))
        large = replace(design, **more)
        a, b = cluster_area(small), cluster_area(large)
        assert a.lut_sites <= b.lut_sites
        assert a != b
        assert (a.urams, a.brams) <= (b.urams, b.brams)


@pytest.mark.parametrize("reduction", [BARRETT, MONTGOMERY])
@pytest.mark.parametrize("log_radix", [2, 4])
@pytest.mark.parametrize("log_n", [12, 16])
def test_every_multiplier_and_width_has_an_estimate(
    reduction: str, log_radix: int, log_n: int
) -> None:
    sizes = {"bank_rows": 1 << 14, "table_rows": 1 << 14, "stream_rows": 1 << 13, "ports": 4}
    before = Area(0, 0, 0, 0, 0)
    for word_bits in (20, 30, 36, 48, 60):
        found = cluster_area(
            VectorDesign("any", log_n, 8, log_radix, word_bits, reduction, **sizes)
        )
        assert found.lut_sites > before.lut_sites
        assert found.fabric_flip_flops > before.fabric_flip_flops
        before = found


def test_ports_that_cross_have_a_crossing_each() -> None:
    design = vector("vector-1024")
    [one] = vector_area.synthesized_blocks()[vector_area.CROSSING, 2, 1].values()
    direct = memory_ports(replace(design, crossed_ports=False))
    assert memory_ports(design).luts - direct.luts == pytest.approx(32 * one.luts, abs=2)


def test_the_page_has_the_memory_interface_and_the_dies_of_today() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "vector.md").read_text()
    designs = [vector(n) for n in ("framework", "framework-512", "vector-1024", "vector-small")]
    ports = [memory_ports(design) for design in designs]
    for title, values in (
        ("LUT sites", [side.lut_sites for side in ports]),
        ("FF outside DSPs and RAMs", [side.fabric_flip_flops for side in ports]),
    ):
        cells = " | ".join(f"{value:,.0f}" for value in values)
        assert f"| {title}, memory's side | {cells} |" in page
    for design in designs:
        place = placed(design, U280)
        units = ", ".join(map(str, place.units))
        wires = ", ".join(f"{count:,}" for count in place.wires[:2])
        fullest = rf"{100 * place.fullest:.1f}% of \w+"
        row = rf"\| `{design.name}` \| {units} \| .* \| {fullest} \| {wires} \|"
        assert re.search(row, page), design.name


def test_widths_between_those_that_were_synthesized_lie_on_a_line() -> None:
    design = VectorDesign("width", 16, 8, 2, 46, ports=4)
    three = [cluster_parts(replace(design, word_bits=bits))["alus"].luts for bits in (32, 46, 60)]
    assert three[1] == pytest.approx((three[0] + three[2]) / 2, abs=64)


# ---- dies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["framework", "framework-512", "vector-1024", "vector-small"])
def test_the_designs_fit_the_papers_card_die_by_die(name: str) -> None:
    design = vector(name)
    place = placed(design, U280)
    assert place.fits
    assert sum(place.units) == design.clusters * design.lanes >> design.log_radix
    assert sum(place.lanes) == design.clusters * design.lanes
    assert len(place.networks) == design.clusters
    taken = memory_ports(design)
    for _ in range(design.clusters):
        taken = total_area([taken, cluster_area(design)])
    for resource, total, there in [
        ("LUT", taken.lut_sites, U280.die.luts),
        ("DSP", taken.dsps, U280.die.dsps),
        ("BRAM", taken.brams, U280.die.brams),
        ("URAM", taken.urams, U280.die.urams),
    ]:
        shares = place.shares[resource]
        assert max(shares) <= SHARE
        assert sum(shares) * there == pytest.approx(total, rel=0.01)


def test_a_cluster_that_fits_a_die_stands_there_and_crosses_nothing() -> None:
    place = placed(vector("vector-small"), U280)
    assert place.units == (4, 0, 0)
    assert place.wires == (0, 0)


def test_an_array_larger_than_a_die_is_cut_at_its_units() -> None:
    """3,072 DSPs, and a die has 3,008: 12 units of 192 are 77 % of them."""
    design = vector("framework-512")
    place = placed(design, U280)
    assert max(place.units) <= 12
    beyond = 16 - place.units[place.networks[0]]
    assert sum(place.wires) >= beyond * 16 * 2 * 32


def test_a_design_that_is_too_large_says_by_how_much() -> None:
    place = placed(replace(vector("vector-1024"), bank_rows=16384), U280)
    assert not place.fits
    assert place.fullest > 1
