"""The machine that times are measured on."""

import os
from datetime import UTC, datetime

from ringsmith import __version__, _core
from ringsmith.apps.conditions import processor
from ringsmith.caching import cached
from ringsmith.errors import ToolError

QUIET_LOAD = 0.7
"""Load average of the last minute up to which a machine counts as idle."""


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
