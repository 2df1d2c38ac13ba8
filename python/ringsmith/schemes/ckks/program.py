"""A planned CKKS program: levels, scales, and the precision to expect."""

import math
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters
from ringsmith.params.flooding import FAILURE, Flooding
from ringsmith.program.costs import CPU
from ringsmith.program.graph import Program
from ringsmith.program.listing import by_line, cost, table
from ringsmith.program.loops import inside
from ringsmith.program.nodes import Node
from ringsmith.program.overflow import (
    DEFAULT_BOUND,
    RangeError,
    check_outputs,
    input_spans,
    without_computed,
)
from ringsmith.program.packing import Port, laid_out
from ringsmith.program.plain import Space
from ringsmith.program.ranges import Interval
from ringsmith.program.sharing import SHARED, Sharing
from ringsmith.program.spans import Structure, magnitudes, structure
from ringsmith.schemes.ckks.forecast import (
    Forecast,
    OutputForecast,
    correct_bits,
    forecast,
)
from ringsmith.schemes.ckks.noise import encryption_spread
from ringsmith.schemes.ckks.work import Work
from ringsmith.short_repr import short_repr


def space(n: int) -> Space:
    """Returns the slots of ring degree n: n/2 real or complex numbers."""
    return Space(n // 2, n // 2, exact=False)


@short_repr
@dataclass(frozen=True, eq=False)
class CkksProgram(Program):
    """An encrypted program on real or complex numbers; made by ``trace``."""

    parameters: CkksParameters

    @property
    def _space(self) -> Space:
        return space(self.parameters.n)

    @property
    def _modulus(self) -> None:
        return None

    @property
    def _largest_bound(self) -> float:
        return 2.0**60

    def _shown(self, values: NDArray[Any]) -> NDArray[Any]:
        return values

    def check_ranges(
        self,
        bound: float = DEFAULT_BOUND,
        found_before: MutableMapping[Structure, tuple[list[float], list[int]]] | None = None,
    ) -> None:
        """Refuses a program in which a result may exceed its modulus, in any slot.

        Between results, values may exceed theirs: all operations compute on residues, so that a
        result that fits is right all the same.

        Args:
            bound: The magnitude of inputs without a declared range.
            found_before: Ranges of programs of the same inputs, by what their nodes compute.

        Raises:
            RangeError: Names the user's line.
            ConstantOutputError: When an output is the same for all inputs.
        """
        given = input_spans(self.nodes, self.filled, self.complex_inputs, bound)
        flat = self.flat.nodes
        nodes = flat if bound <= DEFAULT_BOUND else without_computed(flat)
        known = {} if found_before is None else found_before
        key = structure(nodes)
        if key not in known:
            known[key] = magnitudes(nodes, self._space, given, self.output_lengths)
        found, constant = known[key]
        check_outputs(flat, constant)
        if self.unchecked:
            return
        self._check_bootstrapped(found)
        available = np.cumsum(np.log2(np.array(self.parameters.data_primes, dtype=np.float64)))
        worst, missing = None, 0.0
        for node in [node for node in flat if node.op is Op.OUTPUT]:
            largest = found[node.operands[0]] * node.scale * 2
            bits = math.log2(largest) - available[node.limbs - 1] if largest > 0 else 0.0
            if bits > missing:
                worst, missing = node, float(bits)
        if worst is not None:
            limit = 2.0 ** float(available[worst.limbs - 1] - math.log2(worst.scale) - 1)
            raise RangeError(self._overflow(worst, found, limit), missing)

    def _check_bootstrapped(self, found: Sequence[float]) -> None:
        """Refuses numbers that are larger than a bootstrapping was planned for."""
        for node in self.flat.nodes:
            if node.op is Op.BOOTSTRAP and node.bound is not None:
                largest, limit = found[node.operands[1]], node.bound.magnitude
                if largest > limit * (1 + _SLACK):
                    raise RangeError(
                        f"{node.source}: bootstrap: numbers may reach {largest:.3g} for inputs in "
                        f"their ranges, and were to be at most {limit:.3g}: declare the inputs' "
                        "ranges (InputSpec(bound=…)), or scale them down",
                        math.log2(largest / limit),
                    )

    def _overflow(self, output: Node, found: Sequence[float], limit: float) -> str:
        """Says which result exceeds its modulus, at the line that first makes numbers too great."""
        first = next(node for node in self.flat.nodes if found[node.id] > limit)
        return (
            f"{first.source}: overflow: output {output.name!r} may hold numbers up to "
            f"{found[output.operands[0]]:.3g} for inputs in their ranges, and at the scale "
            f"2^{math.log2(output.scale):.1f} the modulus of {output.limbs} limbs holds numbers up "
            f"to {limit:.3g}: declare tighter ranges (InputSpec(bound=…), bounded), scale the "
            'numbers down, widen q_0, let trace(…, "auto") choose parameters, or promise that '
            "results fit: allow_overflow=True"
        )

    def forecast(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        samples: Mapping[str, ArrayLike] | None = None,
        each_node: bool | frozenset[int] = True,
        quick: bool = False,
    ) -> Forecast:
        """Forecasts how far decrypted results will be from ``evaluate``'s, and those from exact.

        Args:
            bounds: Upper bounds of the magnitudes of the encrypted numbers: one number for all
                inputs; or for each input a number, or a vector or array with a bound for each
                number.
            samples: For each input a vector of typical numbers, or an array (samples, numbers); of
                an array its numbers, or (samples, *shape). The
                program is run on them in the clear. Then no value is taken to be larger than twice
                what they make of it, and the forecast is for inputs like these.
            each_node: Whether to forecast the error of every node, which takes longer; or of which.
            quick: Whether slots of one period may stand for all, where a program repeats. Errors
                are hardly less then; ``rms`` and ``spread`` are of the first slots.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude; when samples are not
                those of the inputs.
        """
        if self.packed_inputs and isinstance(bounds, Mapping):
            bounds = laid_out(self.packed_inputs, bounds, self.lengths)
        if self.packed_inputs and samples is not None:
            samples = laid_out(self.packed_inputs, samples, self.lengths)
        flat = self.flat.nodes
        nodes = flat if self._within_ranges(bounds) else without_computed(flat)
        sharing = self._flat_sharing
        return forecast(
            self.parameters,
            nodes,
            self.filled,
            bounds,
            output_lengths=self.output_lengths,
            complex_numbers=bool(self.complex_inputs),
            samples=samples,
            each_node=each_node,
            quick=quick,
            digits_first=sharing.digits_first(flat),
            undivided=sharing.undivided,
        )

    @cached_property
    def _flat_sharing(self) -> Sharing:
        """What rotations share, with loops written out."""
        flat = self.flat.nodes
        if flat is self.nodes:
            return self.sharing
        return Sharing.of(flat, self.parameters) if self.rotations == SHARED else Sharing()

    @cached_property
    def worst_case(self) -> Mapping[str, OutputForecast] | None:
        """The forecast of each output for all inputs that clients can encrypt, by name.

        None: no limit, since inputs of any size are taken (``unchecked``).
        """
        if self.unchecked:
            return None
        return self.forecast(self.default_bound, each_node=False).outputs

    @cached_property
    def bootstraps(self) -> bool:
        """Whether the program bootstraps."""
        return any(node.op is Op.BOOTSTRAP for node in self.nodes)

    def shared_bits(self, flooding: Flooding) -> float:
        """Returns the bits after the point that survive flooding, of the worst output."""
        noises = [port.noise for port in self.output_ports.values()]
        known = [flooding.noise_bound(noise) for noise in noises if noise is not None]
        if len(known) < len(noises):
            return -math.inf
        return min(flooding.bits(self.parameters.n, bound) for bound in known)

    def _with_noise(self, ports: Mapping[str, Port]) -> dict[str, Port]:
        """A server that hides its circuit adds the noise of an encryption (``sanitize``).

        Of a bootstrapping no bound is known: what depends on the secret in it is simulated.
        """
        if self.worst_case is None or self.bootstraps:
            return dict(ports)
        found = {}
        for name, port in ports.items():
            fresh = encryption_spread(self.parameters, port.limbs) / port.scale
            noise = math.hypot(self.worst_case[name].spread, fresh)
            known = 2.0 ** math.ceil(math.log2(noise)) if noise < math.inf else None
            found[name] = replace(port, noise=known)
        return found

    def _within_ranges(self, bounds: Mapping[str, ArrayLike] | float) -> bool:
        """Whether inputs within bounds are within the ranges that the program was planned for."""
        for name, node in self.inputs.items():
            limit = DEFAULT_BOUND if node.bound is None else node.bound.magnitude
            given = bounds.get(name, 0.0) if isinstance(bounds, Mapping) else bounds
            if node.bound is not None and not isinstance(bounds, Mapping):
                continue  # one number is for inputs without a declared range
            largest = np.asarray(given.magnitude if isinstance(given, Interval) else given)
            if largest.dtype.kind in "iuf" and np.any(largest > limit):
                return False
        return True

    def describe(self) -> str:
        """Returns a listing: one node a line with limbs, log2 of the scale, size and source."""
        return "\n".join([*self._heading(), *table(self.nodes, _HEADS, _columns)])

    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
        lines: bool = False,
    ) -> str:
        """Returns the listing with costs and the precision to expect, for people.

        Args:
            bounds: Bounds of the inputs' magnitudes, as for ``forecast``.
            cycles: Clock cycles by node id; ``ringsmith.explain`` finds them for a design.
            lines: Whether the listing has a row for each line of the user's, not for each node.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """
        last = {node.source: self.flat.last[node.id] for node in self.nodes}
        found = self.forecast(bounds, each_node=frozenset(last.values()) if lines else True)

        def precision(node: Node) -> str:
            error = found.errors[self.flat.last[node.id]]
            bits = "" if node.stage else f"{correct_bits(error):5.1f} bits"
            return f"{bits:>9}"

        def columns(node: Node) -> str:
            return f"{_columns(node)}  {precision(node)}"

        listed = (
            by_line(self.nodes, "precision", precision, cycles)
            if lines
            else table(self.nodes, f"{_HEADS}  precision", columns, cycles)
        )
        return "\n".join(
            [
                *self._heading(with_choice=True),
                *listed,
                "",
                cost(self.parameters, self.nodes, self.sharing, cycles),
                *self._spent(),
                "",
                *self._precision(found),
            ]
        )

    def _spent(self) -> list[str]:
        """Says what bootstrappings cost; nothing where there are none."""
        times = sum(node.op is Op.BOOTSTRAP for node in self.flat.nodes)
        if not times:
            return []
        work, of = Work(self.parameters, CPU), inside(self.nodes, range(len(self.nodes)))
        counts = {node.loop: node.count for node in self.nodes if node.count}
        repeated = [counts[of[node.id]] if node.id in of else 1 for node in self.nodes]
        spent = work.bootstrapping(self.nodes, self.sharing, repeated=repeated)
        return [
            f"bootstrapping: {times} times, {spent[0] / spent[1]:.0%} of the time on the "
            f"{CPU.device} device by its table of costs"
        ]

    def _precision(self, found: Forecast) -> list[str]:
        lines = [
            "precision: bits after the point that noise leaves correct in every slot, but with a "
            f"probability of 2^{math.log2(FAILURE):.0f}, by the noise model of "
            "docs/guide/programs.md"
        ]
        lines += [_output(name, output) for name, output in found.outputs.items()]
        if any(output.approximation for output in found.outputs.values()):
            lines.append(
                "approximation: of functions by polynomials, in addition to noise; no parameters "
                "lower it, but a higher degree does"
            )
            lines += [
                f"  {name}: {correct_bits(output.approximation):.1f} bits (largest error "
                f"{output.approximation:.2g}; with noise {output.total:.2g})"
                for name, output in found.outputs.items()
                if output.approximation
            ]
            lines += [
                f"  {node.source}: its function is off by up to {node.approximation:.2g} there"
                for node in self.nodes
                if node.approximation and not node.loop
            ]
        if found.overflows:
            first = self.flat.nodes[found.overflows[0]]
            lines.append(
                f"  warning: with inputs at their bounds, %{first.id} ({first.op}, {first.source}) "
                "may exceed its modulus, and then nothing above holds: give tighter bounds, scale "
                "the inputs down, or widen q_0"
            )
        return lines


_SLACK = 1e-5
"""Part of a range by which computed ones may exceed it."""
_HEADS = "limbs  scale    size"


def _columns(node: Node) -> str:
    """A node's limbs, scale and size."""
    return f"{node.limbs:>5}  2^{math.log2(node.scale):<6.2f} {node.size:>4}"


def _output(name: str, output: OutputForecast) -> str:
    shares = ", ".join(f"{s:.0%} {kind}" for kind, s in output.shares.items() if s >= 0.005)
    return (
        f"  {name}: {output.bits:.1f} bits (largest error {output.error:.2g}, typically "
        f"{output.rms:.2g}, numbers to {output.bound:.3g}); in slot {output.slot}, the worst: "
        f"{shares}"
    )
