"""The cards: every file is read, and says what must be known to judge whether a design fits."""

from dataclasses import astuple

import pytest

from ringsmith.errors import ParameterError
from ringsmith.platforms import Resources, load_platform, platform_names


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


def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(ParameterError, match="no platform 'attic': choose one of u250"):
        load_platform("attic")
