"""What BFV is wrongly given, and the message that each gets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from ringsmith import client, interop
from ringsmith.client import FixedPoint
from ringsmith.errors import ParameterError, ProgramError, RingsmithError
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    PlainPolynomial,
    Plaintext,
    PublicKey,
)
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds
from ringsmith.runtime.evaluator import Evaluator

N, T = 1024, 65537


@dataclass(frozen=True, eq=False)
class Things:
    """BFV parameters with keys and a ciphertext, and CKKS parameters over the same primes."""

    bfv: BfvParameters
    ckks: CkksParameters
    secret: client.SecretKey
    public: PublicKey
    keys: EvaluationKeys
    x: Ciphertext

    def with_t(self, t: int) -> BfvParameters:
        """The same ring with another plain modulus."""
        return replace(self.bfv, plain_modulus=t, extension_primes=())

    @property
    def shape(self) -> interop.SealParameters:
        """The BFV parameters as SEAL's files have them."""
        return interop.SealParameters.from_parameters(self.bfv)

    @property
    def ckks_shape(self) -> interop.SealParameters:
        """The CKKS parameters as SEAL's files have them."""
        return interop.SealParameters.from_parameters(self.ckks)

    def encode(self, values: Any) -> PlainPolynomial:  # noqa: ANN401 - anything a user might give
        """``client.encode`` with the BFV parameters."""
        return client.encode(self.bfv, values)


@pytest.fixture(scope="module")
def things() -> Things:
    bfv = BfvParameters.create(
        n=N, prime_bits=(50, 50), special_bits=51, plain_modulus=T, security=None
    )
    ckks = CkksParameters.from_primes(
        n=N,
        data_primes=bfv.data_primes,
        special_prime=bfv.special_primes,
        scale=2.0**40,
        security=None,
    )
    secret, public, keys = client.generate_keys(bfv, KeyNeeds(bfv.limbs))
    # Of unknown origin, as from SEAL: what their identity and tag tell is test_belonging.py's.
    assert keys.relin is not None
    return Things(
        bfv,
        ckks,
        client.SecretKey(secret.reveal()),
        PublicKey(public.data),
        EvaluationKeys(KeySwitchKey(keys.relin.data)),
        Ciphertext(client.encrypt_vector(bfv, public, [1]).data),
    )


@dataclass(frozen=True)
class Case:
    """Something wrong: in words, as a call, and what is said of it."""

    given: str
    call: Callable[[Things], object]
    message: str


CASES = [
    Case("t = 65536, and slots", lambda t: client.encode(t.with_t(65536), [1]), "does not batch"),
    Case(
        "t = 2, and slots decoded",
        lambda t: client.decode(t.with_t(2), PlainPolynomial(np.zeros(N, np.uint64))),
        "t = 2 does not batch: slots need a prime that is 1 mod 2N = 2048",
    ),
    Case(
        "t = 257, and fixed point",
        lambda t: FixedPoint(1).encode(t.with_t(257), [0.5]),
        "let BfvParameters.create(plain_bits=...) find one, or encode into coefficients",
    ),
    Case(
        "t = 2, and an integer's digits",
        lambda t: client.encode_integer(t.with_t(2), 1),
        "t = 2 does not tell the digits -1 and 1 apart",
    ),
    Case(
        "the integer t",
        lambda t: t.encode([T]),
        "65537 is outside the plaintext space -32768 … 65536 of t = 65537",
    ),
    Case("an integer below -t/2", lambda t: t.encode([0, -32769]), "-32769 is outside the"),
    Case("2^70", lambda t: t.encode([2**70]), "1180591620717411303424 is outside the plaintext"),
    Case(
        "a fraction",
        lambda t: t.encode([1.5]),
        "1.5 is no integer, and BFV is exact: round it, or use FixedPoint",
    ),
    Case("NaN", lambda t: t.encode([1, 2, np.nan]), "number 2 is nan, counted from 0, and BFV"),
    Case("a float", lambda t: t.encode([1.0]), "1.0 is no integer"),
    Case("a truth value", lambda t: t.encode([True]), "True is no integer"),
    Case("a text", lambda t: t.encode(["1"]), "'1' is no integer"),
    Case("a complex number", lambda t: t.encode([1j]), "1j is no integer"),
    Case("no number", lambda t: t.encode([]), "shape (0,) is no vector of integers"),
    Case(
        "more than N integers",
        lambda t: t.encode([0] * (N + 1)),
        "a vector of 1025 integers exceeds the N = 1024 slots of a message: split it",
    ),
    Case("three rows", lambda t: t.encode([[1], [2], [3]]), "(3, 1) is not two rows of at most"),
    Case("long rows", lambda t: t.encode([[0] * 513] * 2), "(2, 513) is not two rows of at most"),
    Case("a block", lambda t: t.encode([[[1]]]), "an array of shape (1, 1, 1) is no vector"),
    Case(
        "an integer of more than N bits",
        lambda t: client.encode_integer(t.bfv, 2**N),
        "an integer of 1025 bits exceeds the N = 1024 digits of a message: raise N",
    ),
    Case(
        "a fraction as an integer",
        lambda t: client.encode_integer(t.bfv, 0.5),  # type: ignore[arg-type]
        "0.5 is no integer: FixedPoint encodes fractions",
    ),
    Case(
        "a scale",
        lambda t: client.encrypt_vector(t.bfv, t.public, [1], scale=2.0),
        "BFV encodes exactly and for all levels, and has neither: leave them out",
    ),
    Case(
        "a coefficient t in a plaintext",
        lambda t: client.encrypt(t.bfv, t.public, PlainPolynomial(np.full(N, T, np.uint64))),
        "a coefficient of the plaintext is 65537, and the plain modulus t = 65537",
    ),
    Case(
        "a short plaintext",
        lambda t: client.encrypt(t.bfv, t.public, PlainPolynomial(np.zeros(9, np.uint64))),
        "the plaintext has the shape (9,) and type uint64: parameters",
    ),
    Case(
        "a CKKS plaintext",
        lambda t: client.encrypt(t.bfv, t.public, client.encode(t.ckks, [1])),
        "plaintext: Plaintext was given where PlainPolynomial belongs",
    ),
    Case(
        "a BFV plaintext, of CKKS parameters",
        lambda t: client.encrypt(t.ckks, t.public, t.encode([1])),
        "plaintext: PlainPolynomial was given where Plaintext belongs",
    ),
    Case(
        "a public key of other parameters",
        lambda t: client.encrypt_vector(t.bfv, PublicKey(t.public.data[:, :2]), [1]),
        "the public key has the shape (2, 2, 1024): parameters",
    ),
    Case(
        "a CKKS ciphertext to decrypt",
        lambda t: client.decrypt(t.bfv, t.secret, Ciphertext(t.x.data, 2.0)),
        "a ciphertext of scale 2 is CKKS's; the parameters are BFV's",
    ),
    Case(
        "a ciphertext whose q is below t",
        lambda t: client.decrypt(t.with_t(2**52), t.secret, Ciphertext(t.x.data[:, :1])),
        "a ciphertext of 1 limbs: the q of 'custom' exceeds t with 2 or more",
    ),
    Case(
        "CKKS parameters, and a noise budget",
        lambda t: client.noise_budget(t.ckks, t.secret, t.x),  # type: ignore[arg-type]
        "a noise budget is BFV's, and the parameters are CKKS's",
    ),
    Case(
        "CKKS parameters, and fixed point",
        lambda t: FixedPoint(3).encode(t.ckks, [1]),  # type: ignore[arg-type]
        "fixed point is BFV's, and the parameters are CKKS's",
    ),
    Case(
        "CKKS parameters, and coefficients",
        lambda t: client.encode_coefficients(t.ckks, [1]),  # type: ignore[arg-type]
        "encoding coefficients is BFV's",
    ),
    Case(
        "a rescale",
        lambda t: Evaluator(t.bfv).run("rescale", t.x),
        "rescale is CKKS's, and the parameters are BFV's: use mod_switch",
    ),
    Case(
        "t = 65536, and a rotation",
        lambda t: Evaluator(t.with_t(65536), t.keys).run("rotate", t.x, steps=1),
        "t = 65536 does not batch: slots need a prime that is 1 mod 2N = 2048",
    ),
    Case(
        "t = 2, and rows swapped",
        lambda t: Evaluator(t.with_t(2), t.keys).run("conjugate", t.x),
        "t = 2 does not batch: slots need a prime that is 1 mod 2N = 2048",
    ),
    Case(
        "a CKKS ciphertext to add",
        lambda t: Evaluator(t.bfv).run("add", t.x, Ciphertext(t.x.data, 2.0)),
        "add: an operand has the scale 2, and BFV's have 1: it is one of CKKS",
    ),
    Case(
        "a CKKS plaintext to add",
        lambda t: Evaluator(t.bfv).run("add_plain", t.x, Plaintext(t.x.data[0], 1.0)),
        "add_plain takes a plaintext of its scheme",
    ),
    Case(
        "words for keys of primes",
        lambda t: Evaluator(
            BfvParameters.from_primes(
                n=N,
                data_primes=t.bfv.data_primes,
                plain_modulus=T,
                relinearization="word",
                word_bits=20,
                security=None,
            ),
            t.keys,
        ).run("relinearize", Ciphertext(np.concatenate([t.x.data, t.x.data[:1]]))),
        "key 'relin' has 2 digits and the primes [0, 1, 2], and parameters 'custom' make no such",
    ),
    Case(
        "a CKKS public key's file",
        lambda t: interop.read_public_key(
            interop.write_public_key(t.public, t.ckks_shape), t.shape
        ),
        "belongs to CKKS parameters of the same primes, and the parameters given are BFV",
    ),
    Case(
        "a CKKS relinearization key's file",
        lambda t: interop.read_relin_keys(
            interop.write_relin_keys(t.keys.relin, t.ckks_shape),  # type: ignore[arg-type]
            t.shape,
        ),
        "belongs to CKKS parameters of the same primes, and the parameters given are BFV",
    ),
    Case(
        "a BFV relinearization key's file, of CKKS parameters",
        lambda t: interop.read_relin_keys(
            interop.write_relin_keys(t.keys.relin, t.shape),  # type: ignore[arg-type]
            t.ckks_shape,
        ),
        "which are CKKS): N, the primes, the scheme or the plain modulus differ",
    ),
    Case(
        "a BFV ciphertext's file of another t",
        lambda t: interop.read_ciphertext(
            interop.write_ciphertext(t.x, t.shape), replace(t.shape, plain_modulus=257)
        ),
        "which are BFV): N, the primes, the scheme or the plain modulus differ",
    ),
    Case(
        "a BFV plaintext's file, of CKKS parameters",
        lambda t: interop.read_plaintext(
            interop.write_plaintext(t.encode([1]), t.shape), t.ckks_shape
        ),
        "not in NTT form, as keys and CKKS objects are: it is a BFV plaintext",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.given)
def test_each_wrong_thing_has_its_message(case: Case, things: Things) -> None:
    with pytest.raises((RingsmithError, TypeError)) as raised:
        case.call(things)
    assert case.message in str(raised.value)


def test_errors_are_of_the_kind_that_the_docstrings_say(things: Things) -> None:
    with pytest.raises(ParameterError):
        things.encode([T])
    with pytest.raises(ProgramError):
        Evaluator(things.bfv).run("rescale", things.x)
