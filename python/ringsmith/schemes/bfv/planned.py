"""A recording planned for BFV parameters."""

from types import MappingProxyType

from ringsmith.params import BfvParameters
from ringsmith.program.recording import Recording
from ringsmith.program.sink import sink_mod_switches
from ringsmith.schemes.base import Options
from ringsmith.schemes.bfv.forecast import forecast
from ringsmith.schemes.bfv.plan import BfvPlanner
from ringsmith.schemes.bfv.program import BfvProgram

SINK_BITS = 1
"""Noise budget, in bits, that an output may lose by dropping primes earlier to save work."""


def planned(recording: Recording, parameters: BfvParameters, options: Options) -> BfvProgram:
    """Plans for a parameter set that batches.

    Args:
        recording: What the function does.
        parameters: The parameter set.
        options: Whether results are meant modulo t.

    Raises:
        NoiseError: When the forecast leaves no noise budget.
        RangeError: When a result may leave the integers that t holds.
        ProgramError: When the program cannot be planned otherwise.
    """
    recording.check_limbs(parameters)
    planner = BfvPlanner(parameters, recording.trace.nodes, modular=options.unchecked)
    nodes = planner.plan(recording.inputs, recording.outputs, recording.used)
    sunk = sink_mod_switches(nodes)
    before, after = forecast(parameters, nodes), forecast(parameters, sunk)
    kept = all(after.outputs[name] >= bits - SINK_BITS for name, bits in before.outputs.items())
    nodes = sunk if kept and min(after.budgets) >= 1 else nodes
    program = BfvProgram(
        recording.name,
        parameters,
        nodes,
        MappingProxyType(recording.lengths),
        MappingProxyType(dict(recording.output_lengths)),
        notes=recording.notes,
        arrays=recording.arrays,
        packed_inputs=recording.packed_inputs,
        input_contents=recording.input_contents,
        output_contents=recording.output_contents,
        packed_outputs=recording.packed_outputs,
        unchecked=options.unchecked,
        rotations=options.rotations,
    )
    program.check_ranges()
    return program
