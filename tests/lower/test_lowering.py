"""Lowered operations and programs equal the core's evaluator, bit for bit."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.backends.rpau.compiler.select import check_supported
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.errors import ProgramError
from ringsmith.graph import Origin, SubroutineGraph
from ringsmith.graph.expand import expand
from ringsmith.lower import lower, lower_operation
from ringsmith.lower.lowering import PRODUCTS
from ringsmith.params import BfvParameters, CkksParameters
from ringsmith.program import Op, Program, inner_product, operations, polynomial, trace

Residues = NDArray[np.uint64]


def residues(
    rng: np.random.Generator, parameters: CkksParameters, lead: tuple[int, ...], limbs: int
) -> Residues:
    """Uniform residues (*lead, limbs, N) over the first primes, 0 and q - 1 among them."""
    primes = parameters.primes[:limbs]
    polys = [rng.integers(0, q, (*lead, parameters.n), dtype=np.uint64) for q in primes]
    for poly, q in zip(polys, primes, strict=True):
        poly[..., :2] = 0, q - 1
    return np.ascontiguousarray(np.stack(polys, axis=len(lead)))


def evaluate_core(
    op: Op,
    context: _core.Context,
    operands: list[Residues],
    plain: Residues | None,
    element: int | None,
    key: Residues | None,
) -> Residues:
    """One operation by the core's evaluator."""
    a, b = operands[0], operands[-1]
    functions: dict[Op, Callable[[], Any]] = {
        Op.ADD: lambda: _core.add(context, a, b),
        Op.SUB: lambda: _core.sub(context, a, b),
        Op.NEGATE: lambda: _core.negate(context, a),
        Op.MULTIPLY: lambda: _core.multiply(context, a, b),
        Op.SQUARE: lambda: _core.square(context, a),
        Op.ADD_PLAIN: lambda: _core.add_plain(context, a, plain),
        Op.SUB_PLAIN: lambda: _core.sub_plain(context, a, plain),
        Op.MULTIPLY_PLAIN: lambda: _core.multiply_plain(context, a, plain),
        Op.RELINEARIZE: lambda: _core.relinearize(context, a, key),
        Op.RESCALE: lambda: _core.rescale(context, a),
        Op.RELINEARIZE_RESCALE: lambda: _core.relinearize_rescale(context, a, key),
        Op.MOD_SWITCH: lambda: _core.mod_switch(context, a),
        Op.ROTATE: lambda: _core.apply_galois(context, a, element, key),
        Op.CONJUGATE: lambda: _core.apply_galois(context, a, element, key),
    }
    result: Residues = functions[op]()
    return result


OPERATIONS = operations("ckks")


CASES = [
    (op, limbs, steps)
    for op in OPERATIONS
    for limbs in (1, 2, 5)
    for steps in ((1, -3, 100) if op is Op.ROTATE else (0,))
]


@pytest.mark.parametrize(("op", "limbs", "steps"), CASES)
def test_a_lowered_operation_equals_the_evaluator_bit_for_bit(
    op: Op,
    limbs: int,
    steps: int,
    small: CkksParameters,
    context: _core.Context,
    rng: np.random.Generator,
) -> None:
    if op in (Op.RESCALE, Op.RELINEARIZE_RESCALE, Op.MOD_SWITCH) and limbs == 1:
        with pytest.raises(ProgramError, match=r"of 1 limbs: parameters 'test-1024' allow 2 … 5"):
            lower_operation(op, small, limbs)
        return
    graph = lower_operation(op, small, limbs, steps=steps)
    inputs = {name: residues(rng, small, (), limbs) for name in graph.inputs}
    keys = {name: residues(rng, small, (small.limbs, 2), len(small.primes)) for name in graph.keys}
    assert all(shape == small.key_shape(limbs) for shape in graph.keys.values())
    result = graph.to_core().run(inputs, keys)

    x, y = ([inputs[n] for n in sorted(inputs) if n.startswith(letter)] for letter in "xy")
    element = small.galois_element(steps) if steps else 2 * small.n - 1
    expected = evaluate_core(
        op,
        context,
        [np.stack(polynomials) for polynomials in (x, y) if polynomials],
        inputs.get("p.0"),
        element,
        next(iter(keys.values()), None),
    )
    assert np.array_equal(np.stack([result[f"z.{k}"] for k in range(len(result))]), expected)


def run_by_evaluator(
    program: Program,
    context: _core.Context,
    inputs: dict[str, Residues],
    relin: Residues | None,
    galois: dict[int, Residues],
) -> dict[str, Residues]:
    """Runs the HE nodes one by one through the core's evaluator."""
    values: list[Residues] = []
    for node in program.nodes:
        operands = [values[i] for i in node.operands]
        plain = None
        if node.plain is not None:
            vector = node.plain.vector(program.parameters.slots)
            plain = _core.CkksEncoder(context).encode(vector, node.plain.scale, node.limbs)
        if node.op is Op.INPUT:
            value = inputs[node.name or ""]
        elif node.op is Op.OUTPUT:
            value = operands[0]
        elif node.op is Op.MOD_SWITCH:
            value = operands[0]
            while value.shape[1] > node.limbs:
                value = _core.mod_switch(context, value)
        else:
            key = relin if node.element is None else galois[node.element]
            value = evaluate_core(node.op, context, operands, plain, node.element, key)
        assert value.shape[:2] == (node.size, node.limbs)
        values.append(value)
    return {name: values[node.id] for name, node in program.outputs.items()}


def every_operation(x: Any, y: Any) -> dict[str, Any]:  # noqa: ANN401 - traced or clear
    """A program in which every HE operation occurs."""
    return {
        "sums": inner_product(x, [1, -2, 3], 4) - y * x + y.rotate(-7) * 0.5,
        "cubic": polynomial(x * y, [0.5, 0.2, 0, -0.1]) + 1,
        "mixed": (1 - x**2) * y.conjugate() - x - [1j, 2],
        "plain": y + x - 0.25,
    }


@pytest.mark.parametrize("fused", [False, True])
def test_a_lowered_program_equals_the_evaluator_bit_for_bit(
    fused: bool,
    small: CkksParameters,
    context: _core.Context,
    rng: np.random.Generator,
    run_encrypted: Callable[..., Any],
) -> None:
    program = trace(every_operation, small, fused_rescale=fused)
    missing = {Op.NEGATE, Op.SUB_PLAIN, Op.RELINEARIZE if fused else Op.RELINEARIZE_RESCALE}
    assert {node.op for node in program.nodes} >= set(OPERATIONS) - missing
    inputs = {name: rng.uniform(-1, 1, small.slots) for name in "xy"}
    run = run_encrypted(program, inputs, full=True)
    expected = run_by_evaluator(
        program,
        context,
        {name: ciphertext.data for name, ciphertext in run.ciphertexts.items()},
        run.keys.relin.data,
        {element: key.data for element, key in run.keys.galois.items()},
    )
    outputs = run.run()
    assert outputs.keys() == expected.keys()
    for name, ciphertext in outputs.items():
        assert np.array_equal(ciphertext.data, expected[name]), name
    clear = program.evaluate(inputs)
    for name, values in run.decrypted().items():
        assert np.abs(values - clear[name]).max() < 1e-5, name


def test_key_switching_is_one_node_that_shares_its_digits_between_both_halves(
    small: CkksParameters,
) -> None:
    graph = lower_operation("relinearize", small, 3)
    operations = Counter(node.op for node in graph.nodes)
    assert operations == {"input": 3, "key_switch": 1, "half": 2, "output": 2}
    primitives = Counter(node.op for node in expand(graph).graph.nodes)
    assert primitives == {
        "input": 3,
        "intt": 1,
        "mod_up": 3,
        "ntt": 3,
        "ksk_inner_product": 2,
        "mod_down": 2,
        "add": 2,
        "output": 2,
    }


def test_every_node_says_which_operation_it_was_made_for(small: CkksParameters) -> None:
    program = trace(every_operation, small)
    for node in lower(program).graph.nodes:
        assert node.origin is not None
        assert node.origin.op == program.nodes[node.origin.node].op
    assert lower_operation("rotate", small, 2).nodes[-1].origin == Origin(0, "rotate")


def test_equal_constants_are_encoded_once(small: CkksParameters) -> None:
    lowered = lower(trace(lambda x, y: x * [1, 2] + y * [1, 2] + x * 0.5, small))
    assert len(lowered.plaintexts) == 2
    assert lowered.plaintexts.keys() == lowered.graph.inputs.keys() - {
        *("x.0", "x.1", "y.0", "y.1")
    }
    for name, plaintext in lowered.plaintexts.items():
        assert plaintext.shape == (len(lowered.graph.inputs[name].base), small.n)


def test_ports_say_how_to_encrypt_and_decrypt(small: CkksParameters) -> None:
    program = trace(lambda x, y: {"z": x * y}, small)
    lowered = lower(program)
    assert lowered.inputs["x"].polynomials == ("x.0", "x.1")
    assert (lowered.inputs["x"].limbs, lowered.inputs["x"].scale) == (5, small.scale)
    port = lowered.outputs["z"]
    assert (port.polynomials, port.limbs) == (("z.0", "z.1"), 4)
    assert port.scale == program.outputs["z"].scale
    assert dict(lowered.graph.keys) == {"relin": small.key_shape(5)}
    assert lowered.keys == program.key_needs


def test_an_input_may_be_handed_out_unchanged_and_twice(
    small: CkksParameters, rng: np.random.Generator, run_encrypted: Callable[..., Any]
) -> None:
    run = run_encrypted(
        trace(lambda x: {"a": x, "b": x}, small), {"x": rng.uniform(-1, 1, small.slots)}
    )
    for ciphertext in run.run().values():
        assert np.array_equal(ciphertext.data, run.ciphertexts["x"].data)


@pytest.mark.parametrize("name", ["input", "bootstrap", ""])
def test_an_unknown_operation_is_refused(name: str, small: CkksParameters) -> None:
    with pytest.raises(
        ProgramError, match=f"no operation of ckks is called '{name}': choose one of add"
    ):
        lower_operation(name, small, 2)


@pytest.mark.parametrize("limbs", [0, 6])
def test_limbs_that_the_parameters_do_not_have_are_refused(
    limbs: int, small: CkksParameters
) -> None:
    with pytest.raises(ProgramError, match=f"add of {limbs} limbs: .* allow 1 … 5"):
        lower_operation("add", small, limbs)


def test_sums_of_ciphertexts_of_different_sizes_keep_the_last_polynomial(
    small: CkksParameters, context: _core.Context, rng: np.random.Generator
) -> None:
    from ringsmith.schemes.ckks.writer import CkksWriter

    graph = SubroutineGraph.for_parameters(small)
    writer = CkksWriter(graph, small)
    a, b = writer.input("a", 2, 2), writer.input("b", 3, 2)
    writer.output(writer.add(a, b), "add")
    writer.output(writer.sub(a, b), "sub")
    writer.output(writer.sub(b, a), "bus")
    inputs = {name: residues(rng, small, (), 2) for name in graph.inputs}
    result = graph.to_core().run(inputs, {})
    left = np.stack([inputs[f"a.{k}"] for k in range(2)])
    right = np.stack([inputs[f"b.{k}"] for k in range(3)])
    for name, expected in (
        ("add", _core.add(context, left, right)),
        ("sub", _core.sub(context, left, right)),
        ("bus", _core.sub(context, right, left)),
    ):
        assert np.array_equal(np.stack([result[f"{name}.{k}"] for k in range(3)]), expected)


def test_rpau_without_converters_refuses_digits_of_several_primes_alone() -> None:
    nano = load_design("nano")

    def check(operation: str, parameters: CkksParameters, design: RpauDesign | None = None) -> None:
        check_supported(expand(lower_operation(operation, parameters, 4)).graph, design)

    literal = {"n": 16384, "prime_bits": (40,) * 4, "scale_bits": 40}
    two_special = CkksParameters.create(**literal, special_bits=(41, 41))
    check("relinearize_rescale", two_special, nano)
    large_digits = CkksParameters.create(**literal, special_bits=41, dnum=2)
    words = r"digits of one prime \('rns_digit'\) only, .* 'fast_base_conv' of 2"
    with pytest.raises(ProgramError, match=words):
        check("relinearize", large_digits, nano)
    check("relinearize", large_digits)


def test_rpau_refuses_residue_digits_even_of_one_prime() -> None:
    parameters = BfvParameters.create(
        n=4096, prime_bits=(36, 36), plain_bits=17, relinearization="residue"
    )
    graph = expand(lower_operation("relinearize", parameters, 2)).graph
    with pytest.raises(ProgramError, match="asks for 'centred_digit' of 1 primes: take parameters"):
        check_supported(graph, load_design("nano"))


@pytest.mark.parametrize("limbs", [1, 2, 5])
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_lowered_product_equals_the_evaluator_bit_for_bit(
    name: str, limbs: int, small: CkksParameters, context: _core.Context, rng: np.random.Generator
) -> None:
    fused = name.endswith("rescale")
    if fused and limbs == 1:
        with pytest.raises(ProgramError, match=r"_rescale of 1 limbs: .* allow 2 … 5"):
            lower_operation(name, small, limbs)
        return
    graph = lower_operation(name, small, limbs)
    inputs = {each: residues(rng, small, (), limbs) for each in graph.inputs}
    key = residues(rng, small, (small.limbs, 2), len(small.primes))
    result = graph.to_core().run(inputs, {"relin": key})
    x, y = ([inputs[n] for n in sorted(inputs) if n.startswith(letter)] for letter in "xy")
    product = _core.multiply(context, np.stack(x), np.stack(y))
    finish = _core.relinearize_rescale if fused else _core.relinearize
    expected = finish(context, product, key)
    assert np.array_equal(np.stack([result[f"z.{k}"] for k in range(2)]), expected)
    assert {node.origin for node in graph.nodes} == {Origin(0, name)}
