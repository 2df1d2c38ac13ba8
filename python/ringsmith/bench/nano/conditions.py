"""Conditions of the numbers that ``ringsmith bench nano`` measures, in words."""

from collections.abc import Mapping
from typing import Any

from ringsmith.backends.rpau.design.design import RpauDesign

PREDICTED = "predicted by the scheduler"
SHARED = "scheduled; operations overlap, and a cycle belongs to the instruction issued last"
BOUND = "N/2 · log2 N butterflies over the cores"
SCHEDULED = "scheduled; a product of a plain square matrix and an encrypted vector"


def on_the_rtl(around: Mapping[str, Any], design: RpauDesign) -> str:
    """Conditions of what the simulated RTL counts.

    Args:
        around: What ``apps.conditions.conditions`` returned.
        design: The design.
    """
    parameters = around["parameters"]
    security = parameters["security"].partition(";")[0]
    sizes = ", ".join(str(prime.bit_length()) for prime in parameters["primes"])
    versions = ", ".join(f"{name} {v}" for name, v in around["versions"].items() if v)
    return (
        f"simulated RTL; parameter set `{parameters['name']}`: RNS-CKKS, N = {parameters['n']}, "
        f"primes of {sizes} bits (the last one special), {parameters['log2_modulus']} bits "
        f"together, security of {security}; design `{design.name}`: "
        f"{design.rpaus} RPAUs of {design.cores} butterfly cores and {design.dyadic_cores} dyadic "
        f"cores, {design.word_bits}-bit words, {design.reduction} reduction; keys: "
        f"{around['keys']}; host link: {around['host_link']}; cycles are measured, the clock is "
        f"assumed: no place and route backs it; {around['date']}; {versions}"
    )


def seal_here(around: Mapping[str, Any]) -> str:
    """Conditions of Microsoft SEAL's times; ``around`` as of ``on_the_rtl``."""
    return (
        "Microsoft SEAL through seal-python (portable build, no HEXL), CPU time of one thread, "
        f"median; {around['cpu']}; load average {around['load_average']}; {around['date']}"
    )


def compiled_here(date: str, processor: str) -> str:
    """Conditions of compile times."""
    return (
        "seconds of processor time, all threads together, the fastest of three; "
        f"{date}, {processor}"
    )
