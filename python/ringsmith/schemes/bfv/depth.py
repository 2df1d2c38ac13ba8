"""BFV parameters for a multiplicative depth, without a program."""

from ringsmith.errors import ParameterError, check_type
from ringsmith.params import AutoBfvParameters, BfvParameters
from ringsmith.program.vector import EncryptedVector
from ringsmith.python_numbers import python_number
from ringsmith.schemes.trace import trace


def bfv_parameters_for_depth(depth: int, wish: AutoBfvParameters) -> BfvParameters:
    """Chooses parameters for products of products, ``depth`` of them in a row.

    They are those that ``trace`` chooses for x^(2^depth). A square costs as much budget as a
    product of two equally noisy ciphertexts. Programs with only products, at most ``depth`` in a
    row, therefore fit, too. They are planned, and their noise is forecast, when they are traced
    with the set. Sums, rotations and products with plaintexts cost additional noise budget: request
    it by ``wish.margin_bits``, or let ``trace`` choose parameters for the program itself.

    Args:
        depth: The number of consecutive products, from 1.
        wish: t, security, remaining noise budget, and limits of the search.

    Returns:
        The sufficient set with the smallest N, and for it the smallest q.

    Raises:
        ParameterError: When ``depth`` is no integer from 1, or exceeds the bits of any modulus.
        ProgramError: When no parameters fit; says what the largest N lacks.
    """
    depth = python_number(depth)
    check_type("wish", wish, AutoBfvParameters, "give AutoBfvParameters(plain_bits=20)")
    # A product costs a bit of budget or more, so that nothing deeper could be planned.
    most = max(wish.bounds.values())
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= most:
        raise ParameterError(
            f"depth = {depth!r} is not a whole number in 1 … {most}: it counts products in a row"
        )

    def power(x: EncryptedVector) -> EncryptedVector:
        for _ in range(depth):
            x = x * x
        return x

    return trace(power, wish).parameters
