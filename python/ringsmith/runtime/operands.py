"""Operands of single HE operations: checked as Microsoft SEAL checks them, and their plaintexts."""

import math
import sys

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, Residues
from ringsmith.params import BfvParameters, CkksParameters, bfv_context

BINARY = ("add", "sub", "multiply")
PLAIN = ("add_plain", "sub_plain", "multiply_plain")
ROTATIONS = ("rotate", "conjugate")
UNARY = ("negate", "square", "relinearize", "rescale", "mod_switch", *ROTATIONS)
OPERATIONS = (*BINARY, *PLAIN, *UNARY)
CKKS_ONLY = ("rescale",)

Operand = Ciphertext | Plaintext | PlainPolynomial | None
"""The second operand of an operation."""


def check_operands(
    parameters: CkksParameters | BfvParameters, operation: str, a: Ciphertext, b: Operand
) -> None:
    """Refuses operands of the wrong kind, scheme, level or number of polynomials.

    Raises:
        ProgramError: Names the operation and what it takes.
        ParameterError: When BFV's t has no slots to rotate.
    """
    if operation not in OPERATIONS:
        raise ProgramError(f"no operation {operation!r}: choose one of {', '.join(OPERATIONS)}")
    bfv = isinstance(parameters, BfvParameters)
    if bfv and operation in CKKS_ONLY:
        raise ProgramError(f"{operation} is CKKS's, and the parameters are BFV's: use mod_switch")
    if isinstance(parameters, BfvParameters) and operation in ROTATIONS:
        parameters.require_batching()
    _check_second(operation, b, PlainPolynomial if bfv else Plaintext)
    if isinstance(b, Ciphertext | Plaintext) and a.limbs != b.limbs:
        raise ProgramError(
            f"{operation}: the operands have {a.limbs} and {b.limbs} limbs: mod_switch the higher "
            "one down"
        )
    sizes = [a.size] + ([b.size] if isinstance(b, Ciphertext) else [])
    if operation in ("multiply", "square", *ROTATIONS) and max(sizes) > 2:
        raise ProgramError(f"{operation} takes 2 polynomials, not {max(sizes)}: relinearize first")
    if operation == "relinearize" and a.size > 3:
        raise ProgramError(f"relinearize takes 3 polynomials, not {a.size}: do it more often")
    lowest = parameters.limbs - parameters.levels
    if operation in ("rescale", "mod_switch") and a.limbs <= lowest:
        left = "one limb" if a.limbs == 1 else f"{a.limbs} limbs"
        reason = ": without them q would not exceed t" if lowest > 1 else ""
        raise ProgramError(f"{operation}: the ciphertext has {left} left and drops none{reason}")


def result_scale(
    parameters: CkksParameters | BfvParameters, operation: str, a: Ciphertext, b: Operand
) -> float:
    """Returns the scale of the result, after the operands' scales were checked.

    Raises:
        ProgramError: When scales differ, or the result's exceeds the modulus; of BFV, when one is
            not 1.
    """
    if isinstance(parameters, CkksParameters):
        return _ckks_scale(parameters, operation, a, b)
    for operand in (a, b):
        if isinstance(operand, Ciphertext) and operand.scale != 1:
            raise ProgramError(
                f"{operation}: an operand has the scale {operand.scale:.6g}, and BFV's have 1: it "
                "is one of CKKS"
            )
    return 1.0


def plain_residues(
    parameters: CkksParameters | BfvParameters,
    operation: str,
    plain: Plaintext | PlainPolynomial,
    limbs: int,
) -> Residues:
    """Returns the residues (limbs, N) that the operation's graph takes for a plaintext.

    CKKS's are the plaintext's own. BFV's are made for the operation and level: scaled by q/t to be
    added or subtracted, lifted from modulo t to be multiplied by.

    Raises:
        ParameterError: When a BFV plaintext is of other parameters.
    """
    if isinstance(plain, Plaintext):
        return plain.data
    assert isinstance(parameters, BfvParameters)
    context = bfv_context(parameters)
    make = _core.bfv.lift_plain if operation == "multiply_plain" else _core.bfv.scale_plain
    return make(context, plain.data, limbs)


def _check_second(operation: str, b: Operand, plain: type) -> None:
    """Refuses a second operand of the wrong kind."""
    wanted: tuple[type, str] = (type(None), "no second operand")
    if operation in BINARY:
        wanted = (Ciphertext, "a second ciphertext")
    elif operation in PLAIN:
        wanted = (plain, "a plaintext of its scheme")
    if not isinstance(b, wanted[0]):
        raise ProgramError(f"{operation} takes {wanted[1]}")


def _ckks_scale(parameters: CkksParameters, operation: str, a: Ciphertext, b: Operand) -> float:
    limbs = a.limbs - (operation in ("rescale", "mod_switch"))
    other = b.scale if isinstance(b, Ciphertext | Plaintext) else a.scale
    match operation:
        case "multiply" | "multiply_plain":
            scale = a.scale * other
        case "square":
            scale = a.scale * a.scale
        case "rescale":
            return a.scale / float(parameters.primes[limbs])
        case "mod_switch":
            scale = a.scale
        case _:
            if not _close(a.scale, other):
                raise ProgramError(
                    f"{operation}: the operands' scales {a.scale:.17g} and {other:.17g} differ: "
                    "rescale or encode one to the other's scale"
                )
            return a.scale
    bits = math.prod(parameters.primes[:limbs]).bit_length()
    if not math.isfinite(scale) or int(math.log2(scale)) >= bits:
        raise ProgramError(
            f"{operation}: the scale would be {scale:.6g}, beyond the modulus of {bits} bits of "
            f"{limbs} limbs: rescale before, or use smaller scales"
        )
    return scale


def _close(a: float, b: float) -> bool:
    """Whether SEAL takes two scales for equal."""
    return abs(a - b) < sys.float_info.epsilon * max(abs(a), abs(b), 1.0)
