"""A bench: its file of cases, its parts, and a run that measures some of them.

``bench/cases/NAME.toml`` has a table for each part, in the order of measuring::

    papers = ["heaws"]                       # whose numbers ours are compared with

    [parts.operations]
    measure = "bench.measure:operations"     # a function that takes a `Run`, and yields records
    device = "model"                         # values that it reads by run["device"], …
    quick = { cases = [...] }                # other values with --quick; false: left out
    only = false                             # true: measured only with --only, or by --quick
    always = false                           # true: measured in every run (derived numbers)
    times = false                            # true: takes times, for which a machine must be idle

``[page]`` is the layout of its page (``bench.page``).
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.papers import compared
from bench.record import Record, check_quiet, merged
from ringsmith.errors import ParameterError
from ringsmith.progress import task

ROOT = Path(__file__).parents[1]
"""The clone."""

CASES = Path(__file__).with_name("cases")

_OWN = ("measure", "quick", "only", "always", "times")
"""Entries of a part that are no values of its function."""


@dataclass(frozen=True)
class Bench:
    """A bench as its file describes it."""

    name: str
    papers: tuple[str, ...]
    parts: Mapping[str, Mapping[str, Any]]
    page: Mapping[str, Any]

    @property
    def records(self) -> Path:
        """The file of its records in the repository."""
        return ROOT / "bench" / "records" / f"{self.name}.jsonl"

    @property
    def page_file(self) -> Path:
        """Its page in the repository."""
        return ROOT / "docs" / "results" / f"{self.name}.md"


def names() -> list[str]:
    """Returns the names of all benches."""
    return sorted(path.stem for path in CASES.glob("*.toml"))


def load(name: str) -> Bench:
    """Returns a bench. Raises ParameterError when there is no such bench; names those there are."""
    if name not in names():
        raise ParameterError(f"bench {name!r}: choose one of {', '.join(names())}")
    data = tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))
    return Bench(name, tuple(data.get("papers", ())), data["parts"], data["page"])


@dataclass(frozen=True)
class Run:
    """What a function that measures a part is given.

    Attributes:
        values: The part's values, by name.
        records: Of an earlier run, and of the parts before.
        say: Takes lines for people.
        quick: Whether no number is to be quoted.
    """

    values: Mapping[str, Any]
    records: Sequence[Record] = ()
    say: Callable[[str], None] = print
    quick: bool = False

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a value of TOML
        return self.values[name]

    def value(self, **of: str) -> float | None:
        """Returns the value of the one record with these fields; None: there is no such record."""
        found = {r.value for r in self.records if all(getattr(r, k) == v for k, v in of.items())}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True)
class Choice:
    """What of a bench is measured.

    Attributes:
        only: Parts; None: all but those that must be named. ``none`` names no part.
        values: Values in place of those of the bench's file, as text.
        quick: Whether each kind of step is done at its smallest.
        published: Whether files are written, for which the machine must be idle.
    """

    only: tuple[str, ...] | None = None
    values: Mapping[str, str] | None = None
    quick: bool = False
    published: bool = False


def measure(
    bench: Bench, choice: Choice, earlier: Iterable[Record], say: Callable[[str], None]
) -> list[Record]:
    """Measures the chosen parts of a bench.

    Returns the records of the earlier run, with those that were measured now in their place. Raises
    ParameterError when a part or a value is unknown; ToolError when a tool is missing, or the
    machine is busy while times are taken.
    """
    parts = _chosen(bench, choice)
    if choice.published and not choice.quick and any(bench.parts[p].get("times") for p in parts):
        check_quiet()
    records = list(earlier)
    with task(f"measuring {bench.name}", len(parts), "parts") as measured:
        for name, values in parts.items():
            run = Run(values, tuple(records), say, choice.quick)
            found = _function(bench.parts[name]["measure"])(run)
            rows = [
                row
                for each in found
                for row in ([each] if each.paper else compared(each, bench.papers))
            ]
            records = merged(records, rows)
            measured.advance()
    return records


def _chosen(bench: Bench, choice: Choice) -> dict[str, dict[str, Any]]:
    """The values of each part that is measured."""
    given, used = dict(choice.values or {}), set[str]()
    for name in choice.only or ():
        if name not in (*bench.parts, "none"):
            raise ParameterError(f"part {name!r}: choose from {', '.join(bench.parts)}, or none")
    found = {}
    for name, table in bench.parts.items():
        named = choice.only is not None and name in choice.only
        small = isinstance(table.get("quick"), dict) and choice.quick
        left_out = choice.quick and table.get("quick") is False
        usual = choice.only is None and (small or not table.get("only")) and not left_out
        if not (named or usual or table.get("always")):
            continue
        values = {key: value for key, value in table.items() if key not in _OWN}
        if choice.quick and isinstance(quick := table.get("quick"), dict):
            values |= quick
        for key in values.keys() & given:
            used.add(key)
            values[key] = _parsed(key, given[key], values[key])
        found[name] = values
    if unknown := given.keys() - used:
        known = sorted({key for values in found.values() for key in values})
        raise ParameterError(
            f"--set {min(unknown)}: no chosen part has such a value: choose from {', '.join(known)}"
        )
    return found


def _parsed(name: str, text: str, usual: object) -> object:
    """A value of the type that the bench's file has.

    Raises ParameterError if the text is no such value.
    """
    if isinstance(usual, list):
        items = [part.strip() for part in text.split(",") if part.strip()]
        kind = type(usual[0]) if usual else str
        if kind in (int, float, str):
            return [_parsed(name, item, usual[0] if usual else "") for item in items]
    if isinstance(usual, bool) and text in ("true", "false"):
        return text == "true"
    try:
        if isinstance(usual, str) or (isinstance(usual, int | float) and type(usual) is not bool):
            return type(usual)(text)
    except ValueError:
        pass
    raise ParameterError(f"--set {name}={text}: the bench's file has {name} = {usual!r}")


def _function(path: str) -> Callable[[Run], Iterable[Record]]:
    module, _, name = path.partition(":")
    function: Callable[[Run], Iterable[Record]] = getattr(import_module(module), name)
    return function
