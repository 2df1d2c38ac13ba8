"""The search: by doubling, as the Framework paper's Algorithm 2, or finer.

**Doubling** tries all combinations of doubled values, those that take least first. **Fine** goes on
from the front of these: it tries each point's neighbours, with one parameter at its next smaller or
larger value, powers of two or not, until every neighbour of the front was tried.

Cost functions decide which points are on the front. These are then asked for the model's cycles,
and the front is made anew, until each of its points has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ringsmith import progress
from ringsmith.backends.explorer import Parameter
from ringsmith.engines import Engine
from ringsmith.errors import ParameterError
from ringsmith.explore.evaluate import CAPACITY, Evaluator
from ringsmith.explore.points import Job, Record, Tried, Values, front
from ringsmith.explore.request import Request, explorer
from ringsmith.short_repr import short_repr

DOUBLING, FINE = "doubling", "fine"
SEARCHES = (DOUBLING, FINE)


@short_repr
@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        request: What was explored for.
        points: All points that were tried, each once.
        front: Those that nothing beats, the fastest first, with the model's cycles.
        fronts: Architecture -> the front of its own points, with the model's cycles.
        refused: Architecture -> why none of its designs can do it.
        left: Points of the search that the limit left out.
        host: Architecture -> operation -> milliseconds of a host, measured.
    """

    request: Request
    points: Sequence[Tried]
    front: Sequence[Tried]
    fronts: Mapping[str, Sequence[Tried]]
    refused: Mapping[str, str]
    left: int
    host: Mapping[str, Mapping[str, float]]

    @property
    def scarcest(self) -> str:
        """What the smallest design of each architecture misses most, in words; empty: designs fit.

        The smallest is the one that takes the fewest RAMs and LUTs of those that do not fit.
        """
        parts = [f"{name}: {reason}" for name, reason in self.refused.items()]
        for name in self.request.architectures:
            own = [each for each in self.points if each.architecture == name]
            if not own or any(each.feasible for each in own):
                continue
            sized = [each for each in own if each.usage is not None]
            if not sized:
                parts.append(f"{name}: no point is a design; the first: {own[0].reason}")
                continue
            least = min(sized, key=_size)
            parts.append(f"{name}: the smallest design, {least.name}, misses {least.reason}")
        return "; ".join(parts)


def _size(point: Tried) -> tuple[float, float]:
    assert point.usage is not None
    return point.usage.megabits + point.usage.luts / 1e3 + point.usage.dsps, point.usage.luts


@dataclass
class Search:
    """A search that runs.

    Attributes:
        evaluator: Knows the request.
        engine: Tries points.
        record: What was tried before, and is.
        kind: One of ``SEARCHES``.
        limit: Points to try at most, earlier runs' included; 0: no limit.
    """

    evaluator: Evaluator
    engine: Engine[Job, Tried]
    record: Record
    kind: str = DOUBLING
    limit: int = 0

    def __post_init__(self) -> None:
        if self.kind not in SEARCHES:
            raise ParameterError(f"no search {self.kind!r}: choose one of {', '.join(SEARCHES)}")
        if self.limit < 0:
            raise ParameterError(f"limit = {self.limit} is negative: give 0 for no limit")
        self._spaces: dict[str, tuple[Parameter, ...]] = {}
        self._known: dict[tuple[str, Values], Tried] = {}
        self._left = 0
        for each in self.record.points:
            self._learn(each)

    def run(self) -> Found:
        """Searches."""
        request, refused = self.evaluator.request, {}
        for name in request.architectures:
            try:
                self._spaces[name] = explorer(name).space(self.evaluator.task(name))
            except ParameterError as error:
                refused[name] = str(error)
        self._try([job for name, space in self._spaces.items() for job in _doubled(name, space)])
        if self.kind == FINE:
            while fresh := self._neighbours():
                self._try(fresh)
                if self._left:
                    break
        while rough := [each for own in self._fronts().values() for each in own if not each.exact]:
            self._try([Job(each.architecture, each.values, exact=True) for each in rough])
        return Found(
            request,
            [*self._known.values()],
            self._front(),
            self._fronts(),
            refused,
            self._left,
            self.record.host,
        )

    # ---- points ----------------------------------------------------------------------------------

    def _learn(self, found: Tried) -> None:
        before = self._known.get(found.key)
        if before is None or not before.exact:
            self._known[found.key] = found

    def _front(self) -> list[Tried]:
        return front(self._known.values())

    def _fronts(self) -> dict[str, list[Tried]]:
        points = [*self._known.values()]
        return {
            name: front(each for each in points if each.architecture == name)
            for name in self.evaluator.request.architectures
        }

    def _try(self, jobs: Sequence[Job]) -> None:
        """Tries what is not known yet, as far as the limit goes; exact cycles are always found."""
        fresh = [job for job in dict.fromkeys(jobs) if self._unknown(job)]
        new = [job for job in fresh if not job.exact]
        if self.limit:
            most = max(0, self.limit - len(self._known))
            self._left += max(0, len(new) - most)
            new = new[:most]
        asked = new + [job for job in fresh if job.exact]
        if not asked:
            return
        exact = all(job.exact for job in asked)
        what = "compiling the front's points" if exact else "trying design points"
        with progress.task(what, len(asked), "points") as task:
            for _, found in self.engine.run(asked):
                self._learn(found)
                self.record.add(found)
                task.advance()

    def _unknown(self, job: Job) -> bool:
        known = self._known.get(job.key)
        return known is None or (job.exact and known.feasible and not known.exact)

    def _neighbours(self) -> list[Job]:
        """The points next to the front's that were not tried."""
        found: list[Job] = []
        for each in self._front():
            space = self._spaces.get(each.architecture)
            if space is None:
                continue
            values = dict(each.values)
            for parameter in space:
                for value in _next_values(parameter, values[parameter.name]):
                    changed = {**values, parameter.name: value}
                    found.append(Job(each.architecture, tuple(changed.items())))
        return [job for job in dict.fromkeys(found) if self._unknown(job)]


def _next_values(parameter: Parameter, value: int | str) -> list[int | str]:
    """The values next to one; of a value that is none of them, the nearest."""
    values = list(parameter.values)
    if value not in values:
        return values[:1]
    at = values.index(value)
    return values[max(0, at - 1) : at] + values[at + 1 : at + 2]


def _doubled(architecture: str, space: Sequence[Parameter]) -> Iterator[Job]:
    """All points of the doubling search, in ascending order."""
    names = [parameter.name for parameter in space]
    for values in product(*(parameter.doubling for parameter in space)):
        yield Job(architecture, tuple(zip(names, values, strict=True)))


def infeasible(points: Sequence[Tried]) -> dict[str, int]:
    """Kind of reason -> how many points have it."""
    kinds = [each.kind for each in points if not each.feasible]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


__all__ = ["CAPACITY", "DOUBLING", "FINE", "SEARCHES", "Found", "Search", "infeasible"]
