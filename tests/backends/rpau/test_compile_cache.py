"""Executables that were compiled before are found again, and only those."""

import copy
import hashlib
import json
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.rpau.interpreted import switched

from ringsmith import _core
from ringsmith.backends.rpau.compiler import cache as compile_cache
from ringsmith.backends.rpau.compiler import compile as rpau_compile
from ringsmith.backends.rpau.compiler.cache import compile_cached
from ringsmith.backends.rpau.compiler.executable import read_executable
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.debug.waves import run_on_random_data
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters, KeyShape
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


# ---- Executables with one value changed: refused when read, or they run to their end -------------


WORK_POLYS = {"one run": 16, "runs in parts": 4}
CHANGES = 200
_MISSING = object()
_SIMPLE = (None, True, -1, 0, 7, 1 << 31, (1 << 64) - 1, 10**400, 1.5, "", "x", [], {}, [1])
_SHOWN = 9
"""Entries of a list that may be changed, and the last."""

Place = tuple[str | int, ...]


@pytest.fixture(scope="module", params=WORK_POLYS)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The file of a rotation with keys from seeds, as JSON values."""
    design = replace(
        load_design("nano"),
        name="small",
        log_n=10,
        rpaus=2,
        modulus_banks=2,
        prng="trivium",
        seeds=4,
        work_polys=WORK_POLYS[request.param],
        key_polys=8,
        larger_rings=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is encrypted
        parameters = CkksParameters.create(
            n=1024, prime_bits=(40, 40), special_bits=41, scale_bits=30, security=None
        )
    executable = compile_graph(lower_operation("rotate", parameters, 2), design).executable
    assert executable is not None
    found: dict[str, Any] = json.loads(executable.to_json())
    assert (found["content"]["runs"]["counts"][0] > 1) == (request.param == "runs in parts")
    return found


def test_every_field_that_is_missing_or_wrong_is_refused_or_harmless(
    document: dict[str, Any],
) -> None:
    outcomes = {"refused": 0, "ran": 0}
    for place in _places(document, shown=1):
        found = _at(document, place)
        near = (found + 1, found - 1) if isinstance(found, int) else ()
        for value in (_MISSING, *_SIMPLE, *near):
            outcomes[_outcome(document, place, value)] += 1
    assert min(outcomes.values()) > 0


def test_a_value_from_elsewhere_in_the_file_is_refused_or_harmless(
    document: dict[str, Any], rng: np.random.Generator
) -> None:
    """Such a value is likely to be nearly right."""
    places = [p for p in _places(document) if isinstance(_at(document, p), int | str)]
    outcomes = {"refused": 0, "ran": 0}
    for _ in range(CHANGES):
        place, other = (places[rng.integers(len(places))] for _ in range(2))
        outcomes[_outcome(document, place, _at(document, other))] += 1
    assert min(outcomes.values()) > 0


def test_the_seed_of_a_key_that_is_not_loaded_is_refused(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["content"]["runs"]["items"]["seeds"]["items"]["key"][0] = "another"
    with pytest.raises(ProgramError, match="the seed of a key, but no other part of the key"):
        read_executable(json.dumps(changed))


def _outcome(document: dict[str, Any], place: Place, value: object) -> str:
    """What becomes of the document with one value changed; nothing but what it says may happen."""
    changed = copy.deepcopy(document)
    owner, key = _at(changed, place[:-1]), place[-1]
    if value is _MISSING:
        del owner[key]
    else:
        owner[key] = value
    try:
        executable = read_executable(json.dumps(changed))
    except ProgramError:
        return "refused"
    try:
        Trace.of_executable(executable)
        Trace.of_model(executable)
        run_on_random_data(executable, ModelCoprocessor(executable.design))
    except (ProgramError, DeviceError):  # its cycles are wrong, or it reads what it never wrote
        return "refused"
    return "ran"


def _places(value: Any, place: Place = (), *, shown: int = _SHOWN) -> Iterator[Place]:  # noqa: ANN401
    """Where every value stands, of long lists the first ones and the last."""
    if place:
        yield place
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _places(entry, (*place, key), shown=shown)
    elif isinstance(value, list):
        for index in sorted({*range(min(len(value), shown)), len(value) - 1} - {-1}):
            yield from _places(value[index], (*place, index), shown=shown)


def _at(value: Any, place: Place) -> Any:  # noqa: ANN401 - JSON
    for key in place:
        value = value[key]
    return value
