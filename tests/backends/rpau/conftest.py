"""A design small enough for oracles in plain Python."""

import pytest

from ringsmith.backends.rpau.design.design import RpauDesign


@pytest.fixture(scope="session")
def small_design() -> RpauDesign:
    """N = 2^8, three RPAUs with all units, 40-bit words."""
    return RpauDesign(
        name="small",
        log_n=8,
        word_bits=40,
        rpaus=3,
        cores=2,
        dyadic_cores=1,
        work_polys=8,
        key_polys=5,
        constants=8,
        program_words=128,
        reduction="barrett",
        link=True,
        converters=1,
        conversions=2,
    )
