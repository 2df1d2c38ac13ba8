"""Area by Yosys, which counts too many flip-flops: it packs none into DSPs."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.backends.rpau.debug.area import rpau_area
from ringsmith.backends.rpau.design.area import estimate
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.stream.debug.area import stream_areas
from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.hdl.base_conversion import BaseConverter
from ringsmith.hdl.dsps import DspSlice, folded_dsps
from ringsmith.hdl.netlist import empty, kind
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, block_rams, synthesized, ultra_rams
from ringsmith.hdl.timing.synthesis import timed
from ringsmith.hdl.yosys import run_yosys

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
    sources = rtl_sources("arith", "mem", "prng")
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
    sources = rtl_sources("arith", "mem")
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
    sources = rtl_sources("arith", "mem")
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
    top, folders = "rs_base_convert", ("arith", "mem", "baseconv")
    area = synthesized(top, folders, unit.parameters, (), ULTRASCALE_PLUS)[top]
    assert area.dsps == unit.dsps == 50
    assert (area.brams, area.urams) == (0, 0)
    assert area.luts <= 2500
    assert area.flip_flops <= 2500


@pytest.mark.full
def test_a_base_converter_has_at_most_three_levels_between_registers() -> None:
    timing = timed("rs_base_convert", ("arith", "mem", "baseconv"), BaseConverter().parameters)
    assert max(block.levels for block in timing.blocks) <= 3
    assert timing.blocks[0].delay_ps <= 4800
