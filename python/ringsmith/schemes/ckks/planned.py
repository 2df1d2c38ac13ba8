"""A recording planned for CKKS parameters: the cheap plan, or the one that keeps more levels."""

from types import MappingProxyType

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program.recording import Recording
from ringsmith.program.sink import sink_mod_switches
from ringsmith.schemes.base import Options
from ringsmith.schemes.ckks.plan import CkksPlanner
from ringsmith.schemes.ckks.program import CkksProgram


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
    program = _cheapest(recording, parameters, headroom_bits, options)
    program.check_ranges(found_before=recording.ranges)
    return program


def _cheapest(
    recording: Recording, parameters: CkksParameters, headroom_bits: int, options: Options
) -> CkksProgram:
    def plan(*, on_ladder: bool) -> tuple[CkksPlanner, CkksProgram]:
        planner = CkksPlanner(parameters, recording.trace.nodes, headroom_bits, on_ladder, options)
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
