"""The cards: every file is read, and says what must be known to judge whether a design fits."""

from dataclasses import astuple, replace
from pathlib import Path

import pytest

from ringsmith import platforms
from ringsmith.errors import ParameterError
from ringsmith.platforms import Resources, load_platform, place, platform_names


@pytest.mark.parametrize("name", platform_names())
def test_a_cards_file_is_whole(name: str) -> None:
    platform = load_platform(name)
    assert platform.dies >= 1
    assert min(platform.die.luts, platform.die.flip_flops, platform.die.dsps) > 0
    assert platform.hbm_gigabytes_per_second + platform.ddr_gigabytes_per_second > 0
    assert len(platform.source) > 20
    assert astuple(platform.whole) == tuple(platform.dies * n for n in astuple(platform.die))


def test_medhas_card_has_what_the_product_table_says() -> None:
    whole = Resources(1_728_000, 3_456_000, 12_288, 2_688, 1_280)
    assert load_platform("u250").whole == whole


def test_frameworks_card_has_what_its_paper_says() -> None:
    card = load_platform("u280")
    assert (card.whole.luts // 1000, card.whole.flip_flops // 1000) == (1303, 2607)
    assert (card.whole.dsps, card.whole.brams, card.whole.urams) == (9024, 2016, 960)
    assert card.memory is not None
    assert card.memory.gigabytes_per_second == 256
    assert card.memory.port_bytes == 1 << 28


@pytest.mark.parametrize(("crossed", "pause"), [(False, 260 / 3900), (True, 0)])
def test_no_direction_is_faster_than_what_was_measured_of_both(crossed: bool, pause: float) -> None:
    """A channel of the card's memory has 14.4 GB/s, and 425 of 460 GB/s were measured."""
    card = load_platform("u280")
    memory = card.crossed_memory if crossed else card.memory
    assert memory is not None
    port = memory.port_bits / 8 * memory.megahertz / 1e3
    both = [
        port * (1 - pause / memory.interval) for pause in (memory.read_pause, memory.write_pause)
    ]
    assert sum(both) <= 14.4 * 425 / 460
    assert both[0] == pytest.approx(8 * (1 - pause), abs=0.01)


def test_a_card_is_read_from_a_file_of_its_own(tmp_path: Path) -> None:
    text = (Path(platforms.__file__).parent / "u280.toml").read_text()
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("latency = 62", "latency = 99"))
    memory = load_platform(str(file)).memory
    assert memory is not None
    assert memory.latency == 99
    file.write_text(text.replace("latency = 62", "latencies = 99"))
    load_platform.cache_clear()
    with pytest.raises(ParameterError, match=r"not a card's file: .*latencies"):
        load_platform(str(file))
    with pytest.raises(ParameterError, match=r"none\.toml: not a card's file"):
        load_platform("none.toml")


def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        ParameterError,
        match=r"no platform 'attic': choose one of acu15eg, .*, u250, u280, u55c, v80, .*zcu102",
    ):
        load_platform("attic")


def test_ten_units_lie_on_four_dies_and_leave_space_for_the_platform() -> None:
    card = load_platform("u250")
    placed = place(card, [Resources(120_000, 110_000, 650, 200, 106)] * 10)
    assert placed.units == (2, 2, 3, 3)
    assert placed.fits


@pytest.mark.parametrize(
    ("unit", "excess"),
    [
        (Resources(122_401, 1, 1, 1, 1), "3 units take 367,203 LUT of a die's 367,200"),
        (Resources(1, 288_001, 1, 1, 1), "3 units take 864,003 FF of a die's 864,000"),
        (Resources(1, 1, 1_025, 1, 1), "3 units take 3,075 DSP of a die's 3,072"),
        (Resources(1, 1, 1, 224.5, 1), "3 units take 673.5 BRAM of a die's 672"),
        (Resources(1, 1, 1, 1, 107), "3 units take 321 URAM of a die's 320"),
    ],
)
def test_what_a_die_has_too_little_of_is_named(unit: Resources, excess: str) -> None:
    placed = place(load_platform("u250"), [unit] * 10)
    assert not placed.fits
    assert placed.excess == (excess,)


def test_the_platforms_luts_must_be_left_of_all_dies() -> None:
    card = load_platform("u250")
    assert place(card, [Resources(95_000, 1, 1, 1, 1)] * 12).fits  # 328,800 are left
    placed = place(card, [Resources(107_000, 1, 1, 1, 1)] * 12)
    assert placed.excess == ("184,800 LUT are left of all dies for the platform's 195,000",)


def test_units_that_differ_lie_on_the_dies_in_their_order() -> None:
    card = load_platform("u250")
    wide, narrow = Resources(1, 1, 1, 1, 109), Resources(1, 1, 1, 1, 96)
    placed = place(card, [wide] * 4 + [narrow] * 6)
    assert placed.units == (2, 2, 3, 3)
    assert placed.fits  # 2 * 109 and 3 * 96 of 320
    placed = place(card, [wide] * 5 + [narrow] * 5)
    assert placed.fits  # 109 + 2 * 96 = 301
    placed = place(card, [narrow] * 6 + [wide] * 4)
    assert placed.excess == ("3 units take 327 URAM of a die's 320",)


def test_what_joins_the_units_stands_on_the_first_die() -> None:
    card = load_platform("u250")
    units, store = [Resources(1, 1, 1, 223, 1)] * 12, Resources(1, 1, 0, 128, 0)
    assert place(card, units).fits  # 3 * 223 = 669 of 672
    assert place(card, units, store).excess == ("3 units take 797 BRAM of a die's 672",)
    assert place(card, units[:11], store).fits  # two are on the first die: 574


def test_the_platform_s_share_of_each_resource_must_be_left() -> None:
    card = load_platform("u280")
    assert card.reserved.brams == 300
    assert place(card, [Resources(1, 1, 1, 571, 1)] * 3).fits  # 303 are left
    placed = place(card, [Resources(1, 1, 1, 573, 1)] * 3)
    assert placed.excess == ("297 BRAM are left of all dies for the platform's 300",)


def test_wires_between_dies_have_a_limit() -> None:
    card, unit = load_platform("u280"), Resources(1, 1, 1, 1, 1)
    assert place(card, [unit] * 3, wires=23_040).fits
    placed = place(card, [unit] * 3, wires=23_041)
    assert placed.excess == ("23,041 wires between two dies, which have 23,040",)
    assert place(load_platform("zcu102"), [replace(unit, urams=0)] * 3, wires=99_999).fits


@pytest.mark.parametrize("name", platform_names())
def test_a_card_of_several_dies_says_what_its_shell_takes_and_how_many_wires_there_are(
    name: str,
) -> None:
    platform = load_platform(name)
    assert len(platform.reserved_source) > 20
    assert (platform.dies > 1) == (platform.die_wires > 0)
    if platform.dies > 1 and "without the shell" not in platform.reserved_source:
        assert platform.reserved.luts > 100_000
