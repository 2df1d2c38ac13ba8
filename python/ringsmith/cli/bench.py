"""``ringsmith bench``: measurements beside papers and other libraries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.files import Force, target
from ringsmith.progress import note

if TYPE_CHECKING:
    from ringsmith.bench.records import Measurement, Record

_WIDE = 140
"""Columns of a table of records, however narrow the terminal is."""

_Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the records here, too: JSON Lines, which --keep reads again.",
    ),
]
_Page = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a Markdown page here, too.")
]

Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Each kind of step, at its smallest: shows that all of it works here, and no numbers "
        "to quote. What other options name is done as they say.",
    ),
]

bench_app = typer.Typer(help="Measure Ringsmith, papers and other libraries.", no_args_is_help=True)


@bench_app.command()
def cpu(
    sets: Annotated[
        str,
        typer.Option(
            help="What to measure, by commas: A, B, A50, D, E, F (takes 5 GB of memory, 14 GB with "
            "SEAL), ntt, kernels (the kernel sets beside each other, in applications too), threads "
            "(beside one). All of these without it; another is quick, the smallest."
        ),
    ] = "",
    budget: Annotated[
        float | None,
        typer.Option(min=0.01, help="Seconds for each operation with its baselines; 4 without it."),
    ] = None,
    quick: Quick = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Records of an earlier run: rows stay that are not measured now."
        ),
    ] = None,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Measure the cpu device beside SEAL, Lattigo and tfhe-ntt: one thread, interleaved.

    Baselines whose tools are missing or do not work are left out and named: seal-python, go, cargo.
    """
    from ringsmith.bench.cpu.measure import QUICK_CHOICES, USUAL, measure, with_kept
    from ringsmith.bench.cpu.page import page as page_of
    from ringsmith.bench.cpu.sets import QUICK, WHOLE

    files = _Files("cpu", keep, json, page, force)
    kept = files.kept()
    names = _names(sets) or (QUICK_CHOICES if quick else USUAL)
    seconds = budget or (0.01 if quick else 4.0)
    files.check_load(times=True, quick=quick)
    records = with_kept(measure(names, seconds, note, QUICK if quick else WHOLE), kept)
    _show_speedups(records)
    given = {"sets": ",".join(names), "budget": f"{seconds:g}", "quick": quick}
    files.write(records, page_of, given)


@bench_app.command()
def medha(
    device: Annotated[
        str,
        typer.Option(help="What counts cycles: model, or rtl, which is built first: minutes."),
    ] = "model",
    sets: Annotated[str, typer.Option(help="Parameter sets, by commas; all without it.")] = "",
    operations: Annotated[str, typer.Option(help="HE operations, by commas; or all.")] = "",
    area: Annotated[
        str,
        typer.Option(
            help="Synthesis of one unit of each design: none, scaled from a quarter of its cores "
            "(minutes), or whole (more than ten minutes each)."
        ),
    ] = "none",
    area_of: Annotated[
        str,
        typer.Option(
            help="Designs to synthesize, by commas; all, and variants, without it.",
        ),
    ] = "",
    rtl: Annotated[
        str,
        typer.Option(help="What rtl counts whatever --device says, by commas: sets, logreg, gmdh."),
    ] = "",
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of an earlier run: what the same rtl counted stays rtl where model "
            "agrees; areas stay, and times with --repeats 0.",
        ),
    ] = None,
    ablations: Annotated[bool, typer.Option(help="Compare variants of the design.")] = True,
    applications: Annotated[
        bool, typer.Option(help="Run logistic regression and forecast; estimate PrivFT, LeNet-5.")
    ] = True,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Calls of each operation of SEAL and of the cpu device, 15 without it; 0: neither "
            "is timed.",
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Put both Medha papers' numbers beside those of our designs, and of SEAL on this CPU."""
    from ringsmith.bench.medha.measure import QUICK, Options, measure
    from ringsmith.bench.medha.page import page as page_of

    files = _Files("medha", keep, json, page, force)
    lists = {"sets": sets, "operations": operations, "rtl": rtl, "area_of": area_of}
    chosen = {**(QUICK if quick else {}), **_given(lists)}
    calls = _either(repeats, 1 if quick else 15)
    files.check_load(times=calls > 0, quick=quick)
    options = Options(
        device,
        kept=files.kept(),
        area=area,
        ablations=ablations,
        applications=applications,
        repeats=calls,
        quick=quick,
        **chosen,
    )
    records = measure(options, note)
    _show(records, "Medha: the papers' numbers and ours")
    synthesis = {"area": area if area != "none" else None}
    flags = {"no-ablations": not ablations, "no-applications": not applications, "quick": quick}
    given = {"device": device, **_lists(chosen), **synthesis, "repeats": calls, **flags}
    files.write(records, page_of, given)


@bench_app.command()
def heaws(
    device: Annotated[
        str,
        typer.Option(help="What counts cycles: model, or rtl, which is built first: minutes."),
    ] = "model",
    operations: Annotated[str, typer.Option(help="HE operations, by commas; or all.")] = "",
    area: Annotated[bool, typer.Option(help="Synthesize the coprocessor: minutes.")] = False,
    choices: Annotated[
        str, typer.Option(help="Design choices to make differently, by commas; or all.")
    ] = "",
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of an earlier run: what the same rtl counted stays rtl where model "
            "agrees, and with --repeats 0 times on this CPU stay.",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Calls of each operation of the cpu device and of SEAL, 15 without it; 0: not "
            "timed.",
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Put the HEAWS paper's tables beside our BFV coprocessor, the cpu device and SEAL."""
    from ringsmith.bench.heaws.measure import QUICK, Options, measure
    from ringsmith.bench.heaws.page import page as page_of

    files = _Files("heaws", keep, json, page, force)
    lists = {"operations": operations, "choices": choices}
    usual = QUICK if quick else Options()
    chosen = {name: _names(text) or getattr(usual, name) for name, text in lists.items()}
    calls = _either(repeats, 1 if quick else 15)
    files.check_load(times=calls > 0, quick=quick)
    options = replace(
        usual,
        device=device,
        operations=chosen["operations"],
        area=area,
        choices=chosen["choices"],
        repeats=calls,
        kept=files.kept(),
    )
    records = measure(options, note)
    _show(records, "HEAWS: the paper's numbers and ours")
    given = {"device": device, **lists, "area": area, "repeats": calls, "quick": quick}
    files.write(records, page_of, given)


@bench_app.command()
def framework(
    operations: Annotated[str, typer.Option(help="HE operations, by commas; or all.")] = "",
    designs: Annotated[
        str, typer.Option(help="Designs, by commas: framework, framework-512, vector-1024; or all.")
    ] = "",
    networks: Annotated[
        str,
        typer.Option(
            help="Networks, by commas: lola-mnist, lola-mnist-rows (with the paper's number of "
            "operations), lola-cifar10 (minutes); or all."
        ),
    ] = "",
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Calls of each operation of the cpu device, 15 without it; 0: not timed. Keys of "
            "the largest set take gigabytes: they are left out where memory does not hold them.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of an earlier run: the cpu device's times stay, with --repeats 0, and "
            "clocks of the same RTL without --clock.",
        ),
    ] = None,
    clock: Annotated[
        bool,
        typer.Option("--clock", help="Find the designs' clocks by timing analysis: minutes each."),
    ] = False,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Put the Framework paper's tables beside our designs of architecture vector, by the model."""
    from ringsmith.bench.framework.figures import FIGURES, FOLDER, figures
    from ringsmith.bench.framework.measure import QUICK, Options, measure
    from ringsmith.bench.framework.page import page as page_of

    files = _Files("framework", keep, json, page, force, FOLDER, tuple(FIGURES))
    lists = {"operations": operations, "designs": designs, "networks": networks}
    calls = _either(repeats, 1 if quick else 15)
    files.check_load(times=calls > 0, quick=quick)
    options = replace(
        QUICK if quick else Options(),
        repeats=calls,
        clock=clock,
        kept=files.kept(),
        **_given(lists),
    )
    records = measure(options, note)
    _show(records, "Framework: the paper's numbers and ours")
    given = {**lists, "repeats": calls, "clock": clock, "quick": quick}
    files.write(records, page_of, given, figures)


@bench_app.command()
def rpm(
    sets: Annotated[str, typer.Option(help="Rows of the paper's tables, by commas; or all.")] = "",
    area: Annotated[
        str, typer.Option(help="Rows of which to synthesize the design, by commas: minutes each.")
    ] = "",
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of an earlier run: areas stay that were synthesized, of designs that "
            "count as many DSPs and block RAMs, and times with --repeats 0.",
        ),
    ] = None,
    products: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Products of mixed primes through the RTL, 1000 without it; 0: it is not built.",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0, help="Times that the CPU does each part, 7 without it; 0: it is not timed."
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Put the RPM paper's tables beside our streaming multiplier, and BFV on this CPU."""
    from ringsmith.bench.rpm.measure import QUICK, Options, measure
    from ringsmith.bench.rpm.page import page as page_of

    files = _Files("rpm", keep, json, page, force)
    lists = {"sets": sets, "area": area}
    chosen = {**(QUICK if quick else {}), **_given(lists)}
    sizes = (_either(products, 2 if quick else 1000), _either(repeats, 1 if quick else 7))
    files.check_load(times=sizes[1] > 0, quick=quick)
    options = Options(kept=files.kept(), products=sizes[0], repeats=sizes[1], **chosen)
    records = measure(options, note)
    _show(records, "RPM: the paper's numbers and ours")
    given = {**_lists(chosen), "products": sizes[0], "repeats": sizes[1], "quick": quick}
    files.write(records, page_of, given)


@bench_app.command()
def nano(
    only: Annotated[
        str,
        typer.Option(
            help="What to measure, by commas: program, operations, compile-time; all without it."
        ),
    ] = "",
    columns: Annotated[
        str, typer.Option(help="Columns of compile-time's matrices, by commas; else 32,128,512.")
    ] = "",
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of an earlier run: what --only does not name stays.",
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Measure the demo's program and single operations on the RTL of nano, and compile times."""
    from ringsmith.bench.nano.measure import QUICK, Options, measure, with_kept
    from ringsmith.bench.nano.page import page as page_of

    files = _Files("nano", keep, json, page, force)
    kept = files.kept()
    usual = QUICK if quick else Options()
    sizes = tuple(map(_whole, _names(columns)))
    options = Options(_names(only) or usual.only, sizes or usual.columns, usual.limbs)
    records = with_kept(measure(options, note), kept)
    _show(records, "nano: cycles, and times on this CPU")
    lists = {"only": _names(only), "columns": _names(columns)}
    files.write(records, page_of, {**_lists(lists), "quick": quick})


@bench_app.command()
def scaling(
    heaws: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Records of ringsmith bench heaws: times of the forecast and of the cpu device.",
        ),
    ] = None,
    framework: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Records of ringsmith bench framework: the network's time."
        ),
    ] = None,
    dispatch_ms: Annotated[
        float,
        typer.Option(help="CPU time of a dispatcher for a request, without inputs and outputs."),
    ] = 2.6,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Simulate services of up to 1,000 cards: what breaks first, beside formulas."""
    from ringsmith.bench.records import read_records
    from ringsmith.bench.scaling.measure import QUICK, Options, measure
    from ringsmith.bench.scaling.page import FIGURES, FOLDER, figures
    from ringsmith.bench.scaling.page import page as page_of
    from ringsmith.errors import ParameterError

    inputs = [heaws, framework]
    files = _Files("scaling", None, json, page, force, FOLDER, FIGURES, inputs)
    if (heaws is None) != (framework is None):
        raise ParameterError("give both, --heaws FILE and --framework FILE, or neither")
    kept = [
        record
        for path, bench in zip(inputs, ("heaws", "framework"), strict=True)
        if path is not None
        for record in read_records(path, bench).records
    ]
    usual = QUICK if quick else Options()
    records = measure(replace(usual, dispatch_seconds=dispatch_ms / 1e3, kept=tuple(kept)), note)
    _show(records, "Scaling: requests and fleets")
    given = {"heaws": heaws, "framework": framework, "dispatch-ms": f"{dispatch_ms:g}"}
    files.write(records, page_of, {**given, "quick": quick}, figures)


@bench_app.command()
def service(
    seconds: Annotated[float, typer.Option(min=0.2, help="Of each load.")] = 10.0,
    soak: Annotated[
        float | None,
        typer.Option(
            help="Instead, a long run of so many seconds: 20 clients on a simulated card of "
            "heaws6, and clients, workers, servers and the card killed now and then."
        ),
    ] = None,
    soak_device: Annotated[
        str, typer.Option(help="Where the long run computes: `cpu`, `model` or `card`.")
    ] = "card",
    clients: Annotated[
        int | None, typer.Option(min=1, max=200, help="Clients of the long run; else 20.")
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What to measure, by commas: `loads`, `added` (time of one small request), "
            "`cards`; else all three.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Take from these records what this run does not measure."
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Measure the service: requests a second, latency, what it adds; or run it for long."""
    from dataclasses import replace

    from ringsmith.bench.service.measure import QUICK, Options, chosen, measure, part_of
    from ringsmith.bench.service.page import page as page_of
    from ringsmith.bench.service.soak import OPERATION, Plan
    from ringsmith.bench.service.soak import soak as run_for_long

    files = _Files("service", keep, json, page, force)
    files.check_load(times=soak is None, quick=quick)
    kept = files.kept()
    if soak is not None:
        plan = Plan(soak, _either(clients, Plan.clients), soak_device)
        if quick:
            plan = replace(plan, client_kills=1, server_kills=1, worker_kills=0, card_kills=0)
        records = run_for_long(plan, note)
        earlier = [one for one in kept if one.params != OPERATION]
        records = [*earlier, *records]
    else:
        options = chosen(QUICK if quick else replace(Options(), seconds=seconds), parts)
        measured = measure(options, note)
        done = {part_of(one) for one in measured}
        records = [*measured, *(one for one in kept if part_of(one) not in done)]
    _show(records, "The service under load")
    given = {
        **({} if soak is None else {"soak": f"{soak:g}", "soak-device": soak_device}),
        **({} if parts is None else {"parts": parts}),
        "clients": clients,
        "quick": quick,
    }
    files.write(records, page_of, given)


@bench_app.command()
def heir(
    lists: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Modules of HEIR: an input of heir-opt (.mlir), or a list of some (.toml).",
        ),
    ],
    designs: Annotated[
        str,
        typer.Option(help="Designs whose cycles are counted, by commas; or none."),
    ] = "vector-small,medha,framework-512",
    calls: Annotated[
        int, typer.Option(min=1, help="Runs of each program on the CPU; the median counts.")
    ] = 5,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Records of an earlier run: programs stay that are not in FILE…."
        ),
    ] = None,
    quick: Quick = False,
    json: _Json = None,
    page: _Page = None,
    force: Force = False,
) -> None:
    """Measure programs of HEIR: compile time, keys and latency, HEIR's plan and ours."""
    from ringsmith.bench.heir.measure import Options, measure, with_kept
    from ringsmith.bench.heir.modules import read_modules
    from ringsmith.bench.heir.page import page as page_of

    files = _Files("heir", keep, json, page, force, others=lists)
    modules = [module for each in lists for module in read_modules(each)]
    kept = files.kept()
    files.check_load(times=True, quick=quick)
    options = Options(() if designs == "none" else _names(designs), calls)
    if quick:
        modules, options = modules[:1], Options(options.designs[:1], 1)
    records = with_kept(measure(modules, options, note), kept)
    _show(records, "HEIR's programs")
    given = {"designs": designs, "calls": calls, "quick": quick}
    files.write(records, page_of, given, arguments=lists)


class _Files:
    """The files of a bench, checked before it begins.

    Args:
        bench: The bench.
        keep: Records of an earlier run; None: none.
        json: Records to write, which may be the same file; None: none.
        page: The page to write; None: none.
        force: Whether files may be replaced.
        folder: Where pictures of the page lie, beside it; empty: it has none.
        pictures: Their files.
        others: Other files that are read.
    """

    def __init__(
        self,
        bench: str,
        keep: Path | None,
        json: Path | None,
        page: Path | None,
        force: bool,
        folder: str = "",
        pictures: tuple[str, ...] = (),
        others: Sequence[Path | None] = (),
    ) -> None:
        from ringsmith.files import Target, check_targets

        self._bench, self._keep, self._json, self._page = bench, keep, json, page
        self._force = force
        self._records, self._text = target(json, force), target(page, force)
        self._pictures: dict[str, Target] = {}
        self._folder = None
        if page is not None and folder:
            self._folder = page.parent / folder
            self._pictures = {name: Target(self._folder / name, force) for name in pictures}
        there = self._pictures.values() if self._folder and self._folder.exists() else ()
        inputs = [*others, *([] if keep == json else [keep])]
        check_targets(self._records, self._text, *there, inputs=inputs)

    def kept(self) -> "tuple[Record, ...]":
        """The records of the earlier run; none where there is none."""
        from ringsmith.bench.records import read_records

        return () if self._keep is None else read_records(self._keep, self._bench).records

    def check_load(self, *, times: bool, quick: bool) -> None:
        """Refuses to take times that are to be published while the machine does other work.

        Args:
            times: Whether times are measured.
            quick: Whether no number is to be quoted.

        Raises:
            ToolError: If it is busy, and a file is to be written.
        """
        from ringsmith.apps.conditions import check_quiet

        if times and not quick and (self._records is not None or self._text is not None):
            check_quiet()

    def write(
        self,
        records: "Sequence[Record]",
        page_of: "Callable[[Measurement], str]",
        given: Mapping[str, object],
        pictures_of: "Callable[[Measurement], Mapping[str, str]] | None" = None,
        arguments: Sequence[object] = (),
    ) -> None:
        """Writes what was asked for.

        Args:
            records: What was measured or kept.
            page_of: Makes the page.
            given: The bench's options, but those of its files.
            pictures_of: Makes pictures of the page, by file name; None: there are none.
            arguments: What stands on the command line before options.
        """
        from ringsmith.bench.records import Measurement, write_records

        files = {"keep": self._keep, "json": self._json, "page": self._page, "force": self._force}
        words = [*map(str, arguments), *_words({**given, **files})]
        command = " ".join(["ringsmith bench", self._bench, *words])
        measurement = Measurement(self._bench, command, tuple(records))
        if self._records is not None:
            write_records(measurement, self._records)
        if self._text is not None:
            if pictures_of is not None and self._folder is not None:
                self._folder.mkdir(exist_ok=True)
                for name, picture in pictures_of(measurement).items():
                    self._pictures[name].write(picture)
            self._text.write(page_of(measurement))


def _either(given: int | None, usual: int) -> int:
    """What an option says, or what is usual without it."""
    return usual if given is None else given


def _given(lists: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Options that name something, as lists."""
    return {name: names for name, text in lists.items() if (names := _names(text))}


def _whole(text: str) -> int:
    """A whole number of a list.

    Raises:
        ParameterError: If it is none.
    """
    from ringsmith.errors import ParameterError

    if not text.isdecimal():
        raise ParameterError(f"{text!r} is no whole number: give some by commas, as 32,128")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    """What stands between the commas."""
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _lists(chosen: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Names as on a command line, between commas."""
    return {option.replace("_", "-"): ",".join(names) for option, names in chosen.items()}


def _words(options: Mapping[str, object]) -> list[str]:
    """Options as on a command line: those that have a value, and flags that are set."""
    given = {name: value for name, value in options.items() if value is not False}
    given = {name: value for name, value in given.items() if value not in ("", None)}
    return [f"--{name}" + f" {value}" * (value is not True) for name, value in given.items()]


def _show(records: "Sequence[Record]", title: str) -> None:
    """Prints one line a record."""
    from rich.console import Console

    from ringsmith.bench.records import show

    console = Console()
    console.width = max(console.width, _WIDE)
    show(records, title, console)


def _show_speedups(records: "Sequence[Record]") -> None:
    """Prints one line a comparison."""
    from rich.console import Console
    from rich.table import Table

    values = {(r.params, r.operation, r.peer, r.metric): r.value for r in records}
    table = Table(title="cpu, milliseconds; speedup: the peer's time over ours")
    for name in ("parameters", "operation", "peer"):
        table.add_column(name)
    for name in ("ours", "peer's", "speedup", "floor"):
        table.add_column(name, justify="right")
    for params, operation, peer in dict.fromkeys(key[:3] for key in values):
        key = (params, operation, peer)
        table.add_row(
            *key,
            f"{values[(*key, 'milliseconds')]:.4g}",
            f"{values[(*key, 'peer_milliseconds')]:.4g}",
            f"{values[(*key, 'speedup')]:.2f}",
            f"{floor:.4g}" if (floor := values.get((*key, "floor_milliseconds"))) else "–",
        )
    console = Console()
    console.print(table)
    for text in dict.fromkeys(record.conditions for record in records):
        console.print(text, soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(bench_app, name="bench")
