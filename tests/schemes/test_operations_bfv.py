"""BFV's operations as subroutine graphs equal the core's own functions, bit for bit."""

import dataclasses
import math
import warnings
from typing import Any

import numpy as np
import pytest

from ringsmith import _core, client
from ringsmith.graph import SubroutineGraph
from ringsmith.objects import Ciphertext, EvaluationKeys
from ringsmith.params import (
    BfvParameters,
    KeyNeeds,
    SecurityWarning,
    bfv_context,
    parameter_set,
)
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.schemes.bfv.writer import BfvWriter
from ringsmith.schemes.ckks.writer import CkksWriter
from ringsmith.schemes.registry import scheme_of

SETS: dict[str, dict[str, Any]] = {
    "behz": {"prime_bits": (40, 41, 42), "special_bits": 43},
    "behz, t of 59 bits": {"prime_bits": (60, 60, 60), "special_bits": 60, "plain_bits": 59},
    "hps": {"prime_bits": (36, 36, 36), "special_bits": 37, "multiplication": "hps"},
    "hps, narrow extension": {
        "prime_bits": (36, 37, 38),
        "special_bits": 39,
        "multiplication": "hps",
        "extension_primes": tuple(_core.prime_search(25, 2048, 8)),
    },
    "words": {"prime_bits": (30,) * 4, "relinearization": "word", "word_bits": 17},
    "one word": {"prime_bits": (30,) * 2, "relinearization": "word", "word_bits": 60},
    "residue digits": {"prime_bits": (30,) * 4, "relinearization": "residue", "dnum": 2},
    "two primes a digit": {"prime_bits": (36,) * 4, "special_bits": (40, 41), "dnum": 2},
}


@pytest.fixture(scope="module", params=SETS)
def parameters(request: pytest.FixtureRequest) -> BfvParameters:
    """Small sets of every kind."""
    literal = {"n": 2048, "plain_bits": 20, **SETS[request.param]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(**literal, security=None)


@pytest.fixture(scope="module")
def keys(parameters: BfvParameters) -> EvaluationKeys:
    """Keys of a fixed seed: bits are compared, not messages."""
    element = parameters.galois_element(-2)
    needs = KeyNeeds(parameters.limbs, {element: parameters.limbs})
    return client.generate_keys_for_test(parameters, needs, seed=5)[2]


def test_every_operation_at_every_level_is_the_cores(
    parameters: BfvParameters, keys: EvaluationKeys, rng: np.random.Generator
) -> None:
    context, evaluator, core = bfv_context(parameters), Evaluator(parameters, keys), _core.bfv
    words, variant = parameters.word_bits, parameters.multiplication
    element = parameters.galois_element(-2)
    assert keys.relin is not None
    relin, galois = keys.relin.data, keys.galois[element].data
    plain = client.encode(parameters, rng.integers(0, parameters.plain_modulus, parameters.n))
    for limbs in range(parameters.limbs, parameters.min_limbs - 1, -1):
        primes = parameters.data_primes[:limbs]
        x, y = (
            np.stack([rng.integers(0, q, (2, parameters.n), np.uint64) for q in primes], axis=1)
            for _ in "xy"
        )
        a, b = Ciphertext(x), Ciphertext(y)
        product = core.multiply(context, x, y, variant)
        results = {
            "multiply": (evaluator.run("multiply", a, b), product),
            "square": (evaluator.run("square", a), core.square(context, x, variant)),
            "relinearize": (
                evaluator.run("relinearize", Ciphertext(product)),
                core.relinearize(context, product, relin, words),
            ),
            "rotate": (
                evaluator.run("rotate", a, steps=-2),
                core.apply_galois(context, x, element, galois, words),
            ),
            "add_plain": (
                evaluator.run("add_plain", a, plain),
                core.add_plain(context, x, plain.data),
            ),
            "multiply_plain": (
                evaluator.run("multiply_plain", a, plain),
                core.multiply_plain(context, x, plain.data),
            ),
        }
        if limbs > parameters.min_limbs:
            for operand in (x, product):
                switched = evaluator.run("mod_switch", Ciphertext(operand))
                assert np.array_equal(switched.data, core.mod_switch(context, operand))
        for name, (found, expected) in results.items():
            assert np.array_equal(found.data, expected), (name, limbs)


def test_levels_and_extensions_are_the_cores(parameters: BfvParameters) -> None:
    context = bfv_context(parameters)
    assert context.min_limbs == parameters.min_limbs
    assert (context.primes, context.roots) == (
        list(parameters.extended_primes),
        list(parameters.extended_roots),
    )
    for limbs in range(parameters.min_limbs, parameters.limbs + 1):
        found = context.extension_base(limbs, parameters.multiplication)
        assert tuple(found) == parameters.extension(limbs)
    if parameters.multiplication == "behz":
        derived = _core.bfv.behz_extension_primes(
            parameters.n, list(parameters.data_primes), parameters.plain_modulus
        )
        assert tuple(derived) == parameters.extension_primes


def test_switching_several_levels_is_switching_each(
    parameters: BfvParameters, rng: np.random.Generator
) -> None:
    graph = SubroutineGraph.for_parameters(parameters)
    writer = scheme_of(parameters).writer(graph, parameters)
    writer.output(writer.mod_switch(writer.input("x", 2, parameters.limbs), 1), "z")
    x = np.stack(
        [rng.integers(0, q, (2, parameters.n), np.uint64) for q in parameters.data_primes], 1
    )
    outputs = graph.to_core().run({"x.0": x[0].copy(), "x.1": x[1].copy()}, {})
    expected = x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        lowered = dataclasses.replace(parameters, plain_modulus=2, extension_primes=())
    for _ in range(parameters.limbs - 1):
        expected = _core.bfv.mod_switch(bfv_context(lowered), expected)
    assert np.array_equal(np.stack([outputs["z.0"], outputs["z.1"]]), expected)


def test_a_square_lifts_half_of_what_a_product_lifts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        heaws = parameter_set("heaws")
    counts = {}
    for operation in ("multiply", "square"):
        graph = SubroutineGraph.for_parameters(heaws, products=True)
        writer = scheme_of(heaws).writer(graph, heaws)
        x = writer.input("x", 2, 6)
        other = (writer.input("y", 2, 6),) if operation == "multiply" else ()
        writer.output(getattr(writer, operation)(x, *other), "z")
        ops = [node.op for node in graph.nodes]
        counts[operation] = tuple(ops.count(op) for op in ("lift", "ntt", "mul", "intt", "scale"))
    assert counts == {"multiply": (4, 4, 4, 3, 3), "square": (2, 2, 3, 3, 3)}


def test_the_writer_is_the_schemes(parameters: BfvParameters) -> None:
    graph = SubroutineGraph.for_parameters(parameters)
    assert isinstance(scheme_of(parameters).writer(graph, parameters), BfvWriter)
    nano = parameter_set("nano")
    assert isinstance(
        scheme_of(nano).writer(SubroutineGraph.for_parameters(nano), nano), CkksWriter
    )
    assert graph.primes == parameters.primes
    wide = SubroutineGraph.for_parameters(parameters, products=True)
    assert wide.primes == parameters.extended_primes
    assert math.prod(wide.primes[i] for i in wide.extension) == math.prod(
        parameters.extension_primes
    )
