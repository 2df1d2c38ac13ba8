"""The crate ``tfhe-ntt``, built by cargo: bare transforms."""

import ctypes
from functools import partial
from pathlib import Path

import numpy as np

from ringsmith.bench.cpu.native_build import build, why_missing
from ringsmith.bench.cpu.timing import Timed, timed

VERSION = "tfhe-ntt 0.7.1"
"""The crate and its version."""


def missing() -> str | None:
    """Says why the crate is left out; None: it can be measured. Builds it at the first call."""
    return why_missing("tfhe-ntt", "cargo", _product)


def _product() -> Path:
    return build(
        "tfhe_ntt", ["cargo", "build", "--release", "--quiet"], "target/release/libpeer_ntt.so"
    )


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_product()))
    for bits in (32, 64):
        getattr(library, f"plan_{bits}").restype = ctypes.c_void_p
    return library


def transforms(n: int, q: int) -> dict[str, Timed]:
    """Both transforms of one limb in place, in the narrowest words that the crate has.

    Raises:
        ToolError: When cargo cannot build the crate.
    """
    library = _library()
    bits = 32 if q < 1 << 32 else 64
    word = ctypes.c_uint32 if bits == 32 else ctypes.c_uint64
    plan = ctypes.c_void_p(getattr(library, f"plan_{bits}")(ctypes.c_size_t(n), word(q)))
    if not plan.value:
        return {}
    limb = np.random.default_rng(0).integers(0, q, n, dtype=np.uint64)
    limb = limb.astype(np.uint32 if bits == 32 else np.uint64)
    pointer = ctypes.c_void_p(limb.ctypes.data)
    arguments = (plan, pointer, ctypes.c_size_t(n))

    def run(name: str, keep: object) -> object:
        return getattr(library, f"{name}_{bits}")(*arguments), keep

    return {
        "ntt": timed(partial(run, "forward", limb)),
        "intt": timed(partial(run, "inverse", limb)),
    }
