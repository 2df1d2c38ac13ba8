"""Cycles of instructions and HE operations, on the model or on the simulated RTL."""

from collections.abc import Collection, Iterator

import numpy as np

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import Device
from ringsmith.backends.rpau.device.model import ModelDevice
from ringsmith.backends.rpau.device.rtl import RtlDevice
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, Instruction, Operation, instruction
from ringsmith.backends.rpau.isa.kinds import KINDS, POLY
from ringsmith.bench.medha.cases import INSTRUCTIONS, Case, graph_of
from ringsmith.bench.programs import LONGEST, conditions, run
from ringsmith.bench.records import Found
from ringsmith.params import ckks_set


def operation_cycles(
    case: Case, operations: Collection[str], device: str
) -> Iterator[tuple[str, list[Found]]]:
    """Measures HE operations, each as a program of its own.

    Args:
        case: The design and its parameters.
        operations: Names of ``cases.OPERATIONS``.
        device: One of ``programs.DEVICES``.

    Yields:
        Operation and its cycles and instructions.

    Raises:
        ProgramError: If the parameters do not fit the design.
        DeviceError: If a result on the RTL differs from the interpreter's.
    """
    design, parameters = case.hardware, ckks_set(case.params)
    for operation in operations:
        graph = graph_of(operation, parameters)
        cycles, instructions, executable = run(graph, design, device)
        text = conditions(parameters, executable)
        yield (
            operation,
            [
                Found(design.name, case.params, operation, metric, value, device, text)
                for metric, value in (("cycles", cycles), ("instructions", instructions))
            ],
        )


def instruction_cycles(case: Case, device: str) -> list[Found]:
    """Latencies of the papers' instructions: from an instruction's issue to its unit's next one.

    How much longer a program is that has the instruction before its halt. Contents do not matter,
    and none are loaded.
    """
    design = case.hardware
    machine: Device = (
        RtlDevice(design) if device == "rtl" else ModelDevice(design, timing_only=True)
    )
    everyone = (1 << design.rpaus) - 1
    halt = encode(instruction("halt", everyone))

    def cycles(*words: int) -> int:
        machine.load_program(np.array(words, dtype=np.uint64))
        return machine.run(LONGEST).cycles

    empty = cycles(halt)
    there = {each.name: each for each in ISA.available(design)}
    text = f"one instruction on all RPAUs, {design.n:,} coefficients"
    return [
        Found(
            design.name,
            case.params,
            name,
            "cycles",
            cycles(encode(_any(there[ours], everyone, design)), halt) - empty,
            device,
            text,
        )
        for name, ours in INSTRUCTIONS.items()
        if ours in there
    ]


def _any(operation: Operation, mask: int, design: RpauDesign) -> Instruction:
    """An instruction with legal operands, of polynomials of different banks."""
    firsts = iter(bank[0] for bank in design.banks)
    values = tuple(
        next(firsts) if operand.kind == POLY else int(KINDS[operand.kind].odd)
        for operand in operation.operands
    )
    return Instruction(operation, mask, values)
