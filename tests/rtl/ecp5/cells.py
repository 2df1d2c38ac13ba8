"""Behavioural models of ECP5's cells, for the simulation of netlists: which files they are."""

from pathlib import Path

HERE = Path(__file__).parent


def cell_sources() -> list[Path]:
    """Models of the cells that Yosys has only as black boxes."""
    return sorted(HERE.glob("*.sv"))
