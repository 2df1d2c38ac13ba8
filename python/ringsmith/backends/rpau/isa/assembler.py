"""Instructions as 64-bit words and as lines of text, and what a design accepts of them.

One instruction a line: name, operands in the order of ``isa.yaml``, ``@`` with the RPAUs that take
part and, unless it is 0, their modulus bank, ``wait(...)`` with the units waited for, and a comment
from ``#`` on::

    scale_sub p3, p1, p2, c7  @0-3 q1 wait(dyadic)
"""

import re
from collections.abc import Iterable, Sequence

from ringsmith.backends.rpau.design.design import NO_PRNG, RpauDesign
from ringsmith.backends.rpau.isa.instruction_set import (
    COEFFICIENT,
    CONTROL,
    DYADIC,
    ISA,
    LINK,
    Instruction,
    common_fields,
    has_unit,
)
from ringsmith.backends.rpau.isa.kinds import KINDS, POLY
from ringsmith.errors import ProgramError

_LINE = re.compile(
    r"(?P<name>\w+)"
    r"(?:\s+(?P<operands>[a-z]+\w*(?:\s*,\s*[a-z]+\w*)*))?"
    r"(?:\s*@(?P<rpaus>all|[\d,-]+)(?:\s*q(?P<prime>\d))?)?"
    r"(?:\s*wait\((?P<waits>[\w\s,]*)\))?"
)
_OPERAND = re.compile(r"(?P<prefix>[a-z_]+)(?P<number>\d+)")

_WITHOUT = {
    DYADIC: "(dyadic_cores = 0): use the main unit's mul, mac, mul_key, mac_key, affine, reduce, "
    "scale_add, scale_sub, add or sub, or a design with dyadic cores",
    LINK: "(link = false): use broadcast, or a design with link = true",
    COEFFICIENT: "(converters = 0): take a design with converters",
}
"""For each unit that a design may lack, why it does and what to do."""


def check(instruction: Instruction, design: RpauDesign) -> None:
    """Checks an instruction against a design.

    Raises:
        ProgramError: If the design lacks the unit or the PRNG, an operand is outside what the
            design has, operands that must differ do not, two that are read together share a read
            port, or the mask is empty, names RPAUs that do not exist, or lacks the source.
    """
    operation = instruction.operation
    if not has_unit(design, operation.unit):
        raise ProgramError(
            f"{operation.name}: design {design.name} has no {operation.unit} unit "
            f"{_WITHOUT[operation.unit]}"
        )
    if operation.seeded and design.prng == NO_PRNG:
        raise ProgramError(
            f"{operation.name}: design {design.name} expands no seeds (prng = 'none'): load the "
            "key whole and use dmul_key, dmac_key, or take a design with prng = 'trivium'"
        )
    if operation.needs and not getattr(design, operation.needs):
        raise ProgramError(
            f"{operation.name}: design {design.name} has {operation.needs} = 0: take a design that "
            "has more"
        )
    for operand, value in zip(operation.operands, instruction.values, strict=True):
        kind = KINDS[operand.kind]
        limit = kind.limit(design)
        if not 0 <= value < limit:
            raise ProgramError(
                f"{operation.name}: {operand.name} = {value} is not in 0 … {limit - 1}, "
                f"the {operand.kind} range of design {design.name}"
            )
        if kind.odd and value % 2 == 0:
            raise ProgramError(
                f"{operation.name}: {operand.name} = {value} is even; it must be odd"
            )
    named = [instruction[name] for name in operation.distinct]
    if len(set(named)) < len(named):
        raise ProgramError(
            f"{operation.name}: {' and '.join(operation.distinct)} are one polynomial, "
            f"p{named[0]}: choose different ones"
        )
    _check_read_ports(instruction, design)
    if not 0 <= instruction.mask < 1 << design.rpaus:
        raise ProgramError(
            f"{operation.name}: mask {instruction.mask:#b} names RPAUs that design {design.name} "
            f"does not have: it has 0 … {design.rpaus - 1}"
        )
    if not 0 <= instruction.prime < (design.modulus_banks if operation.computes else 1):
        raise ProgramError(
            f"{operation.name}: modulus bank {instruction.prime} does not exist: design "
            f"{design.name} "
            f"has 0 … {design.modulus_banks - 1}, and instructions of the controller and "
            "of the link "
            "unit name none"
        )
    if operation.unit != CONTROL and not instruction.mask:
        raise ProgramError(f"{operation.name}: the mask is empty: name the RPAUs that take part")
    everyone = (1 << design.rpaus) - 1
    if operation.everyone and instruction.mask != everyone:
        raise ProgramError(
            f"{operation.name}: mask {instruction.mask:#b} leaves out RPAUs of design "
            f"{design.name}, and all {design.rpaus} take part: name them all"
        )
    if operation.converts:
        _check_inputs(instruction, design)
    if operation.source and instruction[operation.source.name] not in instruction.rpaus():
        raise ProgramError(
            f"{operation.name}: RPAU {instruction[operation.source.name]} sends but is not in the "
            "mask: add it"
        )


def _check_inputs(instruction: Instruction, design: RpauDesign) -> None:
    """Checks that a conversion has inputs, and a term left for the outputs' own ones."""
    name, first, last = instruction.operation.name, instruction["first"], instruction["last"]
    most = design.rpaus - 1 - (instruction.operation.operand("b") is not None)
    if not first <= last <= most:
        raise ProgramError(
            f"{name}: inputs are RPAUs {first} … {last}, and the first is at most the last, which "
            f"is at most {most} in design {design.name}: choose others"
        )


def _check_read_ports(instruction: Instruction, design: RpauDesign) -> None:
    """Checks that no two polynomials that are read together share a bank."""
    read: dict[int, int] = {}
    for operand, poly in zip(instruction.operation.operands, instruction.values, strict=True):
        if operand.kind != POLY or not operand.reads:
            continue
        bank = design.bank_of_poly[poly]
        if read.setdefault(bank, poly) != poly:
            held = design.banks[bank]
            raise ProgramError(
                f"{instruction.operation.name}: p{read[bank]} and p{poly} are read together, and "
                f"p{held[0]} … p{held[-1]} are one bank of design {design.name}, with one read "
                "port: take polynomials of different banks"
            )


def encode(instruction: Instruction) -> int:
    """The instruction's word.

    Raises:
        ProgramError: If a value does not fit its field.
    """
    opcode, *wait_fields, prime_field, mask_field = common_fields(ISA)
    parts = [
        (opcode, instruction.operation.opcode),
        (prime_field, instruction.prime),
        (mask_field, instruction.mask),
    ]
    for field, unit in zip(wait_fields, ISA.execution_units, strict=True):
        parts.append((field, int(unit in instruction.waits)))
    for operand, value in zip(instruction.operation.operands, instruction.values, strict=True):
        parts.append((operand.field, value))
    word = 0
    for field, value in parts:
        if value < 0 or value >> field.width:
            raise ProgramError(
                f"{instruction.operation.name}: {field.name} = {value} does not fit the field's "
                f"{field.width} bits"
            )
        word |= value << field.lsb
    return word


def decode(word: int) -> Instruction:
    """The instruction that a word means; the inverse of :func:`encode`.

    Raises:
        ProgramError: If there is no such opcode, or a bit outside the instruction's fields is set.
    """
    word = int(word)
    opcode, *wait_fields, prime_field, mask_field = common_fields(ISA)
    value = opcode.extract(word)
    operation = next((o for o in ISA.operations if o.opcode == value), None)
    if operation is None or word < 0 or word >> ISA.word_bits:
        raise ProgramError(f"word {word:#018x} is no instruction: there is no opcode {value}")
    instruction = Instruction(
        operation,
        mask_field.extract(word),
        tuple(operand.field.extract(word) for operand in operation.operands),
        frozenset(
            unit
            for field, unit in zip(wait_fields, ISA.execution_units, strict=True)
            if field.extract(word)
        ),
        prime_field.extract(word),
    )
    stray = word ^ encode(instruction)
    if stray:
        raise ProgramError(
            f"word {word:#018x} ({operation.name}): bits {stray:#x} belong to none of its fields "
            "and must be zero"
        )
    return instruction


def format_instruction(instruction: Instruction) -> str:
    """The instruction as one line of assembly text."""
    named = list(zip(instruction.operation.operands, instruction.values, strict=True))
    while named and named[-1][0].default == named[-1][1]:
        named.pop()
    operands = ", ".join(f"{KINDS[operand.kind].prefix}{value}" for operand, value in named)
    words = [f"{instruction.operation.name} {operands}".rstrip()]
    if instruction.mask:
        words.append(f" @{_format_rpaus(instruction.rpaus())}")
    if instruction.prime:
        words.append(f"q{instruction.prime}")
    waits = [unit for unit in ISA.execution_units if unit in instruction.waits]
    if waits:
        words.append(f"wait({', '.join(waits)})")
    return " ".join(words)


def parse_instruction(line: str, design: RpauDesign) -> Instruction:
    """Reads one line of assembly text, without comment, and checks it against the design.

    Raises:
        ProgramError: If the line does not parse or :func:`check` refuses the instruction.
    """
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ProgramError(
            f"cannot read {line.strip()!r}: write it like 'mul p3, p1, p2 @0-3 wait(dyadic)'"
        )
    operation = ISA.operation(match["name"])
    texts = [text.strip() for text in (match["operands"] or "").split(",") if text.strip()]
    for operand in operation.operands[len(texts) :]:
        if operand.default is not None:
            texts.append(f"{KINDS[operand.kind].prefix}{operand.default}")
    if len(texts) != len(operation.operands):
        expected = ", ".join(f"{KINDS[o.kind].prefix}<{o.name}>" for o in operation.operands)
        raise ProgramError(f"{operation.name} takes ({expected}), not ({', '.join(texts)})")
    values = []
    for operand, text in zip(operation.operands, texts, strict=True):
        prefix = KINDS[operand.kind].prefix
        parts = _OPERAND.fullmatch(text)
        if parts is None or parts["prefix"] != prefix:
            raise ProgramError(
                f"{operation.name}: {operand.name} is a {operand.kind}: write {prefix}<number>, "
                f"not {text!r}"
            )
        values.append(int(parts["number"]))
    waits = [unit.strip() for unit in (match["waits"] or "").split(",") if unit.strip()]
    unknown = sorted(set(waits) - set(ISA.execution_units))
    if unknown:
        raise ProgramError(
            f"cannot wait for {', '.join(unknown)}: units are {', '.join(ISA.execution_units)}"
        )
    mask = _parse_rpaus(match["rpaus"], design)
    prime = int(match["prime"] or 0)
    instruction = Instruction(operation, mask, tuple(values), frozenset(waits), prime)
    check(instruction, design)
    return instruction


def assemble(text: str, design: RpauDesign) -> list[int]:
    """Turns assembly text into instruction words.

    Raises:
        ProgramError: If a line is wrong; the message starts with its number.
    """
    words = []
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0].strip()
        if not code:
            continue
        try:
            words.append(encode(parse_instruction(code, design)))
        except ProgramError as error:
            raise ProgramError(f"line {number}: {error}") from error
    return words


def disassemble(words: Iterable[int]) -> str:
    """Turns instruction words into assembly text, one line a word.

    Raises:
        ProgramError: If a word is no instruction; the message names its index.
    """
    lines = []
    for index, word in enumerate(words):
        try:
            lines.append(format_instruction(decode(word)))
        except ProgramError as error:
            raise ProgramError(f"instruction {index}: {error}") from error
    return "".join(f"{line}\n" for line in lines)


def check_program(words: Sequence[int], design: RpauDesign) -> list[Instruction]:
    """Decodes a program and checks it against a design.

    Raises:
        ProgramError: If it is too long, a word is no instruction or :func:`check` refuses it, or
            its one ``halt`` is not the last instruction.
    """
    if len(words) > design.program_words:
        raise ProgramError(
            f"the program has {len(words)} instructions and the program store of design "
            f"{design.name} holds {design.program_words}: split the program"
        )
    instructions = []
    for index, word in enumerate(words):
        try:
            instruction = decode(word)
            check(instruction, design)
        except ProgramError as error:
            raise ProgramError(f"instruction {index}: {error}") from error
        instructions.append(instruction)
    halts = [i for i, each in enumerate(instructions) if each.operation.name == "halt"]
    if halts != [len(instructions) - 1]:
        raise ProgramError(
            f"the program has {len(instructions)} instructions and halt at {halts}: "
            "end it with one halt"
        )
    return instructions


def _format_rpaus(rpaus: Sequence[int]) -> str:
    """``(0, 1, 2, 4)`` becomes ``0-2,4``."""
    runs: list[list[int]] = []
    for rpau in rpaus:
        if runs and runs[-1][-1] + 1 == rpau:
            runs[-1].append(rpau)
        else:
            runs.append([rpau])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _parse_rpaus(text: str | None, design: RpauDesign) -> int:
    if text is None:
        return 0
    if text == "all":
        return (1 << design.rpaus) - 1
    mask = 0
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise ProgramError(f"cannot read the RPAUs '@{text}': write them like @0-2,4")
        mask |= ((1 << (last - first + 1)) - 1) << first
    return mask
