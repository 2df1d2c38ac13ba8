"""How well a program does what its network does: in the clear, simulated, and encrypted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import progress
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.networks.network import Network, identifiers
from ringsmith.program import Program

Inputs = Mapping[str, NDArray[Any]]
Outputs = NDArray[Any]
"""One output, with a row for each sample."""


@dataclass(frozen=True)
class Row:
    """One way to compute the network on samples.

    Attributes:
        way: Names it.
        samples: How many were computed.
        same: Those whose class, the place of the largest output, is that of the network.
        right: Those whose class is their label; None: there are no labels.
        error: The largest distance of an output from that of the network.
        outside: Samples that were left out, because a number leaves the range promised for it.
    """

    way: str
    samples: int
    same: int
    right: int | None
    error: float
    outside: int = 0

    def __str__(self) -> str:
        text = f"{self.way}: {self.samples:,} samples"
        if self.right is not None and self.samples:
            text += f", {self.right / self.samples:.2%} right"
        if self.way != NETWORK:
            text += f", the network's class {self.same:,} times, outputs within {self.error:.2g}"
        if self.outside:
            text += f"; {self.outside:,} more leave the ranges of the samples of calibration"
        return text


NETWORK, POLYNOMIALS = "the network", "its polynomials"
SIMULATED, ENCRYPTED = "simulated slots", "encrypted"


def accuracy(
    network: Network,
    program: Program,
    samples: ArrayLike | Mapping[str, ArrayLike],
    labels: ArrayLike | None = None,
    *,
    simulated: int = 0,
    encrypted: int = 0,
    device: str = "cpu",
    design: str | None = None,
    output: str | None = None,
) -> list[Row]:
    """Compares a program with its network on samples.

    The network is computed in NumPy; its polynomials are computed in NumPy on arrays, too; a
    simulation computes the program's operations on slots; encrypted runs do what a user does.

    Args:
        network: From ``from_onnx``.
        program: What ``trace`` made of it.
        samples: As for ``from_onnx``.
        labels: A class for each sample, a whole number from 0.
        simulated: Samples that are simulated.
        encrypted: Samples that are computed encrypted.
        device: Where, as for ``open_device``.
        design: The accelerator that the device is.
        output: The output that is compared; None: the first.

    Raises:
        ParameterError: When samples or labels do not fit, or there is no such output.
    """
    names = identifiers(network.graph.outputs)
    if output is not None and output not in names:
        raise ParameterError(f"output = {output!r:.40}: the network has {', '.join(names)}")
    which = 0 if output is None else names.index(output)
    batches = network.batches(samples)
    size = len(next(iter(batches[0].values())))
    whole = samples if not isinstance(samples, Mapping) else next(iter(samples.values()))
    count = len(np.asarray(whole))
    known = None if labels is None else np.asarray(labels).reshape(-1)
    if known is not None and (len(known) != count or known.dtype.kind not in "iu"):
        raise ParameterError(
            f"{len(known)} labels of type {known.dtype} for {count} samples: give a whole number "
            "from 0 for each"
        )
    clear = [_rows(network(*batch.values()), size, which) for batch in batches]

    def row(way: str, compute: Callable[[Inputs], Mapping[str, Any]], first: int) -> Row:
        computed = _computed(way, compute, network, batches[: -(-first // size)], size, which)
        return _compared(way, computed, clear, min(first, count), known)

    found = [_compared(NETWORK, clear, clear, count, known)]
    found.append(row(POLYNOMIALS, program.evaluate, count))
    if simulated:
        found.append(row(SIMULATED, replace(program, arrays={}).evaluate, simulated))
    if encrypted:

        def run(inputs: Inputs) -> Mapping[str, Any]:
            return program.run(inputs, device=device, design=design)

        found.append(row(ENCRYPTED, run, encrypted))
    return found


def _computed(
    way: str,
    compute: Callable[[Inputs], Mapping[str, Any]],
    network: Network,
    batches: list[dict[str, NDArray[Any]]],
    size: int,
    which: int,
) -> list[Outputs | None]:
    """Returns the outputs of each batch; None where a number leaves its range."""
    found: list[Outputs | None] = []
    with progress.task(f"{way}: computing samples", len(batches), "batches") as task:
        for batch in batches:
            inputs = dict(zip(network.input_names, batch.values(), strict=True))
            try:
                found.append(_rows(compute(inputs), size, which))
            except ProgramError:
                found.append(None)
            task.advance()
    return found


def _rows(outputs: Any, size: int, which: int) -> Outputs:  # noqa: ANN401 - one, or by name
    chosen = [*outputs.values()][which] if isinstance(outputs, Mapping) else outputs
    return np.asarray(chosen).reshape(size, -1)


def _compared(
    way: str,
    computed: "list[Outputs] | list[Outputs | None]",
    clear: list[Outputs],
    count: int,
    labels: NDArray[Any] | None,
) -> Row:
    size = len(clear[0])
    samples = same = right = outside = 0
    error = 0.0
    for number, (found, wanted) in enumerate(zip(computed, clear, strict=False)):
        start = number * size
        here = min(size, count - start)
        if found is None:
            outside += here
            continue
        classes = found[:here].argmax(axis=1)
        samples += here
        same += int((classes == wanted[:here].argmax(axis=1)).sum())
        error = max(error, float(np.abs(found[:here] - wanted[:here]).max()))
        if labels is not None:
            right += int((classes == labels[start : start + here]).sum())
    return Row(way, samples, same, None if labels is None else right, error, outside)
