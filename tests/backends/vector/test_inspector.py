"""Looking inside architecture vector: its part of the page of designs, and what is timed."""

from dataclasses import replace

from ringsmith.backends.inspector import Wanted
from ringsmith.backends.vector.backend import VectorBackend
from ringsmith.backends.vector.debug.designs import VectorRow, vector_area_table, vector_section
from ringsmith.backends.vector.debug.inspector import part_of
from ringsmith.hdl.synthesis import Area
from ringsmith.lower import lower_operation


def test_a_survey_has_a_row_for_each_named_design() -> None:
    survey = VectorBackend().inspector().survey(Wanted(lower_operation))
    assert survey is not None
    assert (survey.simulated, survey.synthesized) == (False, False)
    for table in survey.tables:
        for name in VectorBackend().designs():
            assert f"| `{name}` |" in table


def test_a_synthesized_area_is_shown_with_its_estimate() -> None:
    design = VectorBackend().load_design("framework")
    area = Area(2816, 627.0, 456, 500_000, 480_000, 100_000, 20_000)
    [*_, row] = vector_area_table([VectorRow(design, area)]).splitlines()
    assert "| 2,816 | 627 | 456 | 400,000 | 460,000 | 20" in row
    [*_, row] = vector_area_table([VectorRow(design)]).splitlines()
    assert row.endswith("| – | – | – | – | – | – |")
    assert vector_section([VectorRow(design)]).startswith("## Vector arrays")


def test_a_design_in_part_has_16_lanes_and_memories_of_as_many_words() -> None:
    design = VectorBackend().load_design("framework-512")
    part = part_of(design)
    assert part == replace(
        design, log_lanes=4, bank_rows=65536, table_rows=16384, stream_rows=8192, ports=2
    )
    assert part.scratchpad_bytes == design.scratchpad_bytes
    small = VectorBackend().load_design("vector-small")
    assert part_of(small) == small
