"""Child processes that run one operation per request, and answer with its seconds."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from ringsmith.bench.cpu.timing import Timed
from ringsmith.errors import ToolError

READY = "ready"
"""The line that a child prints before it is asked anything."""


@contextmanager
def operations(
    command: Sequence[str],
    names: Iterable[str],
    who: str,
    environment: Mapping[str, str] | None = None,
) -> Iterator[dict[str, Timed]]:
    """Starts a child and asks it for operations; it ends with the block.

    The child prints ``READY``, then reads a name a line, does that once, and prints the CPU seconds
    that it took.

    Args:
        command: The child's command line.
        names: What it can be asked for.
        who: What errors call it.
        environment: All of its environment variables; None: those of this process.

    Raises:
        ToolError: When it does not start, or stops.
    """
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        if child.stdout.readline().strip() != READY:
            raise ToolError(f"{who} does not start: see its message above")
        try:
            yield {name: partial(_ask, child, who, name) for name in names}
        finally:
            child.stdin.close()


def _ask(child: "subprocess.Popen[str]", who: str, name: str) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        print(name, file=child.stdin, flush=True)
    except BrokenPipeError:
        raise ToolError(f"{who} stopped before {name}: see its message above") from None
    answer = child.stdout.readline()
    if not answer:
        raise ToolError(f"{who} stopped in {name}: see its message above")
    return float(answer)
