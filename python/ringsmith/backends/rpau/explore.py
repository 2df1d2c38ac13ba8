"""Design points of the RPAU architecture for a platform, and what they cost.

Cycles are those of the compiler's schedule, which the model and the RTL keep to the cycle: no other
cost function is needed where compiling takes a second at most.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from ringsmith.backends.explorer import (
    Bar,
    Explorer,
    OperationCost,
    Parameter,
    Point,
    Task,
    Usage,
    refuse_conversions,
    whole_excess,
)
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.area import outside_area, rpau_estimates
from ringsmith.backends.rpau.design.design import (
    ARCHITECTURE,
    ASSUMED_MHZ,
    MAX_NARROW_BITS,
    RpauDesign,
)
from ringsmith.backends.rpau.design.latency import host_words
from ringsmith.backends.types import Design
from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.graph import SubroutineGraph
from ringsmith.hdl.synthesis import Area, total_area
from ringsmith.platforms import Resources, place

MOST_RPAUS = 16

LINK_GIGABYTES_PER_SECOND = 15.75
"""Peak of PCIe Gen3 x16, each way: what a design does not hold crosses it, no faster."""

_PLAIN, _SEEDED = "keys whole", "keys from seeds, link unit"
"""Whether half of each key is expanded on the device, and a unit sends while others compute."""

_WORD_BYTES = 8
_NO_ALU = ("permutation", "control", "link")
_SEND = ("broadcast", "send", "automorph", "permute")
"""Instructions that move words among RPAUs or lanes."""


class RpauExplorer(Explorer):
    """RPAUs, cores, work memory, reduction, keys; what is left is chosen to fit."""

    architecture = ARCHITECTURE
    megahertz = ASSUMED_MHZ

    def space(self, task: Task) -> tuple[Parameter, ...]:
        """See ``Explorer.space``."""
        for graph in task.graphs.values():
            refuse_conversions(graph, f"architecture {ARCHITECTURE}")
            sizes = (n.attrs["sizes"] for n in graph.nodes if n.op in ("digits", "key_switch"))
            if any(set(each) != {1} for each in sizes):
                raise ParameterError(
                    f"architecture {ARCHITECTURE} has digits of one prime alone in CKKS: choose "
                    "dnum = 0, or name another architecture"
                )
        primes = len(task.primes)
        if task.prime_bits > 60:
            raise ParameterError(f"primes of {task.prime_bits} bits, and words have 60 at most")
        if not 8 <= task.log_n <= 16:
            raise ParameterError(f"N = 2^{task.log_n} is outside 2^8 … 2^16")
        counts = sorted({max(2, -(-primes // sets)) for sets in range(1, 9)})
        counts = [count for count in counts if count <= MOST_RPAUS]
        if not counts:
            raise ParameterError(
                f"{primes} primes are more than {MOST_RPAUS} RPAUs of 8 modulus banks take"
            )
        extra = tuple(range(counts[0], min(MOST_RPAUS, primes + 2) + 1))
        doubled = tuple(count for count in counts if count in (counts[-1], -(-primes // 2)))
        folds = all(self._folds(prime) for prime in task.primes)
        reductions = ("folded", "barrett") if folds else ("barrett",)
        narrow = sum(folded.fits(prime, MAX_NARROW_BITS) for prime in task.primes)
        narrows = (0, narrow) if folds and narrow < primes else (0,)
        cores = (1, 2, 4, 8, 16, 32)
        return (
            Parameter("rpaus", extra, doubled),
            Parameter("cores", cores, cores),
            Parameter("dyadic_cores", (1, 2, 4, 8, 16, 32), (1, 2, 4, 8)),
            Parameter("work_polys", tuple(range(6, 33)), (8, 16, 32)),
            Parameter("work_uram_polys", tuple(range(0, 17)), (0, 8)),
            Parameter("reduction", reductions, reductions),
            Parameter("narrow_rpaus", tuple(range(narrows[-1] + 1)), narrows),
            Parameter("keys", (_PLAIN, _SEEDED), (_PLAIN, _SEEDED)),
        )

    @staticmethod
    def _folds(prime: int) -> bool:
        return folded.fits(prime, 60) or folded.fits(prime, MAX_NARROW_BITS)

    def design(self, point: Point, task: Task) -> RpauDesign:
        """See ``Explorer.design``."""
        primes, rpaus = len(task.primes), int(point["rpaus"])
        sets = -(-primes // rpaus)
        folds, seeded = point["reduction"] == "folded", point["keys"] == _SEEDED
        bits = task.prime_bits
        if folds:
            bits = 60 if bits > MAX_NARROW_BITS else MAX_NARROW_BITS
        keys = [graph.keys.values() for graph in task.graphs.values()]
        digits = max(sum(shape.digits for shape in each) for each in keys)
        halves = 1 if seeded else 2
        cores, polys = int(point["cores"]), int(point["work_polys"])
        narrow = int(point["narrow_rpaus"])
        dyadic, ultra = int(point["dyadic_cores"]), int(point["work_uram_polys"])
        text = f"{rpaus}x{cores}-{dyadic}-w{polys}u{ultra}-{point['reduction']}"
        return RpauDesign(
            name=f"rpau-{text}{f'-n{narrow}' if narrow else ''}{'-seeds' if seeded else ''}",
            log_n=task.log_n,
            word_bits=bits if folds else max(30, bits),
            rpaus=rpaus,
            cores=cores,
            dyadic_cores=dyadic,
            work_polys=polys,
            work_uram_polys=ultra,
            work_block_banks=0,
            key_polys=max(1, digits * halves * sets),
            key_ram="ultra" if task.platform.die.urams else "block",
            constants=128,
            program_words=65536,
            reduction=str(point["reduction"]),
            modulus_banks=sets,
            prng="trivium" if seeded else "none",
            seeds=max(1, digits * sets) if seeded else 0,
            link=seeded,
            narrow_rpaus=narrow,
            narrow_bits=MAX_NARROW_BITS if narrow else 0,
            hop_cycles=2 if task.platform.dies > 1 else 1,
            platform=task.platform_name,
        )

    def usage(self, design: Design) -> Usage:
        """See ``Explorer.usage``."""
        point = cast("RpauDesign", design)
        area = total_area([*_units(point), outside_area(point)])
        return Usage(area.lut_sites, area.fabric_flip_flops, area.dsps, area.brams, area.urams)

    def excess(self, design: Design, task: Task) -> tuple[str, ...]:
        """See ``Explorer.excess``: first of the whole FPGA, then RPAU by RPAU on its dies."""
        point = cast("RpauDesign", design)
        found = whole_excess(self.usage(point), task.platform)
        if found:
            return found
        placed = place(
            task.platform,
            [_resources(unit) for unit in _units(point)],
            _resources(outside_area(point)),
            boundary_wires(point),
        )
        return placed.excess

    def gigabytes_per_second(self, design: Design, task: Task) -> float:
        """See ``Explorer.gigabytes_per_second``: none, where all lies on the device."""
        return 2 * LINK_GIGABYTES_PER_SECOND

    def cost(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.cost``: the schedule's cycles, and the host's link where words cross."""
        point = cast("RpauDesign", design)
        executable = _compiled(_Asked(task.graphs[operation], point))
        busy: Counter[tuple[int, str]] = Counter()
        parts: Counter[str] = Counter()
        for event in Trace.of_executable(executable).events:
            cycles, mask = event.end - event.start, event.instruction.mask
            kind = "permutation" if event.name in _SEND else event.unit
            busy.update({(rpau, kind): cycles for rpau in range(point.rpaus) if mask >> rpau & 1})
            parts[event.name] += cycles if mask & 1 else 0
        moved = executable.host_transfers * task.any_graph.n * _WORD_BYTES
        milliseconds = task.milliseconds(executable.cycles)
        link = moved / LINK_GIGABYTES_PER_SECOND / 1e6
        units = [count for (_, kind), count in busy.items() if kind not in _NO_ALU]
        moves = [count for (_, kind), count in busy.items() if kind == "permutation"]
        bounds = {
            "compute": max(units, default=0),
            "permutation": max(moves, default=0),
            "memory": 0,
            "capacity": round(link * task.megahertz * 1e3),
        }
        cycles = executable.cycles + bounds["capacity"]
        shown = {name: count for name, count in parts.items() if count}
        return OperationCost(cycles, milliseconds + link, True, bounds, shown, moved)

    def exact(self, design: Design, operation: str, task: Task) -> OperationCost:
        """See ``Explorer.exact``."""
        return self.cost(design, operation, task)

    def timeline(self, design: Design, operation: str, task: Task) -> Iterator[Bar]:
        """See ``Explorer.timeline``: the units of the first RPAU."""
        executable = _compiled(_Asked(task.graphs[operation], cast("RpauDesign", design)))
        for event in Trace.of_executable(executable).events:
            if event.instruction.mask & 1 and event.end > event.start:
                yield Bar(f"{event.unit} unit", event.name, event.start, event.end)


def boundary_wires(design: RpauDesign) -> int:
    """Wires between two dies at most: rows of the ring in both directions, and words of the host.

    Through a centre, all RPAUs beyond the boundary send a row, and one row comes back; a link unit
    sends on the same wires. Commands and addresses, some hundred wires, are not counted.
    """
    row = design.lanes * design.word_bits
    rows = 2 if design.interconnect == "ring" else design.rpaus
    return rows * row + 2 * host_words(design) * design.word_bits


def _resources(area: Area) -> Resources:
    return Resources(area.lut_sites, area.fabric_flip_flops, area.dsps, area.brams, area.urams)


@cached
def _units(design: RpauDesign) -> tuple[Area, ...]:
    return rpau_estimates(design)


@dataclass(frozen=True)
class _Asked:
    """A graph by its identity, and a design."""

    graph: SubroutineGraph
    design: RpauDesign

    def __hash__(self) -> int:
        return hash((id(self.graph), self.design))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Asked) and self.graph is other.graph and self.design == other.design
        )


@cached
def _compiled(asked: _Asked) -> Executable:
    return compile_graph(asked.graph, asked.design)
