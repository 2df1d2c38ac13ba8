"""Stream devices: the model and the RTL give core's products in the same cycles, or say why not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith import _core, client, runtime
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.stream.design import generator
from ringsmith.backends.stream.design.design import (
    StreamDesign,
    load_stream_design,
    named_stream_designs,
)
from ringsmith.backends.stream.device.interface import ResidueProduct
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.backends.stream.model.batch import batch_cycles, batch_schedule
from ringsmith.cli.main import app
from ringsmith.errors import DeviceError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.objects import Ciphertext, KeySwitchKey, Residues
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds, KeyShape
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.schemes import trace
from ringsmith.schemes.bfv.writer import BfvWriter
from ringsmith.schemes.ckks.writer import CkksWriter

DESIGN = StreamDesign("devices", 8, 2, 30)
FramesOf = Callable[[StreamDesign, int, int], list[Any]]


def batch_of(frames: list[Any]) -> list[ResidueProduct]:
    """What a device is asked for."""
    return [ResidueProduct(frame.descriptor.q, frame.a, frame.b) for frame in frames]


@pytest.fixture(scope="module")
def rtl() -> StreamRtl:
    return StreamRtl(DESIGN)


def test_the_papers_proof_of_concept_is_a_named_design() -> None:
    assert named_stream_designs() == ["rpm"]
    assert load_stream_design("rpm") == StreamDesign("rpm", 12, 2, 30, platform="virtex7-690t")


@pytest.mark.parametrize(
    ("name", "text"),
    [("nano", "is of architecture 'rpau', and a design of 'stream' is wanted"), ("x", "no design")],
)
def test_another_name_is_refused_with_those_there_are(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match=rf"{text}.*choose one of rpm"):
        load_stream_design(name)


@pytest.mark.parametrize("shape", [(8, 2, 30), (8, 4, 30), (9, 2, 60), (10, 16, 30)])
def test_a_long_batch_goes_on_as_its_beginning_does(shape: tuple[int, int, int]) -> None:
    design = StreamDesign("any", *shape)
    for count in (3, 24, 70):
        wanted = generator.schedule(design.cfg, design.slots, [0] * count)
        assert batch_schedule(design, count) == wanted
    assert batch_cycles(design, 0) == 0


def test_the_rtl_makes_the_models_products_in_the_models_cycles(
    frames_of: FramesOf, rtl: StreamRtl
) -> None:
    frames = iter(frames_of(DESIGN, 41, 20))
    for count in (1, 30, 10):  # a batch finds the device as idle as the one before did
        some = list(islice(frames, count))
        batch = batch_of(some)
        told, found = StreamModel(DESIGN).multiply(batch), rtl.multiply(batch)
        assert (found.starts, found.cycles) == (told.starts, told.cycles)
        assert set(found.intervals) <= {DESIGN.period}
        for frame, ours, model in zip(some, found.products, told.products, strict=True):
            assert np.array_equal(ours, frame.product)
            assert np.array_equal(model, frame.product)


def test_nothing_takes_no_cycle(rtl: StreamRtl) -> None:
    assert rtl.multiply([]) == StreamModel(DESIGN).multiply([])
    assert rtl.multiply([]).cycles == 0


def test_a_device_that_stalls_is_told_with_the_cycle() -> None:
    coprocessor = StreamRtl(DESIGN)
    coprocessor.block.poke("rst_ni", 0)
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    with pytest.raises(DeviceError, match=r"stalled: it was not ready for .* 0 of 1 in cycle"):
        coprocessor.multiply([ResidueProduct(q, zero, zero)])


@pytest.mark.parametrize(
    ("prime", "text"),
    [
        ((1 << 31) + 1, "product 1: prime 2147483649 has 32 bits and design devices takes"),
        (65539, "product 1: prime 65539 is 3 modulo 2N = 512, and design devices needs 1"),
        (513, "product 1: 513 is no prime"),
    ],
)
def test_a_prime_is_refused_with_a_reason(prime: int, text: str) -> None:
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    batch = [ResidueProduct(q, zero, zero), ResidueProduct(prime, zero, zero)]
    with pytest.raises(DeviceError, match=text):
        StreamModel(DESIGN).multiply(batch)


def test_operands_that_are_none_are_refused() -> None:
    [q] = _core.prime_search(30, DESIGN.n, 1)
    zero = np.zeros(DESIGN.n, dtype=np.uint64)
    with pytest.raises(DeviceError, match=r"operand b has shape \(128,\)"):
        StreamModel(DESIGN).multiply([ResidueProduct(q, zero, zero[:128])])
    with pytest.raises(DeviceError, match=rf"the word {q}, which is not below its prime"):
        StreamModel(DESIGN).multiply([ResidueProduct(q, zero, zero + np.uint64(q))])


# ---- Programs with a stream device and the CPU: the interpreter's bits, the paper's products -----


SMALL = StreamDesign("small", 8, 2, 30)
"""Of a ring that no parameter set has: quick in simulation."""

SMALL_RPAUS = replace(load_design("nano"), name="rpaus", log_n=8)
"""Of the other architecture, in the same ring."""


def bfv_sets() -> dict[str, BfvParameters]:
    """Parameters whose primes design rpm takes, of each way to relinearize."""
    common = {"n": 4096, "prime_bits": (30, 30), "plain_bits": 16, "multiplication": "hps"}
    words = {"relinearization": "word", "word_bits": 30}
    return {
        "special prime": BfvParameters.create(**common, special_bits=30),
        "words": BfvParameters.create(**common, **words),
        "residue digits": BfvParameters.create(**common, relinearization="residue"),
    }


def random_inputs(graph: SubroutineGraph, rng: np.random.Generator) -> dict[str, Residues]:
    """Residues for every input."""
    return {
        name: np.stack(
            [rng.integers(0, graph.primes[i], graph.n, dtype=np.uint64) for i in kind.base]
        )
        for name, kind in graph.inputs.items()
    }


def check_equal(
    graph: SubroutineGraph,
    design: StreamDesign | str,
    device: str,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, KeySwitchKey],
) -> runtime.GraphResult:
    """Runs a graph on a device and on the CPU, and asserts equal bits and the planned cycles."""
    compiled = runtime.compile_graph(graph, design)
    wanted = runtime.run_graph(compiled, runtime.open_device("cpu"), inputs, keys)
    found = runtime.run_graph(compiled, runtime.open_device(device, design), inputs, keys)
    assert found.outputs.keys() == wanted.outputs.keys()
    for name, residues in wanted.outputs.items():
        assert np.array_equal(found.outputs[name], residues)
    assert compiled.executable is not None
    assert found.cycles == compiled.executable.cycles
    assert found.report.instructions == compiled.executable.products
    return found


def small_graph() -> SubroutineGraph:
    """Every way in which values reach products, and products reach values, in a small ring."""
    primes = _core.prime_search(30, SMALL.n, 4)
    roots = [_core.smallest_root(q, SMALL.n) for q in primes]
    graph = SubroutineGraph(SMALL.n, tuple(primes), tuple(roots), (3,), {"relin": KeyShape(3)})
    a, b = (graph.input(name, [0, 1, 2], Form.NTT) for name in "ab")
    c, d = (graph.ntt(graph.input(name, [0, 1, 2], Form.COEFF)) for name in "cd")
    low, high = graph.mul(a, c), graph.mul(b, d)
    middle = graph.add(graph.mul(a, d), graph.mul(b, c))  # by Karatsuba: from the two before
    apart = graph.add(graph.mul(a, a), graph.mul(d, d))  # not: a * d is no product of its own
    deep = graph.intt(graph.mul(graph.automorph(middle, 3), apart))
    digits = [graph.ntt(graph.mod_up(deep, i, [0, 1, 2, 3])) for i in range(3)]
    for half in (0, 1):
        switched = graph.ksk_inner_product(digits, "relin", half, [0, 1, 2])
        graph.output(graph.mod_down(switched, 3), f"switched.{half}")
    graph.output(graph.sub(low, high), "difference")
    graph.output(graph.intt(graph.neg(low)), "negative")
    graph.output(graph.drop_limbs(c, [0]), "dropped")
    return graph


@pytest.mark.parametrize("device", ["model", "rtl"])
def test_a_graph_gives_the_interpreters_bits(device: str, rng: np.random.Generator) -> None:
    graph = small_graph()
    key = random_key(graph.primes, graph.n, graph.keys["relin"], rng, seeded=False)
    result = check_equal(graph, SMALL, device, random_inputs(graph, rng), {"relin": key})
    # low, high, middle, two apart; deep; two halves of three digits over four primes
    assert result.report.instructions == 5 * 3 + 3 + 2 * 3 * 4
    assert result.cycles == sum(batch_cycles(SMALL, count) for count in (15, 3, 24))
    assert result.report.key_words == 24 * SMALL.n
    assert result.report.host_transfers == 3 * 42 - 24


def test_a_key_is_taken_anew_when_it_is_another(rng: np.random.Generator) -> None:
    graph = small_graph()
    compiled = runtime.compile_graph(graph, SMALL)
    cpu, device = runtime.open_device("cpu"), runtime.open_device("model", SMALL)
    inputs = random_inputs(graph, rng)
    for _ in range(2):
        keys = {"relin": random_key(graph.primes, graph.n, graph.keys["relin"], rng, seeded=False)}
        wanted, found = (runtime.run_graph(compiled, each, inputs, keys) for each in (cpu, device))
        assert np.array_equal(wanted.outputs["switched.1"], found.outputs["switched.1"])


@pytest.mark.parametrize("name", bfv_sets())
def test_bfv_multiplies_and_relinearizes_with_the_papers_number_of_products(
    name: str, rng: np.random.Generator
) -> None:
    parameters = bfv_sets()[name]
    keys = {"relin": KeyShape(parameters.key_digits)}
    graph = SubroutineGraph.for_parameters(parameters, keys, products=True)
    writer = BfvWriter(graph, parameters)
    product = writer.multiply(writer.input("x", 2, 2), writer.input("y", 2, 2))
    writer.output(writer.relinearize(product), "z")
    key = random_key(parameters.primes, graph.n, graph.keys["relin"], rng, seeded=False)
    result = check_equal(graph, "rpm", "model", random_inputs(graph, rng), {"relin": key})
    extension, digits = len(parameters.extension(2)), parameters.key_digits
    assert result.report.instructions == 3 * (2 + extension) + 2 * digits * len(parameters.primes)


def test_the_message_is_the_product(rng: np.random.Generator) -> None:
    parameters = bfv_sets()["special prime"]
    secret, public, keys = client.generate_keys(parameters, KeyNeeds(2, {}))
    t = parameters.plain_modulus
    numbers = [rng.integers(0, t, parameters.n) for _ in range(2)]
    a, b = (client.encrypt_vector(parameters, public, values) for values in numbers)
    evaluator = Evaluator(parameters, keys, "model", "rpm")
    result = evaluator.run("relinearize", evaluator.run("multiply", a, b))
    assert isinstance(result, Ciphertext)
    found = client.decrypt_vector(parameters, secret, result)
    assert np.array_equal(np.asarray(found) % t, numbers[0] * numbers[1] % t)


def test_ckks_runs_too_where_its_primes_fit(rng: np.random.Generator) -> None:
    parameters = CkksParameters.create(n=4096, prime_bits=(30, 28), special_bits=30, scale_bits=20)
    graph = SubroutineGraph.for_parameters(parameters, {"relin": KeyShape(2)})
    writer = CkksWriter(graph, parameters)
    product = writer.multiply(writer.input("x", 2, 2), writer.input("y", 2, 2))
    writer.output(writer.rescale(writer.relinearize(product)), "z")
    key = random_key(parameters.primes, graph.n, graph.keys["relin"], rng, seeded=False)
    check_equal(graph, "rpm", "model", random_inputs(graph, rng), {"relin": key})


def test_explain_tells_the_devices_products_and_cycles() -> None:
    parameters = CkksParameters.create(n=4096, prime_bits=(30, 28), special_bits=30, scale_bits=20)
    program = trace(lambda x, y: x * y, parameters)
    stream = runtime.compile_program(program, "rpm").compiled_graph.executable
    assert stream is not None
    text = runtime.explain(program, "rpm")
    reported = (
        f"on design rpm: {stream.products} products of residue polynomials in {stream.cycles} cy"
    )
    assert text.startswith(reported)
    assert "%0  input('x')" in text


def test_instructions_of_a_stream_design_cannot_be_traced() -> None:
    done = CliRunner().invoke(app, ["trace", "--operation", "add", "--design", "rpm"])
    assert done.exit_code == 2
    assert (
        "design 'rpm' is of architecture stream, which has no instructions: choose one of heaws"
        in done.output
    )


def test_what_the_device_cannot_multiply_is_refused() -> None:
    common = {"n": 4096, "prime_bits": (36, 36), "special_bits": 36, "plain_bits": 16}
    parameters = BfvParameters.create(**common)
    graph = SubroutineGraph.for_parameters(parameters, {}, products=True)
    writer = BfvWriter(graph, parameters)
    writer.output(
        writer.multiply_plain(writer.input("x", 2, 2), writer.input_polynomial("p", 2)), "z"
    )
    with pytest.raises(ProgramError, match="has 36 bits and design rpm takes primes of up to 30"):
        runtime.compile_graph(graph, "rpm")
    with pytest.raises(ProgramError, match=r"multiplies in the ring of N = 256 and .* is 4096"):
        runtime.compile_graph(graph, SMALL)


def test_a_graph_for_another_design_is_refused(rng: np.random.Generator) -> None:
    graph = small_graph()
    inputs = random_inputs(graph, rng)
    keys = {"relin": random_key(graph.primes, graph.n, graph.keys["relin"], rng, seeded=False)}
    device = runtime.open_device("model", "rpm")
    with pytest.raises(ProgramError, match="compiled for no design"):
        runtime.run_graph(runtime.compile_graph(graph), device, inputs, keys)
    with pytest.raises(DeviceError, match="compiled for design small and this model device is a"):
        runtime.run_graph(runtime.compile_graph(graph, SMALL), device, inputs, keys)
    of_rpaus = runtime.compile_graph(graph, SMALL_RPAUS)
    with pytest.raises(DeviceError, match="for design rpaus and this model device is a rpm"):
        runtime.run_graph(of_rpaus, device, inputs, keys)
    with pytest.raises(DeviceError, match="design rpm has no bus"):
        runtime.open_device("rtl", "rpm", via="axi-lite")
