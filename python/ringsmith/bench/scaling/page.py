"""The page ``docs/results/scaling.md``, and its picture, from records alone."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ringsmith.backends.registry import REFERENCE
from ringsmith.bench.records import Measurement, Record
from ringsmith.bench.scaling.fleet import (
    CARDS,
    DISPATCHERS,
    FRONT_IN,
    HOSTS_IN,
    PROCESSORS,
    Fleet,
    Workload,
    capacities,
    held,
)
from ringsmith.bench.scaling.measure import DISPATCH
from ringsmith.bench.scaling.scenarios import LARGEST, SCENARIOS, SPARE, grown
from ringsmith.bench.scaling.workloads import WORKLOADS, workload_of
from ringsmith.bench.tables import opening
from ringsmith.markdown import table_lines
from ringsmith.svg import Drawing, Frame, scatter

FOLDER = "figures"
FIGURES = ("scaling.svg",)

_NOT_DRAWN = ("mnist",)
"""Sweeps whose line lies on another one's."""

_WHAT: Mapping[str, str] = MappingProxyType(
    {
        "product": "one multiplication and relinearization of BFV on `heaws6`",
        "forecast": "the smart-grid forecast of 496 meters on `heaws6`: 252 products and "
        "relinearizations modulo nine plain moduli, and the host's sums",
        "mnist": "LoLa's network for MNIST on one image on `framework-512`, whose memory has keys",
        "product on cpu": "the same product on the cpu device; a replica has one processor",
    }
)

_SAYS: Mapping[str, str] = MappingProxyType(
    {
        "product": "One dispatcher, through which inputs and outputs go.",
        "product, grown": "Inputs and outputs go past the dispatchers, of which there are enough.",
        "product on cpu, grown": "The same with replicas of the cpu device, 32 a host.",
        "forecast": "One dispatcher, through which inputs and outputs go.",
        "forecast, grown": "Inputs and outputs go past the dispatchers, of which there are enough.",
        "mnist": "One dispatcher, through which inputs and outputs go.",
        "mnist, past the dispatcher": "Inputs and outputs go past the one dispatcher.",
        "mnist, single requests": "The same, and every request is another client's.",
        "mnist, no affinity": "As two tables above, and requests go to any card. The formula takes "
        "a client's visits to a machine for independent of each other.",
    }
)

_ASSUMED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "cards_per_host": ("cards of a host", "{:,}"),
        "dispatch_seconds": ("a dispatcher's CPU time for a request, without its bodies", "{} s"),
        "moved_bytes": ("bodies that a dispatcher moves, a second of CPU time", "{:,.0f} B"),
        "front_bytes": ("a dispatcher's network, each way, a second", "{:,.0f} B"),
        "store_bytes": ("a key store's network, a second", "{:,.0f} B"),
        "host_bytes": ("a host's network, each way, a second", "{:,.0f} B"),
        "host_cores": ("processors of a host", "{:,}"),
        "host_key_bytes": ("memory of a host for keys", "{:,} B"),
        "card_key_bytes": ("memory of a card for keys, where it has one", "{:,} B"),
        "link_bytes": ("link of a card, PCIe Gen3 x16, each way, a second", "{:,.0f} B"),
        "sessions": ("clients of each card with a request under way", "{:,}"),
        "session_requests": ("requests of a client, one after another, before it pauses", "{:,}"),
        "clients": ("clients of each card whose keys the store has", "{:,}"),
    }
)
"""Field of a fleet -> what it is, and how its value is written."""

_FORMULAS = """\
A request takes time of each resource, and the resource that is busy first bounds the rate. With
N cards, H hosts, D dispatchers and S key stores:

| resource | requests a second, at most |
| --- | --- |
| dispatch | D / (t + (i + o) / v) |
| dispatchers' network | D·F / i in, D·F / o out |
| key stores | S·K / (m·k) |
| hosts' network | H·R / (i + m·k) in, H·R / o out |
| hosts' processors | H·P / h |
| cards' links | N·L / (c + n·g) |
| cards | N·s / w |

Bodies: i bytes of inputs and o of outputs a request. Where they go past the dispatchers, i and
o do not count in the first two rows. Rates in bytes a second: F, K, R and L of dispatchers,
stores, hosts and links; v is what a dispatcher moves. Times: t of a dispatcher, h of a host's P
processors, w of a card's s slots. Keys: k bytes as a file, g on a card; c bytes of inputs cross
a card's link.

Loads of keys a request are m into a host and n into a card. Let all clients' keys be C times
what fits, and a client send B requests in a row. With affinity, m = max(0, 1 − 1/C) / B.
Without, a client's B requests meet M·(1 − (1 − 1/M)^B) of M machines for the first time, and
later ones find the keys with the share of active clients that fit."""


@dataclass(frozen=True)
class _Point:
    """A fleet of a sweep: its reported values by name, and the saturated resource."""

    cards: int
    values: Mapping[str, float]
    names: Mapping[str, str]
    fleet: str


def _number(value: float) -> str:
    """Three digits, or all of a larger whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _points(records: Sequence[Record]) -> dict[str, list[_Point]]:
    """The sweep of each scenario."""
    found: dict[str, dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for each in records:
        name, _, rest = each.operation.partition(": ")
        cards, _, _ = rest.partition(": ")
        if name in SCENARIOS and cards.isdecimal():
            found[name][int(cards)].append(each)
    return {name: [_point(n, own) for n, own in rows.items()] for name, rows in found.items()}


def _point(cards: int, records: Sequence[Record]) -> _Point:
    values, names = {}, {}
    for each in records:
        last = each.operation.rpartition(": ")[2]
        if each.metric == "per_second":
            values[each.source], names[each.source] = each.value, last
        else:
            values[last] = each.value
    return _Point(cards, values, names, records[0].conditions)


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/scaling.md``."""
    records = measurement.records
    points = _points(records)
    seconds = next(r.value for r in records if r.operation == DISPATCH) / 1e3
    works = [work for name in WORKLOADS if (work := workload_of(records, name)) is not None]
    lines = [
        *opening(
            "How it grows to 1,000 cards",
            "how many cards one service feeds, what breaks first, and what 1,000 cards need",
            measurement,
            "Nothing here ran on a card or on more than one machine: service times are the models' "
            "and one CPU's, and machines are assumed.",
        ),
        *("", f"![Requests a second by cards]({FOLDER}/{FIGURES[0]})", ""),
        *("The picture leaves `mnist` out, whose line lies on that of `forecast`.", ""),
        *_answer(points),
        *("", "## What follows", "", *_follows(works, seconds)),
        *("", "## What requests take", "", *_requests(works)),
        *("", "## What is assumed", "", *_assumed(seconds)),
        *("", "## Formulas", "", _FORMULAS),
        *("", "## What one machine feeds", "", *_feeds(works, seconds)),
        *("", "## Simulated", "", *_simulated(points)),
    ]
    return "\n".join(lines) + "\n"


def _answer(points: Mapping[str, Sequence[_Point]]) -> list[str]:
    """What breaks first, a line a scenario."""
    rows = []
    for name, own in points.items():
        last, one = own[-1], own[0].values["simulation"]
        first = next((p for p in own if p.names["simulation"] != CARDS), None)
        breaks = "–" if first is None else f"{first.names['simulation']}, {_cards(first.cards)}"
        rows.append(
            [
                name,
                breaks,
                _number(one),
                f"{last.cards:,}",
                _number(last.values["simulation"]),
                last.names["simulation"],
                last.fleet,
            ]
        )
    headings = [
        *("sweep", "breaks first", "requests/s of 1 card", "most cards", "requests/s of all"),
        *("what binds them", "hosts and others"),
    ]
    return [
        "A dash: the cards themselves bind, at every size. *Grown* sweeps have as many dispatchers "
        f"and key stores, and as fast a network of hosts, as the formulas ask for, times {SPARE}.",
        "",
        *table_lines(headings, rows, {headings[0], headings[1], *headings[-2:]}),
    ]


def _follows(works: Sequence[Workload], seconds: float) -> Iterator[str]:
    """What a builder of a service takes from it, with its numbers."""
    fleet = Fleet(cards=8, dispatch_seconds=seconds)
    through: list[str] = []
    past: list[str] = []
    needed, taken, outweighed = [], [], []
    for work in works:
        name = f"`{work.name}`"
        for cards, direct in ((through, False), (past, True)):
            found = capacities(work, replace(fleet, direct=direct))[DISPATCHERS]
            cards.append(f"{_number(found / work.per_card)} ({name})")
        if work.design != REFERENCE:
            own = grown(work, replace(fleet, cards=LARGEST, direct=True))
            taken.append(f"{_number(work.request_bytes * work.per_card / 1e9)} ({name})")
            needed.append(f"{own.dispatchers:,} ({name})")
            outweighed.append(f"{_number(work.key_bytes / work.request_bytes)} ({name})")
    yield (
        "- **The dispatcher comes first.** One through which inputs and outputs go feeds so many "
        f"cards: {', '.join(through)}. Where they go to hosts directly: {', '.join(past)}."
    )
    yield (
        f"- **Requests must hold work.** {LARGEST:,} cards need so many dispatchers: "
        f"{', '.join(needed)}. What shortens that list is more operations in a request."
    )
    yield (
        "- **Then the hosts' network**, for encrypted inputs. Gigabytes a second that one card "
        f"takes: {', '.join(taken)}."
    )
    yield (
        "- **Keys' bandwidth comes first in one case.** Other clients' keys have taken the memory, "
        "and a client sends few requests in a row: fewer than its keys are larger than one "
        f"request's inputs. These are {', '.join(outweighed)}. Affinity and memory for keys avoid "
        "it; the last two sweeps show it."
    )


def _cards(count: int) -> str:
    return "at 1 card" if count == 1 else f"at {count:,} cards"


def _requests(works: Sequence[Workload]) -> list[str]:
    rows = [
        [
            work.name,
            f"`{work.design}`",
            f"{work.slots}",
            _number(work.card_seconds * 1e3),
            _number(work.per_card),
            _number(work.host_seconds * 1e3),
            _number(work.request_bytes / 1e6),
            _number(work.result_bytes / 1e6),
            _number(work.key_bytes / 1e6),
            _number(work.key_memory_bytes / 1e6),
            _number(work.card_key_bytes / 1e6),
        ]
        for work in works
    ]
    headings = [
        *("work", "on", "slots", "ms", "requests/s of a card", "host ms", "inputs MB"),
        *("outputs MB", "keys MB", "keys MB, host", "keys MB, card"),
    ]
    whats = [f"- `{work.name}`: {_WHAT[work.name]}." for work in works]
    return [
        *whats,
        "",
        "Milliseconds are of one request in one slot. On `heaws6` keys, inputs and outputs cross "
        "the link's model in that time; a card keeps none. Megabytes are of files that Ringsmith "
        "writes of fresh keys and ciphertexts; in a host's memory a residue has 8 bytes.",
        "",
        *table_lines(headings, rows, {"work", "on"}),
    ]


def _assumed(seconds: float) -> list[str]:
    usual = replace(Fleet(), dispatch_seconds=seconds)
    rows = [[what, form.format(getattr(usual, name))] for name, (what, form) in _ASSUMED.items()]
    return [
        *table_lines(["assumed", "value"], rows, {"assumed"}),
        "",
        "Every resource serves in the order of arrival. A client waits for its result before it "
        "sends its next request. Clients are drawn evenly; with affinity a client's requests go to "
        "one card. No machine fails, no packet is lost, and distance takes no time. A dispatcher "
        "is one process on a machine of its own. The dispatcher's time is a stated value, which "
        "`--dispatch-ms` changes; the others are in `bench/scaling/fleet.py`.",
    ]


def _feeds(works: Sequence[Workload], seconds: float) -> list[str]:
    """Cards that one machine of each kind feeds, by the formulas."""
    rows = []
    for work in works:
        many = Fleet(cards=8, dispatch_seconds=seconds)
        found = capacities(work, many)
        direct = capacities(work, replace(many, direct=True))
        fits = held(work.key_memory_bytes, many.host_key_bytes)
        loads = many.store_bytes / work.key_bytes / work.per_card
        rows.append(
            [
                work.name,
                *(_number(found[name] / work.per_card) for name in (DISPATCHERS, FRONT_IN)),
                _number(direct[DISPATCHERS] / work.per_card),
                _number(loads),
                _number(loads * many.session_requests),
                _number(found[HOSTS_IN] / work.per_card),
                _number(found[PROCESSORS] / work.per_card) if work.host_seconds else "–",
                f"{fits:,}",
                _number(min(fits, many.clients * many.cards) * work.key_bytes / many.host_bytes),
            ]
        )
    headings = [
        "work",
        "dispatcher's CPU",
        "dispatcher's network",
        "its CPU, bodies past it",
        "key store, keys with each request",
        "key store, keys with each 100th",
        "host's network",
        "host's processors",
        "clients whose keys a host holds",
        "s to load a host's keys anew",
    ]
    return [
        "Cards that one machine feeds before it is the bound. Below 1, a single card waits for it.",
        "",
        *table_lines(headings, rows, {"work"}),
        "",
        "Clients load keys of k bytes once in B requests, of i bytes each. Where networks have one "
        "rate, keys' bandwidth comes before that of inputs only if B < k / i.",
    ]


def _simulated(points: Mapping[str, Sequence[_Point]]) -> Iterator[str]:
    headings = [
        *("cards", "formula, 1/s", "simulated, 1/s", "of the formula", "binds", "busy"),
        *("half end within, s", "99 of 100, s", "keys loaded, of 100", "hosts and others"),
    ]
    yield "*Binds* is the resource that is busiest in the simulation; *busy* is its share of time."
    for name, own in points.items():
        yield from ("", f"### {name}", "", _SAYS[name], "")
        rows = [
            [
                f"{p.cards:,}",
                _number(p.values["formula"]),
                _number(p.values["simulation"]),
                f"{p.values['simulation'] / p.values['formula']:.1%}",
                p.names["simulation"],
                f"{p.values['busiest']:.0f}%",
                _number(p.values["half"]),
                _number(p.values["99 of 100"]),
                _number(p.values["keys loaded"]),
                p.fleet,
            ]
            for p in own
        ]
        yield from table_lines(headings, rows, {"binds", "hosts and others"})


def figures(measurement: Measurement) -> dict[str, str]:
    """The picture: requests a second by cards, a line for each sweep."""
    points = _points(measurement.records)
    series = {
        name: [(float(p.cards), p.values["simulation"]) for p in own]
        for name, own in points.items()
        if name not in _NOT_DRAWN
    }
    frame = Frame(height=560)
    names = ("cards", "requests a second, simulated")
    marks = sorted({x for own in series.values() for x, _ in own})
    drawing = Drawing(
        frame.height, [*scatter(series, frame, names, marks, joined=True, rising=True)]
    )
    return {FIGURES[0]: drawing.file("Requests a second by cards")}
