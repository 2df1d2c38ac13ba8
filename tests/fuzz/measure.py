"""Reads damaged and crafted inputs, and writes what each reader did with them as JSON.

    python -m tests.fuzz.measure SEED SECONDS [READER …]

A process of its own, so that nothing else takes or holds memory. For each reader one line: its
name, inputs that were refused and read, errors that are not ours, and of its inputs the one
that comes next to its bound of memory, or passes it most.
"""

import ctypes
import gc
import json
import re
import sys
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.fuzz.readers import READERS, Reader, named, quiet

from ringsmith.errors import RingsmithError

LEAST = 20
"""Damaged inputs of a reader, however slow this machine is."""


_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def can_be_measured() -> bool:
    """Whether this system tells the peak since a moment: Linux does."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak_of(call: Callable[[], object]) -> int:
    """Bytes of memory that a call takes beyond what there was; 0 where no system tells it."""
    if not can_be_measured():
        call()
        return 0
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _CLEAR.write_text("5")  # the peak begins at what there is
    before = _kibibytes("VmRSS")
    call()
    return (_kibibytes("VmHWM") - before) << 10


def _kibibytes(entry: str) -> int:
    found = re.search(rf"{entry}:\s+(\d+) kB", _STATUS.read_text())
    assert found is not None
    return int(found[1])


def outcome(reader: Reader, data: bytes) -> str:
    """Returns ``read``, ``refused``, or the error that none should see with its trace's end."""
    try:
        reader.read(data)
    except RingsmithError as error:
        return "refused" if "\n" not in str(error) else f"several lines: {error!s:.200}"
    except Exception:
        return traceback.format_exc()[-800:]
    return "read"


def examined(reader: Reader, seed: int, seconds: float) -> dict[str, object]:
    """Reads good inputs, those made to take memory, and damaged ones for some seconds."""
    rng = np.random.default_rng([seed, zlib.crc32(reader.name.encode())])
    seeds = reader.seeds()
    counts: dict[str, int] = {"read": 0, "refused": 0}
    wrong: list[str] = []
    most: dict[str, object] = {"share": 0.0}

    def look(data: bytes, what: str) -> None:
        nonlocal most
        found: list[str] = []
        peak = peak_of(lambda: found.append(outcome(reader, data)))
        if found[0] in counts:
            counts[found[0]] += 1
        else:
            wrong.append(f"{what}: {found[0]}")
        share = peak / reader.bound(len(data))
        if share > most["share"]:  # type: ignore[operator]
            most = {"share": share, "input": what, "bytes": len(data), "peak": peak}

    for data in seeds:
        assert outcome(reader, data) in counts, reader.name  # imports, and tables made once
    inputs = reader.worst()
    gc.freeze()  # a collection before each input then looks at what was made since
    for i, data in enumerate(inputs):
        look(data, f"worst {i}")
    end, number = time.monotonic() + seconds, 0
    while number < LEAST or time.monotonic() < end:
        number += 1
        look(reader.mutate(seeds, rng), f"damaged {number}")
    return {"name": reader.name, **counts, "wrong": wrong[:5], "most": most}


def main() -> None:
    """Prints a line for each reader."""
    quiet()
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    for reader in map(named, sys.argv[3:]) if sys.argv[3:] else READERS:
        print(json.dumps(examined(reader, seed, seconds)), flush=True)


if __name__ == "__main__":
    main()
