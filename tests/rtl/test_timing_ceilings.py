"""No path between registers becomes longer unseen: every block stays below its ceiling."""

import tomllib

import pytest
from tests.rtl.timing_ceilings import (
    COMMAND,
    DESIGNS,
    KEPT,
    Ceiling,
    differences,
    found,
    kept,
    text,
)


@pytest.mark.full
@pytest.mark.parametrize("design", DESIGNS)
def test_every_block_stays_below_its_ceiling(design: str) -> None:
    above = differences(kept()[design], found(design))
    assert not above, (
        f"{design}: {'; '.join(above)}. `ringsmith timing {design}` names the paths. Break the "
        f"path by a register; where it is meant to be longer, renew the ceilings by {COMMAND} and "
        "say why in the commit"
    )


def test_a_longer_path_and_a_new_block_are_seen() -> None:
    ceilings = {"rs_a": Ceiling(4, 2500), "rs_b": Ceiling(2, 900), "rs_gone": Ceiling(1, 700)}
    assert differences(ceilings, {"rs_a": Ceiling(4, 2500), "rs_b": Ceiling(1, 800)}) == []
    assert differences(ceilings, {"rs_a": Ceiling(4, 2600)}) == [
        "rs_a: 4 levels and 2600 ps, above its ceiling of 4 levels and 2500 ps"
    ]
    assert len(differences(ceilings, {"rs_a": Ceiling(5, 2500), "rs_new": Ceiling(1, 1)})) == 2


def test_the_file_of_ceilings_is_what_the_command_writes() -> None:
    assert set(tomllib.loads(KEPT.read_text())) == set(DESIGNS)
    assert text(kept()) == KEPT.read_text()
