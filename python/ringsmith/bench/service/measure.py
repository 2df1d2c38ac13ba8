"""``ringsmith bench service``: requests a second, latency, and what the service adds."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median

from ringsmith import progress
from ringsmith.bench.records import Found, Record
from ringsmith.bench.service import card
from ringsmith.bench.service.nodes import ray_nodes
from ringsmith.bench.service.processes import Asker, Server, Tally
from ringsmith.bench.service.programs import CLASSIFIER, LOADS, SMALL
from ringsmith.bench.service.soak import OPERATION
from ringsmith.errors import ParameterError

ALONE, ADDED = "alone", "added"
"""Operations: a device without the service; what the service adds to one request."""
P50, P99 = "p50", "p99"
OF_LIMIT, SERVERS_CPU = "of the device's limit", "server's CPU"

_LIMITS = "[quota]\njob_bytes = 1000000000000\ncompute_seconds = 1000000\n"
"""Limits that a load does not reach; by default results of a gigabyte are kept for a client."""

_CLIENT, _ALONE = "ringsmith.bench.service.client", "ringsmith.bench.service.alone"


@dataclass(frozen=True)
class Case:
    """A service under load.

    Attributes:
        device: ``cpu``, ``model``, or ``ray``, which is the cpu of a node each.
        workers: Worker processes, or nodes.
        program: One of ``LOADS``.
        clients: Numbers of client processes, one after another.
    """

    device: str
    workers: int
    program: str
    clients: tuple[int, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Options of ``ringsmith serve``."""
        if self.device == "ray":
            return ("--engine", "ray", "--workers", str(self.workers))
        return ("--device", self.device, "--workers", str(self.workers))

    @property
    def kind(self) -> str:
        """The device without a service."""
        return "cpu" if self.device == "ray" else self.device


@dataclass(frozen=True)
class Options:
    """What to measure.

    Attributes:
        cases: Services under load.
        seconds: Of each load.
        added: Requests, one after another, in which added time is measured; 0: none.
        cards: Designs of simulated cards.
        card_jobs: Of each of their coprocessors.
    """

    cases: tuple[Case, ...] = (
        Case("cpu", 1, CLASSIFIER.name, (1, 5, 20)),
        Case("cpu", 2, CLASSIFIER.name, (1, 20)),
        Case("cpu", 1, SMALL.name, (1, 20)),
        Case("model", 1, SMALL.name, (1, 20)),
        Case("ray", 2, CLASSIFIER.name, (20,)),
    )
    seconds: float = 10.0
    added: int = 200
    cards: tuple[str, ...] = tuple(card.CARDS)
    card_jobs: int = 40


PARTS = ("loads", "added", "cards")
"""What can be measured by itself."""


def chosen(options: Options, parts: str | None) -> Options:
    """The options with some parts alone, named by commas; None: all.

    Raises:
        ParameterError: If there is no such part.
    """
    names = PARTS if parts is None else tuple(parts.split(","))
    if unknown := [name for name in names if name not in PARTS]:
        raise ParameterError(f"--parts {unknown[0]}: choose of {', '.join(PARTS)}, by commas")
    return replace(
        options,
        cases=options.cases if "loads" in names else (),
        added=options.added if "added" in names else 0,
        cards=options.cards if "cards" in names else (),
    )


def part_of(record: Record) -> str:
    """The part that a record belongs to; of a long run ``soak``."""
    if record.params == OPERATION:
        return "soak"
    if record.params.startswith("card, "):
        return "cards"
    return "loads" if " × " in record.design else "added"


QUICK = Options((Case("cpu", 1, SMALL.name, (2,)),), 0.5, 5, ("heaws6",), 1)
"""What --quick measures."""


def measure(options: Options, say: Callable[[str], None]) -> list[Record]:
    """Measures services, each beside its device alone, in turn.

    Args:
        options: What, and how long.
        say: Takes lines for people.

    Raises:
        ToolError: If a process fails, a result is wrong, or Ray is missing.
    """
    found: list[Found] = []
    with tempfile.TemporaryDirectory(prefix="ringsmith-bench-") as text:
        folder = Path(text)
        names = {case.program for case in options.cases} | {SMALL.name}
        files = {name: folder / f"{name}.rsp" for name in names}
        for name, path in files.items():
            LOADS[name].make().save(path)
        loads = [(case, count) for case in options.cases for count in case.clients]
        with progress.task("loading services", len(loads) + 1, "loads") as task:
            for number, case in enumerate(options.cases):
                own = folder / str(number)
                own.mkdir()
                for each in _case(case, files[case.program], own, options.seconds, say):
                    found.append(each)
                    task.advance(each.metric == "per_second" and each.operation != ALONE)
            if options.added:
                own = folder / "added"
                own.mkdir()
                found += _added(files[SMALL.name], own, options.added, say)
            task.advance(1)
        found += card.measure(options.cards, options.card_jobs, say)
    return [Record(**vars(each)) for each in found]


def _case(
    case: Case, program: Path, folder: Path, seconds: float, say: Callable[[str], None]
) -> Iterator[Found]:
    text = LOADS[case.program].text
    what = f"{text}; {case.workers} × {case.device}, one thread each; {seconds:g} s of load"
    with ExitStack() as stack:
        if case.device == "ray":
            stack.enter_context(ray_nodes(case.workers))
        with _alone(case, program) as alone:
            limits = [_rate(_ask(alone, seconds), seconds)]
            server = _server(folder, program, *case.options)
            stack.callback(server.stop)
            rows = []
            for count in case.clients:
                with _clients(server.url, case.program, count) as clients:
                    tallies = _ask(clients, seconds)
                rows.append((count, tallies))
                limits.append(_rate(_ask(alone, seconds), seconds))
        limit = mean(limits)
        name = f"{case.workers} × {case.device}"

        def row(operation: str, metric: str, value: float, more: str = "") -> Found:
            return Found(name, case.program, operation, metric, value, "cpu", what + more)

        spread = f"; the device alone between {min(limits):.1f} and {max(limits):.1f} a second"
        yield row(ALONE, "per_second", limit, spread)
        say(f"{name}, {case.program}: {limit:.1f} a second alone")
        for count, tallies in rows:
            rate = _rate(tallies, seconds)
            times = sorted(time for one in tallies for time in one.latencies)
            operation = "1 client" if count == 1 else f"{count} clients"
            yield row(operation, "per_second", rate)
            yield row(f"{operation}, {OF_LIMIT}", "percent", 100 * rate / limit)
            yield row(f"{operation}, {P50}", "milliseconds", 1e3 * median(times))
            last = times[min(len(times) - 1, len(times) * 99 // 100)]
            yield row(f"{operation}, {P99}", "milliseconds", 1e3 * last)
            say(f"  {operation}: {rate:.1f} a second, {100 * rate / limit:.1f} % of that")


def _server(folder: Path, program: Path, *options: str) -> Server:
    limits = folder / "limits.toml"
    limits.write_text(_LIMITS)
    return Server(folder, [program], *options, "--limits", str(limits))


@contextmanager
def _alone(case: Case, program: Path) -> Iterator[list[Asker]]:
    """The devices without a service, as many processes as the service has workers."""
    with _askers([Asker(_ALONE, str(program), case.kind) for _ in range(case.workers)]) as found:
        yield found


@contextmanager
def _clients(url: str, program: str, count: int) -> Iterator[list[Asker]]:
    with _askers([Asker(_CLIENT, url, program) for _ in range(count)]) as found:
        yield found


@contextmanager
def _askers(askers: list[Asker]) -> Iterator[list[Asker]]:
    try:
        for each in askers:
            each.wait_ready()
        yield askers
    finally:
        for each in askers:
            each.close()


def _ask(askers: Sequence[Asker], seconds: float) -> list[Tally]:
    for each in askers:
        each.ask(seconds)
    return [each.tally() for each in askers]


def _rate(tallies: Sequence[Tally], seconds: float) -> float:
    """Requests a second; the last one of each process may have ended a little later."""
    return sum(len(one.latencies) / max(seconds, sum(one.latencies)) for one in tallies)


def _added(program: Path, folder: Path, count: int, say: Callable[[str], None]) -> Iterator[Found]:
    """One request at a time: through the service, and on the device in a process of its own."""
    what = f"{SMALL.text}; one client, {count} requests; cpu, one thread; both in turn"
    seconds = max(0.2, count * 0.005)
    with ExitStack() as stack:
        server = _server(folder, program, "--workers", "1")
        stack.callback(server.stop)
        alone = stack.enter_context(_askers([Asker(_ALONE, str(program), "cpu")]))
        clients = stack.enter_context(_clients(server.url, SMALL.name, 1))
        with_service: list[float] = []
        without: list[float] = []
        servers: list[float] = []
        for turn in range(6):
            without += _ask(alone, seconds / 5)[0].latencies
            busy = server.cpu_seconds()
            found = _ask(clients, seconds / 5)[0].latencies
            with_service += found
            servers += [(server.cpu_seconds() - busy) / len(found)] if turn else []
    values = 1e3 * median(without), 1e3 * median(with_service)
    for operation, value in ((ALONE, values[0]), ("1 client", values[1])):
        yield Found("cpu", SMALL.name, operation, "milliseconds", value, "cpu", what)
    added = values[1] - values[0]
    yield Found("cpu", SMALL.name, ADDED, "milliseconds", added, "cpu", what)
    cpu = 1e3 * mean(servers)
    yield Found("cpu", SMALL.name, SERVERS_CPU, "milliseconds", cpu, "cpu", what)
    say(f"one small request: {values[1]:.2f} ms, {values[0]:.2f} ms alone: {added:.2f} ms added")
