"""The bits of a bootstrapping: those of every kernel set, and of plain integers."""

import importlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.random_operands import random_key
from ringsmith.graph import SubroutineGraph
from ringsmith.params import Bootstrapping, CkksParameters, KeyNeeds
from ringsmith.runtime import compile_graph, open_device, run_graph
from ringsmith.schemes.registry import scheme_of

PROGRAM = Path(__file__).with_name("bootstrapping_digest.py")
ORACLE = Path(__file__).parents[1] / "another_package"


def test_every_kernel_set_makes_the_same_words() -> None:
    lines = {}
    for kernel in _core.kernel_names():
        environment = {**os.environ, "RINGSMITH_KERNEL": kernel}
        found = subprocess.run(
            [sys.executable, str(PROGRAM)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        name, lines[kernel] = found.stdout.split()
        assert name == kernel
    assert len(set(lines.values())) == 1


def lowest(pairs: bool) -> CkksParameters:
    """The smallest set that bootstraps; with two primes a level, or one."""
    stages = Bootstrapping(
        coeffs_to_slots=1, slots_to_coeffs=1, degree=3, doublings=0, special=1 + pairs
    )
    single = CkksParameters.create(
        n=1 << 10,
        prime_bits=(30,) * 10 if pairs else (55,) * 5,
        special_bits=(30, 30) if pairs else (56, 57),
        scale_bits=40,
        dnum=5 if pairs else 3,
        security=None,
        bootstrapping=None,
        level_limbs=range(2, 11, 2) if pairs else (),
    )
    return replace(single, bootstrapping=stages)


@pytest.mark.parametrize("pairs", [False, True])
def test_raising_the_modulus_and_turned_rotations_are_those_of_integers(
    pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = lowest(pairs)
    n, limbs = parameters.n, parameters.limbs
    element = 2 * n - parameters.galois_element(3)
    needs = KeyNeeds(galois={element: limbs}, raised=limbs)
    graph = SubroutineGraph.for_parameters(parameters, needs.shapes(parameters))
    writer = scheme_of(parameters).writer(graph, parameters)
    raised = writer.mod_raise(writer.input("x", 2, parameters.lowest_limbs), limbs)
    writer.output(writer.rescale(writer.apply_galois(raised, element)), "y")
    random = np.random.default_rng(9)
    primes = [*parameters.primes]
    inputs = {
        name: np.stack([random.integers(0, primes[i], n, dtype=np.uint64) for i in kind.base])
        for name, kind in graph.inputs.items()
    }
    keys = {
        name: random_key(primes, n, shape, random, seeded=False)
        for name, shape in graph.keys.items()
    }
    compiled = compile_graph(graph)
    monkeypatch.syspath_prepend(str(ORACLE))
    oracle = importlib.import_module("slow_oracle.backends").Oracle()
    ours = run_graph(compiled, open_device("cpu"), inputs, keys).outputs
    theirs = run_graph(compiled, oracle, inputs, keys).outputs
    assert ours.keys() == theirs.keys() == {"y.0", "y.1"}
    for name in ours:
        assert np.array_equal(ours[name], theirs[name])
        assert ours[name].shape == (parameters.below(limbs), n)
