"""A program in words and tables: levels, scales, keys, cost, and the precision to expect."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from ringsmith.params import CkksParameters, KeyNeeds
from ringsmith.program.forecast import FAILURE, Forecast, OutputForecast
from ringsmith.program.nodes import Node, Op


def explain(
    title: str,
    parameters: CkksParameters,
    nodes: Sequence[Node],
    needs: KeyNeeds,
    forecast: Forecast,
    cycles: Mapping[int, int] | None = None,
) -> str:
    """Returns the explanation that ``Program.explain`` and ``ringsmith.explain`` print.

    Args:
        title: First line.
        parameters: The parameter set.
        nodes: The HE graph.
        needs: Keys of the program.
        forecast: Its precision.
        cycles: Clock cycles by node, where a design was given.
    """
    cycle_head = "" if cycles is None else "   cycles"
    lines = [
        title,
        f"keys: {describe_keys(needs)}",
        f"{'node':>6}  {'operation':<34} limbs  scale    size  precision{cycle_head}  line",
    ]
    for node in nodes:
        precision = f"{-math.log2(forecast.errors[node.id]):5.1f} bits"
        spent = "" if cycles is None else f"{cycles.get(node.id, 0):>9,}"
        lines.append(f"{describe_node(node)}  {precision:>9}{spent}  {node.source}")
    lines += ["", _cost(parameters, nodes, cycles), "", *_precision(nodes, forecast)]
    return "\n".join(lines)


def describe_node(node: Node) -> str:
    """Returns a node's columns: number, operation, limbs, scale, size."""
    return (
        f"{'%' + str(node.id):>6}  {_expression(node):<34} {node.limbs:>5}  "
        f"2^{math.log2(node.scale):<6.2f} {node.size:>4}"
    )


def describe_keys(needs: KeyNeeds) -> str:
    """Returns the keys in one line."""
    parts = [] if needs.relin is None else [f"relinearization at up to {needs.relin} limbs"]
    parts += [f"Galois element {e} at up to {limbs} limbs" for e, limbs in needs.galois.items()]
    return "; ".join(parts) or "none"


def _expression(node: Node) -> str:
    arguments = [f"%{i}" for i in node.operands]
    if node.name is not None:
        arguments.append(repr(node.name))
    if node.steps is not None:
        arguments.append(str(node.steps))
    if node.plain is not None:
        scalar = node.plain.values.ndim == 0
        what = f"{node.plain.values:.6g}" if scalar else "vector"
        arguments.append(f"{what} * 2^{math.log2(node.plain.scale):.2f}")
    return f"{node.op}({', '.join(arguments)})"


def _cost(
    parameters: CkksParameters, nodes: Sequence[Node], cycles: Mapping[int, int] | None
) -> str:
    counts = Counter(node.op for node in nodes if node.op not in (Op.INPUT, Op.OUTPUT))
    listed = ", ".join(f"{count} {op}" for op, count in counts.most_common())
    switches = [
        node.limbs for node in nodes if node.op is Op.RELINEARIZE or node.element is not None
    ]
    text = (
        f"operations: {listed or 'none'}; {len(switches)} key switchings with {sum(switches)} "
        f"digits in all, over up to {parameters.limbs} data primes"
    )
    if cycles is None:
        return text
    spent: Counter[Op] = Counter()
    for node in nodes:
        spent[node.op] += cycles.get(node.id, 0)
    shares = ", ".join(f"{c:,} {op}" for op, c in spent.most_common() if c)
    return f"{text}\ncycles: {sum(cycles.values()):,} in all, each counted for one node: {shares}"


def _precision(nodes: Sequence[Node], forecast: Forecast) -> list[str]:
    lines = [
        "precision: bits after the point that hold in every slot, but with a probability of "
        f"2^{math.log2(FAILURE):.0f}, by the noise model of docs/programs.md"
    ]
    lines += [_output(name, output) for name, output in forecast.outputs.items()]
    if forecast.overflows:
        first = nodes[forecast.overflows[0]]
        lines.append(
            f"  warning: with inputs at their bounds, %{first.id} ({first.op}, {first.source}) may "
            "exceed its modulus, and then nothing above holds: give tighter bounds, scale the "
            "inputs down, or widen q_0"
        )
    return lines


def _output(name: str, output: OutputForecast) -> str:
    shares = ", ".join(f"{s:.0%} {kind}" for kind, s in output.shares.items() if s >= 0.005)
    return (
        f"  {name}: {output.bits:.1f} bits (largest error {output.error:.2g}, typically "
        f"{output.rms:.2g}, numbers to {output.bound:.3g}); in slot {output.slot}, the worst: "
        f"{shares}"
    )
