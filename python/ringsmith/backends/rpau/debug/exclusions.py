"""Points of the RTL that no program of the coverage campaign can reach: ``exclusions.toml``.

The rules hold for ``campaign.campaign_design``: fields of fixed width are wider than so small a
design needs. A rule that excludes what is reached is found out by the tests.
"""

from ringsmith.backends.rpau.debug.campaign import campaign_design
from ringsmith.backends.rpau.isa.instruction_set import ISA, Field
from ringsmith.backends.rpau.isa.kinds import KINDS
from ringsmith.hdl.coverage import Exclusion, read_exclusions

_DESIGN = campaign_design()


def _needed_bits(field: Field) -> int:
    """Bits of an instruction field that the design's programs use."""
    if field.kind:
        return (KINDS[field.kind].limit(_DESIGN) - 1).bit_length()
    return {"mask": _DESIGN.rpaus, "prime": (_DESIGN.modulus_banks - 1).bit_length()}.get(
        field.name, field.width
    )


def _idle_word_bits() -> list[int]:
    """Bits of an instruction word that the design's programs leave 0."""
    used = {field.lsb + bit for field in ISA.fields.values() for bit in range(_needed_bits(field))}
    return sorted(set(range(64)) - used)


def _own(word: str) -> str:
    """A prime's own word, by any name on its way from the modulus banks to the arithmetic."""
    unit = "main|dyadic|coefficient"
    return rf"(({unit})_)?{word}(_({unit}))?(_[ioq])?(\[0\])?"


_IDLE = _idle_word_bits()

EXCLUSIONS: tuple[Exclusion, ...] = read_exclusions(
    "ringsmith.backends.rpau.debug",
    {
        "idle": _IDLE,
        "idle_high": [bit for bit in _IDLE if bit >= 30],
        "row_bits": (_DESIGN.rows - 1).bit_length(),
        "least": _DESIGN.min_log_n,
        "smallest": 2 << _DESIGN.min_log_n,
        "top": _DESIGN.log_n - 1,
        "last": _DESIGN.rpaus - 1,
        **{f"own_{word}": _own(word) for word in ("q", "mu", "shift", "index")},
        "own_mask": "|".join(
            rf"gen_rpau\[{rpau}\]\.command_q\.word\[{ISA.fields['mask'].lsb + rpau}\]:1->0"
            for rpau in range(_DESIGN.rpaus)
        ),
    },
)
"""Rules for ``ringsmith.hdl.coverage.by_file``."""
