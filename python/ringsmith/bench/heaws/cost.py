"""The main operation by cost: held to the model, and at parameters that no design can hold."""

from collections.abc import Callable, Iterator

from ringsmith.apps.conditions import ASSUMED_HZ
from ringsmith.backends.rpau.compiler.cost import product_cycles
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.link import Link, arrivals
from ringsmith.bench.heaws.cases import (
    COSTED,
    DESIGN,
    MAIN_OPERATION,
    graph_of,
    larger_design,
    larger_parameters,
    parameters,
    shapes,
)
from ringsmith.bench.heaws.coprocessors import link_text
from ringsmith.bench.programs import run
from ringsmith.bench.records import Found

SOURCE = "cost"
COMMUNICATION, TOTAL = "communication", "product_and_communication"
DIGITS = 2
"""Digits of relinearization, at all parameters."""


def rows(say: Callable[[str], None]) -> Iterator[Found]:
    """The estimate over the model where both are, then cycles and milliseconds where one is."""
    for of, design in ((parameters(), load_design(DESIGN)), (larger_parameters(), larger_design())):
        counted, _, _ = run(graph_of(MAIN_OPERATION, of), design, "model")
        percent = 100 * estimate(design, of.limbs) / counted
        text = f"the estimate over the model's {counted:,} cycles; {_text(design, of.limbs)}"
        yield Found(design.name, of.name, "cost_over_model", "percent", percent, SOURCE, text)
    for name, (log_n, limbs) in COSTED.items():
        for shape in shapes(log_n, limbs):
            cycles = estimate(shape, limbs)
            say(f"{shape.name}: {cycles:,} cycles by cost")
            text = _text(shape, limbs)
            clock = f"{text}; at {ASSUMED_HZ / 1e6:.0f} MHz, assumed"
            milliseconds = cycles / ASSUMED_HZ * 1e3
            yield Found(shape.name, name, MAIN_OPERATION, "cycles", cycles, SOURCE, text)
            yield Found(
                shape.name, name, MAIN_OPERATION, "milliseconds", milliseconds, SOURCE, clock
            )


def communication(say: Callable[[str], None]) -> Iterator[Found]:
    """Milliseconds of two ciphertexts to a coprocessor and one back, and of the product with them.

    As table 4 of the paper has them: one after the other, and keys not among them.
    """
    sets = {
        parameters().name: (load_design(DESIGN), parameters().limbs),
        larger_parameters().name: (larger_design(), larger_parameters().limbs),
        **{name: (shapes(*of)[0], of[1]) for name, of in COSTED.items()},
    }
    for name, (design, limbs) in sets.items():
        say(f"{design.name}: communication")
        link = Link(design.host_bits)
        cycles = arrivals(link, design, 4 * limbs)[-1] + arrivals(link, design, 2 * limbs)[-1]
        milliseconds = cycles / ASSUMED_HZ * 1e3
        text = f"4 polynomials of {limbs} limbs in and 2 out, in turn; {link_text(link)}"
        yield Found(design.name, name, COMMUNICATION, "milliseconds", milliseconds, SOURCE, text)
        whole = milliseconds + estimate(design, limbs) / ASSUMED_HZ * 1e3
        text = f"{text}; and the product by cost, {_text(design, limbs)}"
        yield Found(design.name, name, TOTAL, "milliseconds", whole, SOURCE, text)


def estimate(design: RpauDesign, limbs: int) -> int:
    """Cycles by cost, with keys that come over the design's bus."""
    came = arrivals(Link(design.host_bits), design, 2 * DIGITS * limbs)
    return product_cycles(design, DIGITS, limbs, came)


def _text(design: RpauDesign, limbs: int) -> str:
    """What must be known of a shape."""
    return (
        f"{design.rpaus} RPAUs of {design.cores} cores, {design.converters} converters, "
        f"{limbs} primes of q and {limbs + 1} of the extension, {design.word_bits} bits each, "
        f"{DIGITS} digits; at least 10 work polynomials, operands resident, keys come while it "
        f"runs, over a bus of {design.host_bits} bits"
    )
