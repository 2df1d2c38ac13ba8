"""Points of the RTL that no program of the coverage campaign can reach, each rule with its reason.

The rules hold for ``campaign.campaign_design``: fields of fixed width are wider than so small a
design needs. A rule that excludes what is reached is found out by the tests.
"""

from ringsmith.backends.vector.debug.campaign import campaign_design
from ringsmith.backends.vector.isa.random_program import PRIMES
from ringsmith.hdl.coverage import EDGE, Exclusion, bits

_DESIGN = campaign_design()
_VECTOR = "vector/.*"
_ADDRESS = (_DESIGN.bank_rows - 1).bit_length()  # of a row in a bank, or in the twiddle memory
_ROW = _DESIGN.log_n - _DESIGN.log_lanes  # of a row in a limb
_LIMB = (_DESIGN.bank_rows >> (_DESIGN.min_log_n - _DESIGN.log_lanes)).bit_length() - 1
_PRIME = (PRIMES - 1).bit_length()
_ONE_RUN = "a simulation runs one program, and its ring is set once"

EXCLUSIONS: tuple[Exclusion, ...] = (
    Exclusion(
        _VECTOR,
        rf"(.*\.row|(table_row|table_first|table_late|next_table)(_[ioq])?){bits(_ADDRESS, 15)}"
        rf"{EDGE}",
        f"rows of memories have 16 bits, and those of this design {_ADDRESS}",
    ),
    Exclusion(
        _VECTOR,
        rf"(row|turned|mapped|limb_row|coming|table_shifted|(before_)?last_row)(_q)?(\[\d\])?"
        rf"{bits(_ROW, 15)}{EDGE}",
        f"rows of a limb have 16 bits, and those of this design's largest ring {_ROW}",
    ),
    Exclusion(
        _VECTOR,
        rf".*\.index{bits(_LIMB, 15)}{EDGE}",
        f"limbs of a bank have 16 bits, and this design needs {_LIMB}",
    ),
    Exclusion(
        _VECTOR,
        rf"(.*\.)?prime(_(addr|late))?(_[ioq])?(\[\d\])?{bits(_PRIME, 7)}{EDGE}",
        f"primes have indices of 8 bits, and programs {PRIMES} of them",
    ),
    Exclusion(
        _VECTOR,
        rf"(.*\.)?(mu|shift|unused_reciprocal)(_\w+)?(\[\d+\])*{EDGE}",
        "Montgomery's reduction takes no reciprocal and no shift",
    ),
)
"""Rules of the vector architecture."""
