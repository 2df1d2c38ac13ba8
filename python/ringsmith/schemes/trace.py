"""Tracing: a Python function on encrypted vectors becomes a planned program."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from ringsmith.errors import ParameterError
from ringsmith.params import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    RlweParameters,
    parameter_set,
)
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.params.sets import BfvName, CkksName
from ringsmith.program.costs import CPU
from ringsmith.program.graph import Program
from ringsmith.program.plain import whole_number
from ringsmith.program.planner import InputSpec
from ringsmith.program.recording import Inputs, Outputs, record
from ringsmith.program.sharing import SEAL, SHARED
from ringsmith.program.source import SourceLine, caller
from ringsmith.schemes.automatic import choose
from ringsmith.schemes.base import Options
from ringsmith.schemes.bfv.program import BfvProgram
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.registry import scheme_of

Rotations: TypeAlias = Literal["shared", "seal"]
"""Which bits several rotations of one value have."""


@overload
def trace(
    function: Callable[..., Any],
    parameters: CkksParameters | AutoParameters | Literal["auto"] | CkksName,
    inputs: Inputs = None,
    *,
    headroom_bits: int | None = None,
    fused_rescale: bool = False,
    lazy_rescale: bool = True,
    rotate_products: bool = False,
    allow_overflow: bool = False,
    outputs: Outputs = None,
    rotations: Rotations = "shared",
) -> CkksProgram: ...
@overload
def trace(
    function: Callable[..., Any],
    parameters: BfvParameters | AutoBfvParameters | BfvName,
    inputs: Inputs = None,
    *,
    allow_overflow: bool = False,
    outputs: Outputs = None,
    rotations: Rotations = "shared",
) -> BfvProgram: ...
@overload
def trace(
    function: Callable[..., Any],
    parameters: RlweParameters | AutoRlweParameters | str | Path,
    inputs: Inputs = None,
    *,
    allow_overflow: bool = False,
    outputs: Outputs = None,
    rotations: Rotations = "shared",
) -> Program: ...
def trace(
    function: Callable[..., Any],
    parameters: RlweParameters | AutoRlweParameters | str | Path,
    inputs: Inputs = None,
    *,
    headroom_bits: int | None = None,
    fused_rescale: bool = False,
    lazy_rescale: bool = True,
    rotate_products: bool = False,
    allow_overflow: bool = False,
    outputs: Outputs = None,
    rotations: Rotations = "shared",
) -> Program:
    """Calls a function on encrypted vectors, records its operations, and plans a program.

    Loops and conditions of the function run in Python while operations are recorded. Loops are
    therefore unrolled, but those over ``ringsmith.repeat``, and conditions cannot depend on
    encrypted numbers. With parameters that bootstrap, bootstrappings are placed where levels run
    out, by ``ringsmith.schemes.ckks.placing``: at the least total time for the device.

    Args:
        function: Takes encrypted vectors by keyword. Returns one (output ``result``), a tuple or
            list (``result0``, ``result1``, …), or a mapping of names to vectors.
        parameters: The parameter set, of CKKS or BFV. Or the requirements for automatic parameters:
            ``AutoParameters`` (CKKS), ``AutoBfvParameters``, or ``"auto"``: ``AutoParameters()``,
            but of an approximated result no more bits of precision than its error deserves. Then
            the function is called once for each ring degree tried.
        inputs: Names of the encrypted inputs, or a mapping from each name to an ``InputSpec``, its
            length, or None for all slots. None: the function's parameters that have no default.
        headroom_bits: CKKS only: all messages are promised to stay within ±2^headroom_bits, and
            scales are checked to leave that much headroom below the modulus. None: 3, or the value
            of ``AutoParameters``. BFV computes modulo t and has no headroom.
        fused_rescale: CKKS only: whether a product is relinearized and rescaled by one division.
            This takes fewer transforms, but residues differ from SEAL's. BFV has no rescaling.
        lazy_rescale: CKKS only: whether products that are added are relinearized and rescaled once,
            after the addition. Otherwise each product is rescaled separately, as in a program that
            calls SEAL's ``rescale_to_next`` after each product. That takes more operations.
        rotate_products: CKKS only: whether products with plaintexts, and sums of them, are rotated
            before they are rescaled. Rotations then have one more limb, but fewer rescalings are
            needed, and rescaling divides the rotations' errors.
        allow_overflow: Whether results may leave what their ciphertexts hold. BFV: they are meant
            modulo t. CKKS: you promise that they fit, for the inputs that will be given. Otherwise
            a program is refused that does not hold its results for all inputs in their ranges.
        outputs: The length of outputs by name: how many numbers ``Program.decrypt`` returns. Zeros
            follow an output's numbers. None: all slots. The length of an unnamed output is that of
            the vector.
        rotations: Which bits several rotations of one value, and sums of rotated values, have.
            ``shared``: they share the digits and the divisions of key switching, which is faster
            and no less exact. ``seal``: those of Microsoft SEAL's operations one after another. A
            single rotation has SEAL's bits in either case.

    Returns:
        The program with relinearization, rescaling, modulus switching, scales and keys planned: a
        ``CkksProgram`` or ``BfvProgram``.

    Raises:
        ProgramError: When the program cannot be planned, or no parameters fit; begins with the
            user's file and line.
    """
    source = caller()
    if rotations not in (SHARED, SEAL):
        raise source.error(f"rotations = {rotations!r:.60} is neither {SHARED!r} nor {SEAL!r}")
    options = Options(
        _whole_headroom(headroom_bits, source),
        fused_rescale,
        lazy_rescale,
        rotate_products,
        allow_overflow,
        rotations,
    )
    wanted = _named(parameters, source)
    if not isinstance(wanted, RlweParameters | AutoRlweParameters):
        raise source.error(
            f"parameters = {parameters!r:.60} are no parameters: give CkksParameters, "
            'BfvParameters, the name of a set, AutoParameters, AutoBfvParameters or "auto"'
        )
    scheme = scheme_of(wanted)
    scheme.check_options(options, source)
    _check_inputs(inputs, source)
    if isinstance(wanted, RlweParameters):
        _require_slots(wanted, source)
        space = replace(scheme.space(wanted.n), shared_rotations=rotations == SHARED)
        recording = record(function, space, inputs, source, outputs)
        if getattr(wanted, "bootstrapping", None) is None:
            recording = recording.unrolled()
        return scheme.plan(recording, wanted, options)
    names = _kept(inputs)
    loops = bool(getattr(wanted, "bootstrapping", False))
    costs = CPU if wanted.costs is None or not _has_arrays(names) else wanted.costs()
    if not wanted.resolved:
        raise source.error(
            f"design = {wanted.design!r:.60}: ringsmith.trace knows designs, and "
            "ringsmith.program.trace does not: call that one"
        )
    return choose(
        lambda n, matters: record(
            function,
            replace(
                scheme.space(n),
                chosen=True,
                shared_rotations=rotations == SHARED,
                costs=costs,
            ),
            names,
            source,
            outputs,
            wanted.default_bound,
            matters,
        ),
        lambda recording, n, carried: scheme.search(
            recording if loops else recording.unrolled(),
            wanted,
            n,
            carried,
            replace(options, enough=parameters == "auto"),
        ),
        wanted,
        source,
    )


def _named(parameters: object, source: SourceLine) -> object:
    """Returns the parameters that a name or a path stands for; anything else unchanged."""
    if not isinstance(parameters, str | Path):
        return parameters
    if parameters == "auto":
        return AutoParameters()
    try:
        return parameter_set(parameters)
    except ParameterError as error:
        raise source.error(f'{error}; or give "auto"') from None


def _check_inputs(inputs: object, source: SourceLine) -> None:
    """Refuses what is neither names nor a mapping of names; what they hold is checked later."""
    if inputs is not None and not isinstance(inputs, Iterable):
        raise source.error(
            f"inputs = {inputs!r:.60} name no inputs: give each input's length by its name, such "
            'as {"x": 4}'
        )


def _kept(inputs: Inputs) -> Inputs:
    """The inputs' description, which is read once for each ring degree that is tried."""
    return inputs if inputs is None or isinstance(inputs, Mapping) else tuple(inputs)


def _has_arrays(inputs: Inputs) -> bool:
    """Whether an input has a shape, so that costs decide how it is packed."""
    if not isinstance(inputs, Mapping):
        return False
    lengths = (spec.length if isinstance(spec, InputSpec) else spec for spec in inputs.values())
    return any(isinstance(length, tuple) for length in lengths)


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
