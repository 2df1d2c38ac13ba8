"""SEAL's objects computed on by Ringsmith's devices, and the design that is chosen for them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pytest
import seal

from ringsmith import _core
from ringsmith.backends.rpau.compiler.choose import smallest_design
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.interop import SealParameters
from ringsmith.lower import lower_operation
from ringsmith.runtime.evaluator import Evaluator, non_adjacent_form
from ringsmith.runtime.seal_evaluator import SealEvaluator

BITS = {
    2048: (54, 30, 56),
    4096: (36, 36, 37),
    8192: (47, 41, 41, 41, 48),
    16384: (60, 40, 40, 40, 40, 60),
}
"""SEAL's own primes by N: few and many, narrow and wide."""
SCALE = 2.0**30
OPERATIONS = ("add", "multiply", "multiply_plain", "relinearize", "rescale", "rotate", "conjugate")


@dataclass(frozen=True, eq=False)
class World:
    """SEAL with keys and operands, and its results by operation."""

    context: seal.SEALContext
    evaluator: seal.Evaluator
    relin: seal.RelinKeys
    galois: seal.GaloisKeys
    a: seal.Ciphertext
    b: seal.Ciphertext
    plain: seal.Plaintext

    def both(self, mine: SealEvaluator, operation: str) -> tuple[seal.Ciphertext, seal.Ciphertext]:
        """The result of an operation here and in SEAL."""
        theirs, a, b = self.evaluator, self.a, self.b
        product = theirs.multiply(a, b)
        results: dict[str, Callable[[], tuple[seal.Ciphertext, seal.Ciphertext]]] = {
            "add": lambda: (mine.add(a, b), theirs.add(a, b)),
            "multiply": lambda: (mine.multiply(a, b), product),
            "multiply_plain": lambda: (
                mine.multiply_plain(a, self.plain),
                theirs.multiply_plain(a, self.plain),
            ),
            "relinearize": lambda: (
                mine.relinearize(product),
                theirs.relinearize(product, self.relin),
            ),
            "rescale": lambda: (mine.rescale(a), theirs.rescale_to_next(a)),
            "rotate": lambda: (mine.rotate(a, -3), theirs.rotate_vector(a, -3, self.galois)),
            "conjugate": lambda: (mine.conjugate(a), theirs.complex_conjugate(a, self.galois)),
        }
        return results[operation]()


@cache
def world(n: int) -> World:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, list(BITS[n])))
    context = seal.SEALContext(parms, True, seal.sec_level_type.none)
    keygen = seal.KeyGenerator(context)
    plain = seal.Plaintext()
    seal.CKKSEncoder(context).encode([1.0, -0.5, 3.25], SCALE, plain)
    encryptor = seal.Encryptor(context, keygen.create_public_key())
    galois = seal.GaloisKeys()
    keygen.create_galois_keys([1, -4, 0], galois)
    return World(
        context,
        seal.Evaluator(context),
        keygen.create_relin_keys(),
        galois,
        encryptor.encrypt(plain),
        encryptor.encrypt(plain),
        plain,
    )


@cache
def device(n: int, kind: str) -> SealEvaluator:
    here = world(n)
    return SealEvaluator(here.context, relin_keys=here.relin, galois_keys=here.galois, device=kind)


CASES = [
    *((n, kind) for n in BITS for kind in ("cpu", "model")),
    pytest.param(4096, "rtl", marks=pytest.mark.full),
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("n", "kind"), CASES)
def test_a_device_returns_seals_own_ciphertext(n: int, kind: str, operation: str) -> None:
    mine, theirs = world(n).both(device(n, kind), operation)
    assert mine.to_string() == theirs.to_string()
    assert mine.scale() == theirs.scale()


def graph_of(n: int, bits: tuple[int, ...], operation: str) -> SubroutineGraph:
    """One operation over SEAL's primes."""
    primes = tuple(prime.value() for prime in seal.CoeffModulus.Create(n, list(bits)))
    parameters = SealParameters(n, primes).to_ckks(2.0)
    return lower_operation(operation, parameters, len(primes) - 1, steps=1)


def test_the_smallest_design_is_a_named_one_where_one_fits() -> None:
    assert smallest_design(graph_of(8192, BITS[8192], "multiply")) == load_design("nano")


@pytest.mark.parametrize("n", [2048, 4096, 16384])
def test_a_design_is_made_to_fit_where_no_named_one_does(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringsmith.backends.rpau.compiler.choose.named_designs", lambda: ["nano"])
    designs = {smallest_design(graph_of(n, BITS[n], name)) for name in ("multiply", "relinearize")}
    (design,) = designs  # operations share it, and so its simulation is built once
    assert design.n == n
    assert design.rpaus == len(BITS[n])
    assert design.word_bits == max(BITS[n])


def test_what_no_design_can_run_is_refused_with_the_reason() -> None:
    primes = tuple(_core.prime_search(61, 2048, 3))
    graph = lower_operation("rescale", SealParameters(2048, primes).to_ckks(2.0), 2)
    with pytest.raises(ProgramError, match=r"none could be made that does: .*Run it on the cpu"):
        smallest_design(graph)


def test_an_unknown_design_is_refused_at_once() -> None:
    shape = SealParameters(8192, tuple(p.value() for p in seal.CoeffModulus.BFVDefault(8192)))
    with pytest.raises(ParameterError, match="no design 'giant'"):
        Evaluator(shape.to_ckks(2.0), device="model", design="giant")


@pytest.mark.parametrize("value", [0, 1, -1, 3, 5, 7, -6, 1023, -4095, 2731])
def test_the_non_adjacent_form_sums_to_its_value_without_neighbours(value: int) -> None:
    terms = non_adjacent_form(value)
    assert sum(terms) == value
    powers = [abs(term) for term in terms]
    assert all(power & (power - 1) == 0 for power in powers)
    assert all(4 * low <= high for low, high in pairwise(powers))
