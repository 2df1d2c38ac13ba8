"""The functions of the C++ core, which programs on the ``cpu`` device are made of."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ringsmith import _core
from ringsmith._core import bfv
from ringsmith.bench.cpu.operands import Operands
from ringsmith.bench.cpu.sets import HOISTED, PRODUCT, BenchSet
from ringsmith.bench.cpu.timing import Timed, timed
from ringsmith.objects import Residues

Work = Callable[[], list[Residues]]
"""Computes once, and hands the ciphertexts out."""


def works(operands: Operands) -> dict[str, Work]:
    """What ``ours.works`` computes, to the bit, by calls of one to three functions."""
    one: dict[str, Callable[[], Residues]]
    many: Work
    a, b, key = operands.a, operands.b, operands.relin
    rotation = (operands.elements[0], operands.galois[0])
    rotations = (operands.elements, operands.galois)
    context = operands.context
    if operands.item.plain_modulus:
        scheme = _scheme(operands.item, context)
        one = {
            "multiply_relinearize": lambda: bfv.relinearize(
                scheme, bfv.multiply(scheme, a, b), key
            ),
            "rotate": lambda: bfv.apply_galois(scheme, a, *rotation),
            "add": lambda: _core.add(context, a, b),
        }
        many = partial(bfv.apply_galois_many, scheme, a, *rotations)
    else:
        one = {
            "multiply_relinearize": lambda: _core.relinearize(
                context, _core.multiply(context, a, b), key
            ),
            "rotate": lambda: _core.apply_galois(context, a, *rotation),
            "rescale": lambda: _core.rescale(context, a),
            "multiply": lambda: _core.multiply(context, a, b),
            "multiply_plain": lambda: _core.multiply_plain(context, a, operands.plain),
            "add": lambda: _core.add(context, a, b),
            PRODUCT: lambda: _core.rescale(
                context, _core.relinearize(context, _core.multiply(context, a, b), key)
            ),
        }
        many = partial(_core.apply_galois_many, context, a, *rotations)
    listed: dict[str, Work] = {name: partial(_listed, work) for name, work in one.items()}
    return listed | {HOISTED: many}


def _listed(work: Callable[[], Residues]) -> list[Residues]:
    return [work()]


def _scheme(item: BenchSet, context: _core.Context) -> _core.BfvContext:
    extension = bfv.behz_extension_primes(item.n, context.primes, item.plain_modulus)
    return _core.BfvContext(context, item.plain_modulus, extension)


def transforms(n: int, q: int) -> dict[str, Timed]:
    """Both transforms of one limb, in place."""
    tables = _core.Ntt(n, q, _core.smallest_root(q, n))
    limb = np.random.default_rng(0).integers(0, q, n, dtype=np.uint64)
    return {
        "ntt": timed(partial(tables.forward, limb)),
        "intt": timed(partial(tables.inverse, limb)),
    }
