"""Writes tasks: values, results, transforms, and sums of products."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar, cast

from ringsmith.backends.vector.compiler.quotients import quotient
from ringsmith.backends.vector.compiler.tasks import (
    Action,
    PointTask,
    ResultTask,
    Step,
    Task,
    TransformTask,
    Turn,
    Value,
)
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import Constant, Limb

Item = TypeVar("Item")


class TaskWriter:
    """Tasks as they are written, in order.

    ``origin`` is the HE node that the next ones are of, ``step`` where in a phase they are.

    Args:
        moduli: The moduli that words have, the graph's primes first.
        primes: How many of them are the graph's.
        design: The design.
        together: Limbs of a transform that hide the latency of its passes.
    """

    def __init__(
        self, moduli: Sequence[int], primes: int, design: VectorDesign, together: int
    ) -> None:
        self.moduli, self.design, self._primes, self._together = moduli, design, primes, together
        self.tasks: list[Task] = []
        self.origin = -1
        self.step: Step | None = None
        self._values = 0

    def cluster(self, prime: int) -> int:
        """Returns the cluster that computes modulo a prime."""
        group = min(prime, self._primes) // self.design.results
        return group % self.design.clusters

    def value(self, prime: int, memory: Limb | None = None) -> Value:
        """Returns a new value modulo a prime."""
        self._values += 1
        return Value(self._values - 1, prime, memory)

    def do(self, prime: int, action: Action) -> None:
        """Writes a task for the cluster of a prime."""
        self.tasks.append(Task(self.cluster(prime), action, self.origin, self.step))

    def inverse_of(self, number: int, prime: int) -> int:
        """Returns the inverse of a number modulo a prime."""
        return pow(number, -1, self.moduli[prime])

    def result(
        self,
        prime: int,
        y: Value | Limb | int,
        z: Value | int | None = None,
        subtract: bool = False,
    ) -> ResultTask:
        """One result: x*y + z, or x*y - z; whole numbers are constants."""
        q = self.moduli[prime]
        factor = Constant(y * self.design.factor(q) % q) if isinstance(y, int) else y
        other = Constant(z % q) if isinstance(z, int) else z
        return ResultTask(prime, factor, other, subtract, self.value(prime))

    def point(self, x: Value, *results: ResultTask) -> list[Value]:
        """Writes a point task, and returns its results."""
        self.do(results[0].prime, PointTask(x, results))
        return [each.target for each in results]

    def transform(self, turns: Sequence[Turn], inverse: bool) -> None:
        """Transforms, cluster by cluster, as many at once as hide the latency of a pass."""
        for cluster in range(self.design.clusters):
            own = [turn for turn in turns if self.cluster(turn.prime) == cluster]
            for part in parts(own, self._together):
                self.do(part[0].prime, TransformTask(inverse, tuple(part)))

    def sums(
        self,
        words: Sequence[Value],
        targets: Sequence[int],
        factors: Sequence[Sequence[int]],
        firsts: Sequence[Value | int],
    ) -> list[Value]:
        """Sums of words times factors, modulo several primes at once.

        Args:
            words: The words, one a term.
            targets: Indices of the primes.
            factors: For each prime those of the words.
            firsts: For each prime what the sum begins with.
        """
        sums: list[Value | int | None] = [first or None for first in firsts]
        size = self.design.results
        for begin in range(0, len(targets), size):
            some = range(begin, min(begin + size, len(targets)))
            for term, word in enumerate(words):
                results = [self.result(targets[i], factors[i][term], sums[i]) for i in some]
                sums[begin : begin + size] = self.point(word, *results)
        return cast(list[Value], sums)

    def quotient(self, words: Sequence[Value], fractions: Sequence[int]) -> list[Value]:
        """Words whose sum is floor((sum of words * fractions + 2^88) / 2^89)."""
        mosts = [self.moduli[word.prime] - 1 for word in words]
        plan, items = quotient(mosts, fractions, self.design.word_bits), [*words]
        odd = self._primes  # 2^W - 1
        rest: Value | None = None
        for step in plan.steps:
            power, division = 1 << step.bits, self.inverse_of(1 << step.bits, odd)
            terms = [(items[item], factor) for item, factor in step.terms]
            if step.after_rest:
                terms.append((cast(Value, rest), 1))
            factors = [factor for _, factor in terms]
            rest, divided = self.sums(
                [word for word, _ in terms],
                [self.moduli.index(power), odd],
                [factors, [factor * division for factor in factors]],
                [step.first, step.first * division],
            )
            items += self.point(rest, self.result(odd, -division, divided))
        return [items[part] for part in plan.parts]


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Items in about equal parts of at least ``size``; all in one part if they are fewer."""
    count = max(1, len(items) // size)
    cuts = [len(items) * i // count for i in range(count + 1)]
    return [items[a:b] for a, b in pairwise(cuts) if b > a]
