"""The smart-grid forecast on one coprocessor and on several: products by the model, over the link.

Each product and each relinearization is a job of its own, whose operands and results cross the
link. What the host does in between, sums and products with numbers, is timed on this CPU.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from rich.console import Console

from ringsmith import runtime
from ringsmith.apps.conditions import ASSUMED_HZ, machine_state
from ringsmith.apps.gmdh import Forecasts
from ringsmith.apps.gmdh.steps import StepServer, begin_steps
from ringsmith.apps.session import Session
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.link import Link
from ringsmith.backends.rpau.device.shared_link import Job, share_lists
from ringsmith.bench.heaws.cases import DESIGN, PARAMS, SEVERAL
from ringsmith.bench.heaws.coprocessors import link_text
from ringsmith.bench.programs import KeyedModel, one_thread
from ringsmith.bench.records import Found
from ringsmith.errors import DeviceError, ToolError

FORECAST = "forecast"
"""With the host's share, as the paper's time is."""

DEVICE = "forecast_device"
"""Coprocessors and link alone."""

HOST = "forecast_host"

_HOST_SHARE = "a thread for each forecast, as `forecast_host` has them"
_ALONE = "the host's sums not counted"


def forecast_rows(
    repeats: int, say: Callable[[str], None], earlier: Found | None = None
) -> Iterator[Found]:
    """All held-out days as meters: seconds, and forecasts a second; nothing where data are missing.

    Args:
        repeats: Forecasts whose host's share is timed, the median counts; 0: it is not timed.
        say: Takes lines for people.
        earlier: The host's share by an earlier run, where it is not timed; None: not known.

    Raises:
        DeviceError: If a decrypted integer is not the clear network's.
    """
    try:
        current = begin_steps(Stages(Console(quiet=True)), DESIGN)
    except ToolError as error:
        say(f"the forecast is left out: {error}")
        return
    server = current.server
    assert isinstance(server, StepServer), "of begin_steps"
    with one_thread():
        times = [_answer(current, server) for _ in range(max(1, repeats))]
    runs = [_jobs(server, graphs) for graphs in server.graphs]
    design, several = load_design(DESIGN), load_design(SEVERAL)
    link, count = Link(design.host_bits), several.coprocessors
    spread = [[job for run in runs[k::count] for job in run] for k in range(count)]
    whole = [job for run in runs for job in run]
    text = _text(server, link)
    last = {
        name: max(done[-1].end for done in share_lists(link, design, lists)) / ASSUMED_HZ
        for name, lists in (("one", [whole]), ("spread", spread), ("each", [whole] * count))
    }
    host = earlier
    if repeats:
        clock = f"one thread; {machine_state()}; median of {repeats} forecasts of all meters"
        host = Found(REFERENCE, PARAMS, HOST, "seconds", median(times), "cpu", clock)
    say(f"{DESIGN}: {last['one']:.3f} s for all forecasts")
    for operation, added in ((FORECAST, host), (DEVICE, None)):
        if operation == FORECAST and added is None:
            continue
        share = added.value if added else 0.0
        words = (
            f"{text}; the host's sums after them, {_HOST_SHARE}" if added else f"{text}; {_ALONE}"
        )
        source = "estimate" if added else "model"
        base = Found(DESIGN, PARAMS, operation, "seconds", last["one"] + share, source, words)
        yield replace(base, conditions=f"on one; {words}")
        yield replace(
            base,
            design=SEVERAL,
            value=last["spread"] + share,
            conditions=f"runs in turn over {count}; {words}",
        )
        yield replace(
            base,
            design=SEVERAL,
            metric="per_second",
            value=count / (last["each"] + share),
            conditions=f"all runs of a forecast on each of {count} at once; {words}",
        )
    if host:
        yield host


def _answer(current: Session[Forecasts], server: StepServer) -> float:
    """Forecasts on the cpu device: the host's seconds. Raises DeviceError if one is not exact."""
    answer = current.answer(Stages(Console(quiet=True)), runtime.open_device(REFERENCE))
    worth = answer.outcome.quality
    if worth["exact"] != worth["meters"]:
        raise DeviceError(f"{worth['exact']} of {worth['meters']} forecasts are exact")
    return server.host_seconds


def _jobs(server: StepServer, graphs: dict[str, runtime.CompiledGraph]) -> list[Job]:
    """The jobs of one run: one for each step."""
    steps: dict[str, Job] = {}
    for name, compiled in graphs.items():
        executable = compiled.executable
        assert isinstance(executable, Executable), "compiled for a design"
        steps[name] = _job(executable)
    return [steps[name] for name in server.ran]


def _job(executable: Executable) -> Job:
    """A step whose programs follow one another, and what crosses for all of them.

    Keys of a program are sent when it starts, since the key store holds those of the one before.
    """
    model, runs = KeyedModel(executable), executable.runs

    def cycles(came: Sequence[int]) -> int:
        total, first, shift = 0, 0, 0
        for run in runs:
            behind = first + model.key_polynomials(run)
            total += model.run(run, tuple(cycle - shift for cycle in came[first:behind])).cycles
            shift = came[behind - 1] if behind > first else shift
            first = behind
        return total

    return Job(
        operands=sum(len(limbs) for run in runs for limbs in run.loads.values()),
        keys=sum(map(model.key_polynomials, runs)),
        results=sum(len(limbs) for run in runs for limbs in run.stores.values()),
        cycles=cycles,
    )


def _text(server: StepServer, link: Link) -> str:
    """What must be known of the forecasts."""
    counts = {name: server.ran.count(name) for name in dict.fromkeys(server.ran)}
    done = " and ".join(f"{count} x {name}" for name, count in counts.items())
    moduli = ", ".join(str(of.plain_modulus) for of in server.parameters)
    return (
        f"496 meters at once, all of them exact; {len(server.parameters)} runs, t = {moduli}, of "
        f"{done}; six digits; {link_text(link)}"
    )
