"""Cycles of the main HE operations on a design."""

import warnings
from collections.abc import Mapping
from types import MappingProxyType

from ringsmith import _core
from ringsmith.backends.inspector import WriteOperation
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import CkksParameters

DATA_PRIMES = 8
"""Of the parameters that operations are counted with: a digit each, and a special prime more."""

OPERATIONS: Mapping[str, str] = MappingProxyType(
    {
        "multiply + relinearize": "multiply_relinearize",
        "rotate": "rotate",
        "rescale": "rescale",
        "multiply by plaintext": "multiply_plain",
    }
)
"""Heading -> the operation, as ``lower_operation`` knows it."""


def operation_cycles(design: VectorDesign, write: WriteOperation) -> dict[str, int | None]:
    """Cycles of the main HE operations in the largest ring, ``DATA_PRIMES`` limbs in operands.

    Those of ``ntt`` are of one limb, of several that are transformed together. None stands where
    there are no such primes, or the design cannot run it. No cycle depends on the primes.
    """
    shape = design.shape(design.log_n)
    found: dict[str, int | None] = {"ntt": shape.passes * Cycles(design, shape).rows}
    for heading, operation in OPERATIONS.items():
        try:
            of = filled_parameters(design, design.n, DATA_PRIMES, 1, DATA_PRIMES)
            found[heading] = compile_graph(write(operation, of, of.limbs), design).cycles
        except (ParameterError, ProgramError):
            found[heading] = None
    return found


def filled_parameters(
    design: VectorDesign, n: int, limbs: int, special: int, dnum: int
) -> CkksParameters:
    """Parameters with the widest primes that a design accepts, regardless of security.

    Args:
        design: The design.
        n: Ring degree.
        limbs: Data primes.
        special: Special primes.
        dnum: Digits of key switching.

    Raises:
        ParameterError: If there are not this many primes.
    """
    primes = _core.prime_search(design.word_bits, design.n, limbs + special)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no data will ever be encrypted with these
        return CkksParameters.from_primes(
            n=n,
            data_primes=primes[:limbs],
            special_prime=primes[limbs:],
            scale=2.0 ** (design.word_bits - 2),
            name=f"{design.name} filled",
            security=None,
            dnum=dnum,
        )
