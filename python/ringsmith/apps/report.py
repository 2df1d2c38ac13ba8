"""What commands print and write of a run: where cycles went, layers, figures, single operations."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.operations import OperationRow
from ringsmith.backends.base import Executable
from ringsmith.errors import DeviceError
from ringsmith.program import Node, Op, Program
from ringsmith.runtime import RunResult

CLOCK = f"at {ASSUMED_HZ / 1e6:.0f} MHz (assumed)"
"""Of tables at the usual clock."""
_ENDS_A_PRODUCT = (Op.RELINEARIZE, Op.RESCALE, Op.RELINEARIZE_RESCALE)
_KEY_SWITCHINGS = (Op.ROTATE, Op.RELINEARIZE, Op.RELINEARIZE_RESCALE)


@dataclass(frozen=True)
class Share:
    """One kind of operation in a program.

    Attributes:
        operation: Its name, such as ``rotate``.
        count: How often it occurs.
        instructions: Issued for it.
        cycles: From the issue of each of its instructions to the next issue of any; all shares add
            up to the program's cycles.
    """

    operation: str
    count: int
    instructions: int
    cycles: int


def breakdown(executable: Executable) -> list[Share]:
    """Returns the shares of a program, the largest first; see ``Executable.spans``."""
    cycles: Counter[str] = Counter()
    instructions: Counter[str] = Counter()
    origins: dict[str, set[str]] = {}
    for origin, spent in executable.spans:
        operation = origin.partition(":")[0]
        cycles[operation] += spent
        instructions[operation] += 1
        origins.setdefault(operation, set()).add(origin)
    return [
        Share(operation, len(origins[operation]), instructions[operation], spent)
        for operation, spent in cycles.most_common()
    ]


@dataclass(frozen=True)
class Layer:
    """A network layer's part of a program.

    Attributes:
        name: By the Framework paper.
        operations: HE operations.
        key_switchings: Those of them that switch keys: rotations and relinearizations.
        cycles: On a design, from the issue of each of its instructions to the next one; None
            without a design.
    """

    name: str
    operations: int
    key_switchings: int
    cycles: int | None


def layers(names: Sequence[str], program: Program, executable: Executable | None) -> list[Layer]:
    """Returns what each layer takes of a program.

    Args:
        names: Of the layers: every second one is an activation.
        program: The planned program of a network of these layers.
        executable: The same, compiled for a design; None: no cycles.
    """
    levels = _layer_of_nodes(program.nodes)
    of_nodes = list(zip(levels, program.nodes, strict=True))
    operations = Counter(i for i, node in of_nodes if node.op not in (Op.INPUT, Op.OUTPUT))
    switches = Counter(i for i, node in of_nodes if node.op in _KEY_SWITCHINGS)
    cycles: Counter[int] = Counter()
    for origin, spent in executable.spans if executable else ():
        cycles[levels[int(origin.partition(":")[2])]] += spent
    return [
        Layer(name, operations[i], switches[i], cycles[i] if executable else None)
        for i, name in enumerate(names)
    ]


def _layer_of_nodes(nodes: Sequence[Node]) -> list[int]:
    """The number of the layer that each node belongs to.

    A square begins an activation, and what relinearizes and rescales it belongs to it.
    """
    found: list[int] = []
    for node in nodes:
        before = max((found[operand] for operand in node.operands), default=0)
        if node.op is Op.SQUARE or (before % 2 and node.op not in _ENDS_A_PRODUCT):
            before += 1
        found.append(before)
    return found


@dataclass(frozen=True)
class Took:
    """What one run of a program took.

    Attributes:
        result: The run; of the cpu device it has no cycles.
        program: What ran.
        executable: The same for a design; None on the cpu device.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
        hz: The clock at which cycles become seconds.
        seal_seconds: SEAL's time for the same program; None: not measured.
        cpu_seconds: The cpu device's CPU time for it; None: not measured.
    """

    result: RunResult
    program: Program
    executable: Executable | None
    equal_bits: bool | None
    hz: float = ASSUMED_HZ
    seal_seconds: float | None = None
    cpu_seconds: float | None = None

    @property
    def seconds(self) -> float | None:
        """Time of the cycles at the assumed clock."""
        cycles = self.result.cycles
        return None if cycles is None else seconds_at_assumed_clock(cycles, self.hz)

    def numbers(self) -> dict[str, object]:
        """Returns all of it as JSON values."""
        executable, of = self.executable, self.program.parameters
        return {
            "operations": dict(Counter(node.op for node in self.program.nodes)),
            **({"plain_modulus": of.message_modulus} if of.exact else {}),
            **self.result.report.numbers(),
            "predicted_cycles": executable.cycles if executable else None,
            "seconds_at_assumed_clock": self.seconds,
            "seal_seconds": self.seal_seconds,
            "cpu_seconds": self.cpu_seconds,
            "equal_bits_with_cpu": self.equal_bits,
            "breakdown": [asdict(s) for s in breakdown(executable)] if executable else None,
        }

    def tables(self, where: str) -> list[Table]:
        """Returns what the run took, and where its cycles went, as far as measured."""
        report, executable = self.result.report, self.executable
        rows = []
        if self.equal_bits is not None:
            verdict = "[green]yes[/green]" if self.equal_bits else "[red]NO[/red]"
            rows.append(("every residue equal to the cpu device's", verdict))
        if report.instructions is not None:
            rows.append(("instructions", f"{report.instructions:,}"))
        if report.cycles is not None:
            rows.append(("cycles", f"{report.cycles:,}"))
        if executable is not None:
            rows.append(("cycles predicted by the scheduler", f"{executable.cycles:,}"))
        if self.seconds is not None:
            clock = f"time at {self.hz / 1e6:.0f} MHz (assumed)"
            rows.append((clock, _milliseconds(self.seconds)))
        if report.memory_read:
            moved = (report.memory_read / 2**20, report.memory_written / 2**20)
            rows.append(("MiB read from memory, and written", "{:,.1f}, {:,.1f}".format(*moved)))
        rows += [(f"{part} busy", f"{share:.1%}") for part, share in report.busy.items()]
        for what, seconds in (
            ("Microsoft SEAL, same program, this CPU, 1 thread", self.seal_seconds),
            ("cpu device, same program, CPU time", self.cpu_seconds),
        ):
            if seconds is not None:
                rows.append((what, _milliseconds(seconds)))
        found = [figures_table(f"The program on {where}", rows)] if rows else []
        if executable is not None and report.cycles is not None:
            found.append(_breakdown_table(breakdown(executable), report.cycles))
        return found


def refuse_different_bits(equal_bits: bool | None) -> None:
    """Refuses a result whose residues are not the cpu device's; None: they were not compared.

    Raises DeviceError where they differ.
    """
    if equal_bits is False:
        raise DeviceError("the device's residues differ from the cpu device's: report this")


# ---- tables --------------------------------------------------------------------------------------


def rows_table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[str] = ()
) -> Table:
    """Returns a table of rows.

    Args:
        title: Of the table.
        headings: Of the columns; empty: none are shown, and there are two columns.
        rows: As many cells as there are headings, each.
        text: The headings of columns of text; all others are right-aligned.
    """
    table = Table(title=title, title_justify="left", show_header=bool(headings))
    for index, heading in enumerate(headings or ("", "")):
        left = heading in text or (not headings and index == 0)
        table.add_column(heading, justify="left" if left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def figures_table(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Returns figures and their values, one a row."""
    return rows_table(title, (), rows)


def some(count: int, shown: int = 8) -> range:
    """Returns about ``shown`` of ``count`` positions, spread evenly, the first among them."""
    return range(0, count, max(1, count // shown))


def against(truth: str, guess: str) -> str:
    """Returns the truth, in another colour where the guess is not the same."""
    return truth if guess == truth else f"[yellow]{truth}[/yellow]"


def _breakdown_table(shares: Sequence[Share], total: int) -> Table:
    headings = ("operation", "times", "instructions", "cycles", "share")
    rows = [
        (s.operation, str(s.count), str(s.instructions), f"{s.cycles:,}", f"{s.cycles / total:.1%}")
        for s in shares
    ]
    return rows_table("The program's cycles by operation", headings, rows, headings[:1])


def layers_table(found: Sequence[Layer]) -> Table:
    """Returns what each layer takes; without a design there are no cycles."""
    total = sum(layer.cycles or 0 for layer in found)
    headings = ("layer", "HE operations", "key switchings", "cycles", "share")
    everything = Layer(
        "all", sum(i.operations for i in found), sum(i.key_switchings for i in found), total
    )
    rows = []
    for layer in (*found, everything):
        cycles = layer.cycles or 0
        share = "" if layer is everything else f"{cycles / (total or 1):.1%}"
        counts = (f"{layer.operations:,}", str(layer.key_switchings), f"{cycles:,}")
        rows.append((layer.name, *counts, share))
    shown = len(headings) if total else 3
    return rows_table("Layers", headings[:shown], (row[:shown] for row in rows), headings[:1])


def operations_table(rows: Sequence[OperationRow], design: str) -> Table:
    """Returns single operations as a table."""
    headings = ("operation", "instructions", "cycles", CLOCK, "SEAL, this CPU, 1 thread")
    cells = [
        (
            row.name,
            f"{row.instructions:,}",
            f"{row.cycles:,}",
            _milliseconds(row.seconds),
            "–" if row.seal_seconds is None else _milliseconds(row.seal_seconds),
        )
        for row in rows
    ]
    title = f"Single operations on {design}, {rows[0].limbs} limbs"
    return rows_table(title, headings, cells, headings[:1])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
