"""Stream devices: they multiply residue polynomials, batch by batch, and tell in which cycles."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.isa.descriptor import Descriptor
from ringsmith.backends.stream.model.batch import own_descriptor
from ringsmith.errors import DeviceError, ParameterError
from ringsmith.objects import Residues


@dataclass(frozen=True)
class ResidueProduct:
    """A product to be made: a * b modulo x^N + 1 and a prime.

    Attributes:
        prime: The prime, of as many bits as the design's words at most, 1 modulo 2N.
        a: The first operand, (N,) words below the prime, in natural order.
        b: The second.
    """

    prime: int
    a: Residues
    b: Residues


@dataclass(frozen=True)
class StreamReport:
    """What a batch came to.

    Attributes:
        products: The products, (N,) words each, in the order they were asked for.
        starts: The cycle in which the first word of each left, the first descriptor having been
            offered in cycle 0 to an idle device.
        cycles: Cycles until the last word had left.
    """

    products: list[Residues]
    starts: list[int]
    cycles: int

    @property
    def intervals(self) -> list[int]:
        """Cycles between products that follow each other."""
        return [later - earlier for earlier, later in pairwise(self.starts)]


class StreamCoprocessor(Protocol):
    """An accelerator that makes residue polynomial products; one starts every N / lanes cycles."""

    @property
    def name(self) -> str:
        """``model`` or ``rtl``."""
        ...

    @property
    def design(self) -> StreamDesign:
        """The design that the device was made for."""
        ...

    def multiply(self, batch: Sequence[ResidueProduct]) -> StreamReport:
        """Makes products, of as many different primes as wanted, back to back.

        Raises:
            DeviceError: If an operand is of another length or not below its prime, the design does
                not take a prime, or the device stalls.
        """
        ...


def checked_descriptors(batch: Sequence[ResidueProduct], design: StreamDesign) -> list[Descriptor]:
    """The descriptors of a batch, whose operands are checked.

    Raises:
        DeviceError: As of ``StreamCoprocessor.multiply``; names the product.
    """
    found = []
    for number, product in enumerate(batch):
        for name, words in (("a", product.a), ("b", product.b)):
            if words.shape != (design.n,) or words.dtype != np.uint64:
                raise DeviceError(
                    f"product {number}: operand {name} has shape {words.shape} and type "
                    f"{words.dtype}: design {design.name} takes ({design.n},) of uint64"
                )
        try:
            found.append(own_descriptor(product.prime, design))
        except ParameterError as error:
            raise DeviceError(f"product {number}: {error}") from error
        largest = int(max(product.a.max(), product.b.max()))
        if largest >= product.prime:
            raise DeviceError(
                f"product {number}: an operand has the word {largest}, which is not below its "
                f"prime {product.prime}: reduce it"
            )
    return found
