"""BFV parameters for a multiplicative depth, where there is no program to choose them for."""

from ringsmith.errors import ParameterError
from ringsmith.params import AutoBfvParameters, BfvParameters
from ringsmith.params.security import MAX_LOG_QP
from ringsmith.program.vector import EncryptedVector
from ringsmith.schemes.trace import trace


def bfv_parameters_for_depth(depth: int, wish: AutoBfvParameters) -> BfvParameters:
    """Chooses parameters for products of products, ``depth`` of them in a row.

    They are those that ``trace`` chooses for x^(2^depth). A square costs what a product of two
    ciphertexts as noisy does, so programs of products alone, no more than ``depth`` in a row, fit,
    too; they are planned, and their noise forecast, when they are traced with the set. Sums,
    rotations and products with plaintexts cost noise budget of their own: ask for it by
    ``wish.margin_bits``, or let ``trace`` choose for the program itself.

    Args:
        depth: How many products follow one another, from 1.
        wish: t, security, noise budget to be left, and limits of the search.

    Returns:
        The set with the smallest N, and for it the smallest q, that does.

    Raises:
        ParameterError: When ``depth`` is no whole number from 1, or more than bits of any modulus.
        ProgramError: When no parameters fit; says what the largest N lacks.
    """
    # A product costs a bit of budget or more, so that nothing deeper could be planned.
    most = max(MAX_LOG_QP[wish.security].values())
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= most:
        raise ParameterError(
            f"depth = {depth!r} is not a whole number in 1 … {most}: it counts products in a row"
        )

    def power(x: EncryptedVector) -> EncryptedVector:
        for _ in range(depth):
            x = x * x
        return x

    return trace(power, wish).parameters
