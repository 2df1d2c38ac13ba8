"""``ringsmith bench networks``: networks from ONNX, how well they classify and what they cost."""

import resource
import runpy
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray

from bench.measure import security_text
from bench.record import Record, machine_state
from bench.run import ROOT, Run
from ringsmith import trace
from ringsmith.backends.registry import REFERENCE
from ringsmith.errors import ToolError
from ringsmith.graph.operations import Key, Op
from ringsmith.networks import Network, accuracy, from_onnx
from ringsmith.program import CkksProgram
from ringsmith.program.nodes import Node

EXAMPLES = ROOT / "examples" / "networks"

CALIBRATION = 250
"""Samples that ranges are calibrated with."""

_kept: dict[tuple[str, ...], CkksProgram] = {}

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]


def accuracies(run: Run) -> Iterator[Record]:
    """Yields how often the class of a network is right, in the clear and encrypted.

    Values of the part: ``cases``, a list of tables with ``network``, a name of
    ``examples/networks/make.py``; ``parameters``; ``options`` of ``from_onnx``; and how many
    samples are ``evaluated`` in the clear by polynomials, and ``encrypted``.
    """
    for case in run["cases"]:
        name = case["network"]
        network, (images, labels) = read(name, case["options"])
        program = planned(network, case["parameters"])
        first = case["evaluated"]
        rows = accuracy(
            network, program, images[:first], labels[:first], encrypted=case["encrypted"]
        )
        for row in rows:
            if not row.samples:
                continue
            run.say(f"{name}: {row}")
            text = f"{row.samples:,} images; {conditions(case['options'], program)}"
            if row.outside:
                text += f"; {row.outside} more leave the ranges of calibration"
            source = REFERENCE if row.way == "encrypted" else "program"
            what = (REFERENCE, program.parameters.name, name)
            assert row.right is not None, "there are labels"
            right = 100 * row.right / row.samples
            yield Record(*what, "percent", right, source, text, row.way)
            same = 100 * row.same / row.samples
            yield Record(*what, "same_class", same, source, text, row.way)


def counted(run: Run) -> Iterator[Record]:
    """Yields what the program of a network does by layer.

    Values of the part: ``cases``, as of ``accuracies``, with ``layers``: whether these are listed.
    """
    for case in run["cases"]:
        name = case["network"]
        program = planned(read(name, case["options"])[0], case["parameters"])
        text = conditions(case["options"], program)
        for operation, nodes in layers(program, alone=not case["layers"]).items():
            for metric, value in counts(nodes).items():
                what = (REFERENCE, program.parameters.name, f"{name}: {operation}")
                yield Record(*what, metric, value, "program", text)


def planning(run: Run) -> Iterator[Record]:
    """Yields what reading and planning a network takes; values of the part as of ``accuracies``."""
    for case in run["cases"]:
        name = case["network"]
        begin = time.process_time()
        network, _ = read(name, case["options"])
        middle = time.process_time()
        program = trace(network, case["parameters"], network.inputs)
        end = time.process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        run.say(f"{name}: planned in {end - middle:.1f} s of processor time, {peak:.2g} GB")
        text = (
            f"{conditions(case['options'], cast(CkksProgram, program))}; processor time of all "
            f"threads, once; peak of the process; {machine_state()}"
        )
        what = (REFERENCE, program.parameters.name, f"{name}: whole")
        yield Record(*what, "seconds", round(middle - begin, 2), REFERENCE, text)
        yield Record(*what, "plan_seconds", round(end - middle, 1), REFERENCE, text)
        yield Record(*what, "gigabytes", round(peak, 2), REFERENCE, text)


def read(name: str, options: Mapping[str, Any]) -> tuple[Network, Samples]:
    """Returns a network of the examples, calibrated by some of its samples, and all of these."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        model, (images, labels) = runpy.run_path(str(EXAMPLES / "make.py"))["NETWORKS"][name]()
    except ImportError as error:
        raise ToolError(
            f"{name} needs {error.name}: pip install scikit-image scikit-learn"
        ) from None
    finally:
        sys.path.remove(str(EXAMPLES))
    samples = np.asarray(images, np.float64)
    some = samples[:: max(1, len(samples) // CALIBRATION)]
    found = from_onnx(
        cast(onnx.ModelProto, model), calibrate=some, bounds={"image": (0, 1)}, **options
    )
    return found, (samples, np.asarray(labels, np.int64))


def planned(network: Network, parameters: str) -> CkksProgram:
    """Returns the program of a network; the last one is kept for the next part."""
    key = (network.graph.title, str(network.settings), repr(network.inputs), parameters)
    if key not in _kept:
        _kept.clear()
        _kept[key] = cast(CkksProgram, trace(network, parameters, network.inputs))
    return _kept[key]


def conditions(options: Mapping[str, Any], program: CkksProgram) -> str:
    """Returns how a program was made."""
    given = ", ".join(f"{name} {value}" for name, value in options.items())
    of = program.parameters
    return f"{given}; `{of.name}`, N = {of.n:,}, {security_text(of)}"


def layers(program: CkksProgram, *, alone: bool) -> dict[str, list[Node]]:
    """Returns the operations of the whole program, and unless ``alone`` of each of its nodes."""
    found = {"whole": list(program.nodes)}
    if alone:
        return found
    for node in program.nodes:
        name = str(node.source).rpartition(":")[0].partition(", ")[2]
        if name:
            found.setdefault(name, []).append(node)
    return found


def counts(nodes: list[Node]) -> dict[str, int]:
    """Returns what operations do, by metric; those of bootstrappings are counted as these."""
    own = [node for node in nodes if not node.stage]
    return {
        "rotations": sum(node.op.record.key is Key.GALOIS for node in own),
        "products": sum(node.op in (Op.MULTIPLY, Op.SQUARE) for node in own),
        "plain_products": sum(node.op is Op.MULTIPLY_PLAIN for node in own),
        "bootstrappings": sum(node.op is Op.BOOTSTRAP for node in own),
        "limbs": own[-1].limbs,
    }
