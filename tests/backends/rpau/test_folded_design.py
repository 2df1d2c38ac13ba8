"""Designs whose multipliers fold: primes near a power of two, loaded at run time."""

from dataclasses import replace

import numpy as np
import pytest

from ringsmith import _core, runtime
from ringsmith.apps.operations import run_checked
from ringsmith.backends.rpau.debug.compare import compare
from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.constants import modulus_words, prime_error
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.design.register_table import AddressSpace
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters, SecurityWarning, parameter_set

DESIGN = RpauDesign(
    name="folds",
    log_n=10,
    word_bits=60,
    rpaus=4,
    cores=2,
    dyadic_cores=2,
    work_polys=16,
    key_polys=8,
    constants=16,
    program_words=1024,
    reduction="folded",
)
SEAL_BITS = (48, 48, 49)
"""Sizes of SEAL's default primes at N = 2^14, the last one special."""


def small_seal() -> CkksParameters:
    """Primes as SEAL searches them, of its default sizes at N = 2^14, in a smaller ring."""
    *data, special = SEAL_BITS
    with pytest.warns(SecurityWarning):
        return CkksParameters.create(
            n=DESIGN.n, prime_bits=data, special_bits=special, scale_bits=40, security=None
        )


def test_random_programs_on_the_rtl_equal_the_model(rng: np.random.Generator) -> None:
    design = replace(DESIGN, log_n=8, rpaus=2, modulus_banks=2, work_polys=6, program_words=128)
    seeds = rng.integers(2**28, size=3).tolist()
    assert compare(RtlCoprocessor(design), design, seeds, 30).polynomials > 0


@pytest.mark.parametrize("operation", ["multiply_relinearize", "rescale", "rotate"])
def test_an_operation_with_primes_of_seals_default_sizes_has_the_interpreters_bits(
    operation: str,
) -> None:
    parameters = small_seal()
    compiled = runtime.compile_graph(lower_operation(operation, parameters, 2), DESIGN)
    assert compiled.executable is not None
    found = [run_checked(compiled, runtime.open_device(kind, DESIGN)) for kind in ("model", "rtl")]
    assert found[0] == found[1]
    assert found[0][1] == compiled.executable.cycles


def test_words_of_60_bits_take_seals_default_primes_and_medhas() -> None:
    wide = replace(load_design("medha"), name="folds", reduction="folded", family="none")
    for bits, count in ((48, 3), (49, 6)):
        primes = search(bits, wide.n, count)
        assert [prime_error(q, wide) for q in primes] == [""] * count
    for name in ("medha-set1", "medha-set2"):
        parameters = parameter_set(name)
        ring = parameters.n.bit_length() - 1
        assert all(not prime_error(q, wide, ring) for q in parameters.primes)
        assert parameter_limits(wide).error(parameters) == ""


def search(bits: int, n: int, count: int) -> list[int]:
    return _core.prime_search(bits, n, count)


def test_a_prime_far_from_a_power_of_two_is_refused_with_a_design_that_takes_it() -> None:
    prime = prime_of(DESIGN.n)
    with pytest.raises(ParameterError, match=r"is 2\^52 - \d+, and words of 60 bits take at most"):
        modulus_words(prime, DESIGN)
    narrow = search(40, DESIGN.n, 1)[0]
    with pytest.raises(ParameterError, match=r"near 2\^40, and words .* need 2\^45"):
        modulus_words(narrow, DESIGN)
    nano = replace(DESIGN, log_n=13)
    with pytest.raises(ParameterError, match=r"or a design with reduction = 'barrett'"):
        modulus_words(prime_of(1 << 13), nano)
    parameters = CkksParameters.from_primes(
        n=1 << 13,
        data_primes=[prime_of(1 << 13)],
        special_prime=search(50, 1 << 13, 1)[0],
        scale=2.0**40,
        security=None,
    )
    assert "and words of 60 bits take at most" in parameter_limits(nano).error(parameters)


def prime_of(n: int) -> int:
    """A prime of 52 bits that is far from any power of two."""
    return next(q for q in range(3 << 50 | 1, 1 << 60, 2 * n) if _core.is_prime(q))


@pytest.mark.parametrize("bits", [46, 49, 54, 60])
def test_the_model_wants_the_words_that_a_modulus_has(bits: int) -> None:
    coprocessor = ModelCoprocessor(DESIGN)
    (q,) = search(bits, DESIGN.n, 1)
    words = modulus_words(q, DESIGN)
    assert folded.fits(q, DESIGN.word_bits)
    coprocessor.write(AddressSpace.MODULUS, 0, 0, words)
    for place in (1, 2, 3):
        wrong = words.copy()
        wrong[place] ^= np.uint64(1)
        with pytest.raises(DeviceError, match=rf"modulus {q} needs mu = {words[1]}"):
            coprocessor.write(AddressSpace.MODULUS, 0, 0, wrong)


def test_a_modulus_above_its_power_of_two_has_a_negative_distance() -> None:
    q = next(q for q in range((1 << 53) + 1, 1 << 54, 2 * DESIGN.n) if _core.is_prime(q))
    _, mu, k, index = modulus_words(q, DESIGN).tolist()
    low = folded.scaled_bits(60) + 1
    assert (k, index) == (54, 0)
    assert mu >> low == (1 << folded.tail_bits(60) + 1) - (q - (1 << 53))
    assert mu & ((1 << low) - 1) == (1 << low) - ((q - (1 << 53)) << 7)
    ModelCoprocessor(DESIGN).write(AddressSpace.MODULUS, 0, 0, modulus_words(q, DESIGN))
