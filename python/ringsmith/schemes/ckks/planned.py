"""A recording planned for CKKS parameters: the cheap plan, or the one that keeps more levels."""

from types import MappingProxyType

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program.recording import Recording
from ringsmith.program.sink import sink_mod_switches
from ringsmith.schemes.base import Options
from ringsmith.schemes.ckks.periods import repetition
from ringsmith.schemes.ckks.placing import (
    graph_of,
    obstacle,
    sample,
    ways,
    with_bootstrappings,
)
from ringsmith.schemes.ckks.plan import CkksPlanner, LevelsError
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.ckks.work import Work


def planned(
    recording: Recording, parameters: CkksParameters, headroom_bits: int, options: Options
) -> CkksProgram:
    """Plans for a parameter set of as many slots.

    Takes the cheap plan unless it fails or loses a level that the ladder would have kept.

    Args:
        recording: What the function does.
        parameters: The parameter set.
        headroom_bits: log2 of the largest message magnitude that must fit.
        options: When products are rescaled, and how.

    Raises:
        LevelsError: When levels do not suffice.
        RangeError: When a value may exceed its modulus.
        ProgramError: When the program cannot be planned otherwise.
    """
    recording.check_limbs(parameters)
    if parameters.bootstrapping is None:
        program = _cheapest(recording, parameters, headroom_bits, options)
    else:
        program = _bootstrapped(recording, parameters, headroom_bits, options)
    program.check_ranges(found_before=recording.ranges)
    return program


def _bootstrapped(
    recording: Recording, parameters: CkksParameters, headroom_bits: int, options: Options
) -> CkksProgram:
    """Plans for parameters that bootstrap: with bootstrappings where levels do not suffice.

    Planning may take a level more than multiplications in a row. Then values are left all levels,
    and then one less is counted on.
    """
    most = parameters.ladder.index(parameters.working_limbs)
    failed: ProgramError | None = None
    flat = recording.unrolled() if recording.flat_size <= _SMALL else recording
    if flat.loops == 0 and flat.depth <= most:
        try:
            return _cheapest(flat, parameters, headroom_bits, options)
        except LevelsError as error:
            failed = error
    work = Work(parameters, recording.trace.space.costs)
    price = price_of(parameters, recording, options, work)
    for levels in range(most, 0, -1):
        for way in ways(recording, parameters, levels, work, price):
            for lowered in (True, False):
                given = with_bootstrappings(
                    way.recording, way.graph, way.chosen, parameters, lowered=lowered
                )
                try:
                    return _cheapest(given, parameters, headroom_bits, options)
                except LevelsError as error:
                    failed = failed or error
        if failed is None:
            break  # nothing can be bootstrapped, with fewer levels neither
    graph = graph_of(recording, parameters, most, work, price)
    raise failed or obstacle(recording, graph, parameters)


def price_of(
    parameters: CkksParameters, recording: Recording, options: Options, work: Work
) -> float:
    """Returns what a bootstrapping costs, by the operations of one that is planned.

    Of parameters that differ only in the levels of programs one is planned: the operations of the
    others are the same, on more limbs.

    Args:
        parameters: Parameters that bootstrap.
        recording: A recording for them.
        options: The options of planning.
        work: The costs of operations.
    """
    given, working = parameters.bootstrapping, parameters.working_limbs
    period = repetition(recording)
    key = (given, parameters.n, parameters.scale, parameters.limbs - working, period)
    if key not in _samples:
        found = _cheapest(sample(parameters, recording), parameters, 0, options, period)
        _samples[key] = found, working
        while len(_samples) > _KEPT:
            del _samples[next(iter(_samples))]
    program, before = _samples[key]
    return work.bootstrapping(program.nodes, program.sharing, working - before)[0]


_SMALL = 1 << 14
"""Operations of a program whose loops are written out if its levels suffice, at most."""
_KEPT = 16
_samples: dict[tuple[object, ...], tuple[CkksProgram, int]] = {}


def _cheapest(
    recording: Recording,
    parameters: CkksParameters,
    headroom_bits: int,
    options: Options,
    period: int = 0,
) -> CkksProgram:
    repeated = period or repetition(recording)

    def plan(*, on_ladder: bool) -> tuple[CkksPlanner, CkksProgram]:
        traced = recording.trace.nodes
        planner = CkksPlanner(parameters, traced, headroom_bits, on_ladder, options, repeated)
        nodes = planner.plan(recording.inputs, recording.outputs, recording.used)
        return planner, CkksProgram(
            recording.name,
            parameters,
            sink_mod_switches(nodes),
            MappingProxyType(recording.lengths),
            MappingProxyType(dict(recording.output_lengths)),
            complex_inputs=recording.complex_inputs,
            complex_outputs=recording.complex_outputs,
            notes=recording.notes,
            unchecked=options.unchecked,
            rotations=options.rotations,
            arrays=recording.arrays,
            packed_inputs=recording.packed_inputs,
            input_contents=recording.input_contents,
            output_contents=recording.output_contents,
            packed_outputs=recording.packed_outputs,
        )

    try:
        planner, program = plan(on_ladder=False)
    except ProgramError as error:
        try:
            return plan(on_ladder=True)[1]
        except ProgramError:
            raise error from None
    if planner.levels_lost:
        try:
            other, on_ladder = plan(on_ladder=True)
        except ProgramError:
            return program
        if other.levels_lost < planner.levels_lost:
            return on_ladder
    return program
