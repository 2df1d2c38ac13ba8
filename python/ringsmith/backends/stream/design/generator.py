"""The twiddle factor generator's schedule, cycle by cycle, as ``rs_stream_generator`` keeps it.

The RPM paper's generator has H handlers over w shared multipliers and sorts what comes out of them
in H buffers (section 4.3). Here the twiddle memories take each group of factors by its number, so
that nothing has to be sorted; the handlers are the slots.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ringsmith.backends.stream.design.package import StreamCfg, generator_loop, log_ring
from ringsmith.caching import cached

_FRAMES = 24
"""Frames after which a schedule without data repeats itself."""

_MOST_SLOTS = 16


@dataclass
class _Slot:
    """A frame in the generator: groups granted, groups that may be, groups finished."""

    granted: int = 0
    limit: int = 1
    finished: int = 0


@dataclass(frozen=True)
class Schedule:
    """Cycles in which frames' descriptors are taken, and in which frames begin to flow."""

    accepted: list[int]
    started: list[int]


def limit_behind(finished: int, ring: int, period: int) -> int:
    """Groups that may be granted once ``finished`` groups of a frame have come out."""
    if finished < 1:
        return 1
    if finished >= ring:
        return min(finished + ring, period)
    return min(2 << (finished.bit_length() - 1), period)


def schedule(cfg: StreamCfg, slots: int, wanted: Iterable[int]) -> Schedule:
    """When frames begin to flow, descriptors being offered from cycle 0 on.

    Args:
        cfg: What the design's latencies depend on.
        slots: Frames that the generator works on at once.
        wanted: For each frame, the first cycle in which its data are there.
    """
    period, ring = 1 << (cfg.log_n - cfg.log_lanes), 1 << log_ring(cfg)
    loop = generator_loop(cfg)
    earliest = list(wanted)
    accepted: list[int] = []
    started: list[int] = []
    occupied: dict[int, _Slot] = {}  # frame -> its slot
    results: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    cycle = 0
    while len(started) < len(earliest):
        for frame, finished in results.pop(cycle, []):
            occupied[frame].finished = finished
            occupied[frame].limit = limit_behind(finished, ring, period)
        able = [
            frame for frame in sorted(occupied) if occupied[frame].granted < occupied[frame].limit
        ]
        starts = [frame for frame in able if occupied[frame].granted < ring]
        if able:
            frame = (starts or able)[0]
            occupied[frame].granted += 1
            results[cycle + loop].append((frame, occupied[frame].granted))
        free = len(accepted) < len(earliest) and len(occupied) < slots
        frame = len(started)
        if (
            frame in occupied
            and occupied[frame].finished == period
            and cycle >= earliest[frame]
            and (not started or cycle >= started[-1] + period)
        ):
            started.append(cycle)
            del occupied[frame]
        if free:
            occupied[len(accepted)] = _Slot()
            accepted.append(cycle)
        cycle += 1
    return Schedule(accepted, started)


@cached
def slots(cfg: StreamCfg) -> int:
    """The fewest slots with which frames follow each other every N / lanes cycles."""
    period = 1 << (cfg.log_n - cfg.log_lanes)
    for count in range(2, _MOST_SLOTS):
        started = schedule(cfg, count, [0] * _FRAMES).started
        if started[-1] - started[_FRAMES // 2] == (_FRAMES - 1 - _FRAMES // 2) * period:
            return count
    raise AssertionError(f"{_MOST_SLOTS} slots leave pauses at N = 2^{cfg.log_n}")
