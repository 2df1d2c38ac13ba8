"""Batches of products: when each flows through the core, and what they are by ``core``."""

import numpy as np
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.backends.stream.design import generator, package
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.isa.descriptor import Descriptor, descriptor, prime_error
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.graph.types import Form

Words = NDArray[np.uint64]

_STEADY = 24
"""Frames from which on one follows another every period: ``generator.slots`` chooses so."""


def batch_schedule(design: StreamDesign, count: int) -> generator.Schedule:
    """When an idle core takes the descriptors of a batch, and when its frames begin to flow.

    All is offered at once, from cycle 0 on. The beginning is simulated, from there on descriptors
    and frames follow each other every period.
    """
    found = generator.schedule(design.cfg, design.slots, [0] * min(count, _STEADY))
    later = range(1, count - len(found.started) + 1)
    return generator.Schedule(
        found.accepted + [found.accepted[-1] + i * design.period for i in later],
        found.started + [found.started[-1] + i * design.period for i in later],
    )


def batch_cycles(design: StreamDesign, count: int) -> int:
    """From the cycle in which the first descriptor is offered to the last word of a batch."""
    if count == 0:
        return 0
    started = batch_schedule(design, count).started
    delay = package.core_cycles(design.cfg)
    return started[-1] + delay + design.period


@cached
def own_descriptor(prime: int, design: StreamDesign) -> Descriptor:
    """The descriptor of products modulo a prime, with the smallest root of unity.

    Raises:
        ParameterError: If the design does not take the prime; says why.
    """
    error = prime_error(prime, design)
    if error:
        raise ParameterError(error)
    return descriptor(prime, _core.smallest_root(prime, design.n), design)


class CoreProducts:
    """Products of two polynomials modulo x^N + 1 and a prime, by core's interpreter.

    Args:
        n: Ring degree N.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._interpreters: dict[int, _core.Graph] = {}

    def product(self, prime: int, a: Words, b: Words) -> Words:
        """The product of two polynomials (N,), canonical and in natural order.

        Args:
            prime: 1 modulo 2N.
            a: The first.
            b: The second.
        """
        if prime not in self._interpreters:
            self._interpreters[prime] = self._interpreter(prime)
        operands = {"a": a.reshape(1, -1), "b": b.reshape(1, -1)}
        product: Words
        [product] = self._interpreters[prime].run(operands, {})["product"]
        return product

    def _interpreter(self, prime: int) -> _core.Graph:
        graph = SubroutineGraph(self._n, (prime,), (_core.smallest_root(prime, self._n),), ())
        a, b = (graph.ntt(graph.input(name, [0], Form.COEFF)) for name in "ab")
        graph.output(graph.intt(graph.mul(a, b)), "product")
        return graph.to_core()
