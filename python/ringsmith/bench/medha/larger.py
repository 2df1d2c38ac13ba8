"""A ring that needs more than the device holds: N = 2^16 with nine data primes."""

from collections.abc import Iterator
from dataclasses import asdict

from ringsmith.backends.rpau.design.area import estimate
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.bench.medha.cases import graph_of
from ringsmith.bench.programs import conditions, run
from ringsmith.bench.records import Found
from ringsmith.caching import cached
from ringsmith.params import CkksParameters, ckks_set

LARGER = "2^16, 9 primes"
"""What records call the parameters."""

OPERATION = "multiply_relinearize"
LIMBS = 9


@cached
def larger_parameters() -> CkksParameters:
    """Primes of Set-2, which are 1 modulo 2^17, in the ring of N = 2^16."""
    primes = ckks_set("medha-set2")
    return CkksParameters.from_primes(
        n=1 << 16,
        data_primes=primes.data_primes[:LIMBS],
        special_prime=primes.special_primes[0],
        scale=primes.scale,
        name=LARGER,
        security=None,
    )


def larger_rows(design: RpauDesign) -> Iterator[Found]:
    """Yields cycles and transfers of the operation on the model, and RAMs of the design's RPAU."""
    parameters = larger_parameters()
    cycles, instructions, executable = run(graph_of(OPERATION, parameters), design, "model")
    text = f"{conditions(parameters, executable)}; {len(executable.runs)} program segments"
    for metric, value in (
        ("cycles", cycles),
        ("instructions", instructions),
        ("transfers", executable.host_transfers),
    ):
        yield Found(design.name, LARGER, OPERATION, metric, value, "model", text)
    rams = asdict(estimate(design))
    text = "work and key polynomials of the design, which has no more for this ring; no tables"
    for metric in ("bram", "uram"):
        yield Found(design.name, LARGER, "rpau", metric, rams[metric], "estimate", text)
