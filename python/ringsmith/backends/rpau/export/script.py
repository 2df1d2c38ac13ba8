"""Recorded steps as files that a testbench reads with ``$readmemh``, and people can read, too."""

from collections.abc import Mapping, Sequence

from ringsmith.backends.exporter import hex_words
from ringsmith.backends.rpau.export.recorder import Do, Step
from ringsmith.backends.rpau.isa.assembler import decode, format_instruction

_STEPS_HEAD = """\
// What the host does, in order: two words a step.
//   word 0: what (8 bits), address space (8), RPAU (8), index (16), number of words or
// instructions (24)
//   word 1: first word of the address space (32), first word of the file (32); of a run its clock
// cycles
// 1 ring, 2 write words of data.hex, 3 load words of microcode.hex, 4 run, 5 read and compare with
// words of expected.hex. Address spaces are those of register host_space.
"""


def files(steps: Sequence[Step]) -> dict[str, str]:
    """The files by name."""
    words: dict[Do, list[int]] = {Do.WRITE: [], Do.PROGRAM: [], Do.READ: []}
    lines = [_STEPS_HEAD]
    for step in steps:
        held = words.get(step.do, [])
        first, second, comment = _encoded(step, len(held))
        lines.append(f"{first:016x} {second:016x}  // {comment}\n")
        held += step.words.tolist()
    return {
        "steps.hex": "".join(lines),
        "data.hex": hex_words(words[Do.WRITE]),
        "microcode.hex": "".join(
            f"{word:016x}  // {format_instruction(decode(word))}\n" for word in words[Do.PROGRAM]
        ),
        "expected.hex": hex_words(words[Do.READ]),
    }


def sizes(steps: Sequence[Step]) -> Mapping[str, int]:
    """Steps, and words of each file, by the names that the testbench gives them."""
    count = {do: sum(step.words.size for step in steps if step.do is do) for do in Do}
    return {
        "steps": len(steps),
        "data_words": count[Do.WRITE],
        "instructions": count[Do.PROGRAM],
        "expected_words": count[Do.READ],
    }


def _encoded(step: Step, offset: int) -> tuple[int, int, str]:
    """The two words of a step whose words begin at an offset of their file, and a comment."""
    place = step.space << 48 | step.unit << 40 | step.index << 24
    count = int(step.words.size)
    where = f"{step.space.name.lower()} {step.index} of RPAU {step.unit}"
    match step.do:
        case Do.RING:
            return step.do << 56, step.log_degree, f"ring of degree {1 << step.log_degree}"
        case Do.PROGRAM:
            return step.do << 56 | count, offset, f"load {count} instructions"
        case Do.RUN:
            cycles, instructions = step.report.cycles, step.report.instructions
            text = f"run: {cycles} clock cycles, {instructions} instructions"
            return step.do << 56 | instructions, cycles, text
        case Do.WRITE:
            begin = f" from word {step.address} on" if step.address else ""
            second, text = step.address << 32 | offset, f"write {count} words: {where}{begin}"
            return step.do << 56 | place | count, second, text
    return step.do << 56 | place | count, offset, f"read {count} words: {where}"
