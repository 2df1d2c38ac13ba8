"""Tracing: a Python function on encrypted vectors becomes a planned program."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from ringsmith.errors import ParameterError
from ringsmith.params import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    RlweParameters,
)
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.program.graph import Program
from ringsmith.program.plain import whole_number
from ringsmith.program.recording import Inputs, Outputs, record
from ringsmith.program.source import SourceLine, caller
from ringsmith.schemes.automatic import choose
from ringsmith.schemes.base import Options
from ringsmith.schemes.bfv.program import BfvProgram
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.registry import scheme_of


@overload
def trace(
    function: Callable[..., Any],
    parameters: CkksParameters | AutoParameters | Literal["auto"],
    inputs: Inputs = None,
    *,
    headroom_bits: int | None = None,
    fused_rescale: bool = False,
    lazy_rescale: bool = True,
    rotate_products: bool = False,
    outputs: Outputs = None,
) -> CkksProgram: ...
@overload
def trace(
    function: Callable[..., Any],
    parameters: BfvParameters | AutoBfvParameters,
    inputs: Inputs = None,
    *,
    outputs: Outputs = None,
) -> BfvProgram: ...
@overload
def trace(
    function: Callable[..., Any],
    parameters: RlweParameters | AutoRlweParameters,
    inputs: Inputs = None,
    *,
    outputs: Outputs = None,
) -> Program: ...
def trace(
    function: Callable[..., Any],
    parameters: RlweParameters | AutoRlweParameters | Literal["auto"],
    inputs: Inputs = None,
    *,
    headroom_bits: int | None = None,
    fused_rescale: bool = False,
    lazy_rescale: bool = True,
    rotate_products: bool = False,
    outputs: Outputs = None,
) -> Program:
    """Calls a function on encrypted vectors that record, and plans what they recorded.

    Loops and conditions of the function are Python's: what they do on the way is recorded, so a
    loop is unrolled, and nothing can depend on an encrypted number.

    Args:
        function: Takes encrypted vectors by keyword. Returns one (output ``result``), a tuple or
            list (``result0``, ``result1``, …), or a mapping of names to vectors.
        parameters: The parameter set to plan for, of CKKS or BFV; or what a set to be found must
            hold: ``AutoParameters`` (CKKS), ``AutoBfvParameters``, or ``"auto"``, which is
            ``AutoParameters()``. Then the function is called once for each ring degree tried.
        inputs: Names of the encrypted inputs: a mapping to how each arrives (an ``InputSpec``, or
            its length, or None for all slots), or names alone. None: the function's
            parameters that have no default.
        headroom_bits: Of CKKS: messages are promised to stay within ±2^headroom_bits throughout;
            scales are checked to leave that much room below the modulus. None: 3, or what
            ``AutoParameters`` says. BFV computes modulo t and takes none.
        fused_rescale: Of CKKS: whether a product is relinearized and rescaled by one division. That
            takes fewer transforms, and residues that are not SEAL's. BFV has no rescaling.
        lazy_rescale: Of CKKS: whether products that are added are relinearized and rescaled after
            the addition, once for all. Otherwise each product is by itself, as in a program that
            calls SEAL's ``rescale_to_next`` after each product; that takes more operations.
        rotate_products: Of CKKS: whether products with plaintexts, and sums of them, are rotated
            before they are rescaled. Rotations then take a limb more, fewer rescalings are needed,
            and rescaling divides the rotations' errors.
        outputs: Numbers that outputs hold, by name, which is what ``Program.decrypt`` hands out;
            None: all slots. Of an output that is not named it follows from the lengths of inputs.

    Returns:
        The program with relinearization, rescaling, modulus switching, scales and keys planned: a
        ``CkksProgram`` or ``BfvProgram``.

    Raises:
        ProgramError: When the program cannot be planned, or no parameters fit; begins with the
            user's file and line.
    """
    source = caller()
    options = Options(
        _whole_headroom(headroom_bits, source), fused_rescale, lazy_rescale, rotate_products
    )
    wanted: object = parameters
    if isinstance(parameters, str) and parameters == "auto":
        wanted = AutoParameters()
    if not isinstance(wanted, RlweParameters | AutoRlweParameters):
        raise source.error(
            f"parameters = {parameters!r:.60} are none: give CkksParameters, BfvParameters, "
            'parameter_set(name), AutoParameters, AutoBfvParameters or "auto"'
        )
    scheme = scheme_of(wanted)
    scheme.check_options(options, source)
    if isinstance(wanted, RlweParameters):
        _require_slots(wanted, source)
        recording = record(function, scheme.space(wanted.n), inputs, source, outputs)
        return scheme.plan(recording, wanted, options)
    names = inputs if inputs is None or isinstance(inputs, Mapping) else tuple(inputs)
    if not wanted.resolved:
        raise source.error(
            f"design = {wanted.design!r:.60}: ringsmith.trace knows designs, and "
            "ringsmith.program.trace does not: call that one"
        )
    return choose(
        lambda n: record(function, scheme.space(n), names, source, outputs),
        lambda recording, n, carried: scheme.search(recording, wanted, n, carried, options),
        wanted,
        source,
    )


def _whole_headroom(value: object, source: SourceLine) -> int | None:
    if value is None:
        return None
    headroom = whole_number(value)
    if headroom is None or not 0 <= headroom <= 1024:
        raise source.error(f"headroom_bits = {value!r:.60} is not a whole number from 0")
    return headroom


def _require_slots(parameters: RlweParameters, source: SourceLine) -> None:
    """Refuses parameters whose ciphertexts hold no vectors, at the user's line."""
    try:
        parameters.require_batching()
    except ParameterError as error:
        raise source.error(f"programs compute on vectors, and {error}") from None
