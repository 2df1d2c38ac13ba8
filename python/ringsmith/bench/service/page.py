"""The page of ``ringsmith bench service``: throughput, latency, and the long run."""

from collections.abc import Sequence

from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.service.measure import ADDED, ALONE, OF_LIMIT, P50, P99, SERVERS_CPU
from ringsmith.bench.service.programs import SMALL
from ringsmith.bench.service.soak import OPERATION
from ringsmith.bench.tables import conditions, opening
from ringsmith.markdown import table_lines

_UNITS = {
    "per_second": ", a second",
    "milliseconds": ", ms",
    "microseconds": ", µs",
    "cycles": ", cycles",
    "megabytes": ", MB",
    "percent": ", %",
    "bytes": ", B",
}


def page(measurement: Measurement) -> str:
    """A page from a measurement and nothing else."""
    records = measurement.records
    loads = [one for one in records if " × " in one.design]
    long = [one for one in records if one.params == OPERATION]
    lines = opening(
        "The service under load",
        "how many requests a second the service answers beside its device alone, what it adds to "
        "one request, and what a long run with everything killed now and then came to",
        measurement,
        "[The service](../guide/service.md) describes it.",
    )
    if loads:
        lines += ["", "## Requests a second and latency", "", *_loads(loads)]
    added = [one for one in records if one.params == SMALL.name and " × " not in one.design]
    if added:
        lines += ["", "## One small request", "", *_added(added)]
    cards = [one for one in records if one.params.startswith("card, ")]
    if cards:
        lines += ["", "## A simulated card at saturation", "", *_cards(cards)]
    if long:
        lines += ["", "## A long run", "", *_long(long)]
    return "\n".join(lines) + "\n"


def _loads(own: Sequence[Record]) -> list[str]:
    """A row for each number of clients: rate, share of the device's limit, and latency."""
    known = {(one.design, one.params, one.operation, one.metric): one.value for one in own}
    rows = []
    for design, program in dict.fromkeys((one.design, one.params) for one in own):
        operations = dict.fromkeys(
            one.operation
            for one in own
            if (one.design, one.params, one.metric) == (design, program, "per_second")
        )
        for operation in operations:

            def cell(metric: str, more: str = "", of: str = operation) -> str:
                return number(known.get((design, program, f"{of}{more}", metric)))  # noqa: B023

            rows.append(
                [
                    *(f"`{design}`", program, operation, cell("per_second")),
                    "" if operation == ALONE else cell("percent", f", {OF_LIMIT}") + " %",
                    cell("milliseconds", f", {P50}"),
                    cell("milliseconds", f", {P99}"),
                ]
            )
    headings = ["workers", "program", "clients", "requests a second", "of the device alone"]
    table = table_lines([*headings, "p50, ms", "p99, ms"], rows, set(headings[:3]))
    text = (
        "*alone* is the same program in a loop in as many processes as there are workers, with no "
        "service, measured before and after each load. Clients are processes on the same machine: "
        "where workers take all processors, clients and server take their time from them."
    )
    return [text, "", *table, "", *conditions(own)]


def _cards(records: Sequence[Record]) -> list[str]:
    """A table for each design."""
    lines = [
        "[Cards](../guide/cards.md#card-time) says what card time is. A program that waits for its "
        "keys counts as busy. The bus's bound is the link model of [DMA](../reference/dma.md) with "
        "a host that takes no time, for programs of one run. The parts of one job alone are there "
        "twice: in card time, and in time of the host, in which the simulation computes."
    ]
    for design in dict.fromkeys(one.design for one in records):
        own = [one for one in records if one.design == design]
        known = {(one.params, one.operation, one.metric): one.value for one in own}
        programs = list(dict.fromkeys(one.params for one in own))
        rows = [
            [
                f"{operation}{_unit(metric)}",
                *(number(known.get((program, operation, metric))) for program in programs),
            ]
            for operation, metric in dict.fromkeys((one.operation, one.metric) for one in own)
        ]
        names = [program.rpartition(", ")[2] for program in programs]
        heading = f"`{design}`"
        lines += ["", *table_lines([heading, *names], rows, {heading})]
    return [*lines, "", *conditions(records)]


def _added(records: Sequence[Record]) -> list[str]:
    values = {one.operation: one.value for one in records}
    rows = [
        ["on the device alone", number(values[ALONE])],
        ["through the service", number(values["1 client"])],
        ["added", number(values[ADDED])],
        ["of that, CPU time of the server's process", number(values.get(SERVERS_CPU))],
    ]
    table = table_lines(["one request after another", "ms"], rows, {"one request after another"})
    return [*table, "", *conditions(records)]


def _long(records: Sequence[Record]) -> list[str]:
    rows = [
        [f"`{one.design}`", f"{one.operation}{_unit(one.metric)}", number(one.value)]
        for one in records
    ]
    table = table_lines(["device", "", "found"], rows, {"device", ""})
    return ["By `ringsmith bench service --soak SECONDS`.", "", *table, "", *conditions(records)]


def _unit(metric: str) -> str:
    return _UNITS.get(metric, "")
