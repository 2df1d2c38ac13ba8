"""Design points of the RPAU architecture: parameters, their legal values, and why."""

import tomllib
from dataclasses import MISSING, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from ringsmith.errors import ParameterError

REDUCTIONS = ("barrett",)


@dataclass(frozen=True)
class RpauDesign:
    """A checked design point.

    Attributes:
        name: What the design is called in reports, caches and program files.
        log_n: log2 of the ring degree N that the device is built for.
        word_bits: Width of a residue word; every prime has at most this many bits.
        rpaus: Number of RPAUs in the ring.
        cores: Unified butterfly cores an RPAU; a memory row has 2*cores words.
        dyadic_cores: Multiply-accumulate lanes beside the butterfly cores.
        work_polys: Work polynomials an RPAU.
        key_polys: Polynomials in the key store of an RPAU.
        constants: Words in the constant file of an RPAU.
        program_words: Instructions that the program store holds.
        reduction: Modular reduction of the multipliers.
        prime_sets: Primes that each RPAU serves in turn: limb l of a residue polynomial lies in
            RPAU l mod ``rpaus`` and computes with prime set l div ``rpaus``. Each set has its own
            modulus, twiddle tables and constant file.
    """

    name: str
    log_n: int
    word_bits: int
    rpaus: int
    cores: int
    dyadic_cores: int
    work_polys: int
    key_polys: int
    constants: int
    program_words: int
    reduction: str
    prime_sets: int = 1

    def __post_init__(self) -> None:
        _check_range(self, "log_n", 8, 16)
        _check_range(self, "word_bits", 30, 60)
        _check_range(self, "rpaus", 2, 16)
        _check_power_of_two(self, "cores", 1, 32)
        if self.cores > self.n >> self.twiddle_lo_bits:
            raise ParameterError(
                f"design {self.name}: cores = {self.cores} at N = {self.n} is more than "
                f"{self.n >> self.twiddle_lo_bits}, the words of the upper twiddle table: take "
                "fewer cores or a larger N"
            )
        _check_power_of_two(self, "dyadic_cores", 1, self.cores)
        _check_range(self, "work_polys", 4, 256)
        _check_range(self, "key_polys", 1, 4096)
        _check_range(self, "constants", 4, 128)
        _check_range(self, "program_words", 16, 65536)
        _check_range(self, "prime_sets", 1, 8)
        if self.reduction not in REDUCTIONS:
            raise ParameterError(
                f"reduction = {self.reduction!r} is not one of {', '.join(REDUCTIONS)}: "
                "choose 'barrett', which takes any NTT prime up to word_bits"
            )

    @property
    def n(self) -> int:
        """Ring degree N."""
        return 1 << self.log_n

    @property
    def lanes(self) -> int:
        """Words in a memory row: 2*cores."""
        return 2 * self.cores

    @property
    def twiddle_lo_bits(self) -> int:
        """Bits of a twiddle exponent that the low table resolves: half of log2 N, rounded up."""
        return (self.log_n + 1) // 2

    @property
    def limbs(self) -> int:
        """Limbs that the device holds of one residue polynomial: a prime set of an RPAU each."""
        return self.rpaus * self.prime_sets

    @property
    def rows(self) -> int:
        """Rows of a polynomial: N / lanes."""
        return self.n // self.lanes


def _check_range(design: RpauDesign, name: str, low: int, high: int) -> None:
    value = getattr(design, name)
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(
            f"design {design.name}: {name} = {value!r} is outside {low} … {high}: choose a value "
            f"in that range"
        )


def _check_power_of_two(design: RpauDesign, name: str, low: int, high: int) -> None:
    _check_range(design, name, low, high)
    value = getattr(design, name)
    if value & (value - 1):
        raise ParameterError(
            f"design {design.name}: {name} = {value} is not a power of two: choose one from {low} "
            f"to {high}"
        )


def parse_design(text: str, origin: str) -> RpauDesign:
    """Reads a design from TOML text; ``origin`` names it in errors.

    Raises:
        ParameterError: If a key is missing, unknown or has an illegal value.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{origin}: not a TOML file: {error}") from error
    architecture = table.pop("architecture", None)
    if architecture != "rpau":
        raise ParameterError(
            f"{origin}: architecture = {architecture!r}, and only 'rpau' is known here"
        )
    known = {field.name for field in fields(RpauDesign)}
    required = {field.name for field in fields(RpauDesign) if field.default is MISSING}
    missing, unknown = sorted(required - table.keys()), sorted(table.keys() - known)
    if missing or unknown:
        raise ParameterError(f"{origin}: missing keys: {missing}; unknown keys: {unknown}")
    return RpauDesign(**table)


def named_designs() -> list[str]:
    """Names of the designs that come with Ringsmith."""
    folder = resources.files("ringsmith") / "designs"
    return sorted(
        Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def load_design(name: str) -> RpauDesign:
    """Loads a named design.

    Raises:
        ParameterError: If there is no design of that name.
    """
    if name not in named_designs():
        known = ", ".join(named_designs())
        raise ParameterError(f"there is no design {name!r}: choose one of {known}")
    resource = resources.files("ringsmith") / "designs" / f"{name}.toml"
    return parse_design(resource.read_text(encoding="utf-8"), f"design {name}")
