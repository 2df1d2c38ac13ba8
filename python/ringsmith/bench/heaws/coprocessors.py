"""Several coprocessors behind one link: products per second, and what the link costs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.backends.rpau.device.shared_link import Done, Job, share
from ringsmith.bench.heaws.cases import (
    MAIN_OPERATION,
    PAPER,
    PARAMS,
    SEVERAL,
    graph_of,
    parameters,
)
from ringsmith.bench.papers import facts
from ringsmith.bench.programs import KeyedModel, compiled_for
from ringsmith.bench.records import Found

JOBS = 50
"""Products of each coprocessor, operands in and results out."""

_POLYNOMIAL_LIMBS = 6


def _papers_link(operation: str, polynomials: int) -> Link:
    """The paper's link, if a transfer that it calls by this name is of so many polynomials."""
    known = {(f.operation, f.metric): f.value for f in facts(PAPER) if not f.peer and not f.design}
    size = polynomials * known["polynomial", "bytes"]
    return Link(512, bytes_per_second=round(size / known[operation, "milliseconds"] * 1e3))


LINKS: Mapping[str, Link] = MappingProxyType(
    {
        "bus_32": Link(32),
        "bus_64": Link(64),
        "bus_512": Link(512),
        "papers_link_by_polynomial": _papers_link("polynomial_transfer", 1),
        "papers_link_by_ciphertext": _papers_link("ciphertext_transfer", 2),
    }
)
"""Links other than the design's own, by name."""


def job_of(executable: Executable, *, resident: bool = False) -> Job:
    """What crosses the link for an executable of one run, and what its program takes.

    Args:
        executable: The executable.
        resident: Whether the accelerator has its keys already.
    """
    (run,) = executable.runs
    model = KeyedModel(executable)
    return Job(
        operands=sum(map(len, run.loads.values())),
        keys=0 if resident else model.key_polynomials(run),
        results=sum(map(len, run.stores.values())),
        cycles=lambda came: model.run(run, tuple(came)).cycles,
    )


def _main_job(design: RpauDesign) -> Job:
    """The main operation on one coprocessor."""
    return job_of(compiled_for(graph_of(MAIN_OPERATION, parameters()), design))


def throughput(done: list[list[Done]], hertz: float) -> tuple[float, float]:
    """Jobs a second of all accelerators, from time 0 on, and the mean seconds of one of them."""
    last = max(jobs[-1].end for jobs in done)
    seconds = [
        (job.end - before) / hertz
        for jobs in done
        for before, job in zip((0, *(each.end for each in jobs)), jobs, strict=False)
    ]
    return sum(map(len, done)) * hertz / last, sum(seconds) / len(seconds)


def several_rate() -> tuple[int, float]:
    """Coprocessors of ``SEVERAL``, and the products a second of all, behind the design's link."""
    design = load_design(SEVERAL)
    done = share(Link(design.host_bits), design, _main_job(design), JOBS)
    return design.coprocessors, throughput(done, ASSUMED_HZ)[0]


def coprocessor_rows(design: RpauDesign, say: Callable[[str], None]) -> Iterator[Found]:
    """Products per second behind the design's link, and behind others."""
    job, own = _main_job(design), Link(design.host_bits)
    what = f"{design.coprocessors} coprocessors, {JOBS} products each"

    def measured(link: Link) -> tuple[float, float, str]:
        per_second, seconds = throughput(share(link, design, job, JOBS), ASSUMED_HZ)
        crosses = f"{job.operands} polynomials of operands, {job.keys} of keys, {job.results} back"
        return per_second, seconds, f"{what}; {crosses}; {link_text(link)}"

    per_second, seconds, text = measured(own)
    say(f"{design.name}: {per_second:,.0f} products per second")
    base = Found(design.name, PARAMS, MAIN_OPERATION, "per_second", per_second, "model", text)
    yield base
    yield replace(base, metric="milliseconds", value=seconds * 1e3)
    for name, link in LINKS.items():
        per_second, _, text = measured(link)
        yield replace(
            base,
            design=f"{design.name}: {name}",
            operation=name,
            value=per_second,
            conditions=text,
        )


def transfer_rows(design: RpauDesign) -> Iterator[Found]:
    """A polynomial's bytes, and milliseconds to write one coprocessor one, and a ciphertext."""
    link = Link(design.host_bits)
    size = _POLYNOMIAL_LIMBS * design.n * 4
    text = f"{_POLYNOMIAL_LIMBS} limbs of {design.n:,} words of 32 bits"
    yield Found(design.name, PARAMS, "polynomial", "bytes", size, "estimate", text)
    for count, operation in ((1, "polynomial_transfer"), (2, "ciphertext_transfer")):
        limbs = count * _POLYNOMIAL_LIMBS
        seconds = arrivals(link, design, limbs)[-1] / ASSUMED_HZ
        text = f"{limbs} limbs to the device; {link_text(link)}"
        ms = seconds * 1e3
        yield Found(design.name, PARAMS, operation, "milliseconds", ms, "model", text)


def link_text(link: Link) -> str:
    """What must be known of a link."""
    return (
        f"a bus of {link.bus_bits} bits at {link.bus_hz / 1e6:.0f} MHz, at most "
        f"{link.bytes_per_second / 1e9:.3g} GB/s each way; devices at "
        f"{link.device_hz / 1e6:.0f} MHz, assumed"
    )
