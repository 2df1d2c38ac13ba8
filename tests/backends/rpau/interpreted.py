"""Graphs run on the model and through the interpreter, with random operands."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ringsmith.backends.base import CompiledGraph, GraphResult
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.compiler.compile import compile_graph
from ringsmith.backends.rpau.compiler.executable import Executable
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.device import RpauDevice
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.subroutines import Cut
from ringsmith.objects import KeySwitchKey, Residues


def switched(graph: SubroutineGraph, value: int, key: str) -> list[int]:
    """Key switching of one polynomial in NTT form: the two polynomials that come of it."""
    data = graph.type_of(value).base
    cut = Cut((1,) * len(data), "fast_base_conv", (*data, *graph.special))
    return list(graph.halves(graph.key_switch(value, key, cut, graph.special)))


def random_inputs(graph: SubroutineGraph, random: np.random.Generator) -> dict[str, Residues]:
    """Uniform residues for every input."""
    return {
        name: np.stack([random.integers(0, graph.primes[i], graph.n, np.uint64) for i in kind.base])
        for name, kind in graph.inputs.items()
    }


def random_keys(
    graph: SubroutineGraph, random: np.random.Generator, seeded: Collection[str] | None = None
) -> dict[str, KeySwitchKey]:
    """A random key for each that the graph uses; those named, or all, have seeds."""
    primes = graph.primes[: graph.key_primes]
    return {
        name: random_key(primes, graph.n, shape, random, seeded=seeded is None or name in seeded)
        for name, shape in graph.keys.items()
    }


def assert_equal_outputs(found: GraphResult, expected: GraphResult) -> None:
    """The same names and the same bits."""
    assert found.outputs.keys() == expected.outputs.keys()
    for name, limbs in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], limbs, err_msg=name)


def run_both(
    graph: SubroutineGraph,
    design: RpauDesign,
    random: np.random.Generator,
    seeded: Collection[str] | None = None,
) -> Executable:
    """Runs a graph on the model and through the interpreter; checks contents and cycles.

    Keys of the names ``seeded``, or all, have seeds, which a design with a PRNG expands.
    """
    inputs, keys = random_inputs(graph, random), random_keys(graph, random, seeded)
    executable = compile_graph(graph, design, seeded)
    compiled = CompiledGraph(graph, executable)
    found = RpauDevice(ModelCoprocessor(design)).execute(compiled, inputs, keys)
    assert_equal_outputs(found, Cpu().execute(compiled, inputs, keys))
    assert (found.cycles, found.report.instructions) == (executable.cycles, len(executable.words))
    return executable


# ---- Executables with one value changed ----------------------------------------------------------


def changed(thing: Any, path: Sequence[str | int], value: object) -> Any:  # noqa: ANN401
    """A record, mapping or tuple with another value where a path of names and keys leads."""
    if not path:
        return value
    key, *rest = path
    if isinstance(thing, Mapping):
        return {**thing, key: changed(thing.get(key), rest, value)}
    if isinstance(thing, tuple):
        assert isinstance(key, int)
        return (*thing[:key], changed(thing[key], rest, value), *thing[key + 1 :])
    return replace(thing, **{str(key): changed(getattr(thing, str(key)), rest, value)})
