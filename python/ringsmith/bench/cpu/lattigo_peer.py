"""Lattigo, as a child process that is told one operation at a time."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from ringsmith.bench.cpu.native_build import build
from ringsmith.bench.cpu.sets import BenchSet
from ringsmith.bench.cpu.timing import Timed
from ringsmith.errors import ToolError

OPERATIONS = ("multiply_relinearize", "rotate", "rescale", "multiply", "multiply_plain", "add")


def version() -> str | None:
    """The module and its version, or None where go is missing."""
    return "Lattigo v6.2.0" if shutil.which("go") else None


@contextmanager
def operations(item: BenchSet) -> Iterator[dict[str, Timed]]:
    """Lattigo's operations, by the names of ours; none for BFV, whose variant differs.

    Raises:
        ToolError: When go cannot build the program, or it does not start.
    """
    if item.plain_modulus:
        yield {}
        return
    program = build("lattigo", ["go", "build", "-o", "peer", "."], "peer")
    log_n = item.n.bit_length() - 1
    arguments = [str(number) for number in (log_n, item.special, *item.primes)]
    with subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        if child.stdout.readline().strip() != "ready":
            raise ToolError(f"Lattigo refuses set {item.name}: see its message above")
        try:
            yield {name: partial(_ask, child, name) for name in OPERATIONS}
        finally:
            child.stdin.close()


def _ask(child: "subprocess.Popen[str]", name: str) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    print(name, file=child.stdin, flush=True)
    answer = child.stdout.readline()
    if not answer:
        raise ToolError(f"Lattigo stopped in {name}: see its message above")
    return float(answer)
