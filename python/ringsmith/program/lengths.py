"""The length of each output: how many slots a client gets after decryption.

The user declares it, or it follows from the declared lengths of inputs. Slotwise operations keep
numbers in the first slots. A rotation to the left by at most half a row is assumed to bring numbers
to the front, and one to the right to move them back. Helpers declare the length of their results.
Lengths affect only which slots are returned, never the computation.
"""

from collections.abc import Callable, Mapping

from ringsmith.graph.operations import Op
from ringsmith.program.plain import whole_number
from ringsmith.program.source import SourceLine
from ringsmith.program.vector import EncryptedVector, Trace

Rule = Callable[[int], int]
"""Numbers of an operand -> numbers of a helper's result."""


def holds(result: EncryptedVector, x: EncryptedVector, rule: Rule) -> EncryptedVector:
    """Records how many numbers a helper's result holds, and returns the result.

    Args:
        result: The result.
        x: The vector from which it was computed.
        rule: Maps the length of x to the length of the result.
    """
    if result.index != x.index:
        result.trace.rules.setdefault(result.index, (x.index, rule))
    return result


def output_lengths(
    trace: Trace,
    inputs: Mapping[str, int],
    outputs: Mapping[str, int],
    declared: Mapping[str, int | None],
    source: SourceLine,
) -> dict[str, int]:
    """Returns the numbers that each output holds, by name.

    Args:
        trace: The recorded operations.
        inputs: Numbers that each input holds.
        outputs: Operations whose results are returned.
        declared: The user's declaration; None: all slots.
        source: The line that asks, for errors.

    Raises:
        ProgramError: When a declared output does not exist, or its length is none.
    """
    slots = trace.space.slots
    if not isinstance(declared, Mapping):
        raise source.error(
            f'outputs = {declared!r:.60} are no lengths by name: write outputs={{"result": 1}}'
        )
    unknown = sorted(map(str, declared.keys() - outputs.keys()))
    if unknown:
        raise source.error(
            f"outputs names {unknown}, and the program's outputs are {sorted(outputs)}: name those"
        )
    for name, value in declared.items():
        number = slots if value is None else whole_number(value)
        if number is None or not 1 <= number <= slots:
            raise source.error(
                f"output {name!r}: length = {value!r:.60} is not a whole number in 1 … {slots}"
            )
    lengths = _lengths(trace, inputs)
    found = {name: lengths[index] for name, index in outputs.items()}
    return found | {name: slots if value is None else value for name, value in declared.items()}


def _lengths(trace: Trace, inputs: Mapping[str, int]) -> list[int]:
    """Numbers that each operation's result holds."""
    space = trace.space
    lengths: list[int] = []
    for index, node in enumerate(trace.nodes):
        if node.name is not None:
            lengths.append(inputs[node.name])
            continue
        length = max(lengths[operand] for operand in node.operands)
        values = node.values
        if index in trace.rules:
            operand, rule = trace.rules[index]
            length = rule(lengths[operand])
        elif node.op is Op.SWAP_COLUMNS:
            length = space.slots
        elif node.op is Op.ROTATE and node.steps is not None and 2 * node.steps > space.row:
            length += space.row - node.steps
        elif node.op in (Op.ADD_PLAIN, Op.SUB_PLAIN) and values is not None and values.ndim:
            length = max(length, int(values.nonzero()[0].max(initial=0)) + 1)
        lengths.append(min(length, space.slots))
    return lengths
