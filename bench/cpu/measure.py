"""``ringsmith bench cpu``: the ``cpu`` device compared with other libraries, interleaved.

All on one thread, but for what compares numbers of threads.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.cpu import baselines, ours
from bench.cpu.sets import (
    EXPANDED,
    HOISTED,
    HOISTED_COUNT,
    PRODUCT,
    SETS,
    WORDS,
    BenchSet,
    Operands,
)
from bench.cpu.timing import Timed, interleaved, timed
from bench.measure import one_thread
from bench.record import Record, machine_state
from bench.run import Run
from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.apps.seal_baseline import seal_missing
from ringsmith.backends.registry import REFERENCE
from ringsmith.caching import cached
from ringsmith.errors import ParameterError, ToolError
from ringsmith.progress import task

_CPU_TIME = "one thread, CPU time"
_PROGRAMS = f"programs run by Compiled.run, {_CPU_TIME}"
"""The clock, where ours are programs; transforms are functions of the core."""


def conditions(clock: str) -> str:
    """Returns how a time was taken, and the machine."""
    return f"{clock}, medians of interleaved rounds, {machine_state()}"


# ---- roofline bounds of times: butterflies or bytes at the machine's peak ------------------------


WORD = 8
"""Bytes of a residue."""


@dataclass(frozen=True)
class Work:
    """What an operation cannot do without.

    Attributes:
        n: Ring degree.
        transforms: Transforms of one limb, by the bits of its prime.
        size: Bytes of operands, keys and results.
    """

    n: int
    transforms: tuple[tuple[int, float], ...]
    size: int


def floor_seconds(work: Work) -> float:
    """Returns the larger of two times: for the butterflies' multiplications, and for the bytes.

    The multiplications follow each other without a pause; the bytes are read. Both rates are
    measured here, the latter on an array of about that size: what fits a cache is read from it.
    """
    butterflies = work.n // 2 * (work.n.bit_length() - 1)
    multiplications = sum(
        count * butterflies * _multiplications(bits) for bits, count in work.transforms
    )
    return max(
        multiplications / _core.multiplication_lanes() * _multiplication_seconds(),
        work.size / _bandwidth(max(20, work.size.bit_length())),
    )


def _multiplications(bits: int) -> int:
    """Multiplications in a butterfly's product with a constant.

    Of words, by Shoup: a high and two low ones. Of doubles, four: the quotient's, the product's two
    parts and the multiple of the prime. Of 32-bit halves nine: a high product takes three, if its
    lowest part is left out, and a low one three. Or six, modulo a prime little below a power of
    two, as those of all sets are: four for the product and two to reduce it. With AVX2 words of 32
    bits are multiplied by Shoup, low products in twice as many lanes: as much time as two.
    """
    kernel = _core.kernel_name()
    if kernel == "avx2" and bits <= 31:
        return 2
    if kernel == "scalar" or (kernel == "avx512ifma" and bits <= 50):
        return 3
    if bits <= 50:
        return 4
    return 6 if kernel == "avx2" else 9


@cached
def _multiplication_seconds() -> float:
    return min(_core.multiplication_seconds() for _ in range(20))


@cached
def _bandwidth(bits: int) -> float:
    """Bytes a second out of an array of 2^(bits - 1) bytes, at most 1 GiB."""
    words = np.ones((1 << min(bits - 1, 30)) // WORD, dtype=np.uint64)
    _core.read_seconds(words, in_turn=False)
    times = (_core.read_seconds(words, in_turn) for in_turn in (False, True) for _ in range(5))
    return words.nbytes / min(times)


@cached
def _precomputed_bytes(bits: int) -> int:
    """Bytes of a residue in a precomputed key, modulo a prime of these bits."""
    n = 4096
    context = _core.Context(n, _core.prime_search(bits, n, 2))
    key = np.zeros((1, 2, 2, n), dtype=np.uint64)
    return _core.PrecomputedKey(context, key).nbytes // key.size  # what is between limbs is less


def transform_work(n: int, bits: int) -> Work:
    """One transform of one limb in place."""
    return Work(n, ((bits, 1),), WORD * n)


def operation_work(item: BenchSet, operation: str) -> Work:
    """What one operation of a set needs at the highest level; names are those of ``ours``."""
    limbs = len(item.data_bits)
    polynomial = WORD * item.n * limbs
    digits = item.dnum or limbs
    bits = (*item.data_bits, *item.special_bits)
    key = item.n * 2 * digits * sum(map(_precomputed_bytes, bits))
    words = WORD * item.n * 2 * digits * len(bits)
    sizes = {
        "multiply_relinearize": key + 6 * polynomial,
        WORDS: words + 6 * polynomial,
        EXPANDED: words // 2 + 6 * polynomial,
        "rotate": key + 4 * polynomial,
        HOISTED: HOISTED_COUNT * key + (2 + 2 * HOISTED_COUNT) * polynomial,
        PRODUCT: key + 6 * polynomial - 2 * WORD * item.n,
        "rescale": 4 * polynomial - 2 * WORD * item.n,
        "multiply": 7 * polynomial,
        "multiply_plain": 5 * polynomial,
        "add": 6 * polynomial,
    }
    return Work(item.n, tuple(_transforms(item, operation, digits)), sizes[operation])


def _transforms(item: BenchSet, operation: str, digits: int) -> Iterator[tuple[int, float]]:
    """Transforms by bits."""
    ntt_form = not item.plain_modulus
    if operation in ("rescale", PRODUCT):
        yield from ((bits, 2) for bits in item.data_bits)
    products = ("multiply_relinearize", WORDS, EXPANDED, PRODUCT)
    if operation not in (*products, "rotate", HOISTED):
        return
    switches = HOISTED_COUNT if operation == HOISTED else 1
    # In NTT form a limb is taken back once and has no transform in its own digit; ModDown takes one
    # transform a half of every limb, whichever the form.
    yield from ((bits, digits + 2 * switches) for bits in item.data_bits)
    yield from ((bits, digits + 2 * switches) for bits in item.special_bits)
    if operation in products and not ntt_form:
        extension = bfv.behz_extension_primes(
            item.n, item.primes[: len(item.data_bits)], item.plain_modulus
        )
        yield from ((bits, 7) for bits in item.data_bits)  # four polynomials there, three back
        yield from ((q.bit_length(), 7) for q in extension)


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
