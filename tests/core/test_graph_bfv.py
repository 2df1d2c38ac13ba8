"""BFV from subroutines: equal to the evaluator; keys cut in words; what the graph refuses."""

import numpy as np
import pytest
from tests.core.shared import RandomResidues

from ringsmith import _core
from ringsmith._core import bfv, secret
from ringsmith.objects import Residues

N = 256


def distinct_primes(*sizes: int) -> list[int]:
    """A prime for each size, all distinct."""
    primes: list[int] = []
    for bits in sizes:
        primes.append(next(q for q in _core.prime_search(bits, N, 20) if q not in primes))
    return primes


class Program:
    """A graph over data, special and extension primes, and what BFV needs of it."""

    def __init__(self, make: RandomResidues, variant: str, special: int) -> None:
        data, key_primes = distinct_primes(50, 45, 40), distinct_primes(50, 45, 40, 51)
        self.core = _core.Context(N, key_primes[: 3 + special], special)
        extension = bfv.behz_extension_primes(N, data, 257)
        self.bfv = _core.BfvContext(self.core, 257, extension)
        self.graph = _core.Graph(N, self.bfv.primes, self.bfv.roots, len(extension))
        self.variant, self.make = variant, make
        self.inputs: dict[str, Residues] = {}

    def node(self, op: str, *operands: int, **attrs: object) -> int:
        """Any node."""
        return self.graph.add_node(op, list(operands), attrs)

    def ciphertext(self, name: str, size: int, limbs: int) -> list[int]:
        """An input node for each polynomial, in coefficient form, with random residues."""
        nodes = []
        for i in range(size):
            key = f"{name}.{i}"
            self.inputs[key] = self.make(N, self.core.primes[:limbs])
            base = list(range(limbs))
            nodes.append(self.node("input", name=key, base=base, form="coeff"))
        return nodes

    def words(self, name: str, size: int) -> Residues:
        """The ciphertext that `ciphertext` made, as the evaluator takes it."""
        return np.stack([self.inputs[f"{name}.{i}"] for i in range(size)])

    def run(self, outputs: list[int], **keys: Residues) -> Residues:
        """The values of some nodes of one shape."""
        for index, node in enumerate(outputs):
            self.node("output", node, name=str(index))
        results = self.graph.run(self.inputs, keys)
        return np.stack([results[str(index)] for index in range(len(outputs))])


@pytest.mark.parametrize("variant", ["behz", "hps"])
@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_multiplication_in_subroutines_equals_the_evaluator(
    variant: str, limbs: int, random_residues: RandomResidues
) -> None:
    program = Program(random_residues, variant, 1)
    small = list(range(limbs))
    large = [*small, *program.bfv.extension_base(limbs, variant)]
    a, b = (
        [
            program.node("ntt", program.node("lift", c, base=large, variant=variant))
            for c in program.ciphertext(name, 2, limbs)
        ]
        for name in "ab"
    )
    tensor = [
        program.node("mul", a[0], b[0]),
        program.node("add", program.node("mul", a[0], b[1]), program.node("mul", a[1], b[0])),
        program.node("mul", a[1], b[1]),
    ]
    outputs = [
        program.node(
            "scale", program.node("intt", c), base=small, plain_modulus=257, variant=variant
        )
        for c in tensor
    ]
    expected = bfv.multiply(program.bfv, program.words("a", 2), program.words("b", 2), variant)
    assert np.array_equal(program.run(outputs), expected)


@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_relinearization_by_special_prime_in_subroutines_equals_the_evaluator(
    limbs: int, random_residues: RandomResidues
) -> None:
    program = Program(random_residues, "behz", 1)
    c = program.ciphertext("c", 3, limbs)
    base = [*range(limbs), 3]
    digits = [
        program.node("ntt", program.node("mod_up", c[2], digit=[j], base=base, variant="rns_digit"))
        for j in range(limbs)
    ]
    outputs = []
    for half in range(2):
        total = program.node(
            "ksk_inner_product",
            *digits,
            key="relin",
            half=half,
            digits=list(range(limbs)),
            base=base,
        )
        down = program.node("mod_down", program.node("intt", total), drop=[3], variant="rounded")
        outputs.append(program.node("add", c[half], down))
    key = random_residues(N, program.core.primes, 3, 2)
    expected = bfv.relinearize(program.bfv, program.words("c", 3), key)
    assert np.array_equal(program.run(outputs, relin=key), expected)


@pytest.mark.parametrize("limbs", [1, 2, 3])
@pytest.mark.parametrize("word_bits", [20, 70])
def test_rotation_by_words_in_subroutines_equals_the_evaluator(
    limbs: int, word_bits: int, random_residues: RandomResidues
) -> None:
    program = Program(random_residues, "behz", 0)
    base = list(range(limbs))
    moved = [
        program.node("automorph", node, element=3) for node in program.ciphertext("c", 2, limbs)
    ]
    count = program.core.words(limbs, word_bits)
    digits = [
        program.node(
            "ntt", program.node("decompose", moved[1], digit=d, word_bits=word_bits, base=base)
        )
        for d in range(count)
    ]
    sums = [
        program.node(
            "intt",
            program.node(
                "ksk_inner_product",
                *digits,
                key="galois:3",
                half=half,
                digits=list(range(count)),
                base=base,
            ),
        )
        for half in range(2)
    ]
    outputs = [program.node("add", moved[0], sums[0]), sums[1]]
    key = random_residues(N, program.core.primes, program.core.words(3, word_bits), 2)
    mine = program.run(outputs, **{"galois:3": key})
    expected = bfv.apply_galois(program.bfv, program.words("c", 2), 3, key, word_bits)
    assert np.array_equal(mine, expected)


@pytest.mark.parametrize(
    ("op", "base", "form", "attrs", "words"),
    [
        ("lift", [0, 1], "ntt", {"base": [0, 1, 2], "variant": "hps"}, "coefficient form"),
        ("lift", [0, 1], "coeff", {"base": [0, 1], "variant": "hps"}, "then 1 or more of the ext"),
        ("lift", [0, 1], "coeff", {"base": [1, 0, 2], "variant": "hps"}, "of the smaller first"),
        ("lift", [0, 1], "coeff", {"base": [0, 1, 9], "variant": "hps"}, "names prime 9"),
        ("lift", [0, 1], "coeff", {"base": [0, 1, 2], "variant": "fast"}, "has variant 'fast'"),
        ("lift", [0, 1], "coeff", {"base": [0, 1, 2]}, "lacks its attribute 'variant'"),
        (
            "scale",
            [0, 1, 2],
            "coeff",
            {"base": [0, 1], "variant": "behz", "plain_modulus": 5},
            "then 2 or more of the extension",
        ),
        (
            "scale",
            [0, 1, 2],
            "coeff",
            {"base": [0, 1], "variant": "hps", "plain_modulus": 1},
            r"plain modulus 1, which is outside 2 ... 2\^60 - 1",
        ),
        (
            "scale",
            [0, 1, 2],
            "coeff",
            {"base": [0, 1], "variant": "hps", "plain_modulus": 1 << 60},
            "plain modulus 1152921504606846976",
        ),
        ("decompose", [0], "coeff", {"digit": 0, "word_bits": 0, "base": [0]}, "of 0 bits"),
        ("decompose", [0], "ntt", {"digit": 0, "word_bits": 9, "base": [0]}, "coefficient form"),
        (
            "ksk_inner_product",
            [0, 3],
            "ntt",
            {"key": "k", "half": 0, "digits": [0], "base": [0, 3]},
            "over an extension prime, which keys have no limbs of",
        ),
    ],
)
def test_a_node_that_does_not_fit_is_refused(
    op: str, base: list[int], form: str, attrs: dict[str, object], words: str
) -> None:
    primes = distinct_primes(30, 30, 30, 30)
    graph = _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes], 1)
    node = graph.add_node("input", [], {"name": "a", "base": base, "form": form})
    with pytest.raises(_core.GraphError, match=words):
        graph.add_node(op, [node], attrs)
    with pytest.raises(_core.ParameterError, match="4 extension primes of 4 primes"):
        _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes], 4)


@pytest.mark.parametrize("word_bits", [1, 30, 90, 200])
def test_keys_cut_in_words_switch_without_a_special_prime(
    word_bits: int, rng: np.random.Generator
) -> None:
    core = _core.Context(N, distinct_primes(50, 45, 40), 0)
    context = _core.BfvContext(core, 7681, bfv.behz_extension_primes(N, core.primes, 7681))
    key = secret.generate_secret_key(core)
    message = rng.integers(0, 7681, N, dtype=np.uint64)
    cipher = bfv.encrypt(
        context, secret.generate_public_key(core, key), bfv.encode(context, message)
    )
    relin = secret.generate_key_switch_key(core, key, None, word_bits=word_bits)
    assert relin.shape == (core.words(3, word_bits), 2, 3, N)
    squared = bfv.relinearize(context, bfv.square(context, cipher), relin, word_bits)
    swap = secret.generate_key_switch_key(core, key, 2 * N - 1, word_bits=word_bits)
    for level in range(2):
        swapped = bfv.apply_galois(context, squared, 2 * N - 1, swap, word_bits)
        small = word_bits <= 30  # digits beyond the noise that is left drown the message
        if small:
            assert secret.bfv_noise_budget(context, key, swapped) > 0, level
            slots = bfv.decode(context, secret.bfv_decrypt(context, key, swapped))
            expected = np.roll(message * message % 7681, N // 2)
            assert np.array_equal(slots, expected)
        squared = bfv.mod_switch(context, squared)
    with pytest.raises(
        _core.ParameterError, match="needs a special prime, and the parameters have"
    ):
        secret.generate_key_switch_key(core, key, None)
    with pytest.raises(_core.ParameterError, match="needs a special prime"):
        bfv.relinearize(context, bfv.square(context, cipher), relin)
    with pytest.raises(_core.ParameterError, match=f"words of {word_bits + 1} bits make"):
        bfv.apply_galois(context, cipher, 3, np.concatenate([relin] * 2), word_bits + 1)


@pytest.mark.parametrize("dnum", [1, 2, 4])
def test_keys_of_residue_digits_switch_without_a_special_prime(
    dnum: int, rng: np.random.Generator
) -> None:
    """At every level, where digits have fewer primes; a Galois key, too."""
    core = _core.Context(N, distinct_primes(50, 45, 40, 42), 0, dnum)
    context = _core.BfvContext(core, 7681, bfv.behz_extension_primes(N, core.primes, 7681))
    key = secret.generate_secret_key(core)
    message = rng.integers(0, 7681, N, dtype=np.uint64)
    cipher = bfv.encrypt(
        context, secret.generate_public_key(core, key), bfv.encode(context, message)
    )
    relin = secret.generate_key_switch_key(core, key, None)
    assert relin.shape == (dnum, 2, 4, N)
    squared = bfv.relinearize(context, bfv.square(context, cipher), relin)
    swap = secret.generate_key_switch_key(core, key, 2 * N - 1)
    rotate = secret.generate_key_switch_key(core, key, 3)
    for level in range(2):
        swapped = bfv.apply_galois(context, squared, 2 * N - 1, swap)
        many = bfv.apply_galois_many(context, squared, [2 * N - 1, 3], [swap, rotate])
        assert np.array_equal(many[0], swapped)
        assert np.array_equal(many[1], bfv.apply_galois(context, squared, 3, rotate))
        if dnum == 4:  # digits beyond the noise that is left drown the message
            assert secret.bfv_noise_budget(context, key, swapped) > 0, level
            slots = bfv.decode(context, secret.bfv_decrypt(context, key, swapped))
            assert np.array_equal(slots, np.roll(message * message % 7681, N // 2))
        squared = bfv.mod_switch(context, squared)
    with pytest.raises(_core.ParameterError, match="residue digits cannot be precomputed"):
        _core.PrecomputedKey(core, relin)
    with pytest.raises(_core.ParameterError, match=f"the parameters have dnum = {dnum}"):
        bfv.apply_galois(context, cipher, 3, np.concatenate([relin] * 2))


@pytest.mark.parametrize(("special", "dnum"), [(1, 3), (2, 2), (3, 1)])
def test_hybrid_key_switching_serves_bfv(special: int, dnum: int, rng: np.random.Generator) -> None:
    primes = distinct_primes(50, 45, 40, *(51,) * special)
    core = _core.Context(N, primes, special, dnum)
    context = _core.BfvContext(core, 7681, bfv.behz_extension_primes(N, primes[:3], 7681))
    key = secret.generate_secret_key(core)
    message = rng.integers(0, 7681, N, dtype=np.uint64)
    cipher = bfv.encrypt(
        context, secret.generate_public_key(core, key), bfv.encode(context, message)
    )
    relin = secret.generate_key_switch_key(core, key, None)
    element = _core.galois_element(N, 5)
    galois = secret.generate_key_switch_key(core, key, element)
    for limbs in (3, 2):
        squared = bfv.square(context, cipher)
        switched = bfv.relinearize(context, squared, relin)
        before, after = (secret.bfv_noise_budget(context, key, c) for c in (squared, switched))
        assert after >= before - 2 > 0, limbs
        rotated = bfv.apply_galois(context, switched, element, galois)
        slots = bfv.decode(context, secret.bfv_decrypt(context, key, rotated)).reshape(2, -1)
        expected = (message * message % 7681).reshape(2, -1)
        assert np.array_equal(slots, np.roll(expected, -5, axis=1))
        cipher = bfv.mod_switch(context, cipher)
