"""Design points: named ones load, and illegal ones are refused in words."""

import json
from dataclasses import asdict, replace

import pytest

from ringsmith.backends.rpau.design.design import (
    RpauDesign,
    load_design,
    named_designs,
    parse_design,
)
from ringsmith.backends.stream.design.design import StreamDesign, load_stream_design
from ringsmith.errors import ParameterError

NANO = load_design("nano")


def toml(**changes: object) -> str:
    table = {"architecture": "rpau", **asdict(NANO), **changes}
    lines = (f"{key} = {json.dumps(value)}" for key, value in table.items() if value is not None)
    return "\n".join(lines)


def test_every_named_design_loads_under_its_own_name() -> None:
    assert "nano" in named_designs()
    assert [load_design(name).name for name in named_designs()] == named_designs()


def test_a_design_survives_its_toml_file() -> None:
    assert parse_design(toml(), "here") == NANO


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"log_n": 17}, "design nano: log_n = 17 is outside 8 … 16"),
        ({"word_bits": 61}, "design nano: word_bits = 61 is outside 30 … 60"),
        ({"rpaus": 1}, "design nano: rpaus = 1 is outside 2 … 16"),
        ({"cores": 3}, "design nano: cores = 3 is not a power of two: choose one from 1 to 32"),
        ({"cores": 64}, "design nano: cores = 64 is outside 1 … 32"),
        ({"log_n": 8, "cores": 32}, "cores = 32 at N = 256 is more than 16.*take fewer cores"),
        ({"dyadic_cores": 16}, "design nano: dyadic_cores = 16 is outside 0 … 8"),
        ({"dyadic_cores": 3}, "= 3 is not a power of two: choose 0 or one from 1 to 8"),
        ({"modulus_banks": 9}, "design nano: modulus_banks = 9 is outside 1 … 8"),
        ({"target": "asic"}, "design nano: target = 'asic' is not one of xilinx, ecp5"),
        ({"target": "ecp5"}, "key_ram = 'ultra'.* has no UltraRAM: take key_ram = 'block'"),
        ({"interconnect": "bus"}, "design nano: interconnect = 'bus' is not one of ring, gather"),
        (
            {"core_multipliers": 1},
            "core_multipliers = 1 with twiddles = 'generated': a second multiplier generates",
        ),
        ({"twiddles": ""}, "design nano: twiddles = '' is not one of generated, stored"),
        ({"work_uram_polys": 17}, "design nano: work_uram_polys = 17 is outside 0 … 16"),
        (
            {"work_polys": 5, "work_uram_polys": 4},
            "of work_polys = 5, 4 a bank, with work_block_banks = 0 leave 2 read ports, and an",
        ),
        (
            {"work_uram_polys": 10, "work_block_banks": 7},
            "design nano: work_block_banks = 7 is outside 0 … 6",
        ),
        ({"work_block_banks": 2}, "work_block_banks = 2 leave 2 read ports, and an"),
        ({"key_ram": "lut"}, "design nano: key_ram = 'lut' is not one of block, ultra"),
        ({"family": "mersenne"}, "family = 'mersenne' is not one of none, medha, word48"),
        ({"family": "medha"}, "family = 'medha' with reduction = 'barrett'"),
        ({"reduction": "sparse"}, "family = 'none' with reduction = 'sparse': 'sparse' needs one"),
        (
            {"reduction": "sparse", "family": "medha"},
            "no prime of family medha fits word_bits = 48: its primes have 54 and 60 bits",
        ),
        ({"work_polys": 3}, "design nano: work_polys = 3 is outside 4 … 128"),
        ({"key_polys": 0}, "design nano: key_polys = 0 is outside 1 … 4096"),
        ({"constants": 257}, "design nano: constants = 257 is outside 4 … 128"),
        ({"program_words": 8}, "design nano: program_words = 8 is outside 16 … 65536"),
        ({"reduction": "magic"}, "reduction = 'magic' is not one of barrett"),
        ({"rpaus": True}, "design nano: rpaus = True is outside 2 … 16"),
        ({"cores": True}, "design nano: cores = True is outside 1 … 32"),
        ({"link": 1}, "design nano: link = 1 is not true or false"),
        ({"log_n": "13"}, "design nano: log_n = '13' is outside 8 … 16"),
    ],
)
def test_an_illegal_value_is_refused_with_its_limit(
    change: dict[str, int | str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(NANO, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log_n = ", "here: not a TOML file"),
        (toml(architecture="vector"), "architecture = 'vector', and only 'rpau' is known here"),
        (toml(cores=None), r"here: missing keys: \['cores'\]; unknown keys: \[\]"),
        (toml(colour=3), r"here: missing keys: \[\]; unknown keys: \['colour'\]"),
    ],
)
def test_a_damaged_design_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_design(text, "here")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r"no design .giga.: choose one of .*nano"):
        load_design("giga")


@pytest.mark.parametrize("name", ["../../evil", "a/b", "", ".hidden", "new\nline", "x" * 65, 7])
@pytest.mark.parametrize("design", [load_design("nano"), load_stream_design("rpm")])
def test_a_name_that_could_not_be_a_files_is_refused(
    name: str, design: RpauDesign | StreamDesign
) -> None:
    with pytest.raises(ParameterError, match="is no design's name: take 1 to 64 letters"):
        replace(design, name=name)
