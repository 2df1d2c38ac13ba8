"""Clients of small parameter sets of both schemes, for the tests of object files."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

from ringsmith import client
from ringsmith.objects import EvaluationKeys, OnTheFlyKeys, PublicKey
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds, SecurityWarning


@dataclass(frozen=True)
class Client:
    """A client's objects of one parameter set."""

    parameters: CkksParameters | BfvParameters
    secret: client.SecretKey
    public: PublicKey
    keys: EvaluationKeys
    things: tuple[Any, ...]


def client_of(parameters: CkksParameters | BfvParameters, *, seeded: bool) -> Client:
    needs = KeyNeeds(parameters.limbs, {3: parameters.limbs})
    secret, public, keys = client.generate_keys(parameters, needs, seeded=seeded)
    plain = client.encode(parameters, [1, 2, 3])
    cipher = client.encrypt(parameters, public, plain)
    return Client(parameters, secret, public, keys, (plain, cipher, public, keys, keys.relin))


def sets() -> dict[str, tuple[CkksParameters | BfvParameters, bool]]:
    """Parameters of both schemes, those that SEAL can hold and others; whether keys have seeds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        ckks = CkksParameters.create(
            n=1024, prime_bits=(30, 25), special_bits=31, scale_bits=22, security=None
        )
        bfv = BfvParameters.create(
            n=1024, prime_bits=(30, 28), special_bits=31, plain_modulus=12289, security=None
        )
        hybrid = CkksParameters.create(
            n=1024, prime_bits=(30, 25), special_bits=(31, 31), scale_bits=22, dnum=1, security=None
        )
        words = replace(bfv, relinearization="word", word_bits=30, special_primes=())
        hps = replace(bfv, multiplication="hps", extension_primes=())
    return {
        "ckks": (ckks, False),
        "bfv": (bfv, True),
        "hybrid": (hybrid, True),
        "words": (words, False),
        "hps": (hps, False),
    }


def parts(thing: Any) -> list[Any]:  # noqa: ANN401 - any object
    """Everything that an object holds, to be compared."""
    if isinstance(thing, EvaluationKeys | OnTheFlyKeys):
        galois = [part for e, key in thing.galois.items() for part in (e, *parts(key))]
        return galois + ([] if thing.relin is None else parts(thing.relin))
    words = getattr(thing, "data", None)
    found = [getattr(thing, name, None) for name in ("parameters_id", "key_tag", "scale", "seed")]
    return [*found, (thing.half if words is None else words).tolist()]
