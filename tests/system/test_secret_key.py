"""The secret key reaches no device, no file of a program and no module of the server.

The dynamic test runs the application with every byte that reaches a device, a program file or the
server recorded, and looks for the key in it; a control plants the key and must find it. The static
test follows imports from the server's modules.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "ringsmith"
SERVER_SIDE = ("apps.logreg.server", "runtime", "devices.model", "devices.rtl", "lower", "interop")
FORBIDDEN = ("client", "_core.secret")

Bytes = NDArray[np.uint8]


def contains_part_of(haystack: bytes, secret: bytes, words: int = 2) -> bool:
    """Whether any window of the secret, of ``words`` 8-byte words at any byte, is in the haystack.

    The haystack is looked at in windows at every multiple of 8 bytes, the secret in windows at
    every byte, so a copy at any alignment shows once it is one word longer than a window.
    Windows of one repeated byte (zeros) are no evidence and do not count.
    """
    size = 8 * words
    offered = _windows(haystack, size, step=8)
    wanted = _windows(secret, size, step=1)
    wanted = wanted[np.any(wanted != wanted[:, :1], axis=1)]
    hits = np.flatnonzero(np.isin(_digests(offered), _digests(wanted)))
    known = {row.tobytes() for row in wanted} if len(hits) else set()
    return any(offered[hit].tobytes() in known for hit in hits)


def _windows(data: bytes, size: int, step: int) -> Bytes:
    flat = np.frombuffer(data, dtype=np.uint8)
    if len(flat) < size:
        return np.empty((0, size), dtype=np.uint8)
    return np.lib.stride_tricks.sliding_window_view(flat, size)[::step]


def _digests(windows: Bytes) -> NDArray[np.uint64]:
    """One word for each window: equal windows, equal words."""
    words = np.ascontiguousarray(windows).view(np.uint64)
    factors = np.random.default_rng(1).integers(1, 1 << 63, words.shape[1], dtype=np.uint64) * 2 + 1
    return (words * factors).sum(axis=1, dtype=np.uint64)


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 1003])
@pytest.mark.parametrize("words", [2, 16])
def test_the_search_finds_a_planted_part_at_any_alignment(
    rng: np.random.Generator, offset: int, words: int
) -> None:
    haystack, secret = rng.bytes(4096), rng.bytes(1000)
    assert not contains_part_of(haystack, secret, words)
    part = secret[333 : 333 + 8 * words + 8]
    planted = haystack[:offset] + part + haystack[offset:]
    assert contains_part_of(planted, secret, words)


def imported_modules(source: str) -> Iterator[str]:
    """Dotted names below ``ringsmith`` that a source imports or reaches in the compiled core."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr == "secret":
            yield "ringsmith._core.secret"


def file_of(module: str) -> Path | None:
    """The source of a module below ``ringsmith``, None for a name inside one or compiled code."""
    path = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def reached_from(start: str) -> set[str]:
    """Names below ``ringsmith`` that a module imports at any depth, packages on the way included."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for module in (".".join(parts[:length]) for length in range(len(parts) + 1)):
            if module in reached:
                continue
            reached.add(module)
            path = file_of(module)
            names = imported_modules(path.read_text()) if path else ()
            waiting += [n.removeprefix("ringsmith.") for n in names if n.startswith("ringsmith.")]
    return reached


@pytest.mark.parametrize("module", SERVER_SIDE)
def test_no_import_leads_from_the_server_side_to_the_secret_key(module: str) -> None:
    assert file_of(module), f"{module} does not exist"
    assert not reached_from(module) & set(FORBIDDEN)


def test_the_import_search_sees_what_the_client_side_reaches() -> None:
    assert set(FORBIDDEN) <= reached_from("apps.logreg.client")
