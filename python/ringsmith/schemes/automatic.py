"""Automatic parameters: finds the smallest ring; each scheme searches the other parameters."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ringsmith.errors import ProgramError
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.program.graph import Program
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.base import Search
from ringsmith.schemes.fits import check_fits

_PACKING_LEVELS = 2
"""Levels that another packing of the inputs may save: a mask where they are first moved, or two."""


def choose(
    record: Callable[[int, Callable[[Recording], bool]], Recording],
    search: Callable[[Recording, int, int], Search],
    wish: AutoRlweParameters,
    source: SourceLine,
) -> Program:
    """Plans a program for the smallest parameters that meet the requirements.

    Args:
        record: Traces the function for a ring degree; what it is given tells whether a cheaper
            packing of a recording is of use.
        search: Makes the search for a recording, a ring degree and the bits of modulus that it
            carries.
        wish: The requirements.
        source: The user's line, for errors.

    Returns:
        The program; its ``choice`` explains the parameters.

    Raises:
        ProgramError: When the function is not legal, or no parameters fit.
    """
    obstacles: list[str] = []
    illegal: ProgramError | None = None
    before: Search | None = None
    hint: str | None = None
    for n, carried in wish.degrees():
        if carried < wish.least_bits:
            obstacles.append(
                f"N = {n} does not do: it carries {carried} bits of modulus at "
                f"{wish.security_text}, and the smallest primes have {wish.least_bits}"
            )
            continue
        try:
            recording = record(n, partial(_may_fit, search, n, carried))
        except ProgramError as error:  # too few slots, perhaps; or wrong at any number of slots
            illegal = error
            obstacles.append(f"N = {n} does not do: {error}")
            continue
        illegal = None
        found = search(recording, n, carried)
        if before is not None:
            found.follow(before)
        before = found
        program = found.run()
        if program is not None:
            if wish.limits is not None:
                check_fits(program, wish.limits)
            return replace(program, choice="\n".join([*found.words(program), *obstacles[-1:]]))
        obstacles.append(f"N = {n} does not do: {found.obstacle}")
        hint = found.hint
    if illegal is not None:
        raise illegal
    reason = obstacles[-1] if obstacles else "no ring degree is within the limits"
    hint = wish.hint if hint is None else hint
    raise source.error(f"no parameters fit; {reason}{hint and ': '}{hint}")


def _may_fit(
    search: Callable[[Recording, int, int], Search], n: int, carried: int, recording: Recording
) -> bool:
    """Tells whether a recording may fit, as it is or with inputs packed otherwise."""
    return search(recording, n, carried).may_fit(_PACKING_LEVELS)
