"""Area of the vector architecture's blocks, by Yosys for UltraScale+: words of 32 bits."""

import pytest

from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, synthesized

FOLDERS = ("arith", "mem", "vector")
BARRETT = {"Reduction": 0}


@pytest.mark.full
@pytest.mark.parametrize(
    ("top", "values", "dsps", "most"),
    [
        ("rs_mod_mul_two_steps", {}, 6, 90),
        ("rs_vector_alu", {}, 6, 380),
        ("rs_vector_alu", BARRETT, 11, 1210),
        ("rs_vector_unit", {"LogRadix": 2}, 24, 2570),
        ("rs_vector_unit", {"LogRadix": 2} | BARRETT, 44, 5730),
        ("rs_vector_unit", {"LogRadix": 4}, 192, 19_200),
        ("rs_vector_permute", {"LogLanes": 8, "LogRadix": 2}, 0, 274 * 256),
        ("rs_vector_permute", {"LogLanes": 8, "LogRadix": 4}, 0, 401 * 256),
    ],
    ids=str,
)
def test_a_block_takes_few_dsps_and_luts(
    top: str, values: dict[str, int], dsps: int, most: int
) -> None:
    area = synthesized(top, FOLDERS, values, (), ULTRASCALE_PLUS)[top]
    assert area.dsps == dsps
    assert area.luts <= most
    assert (area.brams, area.urams) == (0, 0)
