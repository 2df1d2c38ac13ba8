"""Lattigo, as a child process that runs one operation per request."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ringsmith.bench.cpu import asked
from ringsmith.bench.cpu.native_build import build, why_missing
from ringsmith.bench.cpu.sets import BenchSet
from ringsmith.bench.cpu.timing import Timed

OPERATIONS = ("multiply_relinearize", "rotate", "rescale", "multiply", "multiply_plain", "add")


VERSION = "Lattigo v6.2.0"
"""The module and its version."""


def missing() -> str | None:
    """Says why Lattigo is left out; None: it can be measured. Builds it at the first call."""
    return why_missing("Lattigo", "go", _program)


def _program() -> Path:
    return build("lattigo", ["go", "build", "-o", "peer", "."], "peer")


@contextmanager
def operations(item: BenchSet) -> Iterator[dict[str, Timed]]:
    """Lattigo's operations, by the names of ours; none for BFV, whose variant differs.

    Raises:
        ToolError: When go cannot build the program, or it does not start.
    """
    if item.plain_modulus:
        yield {}
        return
    program = _program()
    log_n = item.n.bit_length() - 1
    arguments = [str(number) for number in (log_n, item.special, *item.primes)]
    command = [str(program), *arguments]
    with asked.operations(command, OPERATIONS, f"Lattigo with set {item.name}") as found:
        yield found
