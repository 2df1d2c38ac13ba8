"""``ringsmith bench cpu``: the ``cpu`` device compared with other libraries, interleaved.

All on one thread, but for what compares numbers of threads.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import numpy as np

from bench.cpu import baselines, ours
from bench.cpu.floor import Work, floor_seconds, operation_work, transform_work
from bench.cpu.sets import HOISTED, HOISTED_COUNT, SETS, Operands
from bench.cpu.timing import Timed, interleaved, timed
from bench.measure import one_thread
from bench.record import Record, machine_state
from bench.run import Run
from ringsmith import _core
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.registry import REFERENCE
from ringsmith.errors import ParameterError, ToolError
from ringsmith.progress import task

_CPU_TIME = "one thread, CPU time"
_PROGRAMS = f"programs run by Compiled.run, {_CPU_TIME}"
"""The clock, where ours are programs; transforms are functions of the core."""


def conditions(clock: str) -> str:
    """Returns how a time was taken, and the machine."""
    return f"{clock}, medians of interleaved rounds, {machine_state()}"


# ---- parts -------------------------------------------------------------------------------------


def transforms(run: Run) -> Iterator[Record]:
    """Bare transforms of one limb, of several ring degrees and widths, compared with tfhe-ntt."""
    if (missing := baselines.tfhe_missing()) is not None:
        run.say(missing)
        return
    with one_thread():
        for bits in run["bits"]:
            for log_n in run["log_degrees"]:
                n = 1 << log_n
                [q] = _core.prime_search(bits, n, 1)
                tables = _core.Ntt(n, q, _core.smallest_root(q, n))
                limb = np.random.default_rng(0).integers(0, q, n, dtype=np.uint64)
                mine = {
                    "ntt": timed(partial(tables.forward, limb)),
                    "intt": timed(partial(tables.inverse, limb)),
                }
                theirs = {baselines.TFHE: baselines.tfhe_transforms(n, q)}
                works = dict.fromkeys(mine, transform_work(n, bits))
                params = f"N=2^{log_n}, {bits} bits"
                yield from _compare(params, mine, theirs, run["budget"], works)


def operations(run: Run) -> Iterator[Record]:
    """Single operations of parameter sets, compared with SEAL and Lattigo, and forms of keys."""
    for name in run["sets"]:
        if name not in SETS:
            raise ParameterError(f"no set is called {name}: choose from {', '.join(SETS)}")
    missing = seal_missing(), baselines.lattigo_missing()
    for line in filter(None, missing):
        run.say(line)
    with one_thread():
        for name in run["sets"]:
            run.say(f"set {name}: {SETS[name].text}")
            yield from _operations(name, run["budget"], missing)
            yield from _key_forms(name, run["budget"])


def _operations(
    name: str, budget: float, missing: tuple[str | None, str | None]
) -> Iterator[Record]:
    item = SETS[name]
    operands = Operands.of(item, HOISTED_COUNT)
    mine = {operation: timed(work) for operation, work in ours.works(operands).items()}
    works = {operation: operation_work(item, operation) for operation in mine}
    theirs: dict[str, Mapping[str, Timed]] = {
        f"{HOISTED_COUNT} of ours, one by one": {HOISTED: timed(ours.singles(operands))}
    }
    if missing[0] is None:
        theirs[baselines.seal_name()] = baselines.seal_operations(item)
    with ExitStack() as children:
        if missing[1] is None:
            theirs[baselines.LATTIGO] = children.enter_context(baselines.lattigo_operations(item))
        yield from _compare(name, mine, theirs, budget, works, _PROGRAMS)


def _key_forms(name: str, budget: float) -> Iterator[Record]:
    """Compares other forms of a key with the precomputed one: time and memory."""
    baseline = "ours, precomputed key"
    for forms in ours.key_forms(SETS[name]):
        what = forms.operation
        works = {what: operation_work(SETS[name], what)}
        theirs = {baseline: {what: forms.precomputed}}
        yield from _compare(name, {what: forms.other}, theirs, budget, works, _PROGRAMS)
        text = conditions(_PROGRAMS)
        for metric, value in (
            ("key_bytes", forms.other_bytes),
            ("baseline_key_bytes", forms.precomputed_bytes),
        ):
            yield Record(REFERENCE, name, what, metric, value, REFERENCE, text, baseline)


def threads(run: Run) -> Iterator[Record]:
    """As many threads as are set, and fewer, compared with one, by wall-clock time.

    Raises ToolError if the words depend on the number of threads.
    """
    most = _core.threads()
    if most == 1:
        run.say("threads are left out: this process may use one processor (or --threads is 1)")
        return
    try:
        for params in run["sets"]:
            works = ours.works(Operands.of(SETS[params]))
            for operation in ("multiply_relinearize", "rotate"):
                one, *more = checked(works[operation], most, f"{params}: {operation}").items()
                for count, several in more:
                    name = f"{operation}, {count} threads"
                    theirs = {"ours, one thread": {name: one[1]}}
                    mine, clock = {name: several}, "wall-clock time"
                    yield from _compare(params, mine, theirs, run["budget"], {}, clock)
    finally:
        _core.set_threads(most)


def counts(most: int) -> list[int]:
    """Returns powers of two below ``most``, and ``most``.

    >>> counts(1), counts(2), counts(12)
    ([1], [1, 2], [1, 2, 4, 8, 12])
    """
    return [*(1 << k for k in range((most - 1).bit_length())), most]


def checked(work: ours.Work, most: int, what: str) -> dict[int, Timed]:
    """Returns the work by number of threads, timed by the wall's clock.

    Raises ToolError if the words depend on the number of threads.
    """
    _core.set_threads(1)
    expected = work()
    for count in counts(most)[1:]:
        _core.set_threads(count)
        if not all(map(np.array_equal, work(), expected)):
            raise ToolError(f"{what} has other words with {count} threads than with one")
    return {count: partial(_wall_seconds, work, count) for count in counts(most)}


def _wall_seconds(work: ours.Work, count: int) -> float:
    _core.set_threads(count)
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


# ---- comparison --------------------------------------------------------------------------------


def _compare(
    params: str,
    mine: Mapping[str, Timed],
    theirs: Mapping[str, Mapping[str, Timed]],
    budget: float,
    works: Mapping[str, Work],
    clock: str = _CPU_TIME,
) -> Iterator[Record]:
    """Records of every operation and baseline; with a roofline bound where the work is known."""
    text = conditions(clock)
    with task(f"measuring {params}", len(mine), "operations") as measured:
        for operation, work in mine.items():
            there = {
                name: baseline[operation]
                for name, baseline in theirs.items()
                if operation in baseline
            }
            compared = interleaved(work, there, budget) if there else {}
            for baseline, found in compared.items():
                values: Sequence[tuple[str, float]] = [
                    ("speedup", found.speedup),
                    ("milliseconds", found.seconds * 1e3),
                    ("baseline_milliseconds", found.baseline_seconds * 1e3),
                ]
                if operation in works:
                    bound = floor_seconds(works[operation]) * 1e3
                    values = [*values, ("floor_milliseconds", bound)]
                for metric, value in values:
                    what = (REFERENCE, params, operation, metric, value)
                    yield Record(*what, REFERENCE, text, baseline)
            measured.advance()
