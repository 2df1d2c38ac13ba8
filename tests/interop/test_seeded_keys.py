"""Keys whose half 1 is expanded from a seed: they work, shorten, and are refused where broken."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringsmith import _core, client, interop
from ringsmith._core import secret
from ringsmith.backends.keys import check_seed
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.client import SecretKey
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.interop.seeded_keys import (
    direct_chance,
    draw_seed,
    expand_key,
    is_direct,
    on_the_fly_keys,
    seeds_are_direct,
    shorten_key,
)
from ringsmith.lower import lower_operation
from ringsmith.objects import (
    SEED_BYTES,
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKey,
    PublicKey,
)
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    KeyNeeds,
    KeyShape,
    core_context,
    parameter_set,
)
from ringsmith.program import EncryptedVector, trace
from ringsmith.runtime import (
    AnyKeys,
    compile_graph,
    compile_program,
    named_keys,
    open_device,
    precompute_keys,
    run_graph,
)
from ringsmith.runtime.evaluator import Evaluator

Keys = tuple[SecretKey, PublicKey, EvaluationKeys]


@pytest.fixture(scope="module")
def keys(small: CkksParameters) -> Keys:
    """Fresh seeded keys: relinearization and one rotation."""
    needs = KeyNeeds(5, {small.galois_element(5): 5})
    return client.generate_keys(small, needs, seeded=True)


def all_keys(keys: EvaluationKeys) -> list[KeySwitchKey]:
    assert keys.relin is not None
    return [keys.relin, *keys.galois.values()]


def test_half_1_is_what_the_seed_expands_to(small: CkksParameters, keys: Keys) -> None:
    primes = core_context(small).primes
    for key in all_keys(keys[2]):
        assert key.seed is not None
        for digit in range(key.digits):
            for limb, prime in enumerate(primes):
                half = _core.expand_key_half(key.seed, digit, limb, prime, small.n)
                assert np.array_equal(key.data[digit, 1, limb], half)


def test_every_key_has_a_seed_of_its_own(small: CkksParameters, keys: Keys) -> None:
    needs = KeyNeeds(5, {small.galois_element(5): 5})
    again = client.generate_keys(small, needs, seeded=True)[2]
    seeds = [key.seed for some in (keys[2], again) for key in all_keys(some)]
    assert len(set(seeds)) == 4
    test_keys = [client.generate_keys_for_test(small, needs, 7, seeded=True)[2] for _ in range(2)]
    first, second = (all_keys(some) for some in test_keys)
    assert [key.seed for key in first] == [key.seed for key in second]
    assert first[0].seed != first[1].seed
    assert np.array_equal(first[0].data, second[0].data)


@pytest.mark.parametrize(
    ("n", "bits", "digits", "chance"),
    [
        (1 << 13, (47, 41, 41, 41, 48), 4, 0.981),
        (1 << 14, (48,) * 3 + (49,) * 6, 8, 0.998),
        (1 << 12, (30,) * 3, 2, 0.197),
        (1 << 14, (60, *(40,) * 7, 60), 8, 0.021),
        (1 << 15, (60, *(40,) * 12, 60), 13, 1.2e-16),
    ],
)
def test_chances_of_direct_seeds_are_as_stated(
    n: int, bits: tuple[int, ...], digits: int, chance: float
) -> None:
    found = {b: _core.prime_search(b, n, bits.count(b)) for b in set(bits)}
    primes = [found[b].pop(0) for b in bits]
    assert direct_chance(primes, n, digits) == pytest.approx(chance, rel=0.05, abs=0)
    text = "1.2·10^−16 |" if chance < 1e-9 else f"{chance} |"
    assert text in (Path(__file__).parents[2] / "docs" / "reference" / "arithmetic.md").read_text()


def test_medhas_primes_make_every_seed_direct() -> None:
    for name in ("medha-set1", "medha-set2"):
        medha = parameter_set(name)
        assert direct_chance(medha.primes, medha.n, medha.key_digits) == 1


def test_seeds_are_direct_as_often_as_stated(rng: np.random.Generator) -> None:
    """Of a modulus 2^-7 below a power of two, 64 words each: about 0.6 of the seeds."""
    q, n, seeds = (1 << 20) - (1 << 13) + 1, 64, 1000
    chance = direct_chance([q], n, 1)
    assert 0.5 < chance < 0.7
    found = sum(is_direct(rng.bytes(10), 0, q, n, 1) for _ in range(seeds))
    assert abs(found - chance * seeds) < 6 * (chance * (1 - chance) * seeds) ** 0.5


def test_keys_have_direct_seeds(small: CkksParameters, keys: Keys) -> None:
    assert seeds_are_direct(small.primes, small.n, small.key_shape(small.limbs))
    for key in all_keys(keys[2]):
        assert key.seed is not None
        for limb, prime in enumerate(small.primes):
            assert is_direct(key.seed, limb, prime, small.n, key.digits)
    q = (1 << 20) - (1 << 13) + 1
    drawn = iter([bytes([i]) * 10 for i in range(100)])
    seed = draw_seed(lambda: next(drawn), [q], 256, KeyShape.full(1, 1))
    assert is_direct(seed, 0, q, 256, 1)
    assert seed != bytes(10)  # which is not direct
    assert draw_seed(lambda: bytes(10), [q], 4096, KeyShape.full(1, 1)) == bytes(10)  # none is


def test_keys_without_direct_seeds_serve_on_the_fly_and_are_loaded_whole(
    rng: np.random.Generator,
) -> None:
    narrow = CkksParameters.create(
        n=1024, prime_bits=(26, 20, 20, 20), special_bits=26, scale_bits=20, security=None
    )
    assert not seeds_are_direct(narrow.primes, narrow.n, narrow.key_shape(narrow.limbs))
    _, public, evaluation = client.generate_keys(narrow, KeyNeeds(4), seeded=True)
    relin = evaluation.relin
    assert relin is not None
    assert relin.seed is not None
    assert not all(is_direct(relin.seed, i, q, 1024, 4) for i, q in enumerate(narrow.primes))
    design = replace(
        load_design("nano"), name="narrow", log_n=10, word_bits=30, prng="trivium", seeds=4
    )
    compiled = compile_program(trace(lambda x: x * x, narrow, {"x": narrow.slots}), design)
    assert not compiled.compiled_graph.expands_keys
    x = client.encrypt_vector(narrow, public, rng.uniform(-1, 1, narrow.slots))
    on_the_fly = on_the_fly_keys(evaluation, narrow.primes)
    found = [
        compiled.run(open_device(kind, design), {"x": x}, some).outputs["result"].data
        for kind, some in (("cpu", evaluation), ("cpu", on_the_fly), ("model", evaluation))
    ]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    with pytest.raises(ProgramError, match=r"limb 1: its seed expands to words that are not below"):
        check_seed("relin", relin, 1, narrow.primes[1])


def test_seeded_keys_relinearize_and_rotate(
    small: CkksParameters, keys: Keys, rng: np.random.Generator
) -> None:
    secret_key, public, evaluation = keys
    context = core_context(small)
    values = rng.uniform(-1, 1, small.slots)
    x = client.encrypt_vector(small, public, values).data
    assert evaluation.relin is not None
    squared = _core.relinearize(context, _core.square(context, x), evaluation.relin.data)
    ((element, galois),) = evaluation.galois.items()
    rotated = _core.apply_galois(context, x, element, galois.data)
    for data, scale, expected in (
        (squared, small.scale**2, values**2),
        (rotated, small.scale, np.roll(values, -5)),
    ):
        decrypted = client.decrypt_vector(small, secret_key, Ciphertext(data, scale))
        assert np.abs(decrypted - expected).max() < 2.0**-15


@pytest.mark.parametrize("word_bits", [0, 60])
def test_half_0_holds_the_old_secret_and_a_small_error(
    small: CkksParameters, word_bits: int
) -> None:
    context, seed = core_context(small), bytes(range(10))
    key = secret.generate_secret_key(context)
    data = secret.generate_key_switch_key(context, key, None, word_bits=word_bits, key_seed=seed)
    for digit in range(len(data)):
        for limb, q in enumerate(context.primes):
            s = key[limb].astype(object)
            phase = (data[digit, 0, limb] + data[digit, 1, limb] * s) % q
            if word_bits:
                factor = (1 << word_bits * digit) * (limb < context.max_limbs)
            else:
                factor = context.primes[-1] * (limb == digit)
            error = _core.ntt_inverse(
                ((phase - factor * s * s) % q).astype(np.uint64), q, context.roots[limb]
            )
            signed = np.where(error > q // 2, error.astype(object) - q, error.astype(object))
            assert 0 < max(abs(signed)) <= 21


def test_a_seeded_key_shortens_to_half_of_it(small: CkksParameters, keys: Keys) -> None:
    primes = core_context(small).primes
    for key in all_keys(keys[2]):
        half, seed = shorten_key(key, primes)
        assert half.size * 2 == key.data.size
        whole = expand_key(half, seed, primes)
        assert np.array_equal(whole.data, key.data)
        assert whole.seed == key.seed


def test_seals_files_hold_a_seeded_key_whole(small: CkksParameters, keys: Keys) -> None:
    shape = interop.SealParameters.from_parameters(small)
    relin = keys[2].relin
    assert relin is not None
    read = interop.read_relin_keys(interop.write_relin_keys(relin, shape), shape)
    assert np.array_equal(read.data, relin.data)
    assert read.seed is None


def test_keys_that_do_not_shorten_are_refused(small: CkksParameters, keys: Keys) -> None:
    primes = core_context(small).primes
    key = all_keys(keys[2])[0]
    with pytest.raises(InteropError, match="carries no seed"):
        shorten_key(KeySwitchKey(key.data), primes)
    with pytest.raises(InteropError, match="not what its seed expands to"):
        shorten_key(KeySwitchKey(key.data, bytes(10)), primes)
    with pytest.raises(InteropError, match=r"expected is \(digits, 3, N\)"):
        expand_key(key.data[:, 0], bytes(10), primes[:3])
    with pytest.raises(ParameterError, match="has 10 bytes, this one has 9"):
        KeySwitchKey(key.data, bytes(9))
    with pytest.raises(ParameterError, match="has 10 bytes, this one has 11"):
        secret.generate_key_switch_key(
            core_context(small), keys[0].reveal(), None, key_seed=bytes(11)
        )


@pytest.mark.parametrize("form", ["expanded on the fly", "precomputed"])
def test_other_forms_run_programs_and_operations_with_the_same_bits(
    small: CkksParameters, keys: Keys, form: str
) -> None:
    _, public, evaluation = keys
    other: AnyKeys = precompute_keys(evaluation, small)
    if form == "expanded on the fly":
        other = on_the_fly_keys(evaluation, core_context(small).primes)
    x = client.encrypt_vector(small, public, [0.5, -0.25])

    def square_and_rotate(x: EncryptedVector) -> EncryptedVector:
        return (x * x).rotate(5) + x

    compiled = compile_program(trace(square_and_rotate, small))
    cpu = open_device("cpu")
    whole = compiled.run(cpu, {"x": x}, evaluation).outputs
    ours = compiled.run(cpu, {"x": x}, other).outputs
    assert all(np.array_equal(ours[name].data, out.data) for name, out in whole.items())
    expected, mine = (
        Evaluator(small, some).run("rotate", x, steps=5) for some in (evaluation, other)
    )
    assert np.array_equal(mine.data, expected.data)


def test_on_the_fly_keys_hold_half_of_the_words_and_the_seeds(
    small: CkksParameters, keys: Keys
) -> None:
    whole = keys[2]
    on_the_fly = on_the_fly_keys(whole, core_context(small).primes)
    words = sum(key.data.size for key in all_keys(whole))
    assert on_the_fly.nbytes == 8 * words // 2 + 2 * SEED_BYTES
    assert whole.nbytes == 8 * words + 2 * SEED_BYTES
    assert on_the_fly.relin is not None
    assert on_the_fly.relin.half.base is None  # its own words: nothing keeps the whole key
    assert on_the_fly.relin.digits == 5


def test_keys_without_seeds_and_of_seals_are_not_compacted(small: CkksParameters) -> None:
    plain = client.generate_keys(small, KeyNeeds(5))[2]
    with pytest.raises(InteropError, match=r"carries no seed.*seeded=True.*SEAL's.*BLAKE2Xb"):
        on_the_fly_keys(plain, core_context(small).primes)


def test_precomputed_keys_of_other_parameters_are_refused(
    small: CkksParameters, keys: Keys
) -> None:
    other = replace(small, data_primes=small.data_primes[:-1], dnum=4)
    with pytest.raises(ParameterError, match="the evaluation keys: made with other parameters"):
        precompute_keys(keys[2], other)
    with pytest.raises(ParameterError, match="has 5 digits, but the parameters have dnum = 4"):
        precompute_keys(of_unknown_origin(keys[2]), other)
    x = client.encrypt_vector(small, keys[1], [0.5])
    few = client.generate_keys(other, KeyNeeds(4, {other.galois_element(5): 4}))[2]
    with pytest.raises(ProgramError, match="the evaluation keys: made with other parameters"):
        Evaluator(small, precompute_keys(few, other)).run("rotate", x, steps=5)
    with pytest.raises(ProgramError, match=r"the precomputed key .* is of 4 digits, and not of"):
        Evaluator(small, precompute_keys(of_unknown_origin(few), other)).run("rotate", x, steps=5)


def of_unknown_origin(keys: EvaluationKeys) -> EvaluationKeys:
    """The same keys without parameters' identity and tag, as SEAL's files have none."""
    galois = {e: KeySwitchKey(key.data) for e, key in keys.galois.items()}
    return EvaluationKeys(None if keys.relin is None else KeySwitchKey(keys.relin.data), galois)


@pytest.mark.parametrize(
    ("relinearization", "word_bits", "kind"),
    [("word", 30, "digits of words"), ("residue", 0, "residue digits")],
)
def test_keys_that_nothing_divides_are_not_precomputed(
    relinearization: str, word_bits: int, kind: str
) -> None:
    parameters = BfvParameters.create(
        n=1024,
        prime_bits=(30, 30),
        plain_bits=17,
        relinearization=relinearization,
        word_bits=word_bits,
        security=None,
    )
    keys = client.generate_keys(parameters, KeyNeeds(parameters.key_digits))[2]
    with pytest.raises(ParameterError, match=f"keys in {kind} cannot be precomputed"):
        precompute_keys(keys, parameters)


@pytest.mark.parametrize("design", ["nano", "rpm"])
def test_accelerators_want_whole_keys(small: CkksParameters, keys: Keys, design: str) -> None:
    on_the_fly = on_the_fly_keys(keys[2], core_context(small).primes)
    device = open_device("model", design)
    graph = compile_graph(SubroutineGraph.for_parameters(small, {"relin": KeyShape(5)}))
    for form, some in (
        ("expanded on the fly", on_the_fly),
        ("precomputed", precompute_keys(keys[2], small)),
    ):
        with pytest.raises(
            ProgramError, match=rf"'relin' is {form}, and so for the cpu.*EvaluationKeys"
        ):
            run_graph(graph, device, {}, named_keys(some))


def test_a_damaged_on_the_fly_key_is_refused(small: CkksParameters, keys: Keys) -> None:
    on_the_fly = on_the_fly_keys(keys[2], core_context(small).primes)
    assert on_the_fly.relin is not None
    graph = compile_graph(lower_operation("relinearize", small, 5))
    inputs = {name: np.zeros((5, small.n), dtype=np.uint64) for name in graph.graph.inputs}
    damaged = on_the_fly.relin.half.copy()
    damaged[1, 2, 3] = 1 << 62
    for half, message in (
        (damaged, f"key 'relin' has {1 << 62} at position 3 of limb 2, which is not below"),
        (on_the_fly.relin.half[:4], r"key 'relin' has 4 digits and .*needs 5 digits and"),
    ):
        wrong = {"relin": OnTheFlyKey(half, on_the_fly.relin.seed)}
        with pytest.raises(ProgramError, match=message):
            run_graph(graph, open_device("cpu"), inputs, wrong)
