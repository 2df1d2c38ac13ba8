"""Operands of single HE operations, checked as Microsoft SEAL checks them."""

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Drops, Key, Op, operations
from ringsmith.objects import Ciphertext, Plaintext
from ringsmith.params import RlweParameters
from ringsmith.schemes.base import Operand
from ringsmith.schemes.registry import SCHEMES, scheme_of


def operation_named(name: str, parameters: RlweParameters) -> Op:
    """Returns an operation of the parameters' scheme.

    ``conjugate`` is the Galois element 2N - 1 in every scheme: in BFV it swaps the rows.

    Raises:
        ProgramError: When the scheme has no operation of that name; says which it has.
    """
    known = operations(parameters.scheme)
    if name == Op.CONJUGATE and Op.CONJUGATE not in known:
        return Op.SWAP_COLUMNS
    found = next((op for op in known if op == name), None)
    if found is not None:
        return found
    others = [s.name.upper() for s in SCHEMES if name in operations(s.name)]
    if others:
        shortens = Op(name).record.drops is not Drops.NONE
        instead = (Op.MOD_SWITCH,) if shortens else known
        raise ProgramError(
            f"{name} is {others[0]}'s, and the parameters are {parameters.scheme.upper()}'s: use "
            f"{', '.join(instead)}"
        )
    raise ProgramError(f"no operation {name!r}: choose one of {', '.join(known)}")


def check_operands(parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand) -> None:
    """Refuses operands of the wrong type, scheme, level or number of polynomials.

    Raises:
        ProgramError: Names the operation and the operands that it accepts.
        ParameterError: When BFV's t has no slots to rotate.
    """
    record = op.record
    if record.key is Key.GALOIS:
        parameters.require_batching()
    _check_second(op, b, scheme_of(parameters).plaintext)
    if isinstance(b, Ciphertext | Plaintext) and a.limbs != b.limbs:
        raise ProgramError(
            f"{op}: the operands have {a.limbs} and {b.limbs} limbs: mod_switch the higher one down"
        )
    size = max([a.size] + ([b.size] if isinstance(b, Ciphertext) else []))
    if record.takes == (2,) and size > 2:
        raise ProgramError(f"{op} takes 2 polynomials, not {size}: relinearize first")
    if record.takes == (3,) and size > 3:
        raise ProgramError(f"{op} takes 3 polynomials, not {size}: do it more often")
    if record.takes == (3,) and size < 3 and record.drops is not Drops.NONE:
        raise ProgramError(f"{op} takes 3 polynomials, not {size}: {Op.RESCALE} alone will do")
    lowest = parameters.limbs - parameters.levels
    if record.drops is not Drops.NONE and a.limbs <= lowest:
        left = "one limb" if a.limbs == 1 else f"{a.limbs} limbs"
        reason = ": without them q would not exceed t" if lowest > 1 else ""
        raise ProgramError(f"{op}: the ciphertext has {left} left and drops none{reason}")


def _check_second(op: Op, b: Operand, plain: type) -> None:
    """Refuses a second operand of the wrong type."""
    wanted: tuple[type, str] = (type(None), "no second operand")
    if op.record.encrypted == 2:
        wanted = (Ciphertext, "a second ciphertext")
    elif op.record.plain:
        wanted = (plain, "a plaintext of its scheme")
    if not isinstance(b, wanted[0]):
        raise ProgramError(f"{op} takes {wanted[1]}")
