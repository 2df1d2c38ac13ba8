"""The page of a measurement, written from its records and from nothing else."""

from collections.abc import Sequence

from ringsmith.bench.beside import left_out
from ringsmith.bench.papers import Fact, papers
from ringsmith.bench.records import Measurement, Record, number
from ringsmith.bench.rpm.cases import CASES, PAPER
from ringsmith.bench.rpm.check import check
from ringsmith.bench.rpm.one_cpu import PAPERS_CPU, THEIR_DEVICE
from ringsmith.bench.rpm.resources import MEGAHERTZ
from ringsmith.bench.tables import ahead, conditions, opening, table
from ringsmith.markdown import table_lines

_FACTORS = ("factors_generated", "factors_stored", "factors_sent")
_PROVEN = "The proof of concept (tables 2 and 4)"
_DESIGNS = "Designs (table 4, figure 6)"
_LINK = "link_"
_SYNTHESIZED = "Counted and synthesized"
_GENERATED = "Factors generated, stored or sent (tables 5 and 6)"
_TIMES = "Multiplication with relinearization (tables 3 and 4)"
_REASONS = {
    **dict.fromkeys(
        ("cpu_multiply_products", "cpu_relinearize_products"),
        "`cpu_products` has both: the speedups over the paper's processor are by these",
    ),
    "lutram": "not measured: synthesis here counts LUTs that are memory among all LUTs",
}
"""Operation or metric -> why it is not compared."""
_OVERLAPPED = "Base conversions on the device, too"
_SECTIONS = (_PROVEN, _DESIGNS, _SYNTHESIZED, _GENERATED, _TIMES, _OVERLAPPED)
_SCHEMES = ("bfv", "ckks")
_PARTS = ("host", "stream", "unit", "up", "down")


def page(measurement: Measurement) -> str:
    """Returns ``docs/results/rpm.md``, of at least one record."""
    records, paper = measurement.records, papers()[PAPER]
    lines = [
        *opening(
            "RPM, beside the paper",
            "the numbers that the RPM paper gives of its streaming multiplier, ours for the same, "
            "and where both come from",
            measurement,
            "[The streaming multiplier](../reference/stream.md) describes the device.",
        ),
        "",
        "Sources: `rtl`, counted by the simulated RTL with every product compared with core's; "
        "`model`, counted by the cycle-exact model; `synthesis`, Yosys; `estimate`, counted or "
        "computed as the conditions say; `cpu`, measured on this machine's processor in one run, "
        "this one or one before it. A ratio is ours over the paper's.",
        "",
        f"- `{PAPER}`: {paper.title}. {paper.conditions}.",
        "",
        *table_lines(
            ("parameters", "n", "bits of q", "s", "w"),
            [(c.name, f"2^{c.log_n}", str(c.log_q), str(c.word_bits), str(c.lanes)) for c in CASES],
        ),
    ]
    lines += ahead(records)
    for title in _SECTIONS:
        chosen = [record for record in records if _section(record) == title]
        if title == _SYNTHESIZED and any(record.source == "synthesis" for record in records):
            lines += ["", f"## {title}", "", *check(records)]
            continue
        if not chosen:
            continue
        lines += ["", f"## {title}", ""]
        if title == _TIMES:
            lines += [*_bottleneck(chosen), ""]
        if title == _OVERLAPPED:
            lines += [*_overlapped(chosen), ""]
        lines += [*table(chosen), "", *conditions(chosen)]
    lines += ["", "## Not measured", "", *_missing(left_out((PAPER,), records))]
    return "\n".join(lines) + "\n"


def _missing(facts: Sequence[Fact]) -> list[str]:
    """A line for each reason and parameter set, with what is not compared."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fact in facts:
        why = _REASONS.get(fact.operation) or _REASONS.get(fact.metric, "not measured in this run")
        groups.setdefault((fact.params, why), []).append(f"`{fact.operation} {fact.metric}`")
    return [f"- {params}, {why}: {', '.join(names)}." for (params, why), names in groups.items()]


def _section(record: Record) -> str:
    """The title of a record's section."""
    if record.operation in _FACTORS:
        return _GENERATED
    if record.operation.partition("_")[0] in _SCHEMES:
        return _OVERLAPPED
    if record.operation.startswith(_LINK):
        return _DESIGNS
    if record.metric in ("milliseconds", "speedup", "percent", "products"):
        return _TIMES
    if record.params == CASES[0].name and record.metric != "products_per_ms":
        return _PROVEN
    whole = record.operation == "rpm" and record.source != "synthesis"
    return _DESIGNS if whole else _SYNTHESIZED


def _bottleneck(records: Sequence[Record]) -> list[str]:
    """Where the time goes with a device, set by set."""
    values = {(r.params, r.operation, r.metric): r.value for r in records}
    rows = []
    for params in dict.fromkeys(record.params for record in records):

        def of(operation: str, metric: str = "milliseconds", params: str = params) -> float:
            return values[params, operation, metric]

        parts = {
            "lift": of("host_lift"),
            "scale, digits": of("host_scale"),
            "sums": of("host_sums"),
            "device": of("device_multiply") + of("device_relinearize"),
        }
        cells = [
            of("cpu_mult_relin"),
            *parts.values(),
            of("mult_relin"),
            of("mult_relin", "speedup"),
        ]
        most = max(parts, key=lambda name: parts[name])
        rows.append((params, *map(number, cells), most))
    times = ("CPU alone", "lift", "scale, digits", "sums", "device", "together", "speedup")
    headings = ("parameters", *times, "most time")
    return [
        "Milliseconds of a BFV multiplication with relinearization: on the CPU alone; and with the "
        f"device at {MEGAHERTZ:.0f} MHz, what its host does on the same CPU and what it does, in "
        "turn. The CPU alone transforms each polynomial once, and the device all three of every "
        "product; the CPU alone has fewer and wider primes.",
        "",
        *table_lines(headings, rows, ("parameters", "most time")),
        "",
        "Speedups of a multiplication with relinearization, both devices beside one processor: the "
        f"paper's ({PAPERS_CPU}), with its times, and this one. The faster the processor, the less "
        "a device gains.",
        "",
        *_one_cpu(records),
    ]


def _one_cpu(records: Sequence[Record]) -> list[str]:
    """Our device and the paper's, each beside the paper's processor and beside this one."""
    rows: list[tuple[str, ...]] = []
    speedups = [r for r in records if r.metric == "speedup"]
    for params in dict.fromkeys(r.params for r in speedups):
        of = {(r.operation, r.peer): r for r in speedups if r.params == params}
        theirs = of["mult_relin", PAPERS_CPU]
        here = (of.get((name, "")) for name in (THEIR_DEVICE, "mult_relin"))
        cells = (theirs.paper_value, theirs.value, *(each.value if each else None for each in here))
        rows.append((params, *map(number, cells)))
    columns = (
        *("paper's device, paper's CPU", "ours, paper's CPU"),
        *("paper's device, this CPU", "ours, this CPU"),
    )
    return table_lines(("parameters", *columns), rows, ("parameters",))


def _overlapped(records: Sequence[Record]) -> list[str]:
    """When a device that converts bases, too, is faster than the CPU beside it."""
    values = {(r.params, r.operation, r.metric): r.value for r in records}
    rows: list[tuple[str, ...]] = []
    faster: list[str] = []
    slower: list[str] = []
    for params, scheme in dict.fromkeys((r.params, r.operation.partition("_")[0]) for r in records):

        def of(
            what: str, metric: str = "milliseconds", params: str = params, scheme: str = scheme
        ) -> float:
            return values[params, f"{scheme}_{what}", metric]

        parts = {name: of(name) for name in _PARTS}
        most = max(parts, key=lambda name: parts[name])
        speedups = [of(what, "speedup") for what in ("in_turn", "overlapped", "on_device")]
        cells = [of("alone"), *parts.values(), of("in_turn"), of("overlapped"), *speedups]
        rows.append((params, scheme.upper(), *map(number, cells), most))
        (faster if speedups[1] > 1 else slower).append(f"{params} ({scheme.upper()})")
    times = ("CPU alone", *_PARTS, "in turn", "overlapped")
    ratios = ("speedup in turn", "speedup overlapped", "speedup all on the device")
    headings = ("parameters", "scheme", *times, *ratios, "longest part")
    return [
        "Beside the multiplier stand base-conversion units "
        "([Base conversion](../reference/baseconv.md)), one a "
        "lane, for lifting, scaling, digits and divisions by primes. Both are blocks with streams "
        "to the host, which keeps sums and differences; in CKKS it transforms operands and "
        "results, too. Each part's time is counted by itself: `stream` and `unit` by the blocks' "
        "own intervals, which their RTL is held to; `up` and `down` by the link's model; `host` on "
        "this CPU. No device with both blocks was built or simulated.",
        "",
        "*In turn* is the sum of all parts, one product; *overlapped* is the longest part, in a "
        "pipeline of many independent products. *All on the device* assumes sums there, too, keys "
        "in its memory, and that only operands and results cross: what a device would have to do "
        "to pay, not one that exists. CKKS is product, relinearization with a special prime, and "
        "rescaling. The CPU alone has fewer and wider primes, and is one thread of this machine.",
        "",
        *table_lines(headings, rows, ("parameters", "scheme", "longest part")),
        "",
        f"Overlapped, faster than one thread of this CPU: {_listed(faster)}. Not faster: "
        f"{_listed(slower)}.",
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
