"""Executables that were compiled before are found again, and only those."""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.backends.rpau.interpreted import switched

from ringsmith import _core
from ringsmith.backends.rpau.compiler import cache as compile_cache
from ringsmith.backends.rpau.compiler import compile as rpau_compile
from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.graph import SubroutineGraph
from ringsmith.params import KeyShape
from ringsmith.progress import Task, reported_to
from ringsmith.runtime import compile_graph

DESIGN = replace(
    load_design("nano"),
    name="small",
    log_n=8,
    rpaus=3,
    cores=2,
    dyadic_cores=2,
    prng="trivium",
    seeds=4,
)


def program(terms: int = 1) -> SubroutineGraph:
    """A key switching, and some additions."""
    primes = tuple(q for bits in (46, 41, 48) for q in _core.prime_search(bits, DESIGN.n, 1))
    roots = tuple(_core.smallest_root(q, DESIGN.n) for q in primes)
    graph = SubroutineGraph(DESIGN.n, primes, roots, (2,), {"relin": KeyShape(2)})
    x = graph.input("x", (0, 1))
    total, _ = switched(graph, x, "relin")
    for _ in range(terms):
        total = graph.add(total, x)
    graph.output(total, "y")
    return graph


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[RpauDesign, int]]:
    """An empty cache; what has been compiled since, rather than found."""
    calls: list[tuple[RpauDesign, int]] = []
    real = rpau_compile.compile_graph

    def counted(graph: SubroutineGraph, design: RpauDesign, seeded: object = None) -> object:
        calls.append((design, len(graph.nodes)))
        return real(graph, design, seeded)

    monkeypatch.setattr(rpau_compile, "compile_graph", counted)
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    monkeypatch.delenv(compile_cache.SWITCH, raising=False)
    return calls


def kept(tmp_path: Path) -> list[Path]:
    """The files of the cache."""
    return sorted((tmp_path / compile_cache.FOLDER).iterdir())


def test_what_was_compiled_before_is_found_and_is_the_same(compiled: list[object]) -> None:
    first = compile_cached(program(), DESIGN)
    assert compile_cached(program(), DESIGN) == first
    assert compile_graph(program(), DESIGN).executable == first
    assert len(compiled) == 1


def test_another_graph_design_or_choice_of_seeded_keys_is_compiled(compiled: list[object]) -> None:
    compile_cached(program(), DESIGN)
    for number, again in enumerate(
        (
            lambda: compile_cached(program(2), DESIGN),
            lambda: compile_cached(program(), replace(DESIGN, work_polys=DESIGN.work_polys - 1)),
            lambda: compile_cached(program(), DESIGN, ()),
        )
    ):
        executable = again()
        assert again() == executable
        assert len(compiled) == 2 + number
    compile_cached(program(), DESIGN, ["relin", "of another program"])  # all that there are
    assert len(compiled) == 4


def test_another_scheduler_compiles_anew(
    compiled: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compile_cached(program(), DESIGN)
    changed = tmp_path / "scheduler.so"
    changed.write_bytes(Path(compile_cache._scheduler.__file__).read_bytes() + b"\0")
    monkeypatch.setattr(compile_cache._scheduler, "__file__", str(changed))
    compile_cache._compiler.cache_clear()
    try:
        compile_cached(program(), DESIGN)
    finally:
        compile_cache._compiler.cache_clear()
    assert len(compiled) == 2


def damaged(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """A change of what is packed, with the digest of what comes out of it."""

    def changed(content: bytes) -> bytes:
        packed = change(content[32:])
        return hashlib.sha256(packed).digest() + packed

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        damaged(lambda packed: packed[: len(packed) // 2]),
        damaged(lambda packed: zlib.compress(b"{}")),
        damaged(lambda packed: zlib.compress(b"\xff")),
        damaged(lambda packed: zlib.compress(zlib.decompress(packed).replace(b"small", b"other"))),
    ],
    ids=["empty", "short", "flipped", "half", "no executable", "no text", "of another design"],
)
def test_a_damaged_file_is_compiled_anew_and_replaced(
    compiled: list[object], tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    first = compile_cached(program(), DESIGN)
    (path,) = kept(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert compile_cached(program(), DESIGN) == first
    assert len(compiled) == 2
    assert kept(tmp_path) == [path]
    assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    compiled: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "file" / "cache"))
    assert compile_cached(program(), DESIGN) == compile_cached(program(), DESIGN)
    assert len(compiled) == 2


def test_the_switch_turns_the_cache_off(
    compiled: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(compile_cache.SWITCH, "off")
    compile_cached(program(), DESIGN)
    compile_cached(program(), DESIGN)
    assert len(compiled) == 2
    assert not (tmp_path / compile_cache.FOLDER).exists()


def test_what_was_not_used_for_longest_is_removed_first(
    compiled: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compile_cached(program(1), DESIGN)
    compile_cached(program(2), DESIGN)
    size = max(path.stat().st_size for path in kept(tmp_path))
    compile_cached(program(1), DESIGN)  # used again: program(2) is the oldest now
    monkeypatch.setattr(compile_cache, "MAX_BYTES", 2 * size + size // 2)
    compile_cached(program(3), DESIGN)
    assert len(kept(tmp_path)) == 2
    compile_cached(program(1), DESIGN)
    assert len(compiled) == 3
    compile_cached(program(2), DESIGN)
    assert len(compiled) == 4


def test_scheduling_says_how_far_it_is(compiled: list[object]) -> None:
    class Watched:
        def __init__(self) -> None:
            self.seen: list[tuple[str, int, int | None]] = []

        def started(self, task: Task) -> None:
            self.seen.append((task.what, task.done, task.total))

        moved = ended = started

    watched = Watched()
    with reported_to(watched):
        compile_cached(program(), DESIGN)
    titles, done, totals = zip(*watched.seen, strict=True)
    assert set(titles) == {"scheduling for small"}
    assert list(done) == sorted(done)
    assert done[0] == 0
    assert set(totals) == {done[-1]}
    assert done[-1] > 0
