"""Points of the RTL that no program of the coverage campaign can reach: ``exclusions.toml``.

Fields of fixed width are wider than so small a design needs. A rule that excludes what is reached
is found out by the tests.
"""

from collections.abc import Mapping

from ringsmith.backends.vector.debug.campaign import campaign_design
from ringsmith.backends.vector.debug.random_program import PRIMES
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.coverage import Exclusion, Value, read_exclusions


def _values(design: VectorDesign) -> Mapping[str, Value]:
    """What the rules call by name."""
    row = design.log_n - design.log_lanes
    least = design.min_log_n - design.log_lanes  # row bits of the smallest ring
    held = design.stream_rows >> least
    word = 8 * design.word_bytes
    return {
        "address": (design.bank_rows - 1).bit_length(),  # of a row in a bank or twiddle memory
        "row": row,  # of a row in a limb
        "row_width": row.bit_length(),
        "row_3": row + 3,
        "least_1": least - 1,
        "held": held,
        "held_bits": held.bit_length(),
        "limb": (design.bank_rows >> least).bit_length() - 1,
        "primes": PRIMES,
        "prime": (PRIMES - 1).bit_length(),
        "log_n": design.log_n,
        "log_n_1": design.log_n + 1,
        "log_n_2": design.log_n + 2,
        "log_n_3": design.log_n + 3,
        "twice": 2 << design.log_n,
        "word_bits": design.word_bits,
        "word": word,
        "stream_rows": design.stream_rows,
        "row_counter": design.stream_rows.bit_length(),
        "idle": [
            bit
            for first in range(0, design.memory.port_bits, word)
            for bit in range(first + design.word_bits, first + word)
        ],
    }


EXCLUSIONS: tuple[Exclusion, ...] = read_exclusions(
    "ringsmith.backends.vector.debug", _values(campaign_design())
)
"""The rules of the campaign's design."""
