"""What a bench measures: records of one form, printed as a table and kept in files of lines.

A file of records is JSON Lines, in UTF-8: one JSON object a line, of three kinds, in this order.

    {"bench": "rpm", "command": "ringsmith bench rpm --repeats 7 --json rpm.jsonl"}
    {"conditions": "9c1f4e", "text": "every product compared with core's"}
    {"design": "rpm", "params": "L1", …, "value": 2048, "source": "rtl", "conditions": "9c1f4e"}

The first line names the bench and the command. A line of conditions comes once for each text; its
id is the first digits of the text's SHA-256, so that a new text changes no other line. A row is a
``Record`` with the id in place of its conditions and without the fields that are empty.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ringsmith import __version__, _core
from ringsmith.apps.conditions import processor
from ringsmith.caching import cached
from ringsmith.errors import InteropError, ParameterError, ToolError
from ringsmith.files import Target, read_bounded

METRICS: Mapping[str, str] = {
    "cycles": "",
    "instructions": "",
    "transfers": "",
    "microseconds": "µs",
    "milliseconds": "ms",
    "products": "",
    "rotations": "",
    "rescalings": "",
    "key_switchings": "",
    "products_per_ms": "1/ms",
    "per_second": "1/s",
    "bytes": "B",
    "bytes_read": "B",
    "bytes_written": "B",
    "megabytes": "MB",
    "gigabytes_per_second": "GB/s",
    "megabytes_per_second": "MB/s",
    "speedup": "",
    "percent": "%",
    "dsp": "",
    "bram": "",
    "uram": "",
    "lut": "",
    "ff": "",
    "lutram": "",
    "fits": "1 = yes",
    "watts": "W",
    "megahertz": "MHz",
    "square_millimeters": "mm²",
    "dollars": "US$",
    "seconds": "s",
    "bits": "",
    "bits_rms": "",
    "levels": "",
    "gigabytes": "GB",
    "lower_seconds": "s",
    "compile_seconds": "s",
    "found_seconds": "s",
    "baseline_milliseconds": "ms",
    "floor_milliseconds": "ms",
    "key_bytes": "B",
    "heir_seconds": "s",
    "plan_seconds": "s",
    "degree": "",
    "data_primes": "",
    "plain_products": "",
    "rotation_keys": "",
    "digits": "",
    "largest_error": "",
    "baseline_key_bytes": "B",
    "runs": "",
    "count": "",
    "patients": "",
    "same_class": "%",
    "bootstrappings": "",
    "limbs": "",
    "accuracy_encrypted": "",
    "accuracy_polynomial": "",
    "accuracy_clear": "",
    "same_class_as_polynomial": "",
    "largest_error_to_polynomial": "",
    "largest_error_to_sigmoid": "",
}
"""What is counted -> its unit; a BRAM is one of 36 Kbit."""

SOURCES: Mapping[str, str] = {
    "rtl": "counted by the simulated RTL, with every result compared with the interpreter's",
    "model": "counted by the cycle-exact model",
    "synthesis": "Yosys, without place and route",
    "estimate": "counted or computed as the conditions say",
    "cost": "composed of the latencies of instructions, not run",
    "cpu": "measured on this machine's processor",
    "formula": "computed by the stated formula",
    "program": "counted in the program",
    "simulation": "a discrete-event simulation",
}
"""Where a value can come from, and what that means."""

COUNTED = ("rtl", "model")
"""Sources that count cycles, and must agree."""

_MAX_FILE = 1 << 26
"""Bytes of a file of records, at most."""

_FEWEST_DIGITS = 6
"""Hexadecimal digits of the id of a text."""


@dataclass(frozen=True)
class Record:
    """One number of ours, and a paper's where there is one to compare with.

    Attributes:
        design: The design; ``cpu`` for a library on this machine.
        params: The parameter set.
        operation: What was done, or what part of the device it is: ``rescale``, ….
        metric: One of ``METRICS``.
        value: The number.
        source: One of ``SOURCES``.
        conditions: What must be known of it, in words.
        baseline: The baseline (library or accelerator) of the comparison, or the number's source;
            empty: none.
        paper: Whose number it is compared with: ``medha``, ``medha-2021``, …; empty: with none.
        paper_value: The paper's number; None: it gives none.
        where: Table or section of the paper, and what must be known of its number; may be empty.
    """

    design: str
    params: str
    operation: str
    metric: str
    value: float
    source: str
    conditions: str
    baseline: str = ""
    paper: str = ""
    paper_value: float | None = None
    where: str = ""

    def __post_init__(self) -> None:
        for what, name, known in (
            ("metric", self.metric, METRICS),
            ("source", self.source, SOURCES),
        ):
            if name not in known:
                raise ParameterError(f"{what} {name!r}: choose from {', '.join(known)}")

    @property
    def unit(self) -> str:
        """The unit of the metric; empty for counts."""
        return METRICS[self.metric]

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's; None where the paper gives none."""
        return self.value / self.paper_value if self.paper_value else None

    @property
    def key(self) -> tuple[str, ...]:
        """What two records of the same number have in common, model or RTL."""
        source = COUNTED if self.source in COUNTED else (self.source,)
        return (self.design, self.params, self.operation, self.metric, self.baseline, *source)


def merged(earlier: Iterable[Record], measured: Iterable[Record]) -> list[Record]:
    """Returns records of an earlier run, with those that were measured again in their place.

    Records of new numbers are appended.
    """
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in earlier:
        found.setdefault(record.key, []).append(record)
    anew: dict[tuple[str, ...], list[Record]] = {}
    for record in measured:
        anew.setdefault(record.key, []).append(record)
    return [record for same in {**found, **anew}.values() for record in same]


@dataclass(frozen=True)
class Measurement:
    """All that a run of a bench yields: what pages and files are written from."""

    bench: str
    command: str
    records: tuple[Record, ...]


def show(records: Sequence[Record], title: str, console: Console) -> None:
    """Prints records as a table."""
    table = Table(title=title, title_justify="left")
    baselines = any(record.baseline for record in records)
    table.add_column("parameters")
    table.add_column("operation")
    table.add_column("metric")
    for name in ("paper", "ours", "ratio"):
        table.add_column(name, justify="right")
    table.add_column("source")
    if baselines:
        table.add_column("baseline")
    for record in records:
        cells = [record.params, record.operation, " ".join((record.metric, record.unit)).strip()]
        cells += [number(record.paper_value), number(record.value), number(record.ratio)]
        cells += [record.source, *([record.baseline] if baselines else [])]
        table.add_row(*cells)
    console.print(table)
    for text in dict.fromkeys(record.conditions for record in records):
        console.print(f"  {text}", soft_wrap=True)


def number(value: float | None) -> str:
    """Formats a number: thousands separated, three digits if it is small, a dash for none."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) >= 10:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write_records(measurement: Measurement, target: Target) -> None:
    """Writes a file of records, whole or not at all.

    Raises InteropError when the file exists and may not be replaced, or cannot be written.
    """
    lines = (json.dumps(line, ensure_ascii=False) for line in _lines(measurement))
    target.write("".join(f"{line}\n" for line in lines))


def read_records(path: Path, bench: str | None = None) -> Measurement:
    """Reads what ``write_records`` wrote.

    Raises InteropError when the file cannot be read, holds no records, or those of another bench.
    """
    lines = read_bounded(path, _MAX_FILE).splitlines()
    place = 0
    try:
        head = json.loads(lines[place])
        of, command = head["bench"], head["command"]
        texts: dict[str, str] = {}
        records = []
        for each in lines[1:]:
            place += 1
            line = json.loads(each)
            if "text" in line:
                texts[line["conditions"]] = line["text"]
            else:
                records.append(Record(**{**line, "conditions": texts[line["conditions"]]}))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise InteropError(
            f"{path}, line {place + 1}: no record can be read: {type(error).__name__}, {error}: "
            "give a file that 'ringsmith bench … --json' wrote"
        ) from error
    if bench not in (None, of):
        raise InteropError(
            f"{path}: its records are of the bench {of!r}: give a file that 'ringsmith bench "
            f"{bench} --json' wrote"
        )
    return Measurement(of, command, tuple(records))


def _lines(measurement: Measurement) -> Iterator[Mapping[str, object]]:
    """The lines of a file of records, as JSON values."""
    yield {"bench": measurement.bench, "command": measurement.command}
    ids = _ids(dict.fromkeys(record.conditions for record in measurement.records))
    for text, name in ids.items():
        yield {"conditions": name, "text": text}
    for record in measurement.records:
        row = {**asdict(record), "conditions": ids[record.conditions]}
        yield {name: value for name, value in row.items() if value not in ("", None)}


def _ids(texts: Mapping[str, object]) -> dict[str, str]:
    """Text -> its id: the fewest digits of its digest that distinguish all texts."""
    digests = {text: sha256(text.encode()).hexdigest() for text in texts}
    lengths = count(_FEWEST_DIGITS)
    digits = next(n for n in lengths if len({d[:n] for d in digests.values()}) == len(digests))
    return {text: digest[:digits] for text, digest in digests.items()}


# ---- The machine that times are measured on ------------------------------------------------------


QUIET_LOAD = 0.7
"""Load average of the last minute up to which a machine counts as idle."""


def check_quiet() -> None:
    """Refuses a machine that does other work, where times are to be published.

    Raises ToolError when its load average exceeds ``QUIET_LOAD``.
    """
    load = os.getloadavg()[0]
    if load > QUIET_LOAD:
        raise ToolError(
            f"the load average is {load:.1f}, and times are published below {QUIET_LOAD}: wait "
            "until the machine is idle, leave times out (--repeats 0), or write no file"
        )


@cached
def machine_state() -> str:
    """Returns processor, kernels, version, date, and how busy the machine was when first asked.

    The same text in the whole run, by which pages put records together.
    """
    return (
        f"{processor()}, kernels {_core.kernel_name()}, ringsmith {__version__}, "
        f"{datetime.now(UTC):%Y-%m-%d}, load average {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} processors at the start"
    )
