"""``ringsmith bench scaling``: what requests take, and what fleets of cards make of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ringsmith import progress
from ringsmith.bench.records import Found, Record
from ringsmith.bench.scaling import workloads
from ringsmith.bench.scaling.fleet import Fleet, Workload, bound
from ringsmith.bench.scaling.scenarios import CARDS, QUICK_CARDS, SCENARIOS
from ringsmith.bench.scaling.simulate import Simulated, simulate
from ringsmith.errors import ParameterError

ANY = "any"
DISPATCH = "dispatch"
"""The operation of the record that has the dispatcher's time for a request."""


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        dispatch_seconds: CPU time of a dispatcher for a request.
        cards: Fleets to simulate.
        kept: Records of other benches: times of the forecast, of the network and of the cpu device;
            without them there is but the product.
    """

    dispatch_seconds: float = Fleet.dispatch_seconds
    cards: tuple[int, ...] = CARDS
    kept: tuple[Record, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.dispatch_seconds < 1:
            raise ParameterError(
                f"{self.dispatch_seconds * 1e3} ms of a dispatcher for a request: give more than 0 "
                "and less than 1,000"
            )


QUICK = Options(cards=QUICK_CARDS)
"""What --quick measures."""


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures what requests take, and simulates fleets.

    Args:
        options: What, and how.
        say: Takes lines for people.

    Raises:
        ParameterError: If the records of other benches lack a number.
    """
    found = [Record(**vars(each)) for each in _measured(options, say)]
    return [*found, *(Record(**vars(each)) for each in swept(found, options.cards))]


def _measured(options: Options, say: Callable[[str], None]) -> Iterator[Found]:
    yield Found(
        ANY,
        ANY,
        DISPATCH,
        "milliseconds",
        options.dispatch_seconds * 1e3,
        "estimate",
        "CPU time of a dispatcher for a request without its inputs and outputs",
    )
    product = [*workloads.product(say)]
    yield from product
    if not options.kept:
        say("the product alone: give --heaws FILE and --framework FILE for the others")
        return
    base = workloads.workload_of([Record(**vars(each)) for each in product], workloads.PRODUCT)
    assert base is not None, "it was measured above"
    yield from workloads.on_cpu(options.kept, base)
    yield from workloads.forecast(options.kept, base.slots, say)
    yield from workloads.network(options.kept)


def swept(records: Sequence[Record], cards: Sequence[int] = CARDS) -> Iterator[Found]:
    """Simulated fleets and their closed form, of the workloads and times of records.

    The same records give the same numbers, on every machine.
    """
    seconds = next(r.value for r in records if r.operation == DISPATCH) / 1e3
    known = {name: workloads.workload_of(records, name) for name in workloads.WORKLOADS}
    chosen = [(name, each) for name, each in SCENARIOS.items() if known[each.work] is not None]
    with progress.task("simulating fleets", len(chosen), "sweeps") as task:
        for name, scenario in chosen:
            work = known[scenario.work]
            assert work is not None
            for count in cards:
                if count <= scenario.most:
                    fleet = scenario.fleet_of(work, count, seconds)
                    yield from _point(name, work, fleet, simulate(work, fleet))
            task.advance()


def _point(name: str, work: Workload, fleet: Fleet, found: Simulated) -> Iterator[Found]:
    """The reported values of a fleet."""
    least, most = bound(work, fleet)
    at = f"{name}: {fleet.cards}"
    text = (
        f"{fleet.hosts} × {fleet.host_bytes * 8 / 1e9:,.0f} Gb/s, dispatchers: "
        f"{fleet.dispatchers:,}, key stores: {fleet.stores}"
    )

    def row(operation: str, metric: str, value: float, source: str) -> Found:
        rounded = float(f"{value:.6g}")
        return Found(work.design, work.params, operation, metric, rounded, source, text)

    yield row(f"{at}: {least}", "per_second", most, "formula")
    yield row(f"{at}: {found.busiest}", "per_second", found.per_second, "simulation")
    yield row(f"{at}: busiest", "percent", 100 * found.busy[found.busiest], "simulation")
    yield row(f"{at}: half", "seconds", found.median_seconds, "simulation")
    yield row(f"{at}: 99 of 100", "seconds", found.late_seconds, "simulation")
    yield row(f"{at}: keys loaded", "percent", 100 * found.loads, "simulation")
