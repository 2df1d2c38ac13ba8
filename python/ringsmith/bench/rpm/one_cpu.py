"""Both devices beside one processor: ours and the paper's, each with the same host.

A speedup over a processor says as much of the processor as of the device. So our device stands
beside the paper's with the times that the paper has of its processor, and the paper's beside ours
with the times of this one.
"""

from collections.abc import Iterator, Mapping

from ringsmith.bench.papers import facts
from ringsmith.bench.records import Found
from ringsmith.bench.rpm.cases import PAPER, SOFTWARE_SETS, Case

PAPERS_CPU = "Core i7-3770"
THEIR_DEVICE = "mult_relin_papers_device"
_PRODUCTS = {
    "device_multiply": "cpu_multiply_products",
    "device_relinearize": "cpu_relinearize_products",
}
"""What a device does -> the same on the paper's processor."""


def by_the_papers(case: Case, device: Mapping[str, float]) -> Iterator[Found]:
    """Speedups of our device over the paper's processor, whose times are the paper's.

    Args:
        case: The paper's row.
        device: Milliseconds of our device for the products of each kind.
    """
    cpu = _theirs(SOFTWARE_SETS.get(case.name, case.name))

    def found(operation: str, value: float, text: str) -> Found:
        text = f"over the paper's times of its processor (Table 3); {text}; devices at 200 MHz"
        what = (PAPER, case.name, operation, "speedup", value, "estimate")
        return Found(*what, text, PAPERS_CPU)

    for operation, there in _PRODUCTS.items():
        yield found(operation, cpu[there] / device[operation], "products alone")
    host = cpu["cpu_mult_relin"] - sum(cpu[there] for there in _PRODUCTS.values())
    whole = cpu["cpu_mult_relin"] / (host + sum(device.values()))
    text = "its host and our device in turn, without the link"
    yield found("mult_relin", whole, text)


def by_ours(case: Case, alone: float, host: float, text: str) -> Iterator[Found]:
    """The speedup of the paper's device over this processor.

    Args:
        case: The paper's row.
        alone: Milliseconds of this processor alone.
        host: Milliseconds of what a device leaves to it.
        text: How they were measured.
    """
    theirs = _theirs(case.name)
    whole = host + theirs["device_multiply"] + theirs["device_relinearize"]
    words = f"the paper's device (Table 4) beside this processor, in turn, without the link; {text}"
    yield Found(PAPER, case.name, THEIR_DEVICE, "speedup", alone / whole, "estimate", words)


def _theirs(params: str) -> dict[str, float]:
    """The paper's milliseconds of a parameter set."""
    return {
        fact.operation: fact.value
        for fact in facts(PAPER)
        if (fact.params, fact.metric, fact.peer) == (params, "milliseconds", "")
    }
