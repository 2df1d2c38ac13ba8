"""Keys over fewer primes: what a program needs, on every device, and full keys in their place."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import _core, compile_program, open_device, trace
from ringsmith.backends.cpu import Cpu
from ringsmith.backends.keys import core_key
from ringsmith.backends.random_operands import random_key
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.interop import load_object, save_object
from ringsmith.interop.bundle import Bundle, write_bundle
from ringsmith.interop.object_file import decode_object, encode_object
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import (
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKeys,
    keys_by_field,
    keys_by_name,
)
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    KeyNeeds,
    KeyShape,
    RlweParameters,
)
from ringsmith.program import Program
from ringsmith.runtime import compile_graph, precompute_keys, run_graph
from ringsmith.runtime.evaluator import Evaluator

VECTOR = VectorDesign("small-array", 10, 4, 2, 30, bank_rows=1024, table_rows=512, stream_rows=512)
RPAU = replace(
    load_design("heaws6"), name="small-units", log_n=10, work_uram_polys=0, key_ram="block"
)
N = 1 << 10


def parameters(special: int = 1, dnum: int = 0) -> CkksParameters:
    """Three limbs, for all designs of this file."""
    primes = _core.prime_search(30, N, 3 + special)
    return CkksParameters.from_primes(
        n=N,
        data_primes=primes[:3],
        special_prime=primes[3:],
        scale=2.0**28,
        dnum=dnum,
        security=None,
    )


def low(x: Any) -> Any:  # noqa: ANN401
    """Rotates where two limbs are left, and relinearizes where all three are."""
    return (x * x).rotate(1) + x


def full_needs(of: Program) -> KeyNeeds:
    limbs = of.parameters.limbs
    return KeyNeeds(of.key_needs.relin and limbs, dict.fromkeys(of.key_needs.galois, limbs))


def truncated(keys: EvaluationKeys, needs: KeyNeeds, of: RlweParameters) -> EvaluationKeys:
    """The same keys, as small as a program needs them."""
    given, shapes = keys_by_name(keys), needs.shapes(of)
    cut = {name: given[name].truncated(shape) for name, shape in shapes.items()}
    return EvaluationKeys(**keys_by_field(cut))


def test_a_kits_keys_are_the_smallest_that_the_program_needs() -> None:
    of = parameters()
    program = trace(low, of)
    element = of.galois_element(1)
    assert program.key_needs == KeyNeeds(3, {element: 2})
    kit = program.client_kit()
    for seeded in (False, True):
        _, _, keys = kit.generate_keys(seeded=seeded)
        assert keys.relin is not None
        assert keys.relin.shape == KeyShape(3, (0, 1, 2, 3))
        assert keys.galois[element].shape == KeyShape(2, (0, 1, 3))
        seeds = 20 if seeded else 0
        assert keys.nbytes == 8 * N * (3 * 2 * 4 + 2 * 2 * 3) + seeds
        assert keys.nbytes == program.key_needs.bytes(of) + seeds
    full = generate_keys(of, full_needs(program))[2]
    assert full.nbytes == 2 * of.key_bytes == 2 * 8 * N * 3 * 2 * 4


def on_vector(kind: str) -> Any:  # noqa: ANN401
    return open_device(kind, VECTOR), VECTOR


DEVICES: dict[str, Callable[[], Any]] = {
    "cpu": lambda: (open_device("cpu"), None),
    "vector": lambda: on_vector("model"),
    "vector's RTL": lambda: on_vector("rtl"),
    "rpau": lambda: (open_device("model", RPAU), RPAU),
}


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("seeded", [False, True])
def test_truncated_and_full_keys_make_the_same_bits(name: str, seeded: bool) -> None:
    of = parameters()
    program = trace(low, of)
    _, public, full = generate_keys(of, full_needs(program), seeded=seeded)
    small = truncated(full, program.key_needs, of)
    assert small.nbytes < full.nbytes
    inputs = program.encrypt(public, {"x": [0.5, 0.25]})
    device, design = DEVICES[name]()
    compiled = compile_program(program, design, seeded=None if seeded else ())
    (one,) = compiled.run(device, inputs, small).outputs.values()
    expected = compile_program(program).run(open_device("cpu"), inputs, full).outputs["result"]
    assert np.array_equal(one.data, expected.data)
    if name != "vector's RTL":
        (two,) = compiled.run(device, inputs, full).outputs.values()
        assert np.array_equal(two.data, expected.data)


@pytest.mark.parametrize("special", [1, 2])
@pytest.mark.parametrize("form", ["expanded on the fly", "precomputed"])
def test_truncated_keys_of_every_form(form: str, special: int) -> None:
    of = parameters(special, 2 if special > 1 else 0)
    program = trace(low, of)
    _, public, full = generate_keys(of, full_needs(program), seeded=True)
    small = truncated(full, program.key_needs, of)
    made = (
        on_the_fly_keys(small, of.primes)
        if form == "expanded on the fly"
        else precompute_keys(small, of)
    )
    inputs = program.encrypt(public, {"x": [0.5, 0.25]})
    compiled = compile_program(program)
    results = [
        compiled.run(open_device("cpu"), inputs, keys).outputs["result"].data
        for keys in (full, small, made)
    ]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_rotations_that_share_digits_take_truncated_keys() -> None:
    of = parameters()
    program = trace(lambda x: sum((x * x).rotate(step) for step in (1, 2, 5)), of)
    _, public, full = generate_keys(of, full_needs(program))
    small = truncated(full, program.key_needs, of)
    inputs = program.encrypt(public, {"x": [0.5, 0.25]})
    compiled = compile_program(program)
    for keys in (small, precompute_keys(small, of)):
        found = compiled.run(open_device("cpu"), inputs, keys).outputs["result"].data
        expected = compiled.run(open_device("cpu"), inputs, full).outputs["result"].data
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("relinearization", ["special_prime", "word", "residue"])
def test_truncated_keys_of_bfv_decrypt_right(
    relinearization: str, rng: np.random.Generator
) -> None:
    more = {} if relinearization == "special_prime" else {"multiplication": "hps"}
    if relinearization == "word":
        more["word_bits"] = 12
    of = BfvParameters.create(
        n=N,
        prime_bits=(40, 40, 40),
        plain_bits=17,
        relinearization=relinearization,
        security=None,
        **({"special_bits": 41} if relinearization == "special_prime" else {}),
        **more,
    )
    secret, public, keys = generate_keys(of, KeyNeeds(2), seeded=True)
    assert keys.relin is not None
    assert keys.relin.shape == of.key_shape(2)
    assert keys.relin.digits < of.key_digits
    evaluator = Evaluator(of, keys)
    numbers = rng.integers(0, 9, of.slots)
    x = encrypt_vector(of, public, numbers)
    lower = evaluator.run("mod_switch", x)
    found = evaluator.run("relinearize", evaluator.run("square", lower))
    slots = decrypt_vector(of, secret, found)
    assert np.array_equal(slots, numbers**2)
    with pytest.raises(ProgramError, match=r"key 'relin' has .* needs"):
        evaluator.run("relinearize", evaluator.run("square", x))


def test_a_key_that_lacks_primes_is_refused_by_name() -> None:
    of = parameters()
    program = trace(low, of)
    _, public, keys = generate_keys(of, KeyNeeds(2, {of.galois_element(1): 2}))
    inputs = program.encrypt(public, {"x": [0.5]})
    with pytest.raises(
        ProgramError,
        match=r"key 'relin' has 2 digits and the primes \[0, 1, 3\].*needs 3 digits and the primes "
        r"\[0, 1, 2, 3\]: .* for as many limbs",
    ):
        compile_program(program).run(open_device("cpu"), inputs, keys)
    graph = compile_program(program).lowered.graph
    core = {"relin": core_key(keys.relin), "galois:3": core_key(keys.galois[3])}
    words = {name: np.zeros((len(t.base), N), np.uint64) for name, t in graph.inputs.items()}
    few = {**core, "relin": np.zeros((2, 2, 4, N), np.uint64)}
    with pytest.raises(_core.GraphError, match=r"key 'relin' has 2 digits .* at least 3 digits"):
        graph.to_core().run(words, few)
    rows = np.zeros((3, 2, 3, N), np.uint64)
    for base, message in (
        ([0, 1, 3], "key 'relin' has no limb of prime 2, .* give a key of more limbs"),
        ([0, 2, 1], "key 'relin' has limbs of primes that are not ascending"),
        ([0, 1, 4], "key 'relin' has limbs of primes that are not ascending in 0 ... 3"),
    ):
        with pytest.raises(_core.GraphError, match=message):
            graph.to_core().run(words, {**core, "relin": _core.TruncatedKey(rows, base)})
    with pytest.raises(_core.ParameterError, match="truncated to 3 of 4 primes, and only graphs"):
        _core.relinearize(
            _core.Context(N, of.primes), np.zeros((3, 3, N), np.uint64), core["relin"]
        )


def test_keys_of_other_digits_than_the_parameters_are_refused() -> None:
    """Without an identity, as SEAL's files have none."""
    of, other = parameters(2, 2), parameters(2, 3)
    program = trace(low, of)
    keys = generate_keys(other, full_needs(program))[2]
    assert keys.relin is not None
    unknown = EvaluationKeys(
        KeySwitchKey(keys.relin.data), {e: KeySwitchKey(k.data) for e, k in keys.galois.items()}
    )
    inputs = program.encrypt(generate_keys(of, KeyNeeds())[1], {"x": [0.5]})
    with pytest.raises(ProgramError, match=r"key 'relin' has 3 digits .* make no such key"):
        compile_program(program).run(open_device("cpu"), inputs, unknown)


def test_a_key_over_some_primes_only_serves_where_the_graph_says_so() -> None:
    """A base that is no level's: q_0 and a special prime."""
    of = parameters(2, 2)
    graph = SubroutineGraph.for_parameters(of, {"sparse": KeyShape(1, (0, 4))})
    x = graph.input("x", (0,))
    cut = graph.add_node("digits", (x,), {"sizes": [1], "variant": "centred_digit", "base": [0, 4]})
    pair = graph.key_product(cut, "sparse")
    for half in (0, 1):
        graph.output(graph.half(pair, half), f"y.{half}")
    with pytest.raises(
        ProgramError,
        match=r"'sparse' has the primes \[0, 4\] and is used at \[0, 3\]: .* with \[3\]",
    ):
        graph.ksk_inner_product([graph.input("z", (0, 3))], "sparse", 0, (0,))
    random = np.random.default_rng(5)
    key = random_key(of.primes, N, KeyShape.full(2, 5), random, seeded=False)
    inputs = {"x": random.integers(0, of.primes[0], (1, N), np.uint64)}
    inputs["z"] = np.zeros((2, N), np.uint64)
    compiled = compile_graph(graph)
    found = [
        run_graph(compiled, Cpu(), inputs, {"sparse": each}).outputs
        for each in (key, key.truncated(KeyShape(1, (0, 4))))
    ]
    for name in found[0]:
        assert np.array_equal(found[0][name], found[1][name])


def test_files_keep_the_primes_of_truncated_keys(tmp_path: Path) -> None:
    of = parameters()
    needs = KeyNeeds(3, {3: 2})
    for seeded in (True, False):
        _, _, keys = generate_keys(of, needs, seeded=seeded)
        path = tmp_path / f"keys-{seeded}"
        save_object(path, keys, of)
        assert path.is_file()  # SEAL has no such keys
        sent = encode_object(keys, of)
        assert len(sent) < keys.nbytes / (1 + seeded) + 4096
        for found in (
            load_object(path, EvaluationKeys, of),
            decode_object(sent, EvaluationKeys, of),
        ):
            assert found.galois[3].shape == keys.galois[3].shape == KeyShape(2, (0, 1, 3))
            assert np.array_equal(found.galois[3].data, keys.galois[3].data)
            assert found.galois[3].seed == keys.galois[3].seed
            assert found.key_tag == keys.key_tag
    half = on_the_fly_keys(generate_keys(of, needs, seeded=True)[2], of.primes)
    again = decode_object(encode_object(half, of), OnTheFlyKeys, of)
    assert again.galois[3].base == (0, 1, 3)
    with pytest.raises(
        InteropError, match=r"truncated to 3 of 4 primes, and SEAL has full keys on"
    ):
        write_bundle(tmp_path / "b", Bundle("x", SealParameters.from_parameters(of), keys))
    save_object(tmp_path / "full", generate_keys(of, KeyNeeds(3, {3: 3}))[2], of)
    assert (tmp_path / "full" / "galois_keys.seal").is_file()


def test_keys_of_wrong_primes_are_refused() -> None:
    of = parameters()
    keys = generate_keys(of, KeyNeeds(2))[2]
    assert keys.relin is not None
    data = keys.relin.data
    for base in ((0, 1), (0, 3, 1), (-1, 0, 1)):
        with pytest.raises(ParameterError, match="is not ascending primes of a key's 3 limbs"):
            KeySwitchKey(data, base=base)
    for digits, base in ((1, (0, 1, 3)), (2, (0, 1, 4))):
        with pytest.raises(InteropError, match=f"has a key of {digits} digits and the primes"):
            encode_object(KeySwitchKey(data[:digits], base=base), of)
    with pytest.raises(ParameterError, match=r"a key of 2 digits .* cannot be cut to 3 digits"):
        keys.relin.truncated(of.key_shape(3))
    for limbs in (0, 4, True, 2.5):
        with pytest.raises(ParameterError, match=r"a key for .* limbs: .* have 1 … 3"):
            generate_keys(of, KeyNeeds(limbs))
