"""``ringsmith bench service``: requests a second, latency, and what the service adds."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median

from bench.record import Record
from bench.run import Run
from bench.service.processes import Asker, Server, Tally
from ringsmith.apps.logreg import PAPER_COUNTS, load_records, plan, train
from ringsmith.program import Program, inner_product
from ringsmith.program.vector import EncryptedVector
from ringsmith.tracing import trace

SMALL, CLASSIFIER = "small", "classifier"
TEXTS = {
    SMALL: "inner product with 4 constants, N = 2^12",
    CLASSIFIER: "the breast-cancer classifier of size paper-counts, N = 2^14",
}

ALONE, ADDED = "alone", "added"
"""Operations: a device without the service; what the service adds to one request."""

_LIMITS = "[quota]\njob_bytes = 1000000000000\ncompute_seconds = 1000000\n"
"""Limits that a load does not reach; by default results of a gigabyte are kept for a client."""


def _program(name: str) -> Program:
    def small(x: EncryptedVector) -> EncryptedVector:
        return inner_product(x, [0.5, -1.25, 2.0, 0.75], 4) + 0.25

    if name == SMALL:
        return trace(small, "auto", {"x": 4})
    training, _ = load_records(PAPER_COUNTS.held_out)
    return plan(train(training, PAPER_COUNTS), PAPER_COUNTS)


def loads(run: Run) -> Iterator[Record]:
    """Services under load, each compared with its device alone, in turn.

    Values of the part: ``cases``, tables with ``device``, ``workers``, ``program`` and ``clients``,
    numbers of client processes; ``seconds`` of each load. Raises ToolError if a process fails, or a
    result is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ringsmith-bench-") as text:
        for number, case in enumerate(run["cases"]):
            folder = Path(text) / str(number)
            folder.mkdir()
            name, workers, device = case["program"], case["workers"], case["device"]
            program = folder / f"{name}.rsp"
            _program(name).save(program)
            options = ("--device", device, "--workers", str(workers))
            seconds = run["seconds"]
            with ExitStack() as stack:
                askers = [Asker("alone", str(program), device) for _ in range(workers)]
                alone = stack.enter_context(_ready(askers))
                server = _server(folder, program, *options)
                stack.callback(server.stop)
                limits = [_rate(_ask(alone, seconds), seconds)]
                rows = []
                for count in case["clients"]:
                    found = [Asker("service", server.url, name) for _ in range(count)]
                    with _ready(found) as clients:
                        rows.append((count, _ask(clients, seconds)))
                    limits.append(_rate(_ask(alone, seconds), seconds))
            what = f"{workers} × {device}"
            run.say(f"{what}, {name}: {mean(limits):.1f} a second alone")
            yield from _load(what, name, limits, rows, seconds)


def _load(
    device: str,
    program: str,
    limits: Sequence[float],
    rows: Sequence[tuple[int, Sequence[Tally]]],
    seconds: float,
) -> Iterator[Record]:
    text = f"{TEXTS[program]}; one thread each; {seconds:g} s of load"

    def row(operation: str, metric: str, value: float) -> Record:
        return Record(device, program, operation, metric, value, "cpu", text)

    yield row(ALONE, "per_second", mean(limits))
    for count, tallies in rows:
        rate = _rate(tallies, seconds)
        times = sorted(time for one in tallies for time in one.latencies)
        operation = "1 client" if count == 1 else f"{count} clients"
        yield row(operation, "per_second", rate)
        yield row(f"{operation}, of the device's limit", "percent", 100 * rate / mean(limits))
        yield row(f"{operation}, p50", "milliseconds", 1e3 * median(times))
        yield row(f"{operation}, p99", "milliseconds", 1e3 * late(times))


def late(times: Sequence[float]) -> float:
    """Returns the 99th of 100 of sorted times."""
    return times[min(len(times) - 1, len(times) * 99 // 100)]


def added(run: Run) -> Iterator[Record]:
    """One request at a time: through the service, and on the device in a process of its own."""
    count = run["requests"]
    seconds = max(0.2, count * 0.005)
    with tempfile.TemporaryDirectory(prefix="ringsmith-bench-") as text, ExitStack() as stack:
        folder = Path(text)
        program = folder / f"{SMALL}.rsp"
        _program(SMALL).save(program)
        server = _server(folder, program, "--workers", "1")
        stack.callback(server.stop)
        alone = stack.enter_context(_ready([Asker("alone", str(program), "cpu")]))
        clients = stack.enter_context(_ready([Asker("service", server.url, SMALL)]))
        with_service: list[float] = []
        without: list[float] = []
        servers: list[float] = []
        for turn in range(6):
            without += _ask(alone, seconds / 5)[0].latencies
            busy = server.cpu_seconds()
            found = _ask(clients, seconds / 5)[0].latencies
            with_service += found
            servers += [(server.cpu_seconds() - busy) / len(found)] if turn else []
    words = f"{TEXTS[SMALL]}; one client, {count} requests; cpu, one thread; both in turn"
    values = {
        ALONE: median(without),
        "1 client": median(with_service),
        ADDED: median(with_service) - median(without),
        "server's CPU": mean(servers),
    }
    for operation, value in values.items():
        yield Record("cpu", SMALL, operation, "milliseconds", 1e3 * value, "cpu", words)


def _server(folder: Path, program: Path, *options: str) -> Server:
    limits = folder / "limits.toml"
    limits.write_text(_LIMITS)
    return Server(folder, [program], *options, "--limits", str(limits))


@contextmanager
def _ready(askers: list[Asker]) -> Iterator[list[Asker]]:
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
