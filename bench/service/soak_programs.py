"""The random jobs of a long run: three BFV programs of HEAWS's size, exact results modulo t."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.caching import cached
from ringsmith.params import BfvParameters, SecurityWarning
from ringsmith.program import Program
from ringsmith.program.vector import EncryptedVector
from ringsmith.tracing import trace

Integers = NDArray[np.int64]
LENGTH = 8
LARGEST = 100
"""Of an input's numbers, in either sign: results stay far below t / 2."""
DESIGN = "heaws6"


@dataclass(frozen=True)
class Kind:
    """A program and what it computes in the clear."""

    inputs: tuple[str, ...]
    encrypted: Callable[..., EncryptedVector]
    clear: Callable[[Mapping[str, Integers]], Integers]


def product(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
    """X y, slot by slot."""
    return x * y


def squares(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
    """x² - y², by one product."""
    return (x + y) * (x - y)


def turned(x: EncryptedVector) -> EncryptedVector:
    """Each number and the next one, added."""
    return x.rotate(1) + x


def _turned(given: Mapping[str, Integers]) -> Integers:
    found: Integers = given["x"] + np.append(given["x"][1:], 0)
    return found


KINDS: Mapping[str, Kind] = {
    "product": Kind(("x", "y"), product, lambda given: given["x"] * given["y"]),
    "squares": Kind(("x", "y"), squares, lambda given: given["x"] ** 2 - given["y"] ** 2),
    "turned": Kind(("x",), turned, _turned),
}


@cached
def _parameters() -> BfvParameters:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=1 << 12,
            prime_bits=(30,) * 4,
            special_bits=(30,),
            plain_bits=17,
            security=None,
            multiplication="hps",
            name="soak",
        )


def program(name: str) -> Program:
    """A program by its name: N = 2^12, four primes of 30 bits and a special one."""
    kind = KINDS[name]
    return trace(kind.encrypted, _parameters(), dict.fromkeys(kind.inputs, LENGTH))


def numbers(name: str, rng: np.random.Generator) -> dict[str, Integers]:
    """Random inputs of a program."""
    return {
        each: rng.integers(-LARGEST, LARGEST + 1, LENGTH).astype(np.int64)
        for each in KINDS[name].inputs
    }
