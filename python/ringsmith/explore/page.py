"""A search as one page of HTML that needs no other file and no network."""

from collections import Counter
from collections.abc import Iterator
from html import escape
from importlib import resources
from string import Template

from ringsmith.explore.charts import breakdown, front_plot, roofline, timeline
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.points import OBJECTIVES, Tried
from ringsmith.explore.request import explorer
from ringsmith.explore.search import Found
from ringsmith.explore.tables import row
from ringsmith.platforms import load_platform

_MOST_POINTS = 100
"""Designs of the front that the page has."""

_REASONS = 10

_HEADS = ("design", "ms", "DSP", "LUT", "BRAM", "URAM", "GB/s", "binds")


def page_of(found: Found, chosen: Tried, evaluator: Evaluator) -> str:
    """The page.

    Args:
        found: What the search found.
        chosen: The design of the front whose timeline is shown.
        evaluator: Knows what was explored for.
    """
    front = [*found.front[:_MOST_POINTS]]
    if chosen.key not in {each.key for each in front}:
        front.append(chosen)
    feasible = [each for each in found.points if each.feasible]
    others = list(enumerate(OBJECTIVES))[1:]
    plots = "\n".join(
        f'<figure data-objective="{number}">{front_plot(feasible, front, number, name)}</figure>'
        for number, name in others
    )
    page = (resources.files("ringsmith.explore") / "page.html").read_text(encoding="utf-8")
    return Template(page).substitute(
        TITLE=escape(f"{found.request.subject} on {load_platform(found.request.platform).card}"),
        ABOUT=escape(_about(found)),
        OBJECTIVES="".join(
            f'<option value="{number}">{escape(name)}</option>' for number, name in others
        ),
        PLOTS=plots,
        TABLE=_table(front),
        CHOSEN=escape(chosen.name),
        SECTIONS="\n".join(_sections(front)),
        TIMELINES="\n".join(_timelines(chosen, evaluator)),
        REASONS=_reasons(found),
        NUMBER=next(n for n, each in enumerate(front) if each.key == chosen.key),
    )


def _about(found: Found) -> str:
    feasible = sum(each.feasible for each in found.points)
    clocks = ", ".join(
        f"{name} at {found.request.megahertz or explorer(name).megahertz:g} MHz"
        for name in found.request.architectures
    )
    refused = "; ".join(f"{name}: {reason}" for name, reason in found.refused.items())
    return (
        f"{len(found.points)} points tried, {feasible} can be taken, {len(found.front)} are on the "
        f"front. Clocks are assumed: {clocks}. Cycles of the front are the model's. LUTs are "
        f"estimates; nothing was placed or routed. {refused}"
    )


def _table(front: list[Tried]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEADS)
    rows = "\n".join(
        f'<tr data-point="{number}">'
        + "".join(f"<td>{escape(cell)}</td>" for cell in (*row(each), _binds(each)))
        + "</tr>"
        for number, each in enumerate(front)
    )
    return f"<figure><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></figure>"


def _binds(point: Tried) -> str:
    return ", ".join(dict.fromkeys(own.binds for own in point.operations.values()))


def _sections(front: list[Tried]) -> Iterator[str]:
    for number, each in enumerate(front):
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{own.cycles:,}</td><td>{own.milliseconds:.4g}</td>"
            f"<td>{escape(own.binds)}</td><td>{escape(_bounds(own.bounds))}</td></tr>"
            for name, own in each.operations.items()
        )
        yield (
            f'<section data-details="{number}" hidden><figure><table><thead><tr><th>operation</th>'
            "<th>cycles</th><th>ms</th><th>binds</th><th>cycles by themselves</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></figure><h3>Cycles by subroutine</h3>"
            f"<figure>{breakdown(each.operations)}</figure><h3>Roofline</h3>"
            f"<figure>{roofline(each.operations)}</figure></section>"
        )


def _bounds(bounds: object) -> str:
    assert isinstance(bounds, dict)
    return ", ".join(f"{name} {count:,}" for name, count in bounds.items() if count)


def _timelines(chosen: Tried, evaluator: Evaluator) -> Iterator[str]:
    own, task = explorer(chosen.architecture), evaluator.task(chosen.architecture)
    design = own.design(dict(chosen.values), task)
    for operation in task.graphs:
        picture = timeline(own.timeline(design, operation, task))
        yield f"<h3>{escape(operation)}</h3>\n<figure>{picture}</figure>"


def _reasons(found: Found) -> str:
    """The commonest reasons; of points that are too large, what they have too little of."""
    counted = Counter(
        (each.architecture, each.kind, each.reason.partition(":")[0])
        for each in found.points
        if not each.feasible
    )
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(kind)}</td><td>{escape(what[:160])}</td>"
        f"<td>{count:,}</td></tr>"
        for (name, kind, what), count in counted.most_common(_REASONS)
    )
    return (
        '<figure><table class="words"><thead><tr><th>architecture</th><th>kind</th><th>what</th>'
        f"<th>points</th></tr></thead><tbody>{rows}</tbody></table></figure>"
    )
