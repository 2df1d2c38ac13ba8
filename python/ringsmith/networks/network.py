"""A network that is called on encrypted arrays, and on arrays of NumPy."""

import keyword
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.networks import activations  # noqa: F401 - registers its operators
from ringsmith.networks.calls import Call, Ranges, Settings, Value, encrypted
from ringsmith.networks.graph import NetworkGraph, NetworkNode, read_graph, simplified
from ringsmith.networks.operators import OPERATORS
from ringsmith.program.planner import InputSpec
from ringsmith.program.ranges import bounded

if TYPE_CHECKING:
    import onnx

MARGIN = 0.25
"""Part of its width by which a range of samples is widened at each end."""
_MOST_LIVE = 1 << 27
"""Numbers that are kept at once, those of weights among them."""
_MOVING = frozenset(
    {
        *("Concat", "Constant", "ConstantOfShape", "Dropout", "Expand", "Flatten", "Gather"),
        *("Identity", "Pad", "Reshape", "Shape", "Slice", "Split", "Squeeze", "Transpose"),
        "Unsqueeze",
    }
)
"""Operators whose results have the ranges of what they take."""


def from_onnx(
    model: "Path | str | bytes | onnx.ModelProto",
    *,
    calibrate: ArrayLike | Mapping[str, ArrayLike] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    batch: int = 1,
    until: str | None = None,
    error: float | None = None,
    degree: int | None = None,
    margin: float = MARGIN,
) -> "Network":
    """Reads a network of ONNX as a function of encrypted arrays.

    ``trace(network, "auto", network.inputs)`` makes a program of it, as of a function in Python.

    Args:
        model: A file, its bytes, or what ``onnx.load`` returns.
        calibrate: Samples, of shape (count, …) where the network's first axis counts samples, for
            its one input or by name. They are computed in the clear. Every number of the network
            is then promised to lie in the range that they reach, widened by ``margin``: the
            approximations of its functions hold there. None: ranges follow from ``bounds`` by
            worst cases, which a deep network outgrows.
        bounds: Ranges of inputs; else those of the samples; else −1 … 1.
        batch: Samples that are computed at once, where the file leaves that open.
        until: The tensor to end at, such as the input of a last Softmax that a class does not
            need. None: the network's outputs.
        error: Part of the range of a function's results by which an approximation may be wrong.
            None: each function's default.
        degree: The degree of one polynomial for each function, in place of ``error``.
        margin: Part of its width by which a range of samples is widened at each end.

    Raises:
        InteropError: When the file cannot be read, or holds an operator that is not known; the
            message names the node.
        ParameterError: When samples do not fit, or an argument is out of its range.
        ToolError: When the package onnx is not installed.
    """
    if error is not None and (degree is not None or not 0 < error < 1):
        raise ParameterError(f"error = {error!r:.40}: give a part from 0 to 1, or a degree")
    if not 1 <= batch <= 1 << 16 or not 0 <= margin <= 16:
        raise ParameterError(
            f"batch = {batch!r:.40}, margin = {margin!r:.40}: a batch of 1 … 65536 samples and a "
            "margin of 0 … 16 are possible"
        )
    graph = _ending(simplified(read_graph(model)), until)
    for node in graph.nodes:
        if node.operator not in OPERATORS:
            raise InteropError(
                f"{graph.title}: {node}: this operator is not known. Known are: "
                f"{', '.join(sorted(OPERATORS))}"
            )
    network = Network(graph, batch, Settings(error, degree))
    if calibrate is not None:
        network = network.calibrated(calibrate, margin)
    return network.with_bounds(bounds or {})


def _ending(graph: NetworkGraph, until: str | None) -> NetworkGraph:
    """Returns the nodes that the outputs, or one tensor, depend on."""
    outputs = graph.outputs if until is None else (until,)
    made = {name for node in graph.nodes for name in node.outputs if name}
    if until is not None and until not in made:
        raise ParameterError(
            f"until = {until!r:.60}: no node of {graph.title} computes it; those near the end are "
            f"{', '.join(name for node in graph.nodes[-4:] for name in node.inputs[:1])}"
        )
    needed, kept = {*outputs}, []
    for node in reversed(graph.nodes):
        if needed & {*node.outputs}:
            kept.append(node)
            needed.update(name for name in node.inputs if name)
    inputs = {name: shape for name, shape in graph.inputs.items() if name in needed}
    if not inputs:
        raise InteropError(f"{graph.title}: its outputs do not depend on an input")
    return replace(graph, nodes=tuple(reversed(kept)), inputs=inputs, outputs=outputs)


@dataclass(frozen=True, eq=False)
class Network:
    """A network as a function: of encrypted arrays for ``trace``, of NumPy's for reference.

    Attributes:
        graph: Its nodes.
        batch: Samples that are computed at once, where the file leaves that open.
        settings: How functions are approximated.
        ranges: Ranges that samples reached; None: there were none.
        bounds: Ranges of inputs, by their names in the file.
    """

    graph: NetworkGraph
    batch: int
    settings: Settings
    ranges: Ranges | None = None
    bounds: Mapping[str, tuple[float, float]] | None = None

    @property
    def __name__(self) -> str:
        """The file's name, as an identifier."""
        return identifier(Path(self.graph.title).stem)

    @property
    def __signature__(self) -> Signature:
        """One parameter for each input."""
        return Signature(
            [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in self.input_names]
        )

    @property
    def input_names(self) -> tuple[str, ...]:
        """Identifiers of the inputs: their names in the file, as far as Python takes these."""
        return identifiers(self.graph.inputs)

    @property
    def inputs(self) -> dict[str, InputSpec]:
        """The inputs, as ``trace`` takes them."""
        found = {}
        for name, (given, shape) in zip(self.input_names, self._shapes().items(), strict=True):
            bound = (self.bounds or {}).get(given)
            if bound is None and self.ranges is not None:
                bound = self.ranges.of(given)
            found[name] = InputSpec(shape, bound=bound)
        return found

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the inputs, with the batch in place."""
        found = {}
        for name, shape in self.graph.inputs.items():
            known = tuple(n for n in shape[1:] if n is not None)
            if not shape or len(known) < len(shape) - 1:
                raise InteropError(
                    f"{self.graph.title}: input {name!r:.60} of shape {shape!r:.80} leaves a "
                    "length open that is no batch: export the network with its lengths fixed"
                )
            found[name] = (self.batch if shape[0] is None else shape[0], *known)
        return found

    def __call__(self, *arrays: Any, **named: Any) -> dict[str, Any] | Any:  # noqa: ANN401
        """Computes the network.

        Args:
            arrays: Encrypted arrays, or NumPy's, of the shapes of ``inputs``.
            named: The same by name.

        Returns:
            The output; several by name.
        """
        given = self.__signature__.bind(*arrays, **named).arguments
        values = dict(zip(self.graph.inputs, (given[n] for n in self.input_names), strict=True))
        found = self._computed(values, recording=False)
        names = identifiers(self.graph.outputs)
        outputs = dict(zip(names, (found[n] for n in self.graph.outputs), strict=True))
        return next(iter(outputs.values())) if len(outputs) == 1 else outputs

    def _computed(self, values: Mapping[str, Value], *, recording: bool) -> dict[str, Value]:
        """Returns the outputs, and what no node takes."""
        found: dict[str, Value] = {"": None, **self.graph.constants, **values}
        last = {name: node.number for node in self.graph.nodes for name in node.inputs}
        last |= dict.fromkeys(("", *self.graph.outputs), 0)
        live = sum(np.size(value) for value in found.values())
        for node in self.graph.nodes:
            operands = tuple(found[name] for name in node.inputs)
            call = Call(node, operands, self.graph.opset, self.settings, self.ranges, recording)
            results = self._of_node(call)
            made = {n: v for n, v in zip(node.outputs, results, strict=False) if n}
            found |= made
            live += sum(map(np.size, made.values()))
            for name in {*node.inputs}:
                if last[name] == node.number:
                    live -= np.size(found.pop(name))
            if live > _MOST_LIVE:
                raise InteropError(
                    f"{self.graph.title}: {node}: more than {_MOST_LIVE} numbers are needed at once"
                )
        return found

    def _of_node(self, call: Call) -> Sequence[Value]:
        """Computes a node, as from a line of the file."""
        run = OPERATORS[call.node.operator]
        try:
            call.check_growth()
            with np.errstate(all="ignore"):
                results = _at(self.graph.title, call.node, lambda: run(call))
        except ProgramError:
            raise
        except (
            ValueError,
            IndexError,
            TypeError,
            OverflowError,
            AttributeError,
            KeyError,
        ) as error:
            raise InteropError(
                f"{self.graph.title}: {call.node}: its operands do not fit: {error!s:.200}"
            ) from None
        listed = results if isinstance(results, tuple) else (results,)
        if call.node.operator in _MOVING:
            return listed
        return [
            self._ranged(call, name, value)
            for name, value in zip(call.node.outputs, listed, strict=False)
        ]

    def _ranged(self, call: Call, name: str, value: Value) -> Value:
        """Records the range of a sample's result, or promises that of samples for an encrypted."""
        found = call.range_of(name, value)
        if found is None or not encrypted(value):
            return value
        return _at(self.graph.title, call.node, lambda: bounded(value, found))

    def calibrated(
        self, samples: ArrayLike | Mapping[str, ArrayLike], margin: float = MARGIN
    ) -> "Network":
        """Returns the network with the ranges that samples reach.

        Args:
            samples: As ``from_onnx`` takes them.
            margin: Part of its width by which each range is widened at each end.

        Raises:
            ParameterError: When samples do not fit the inputs.
        """
        ranges = Ranges(margin)
        network = replace(self, ranges=ranges)
        for values in self.batches(samples):
            for name, array in values.items():
                ranges.add(name, array)
            network._computed(values, recording=True)
        return network

    def batches(
        self, samples: ArrayLike | Mapping[str, ArrayLike]
    ) -> list[dict[str, NDArray[np.float64]]]:
        """Returns samples in batches of the inputs' shapes, by the file's names.

        The last sample is repeated to fill the last batch.

        Raises:
            ParameterError: When they do not fit.
        """
        shapes = self._shapes()
        if not isinstance(samples, Mapping):
            if len(shapes) > 1:
                raise ParameterError(f"samples of {len(shapes)} inputs: give them by name")
            samples = {next(iter(shapes)): samples}
        by_name = dict(zip(self.input_names, shapes, strict=True)) | {n: n for n in shapes}
        given = {}
        for name, array in samples.items():
            if name not in by_name:
                raise ParameterError(f"samples of {name!r:.60}: no input has this name")
            given[by_name[name]] = np.asarray(array, np.float64)
        if len(given) != len(shapes):
            raise ParameterError(f"samples are missing of: {', '.join({*shapes} - {*given})}")
        counts = {len(array) if array.ndim else 0 for array in given.values()}
        if len(counts) > 1 or not min(counts):
            raise ParameterError(f"inputs have {sorted(counts)} samples: give one or more of each")
        for name, array in given.items():
            if array.shape[1:] != shapes[name][1:] or not np.isfinite(array).all():
                raise ParameterError(
                    f"samples of {name!r:.60} have shape {array.shape}: finite numbers of shape "
                    f"(count, {', '.join(map(str, shapes[name][1:]))}) are expected"
                )
        (count,) = counts
        sizes = {shape[0] for shape in shapes.values()}
        if len(sizes) > 1:
            raise ParameterError("inputs have different first axes: they cannot be calibrated")
        (size,) = sizes
        found = []
        for start in range(0, count, size):
            rows = np.minimum(np.arange(start, start + size), count - 1)
            found.append({name: array[rows] for name, array in given.items()})
        return found

    def with_bounds(self, bounds: Mapping[str, tuple[float, float]]) -> "Network":
        """Returns the network with ranges of inputs."""
        by_name = dict(zip(self.input_names, self.graph.inputs, strict=True))
        by_name |= {name: name for name in self.graph.inputs}
        for name in bounds:
            if name not in by_name:
                raise ParameterError(f"a range of {name!r:.60}: no input has this name")
        known = {by_name[name]: (float(low), float(high)) for name, (low, high) in bounds.items()}
        return replace(self, bounds=known)


def identifier(name: str) -> str:
    """Returns a name as Python takes it."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "x"
    found = f"x{found}" if found[0].isdigit() else found
    return f"{found}_" if keyword.iskeyword(found) else found


def identifiers(names: Mapping[str, object] | Sequence[str]) -> tuple[str, ...]:
    """Returns names as Python takes them, all different."""
    found: dict[str, None] = {}
    numbers: Counter[str] = Counter()
    for name in names:
        wanted = plain = identifier(name)
        while wanted in found:
            numbers[plain] += 1
            wanted = f"{plain}_{numbers[plain] + 1}"
        found[wanted] = None
    return tuple(found)


def _at(title: str, node: NetworkNode, function: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Calls a function as from a line of the network's file: messages name it as the user's."""
    return eval(_code(title, node), {"function": function})  # noqa: S307 - our own three words


def _code(title: str, node: NetworkNode) -> CodeType:
    name = re.sub(r"[^\w.]+", ".", node.name, flags=re.ASCII).strip(".")[:40]
    operator = re.sub(r"\W+", ".", node.operator, flags=re.ASCII)[:40]
    lines = "\n" * (node.number - 1)  # the node's number is that of the line
    return compile(f"{lines}function()", f"{title}, {name} ({operator})", "eval")
