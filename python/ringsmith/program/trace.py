"""Tracing: a Python function on encrypted vectors becomes a planned program."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from ringsmith.params import AutoParameters, CkksParameters
from ringsmith.program.automatic import choose
from ringsmith.program.graph import Program
from ringsmith.program.plain import whole_number
from ringsmith.program.recording import Inputs, record
from ringsmith.program.source import caller

DEFAULT_HEADROOM_BITS = 3
"""Messages of magnitude up to 2^3 fit below the modulus everywhere, unless told otherwise."""


def trace(
    function: Callable[..., Any],
    parameters: CkksParameters | AutoParameters | Literal["auto"],
    inputs: Inputs = None,
    *,
    headroom_bits: int | None = None,
) -> Program:
    """Calls a function on encrypted vectors that record, and plans what they recorded.

    Loops and conditions of the function are Python's: what they do on the way is recorded, so a
    loop is unrolled, and nothing can depend on an encrypted number.

    Args:
        function: Takes encrypted vectors by keyword. Returns one (output ``result``), a tuple or
            list (``result0``, ``result1``, …), or a mapping of names to vectors.
        parameters: The parameter set to plan for; or what a set to be found must hold, ``"auto"``
            being ``AutoParameters()``. Then the function is called once for each ring degree tried.
        inputs: Names of the encrypted inputs: a mapping to how each arrives (an ``InputSpec``, or
            its length, or None for all slots), or names alone. None: the function's
            parameters that have no default.
        headroom_bits: Messages are promised to stay within ±2^headroom_bits throughout; scales
            are checked to leave that much room below the modulus. None: 3, or what
            ``AutoParameters`` says.

    Returns:
        The program with relinearization, rescaling, modulus switching, scales and keys planned.

    Raises:
        ProgramError: When the program cannot be planned, or no parameters fit; begins with the
            user's file and line.
    """
    source = caller()
    if headroom_bits is not None:
        room = whole_number(headroom_bits)
        if room is None or not 0 <= room <= 1024:
            raise source.error(
                f"headroom_bits = {headroom_bits!r:.60} is not a whole number from 0"
            )
    if isinstance(parameters, CkksParameters):
        room = DEFAULT_HEADROOM_BITS if headroom_bits is None else headroom_bits
        return record(function, parameters.slots, inputs, source).plan(parameters, room)
    if parameters == "auto":
        parameters = AutoParameters()
    if not isinstance(parameters, AutoParameters):
        raise source.error(
            f"parameters = {parameters!r:.60} are none: give CkksParameters, parameter_set(name), "
            'AutoParameters or "auto"'
        )
    if headroom_bits is not None:
        parameters = replace(parameters, headroom_bits=headroom_bits)
    names = inputs if inputs is None or isinstance(inputs, Mapping) else tuple(inputs)
    return choose(lambda slots: record(function, slots, names, source), parameters, source)
