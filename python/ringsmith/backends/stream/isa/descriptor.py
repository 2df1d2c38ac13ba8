"""The descriptor of a product for the device: its prime, and the sources of its factors."""

from dataclasses import dataclass

from ringsmith._core import is_prime
from ringsmith.backends.stream.design.design import BARRETT, StreamDesign
from ringsmith.errors import ParameterError


@dataclass(frozen=True)
class Descriptor:
    """The words of a descriptor.

    Attributes:
        q: The prime.
        unit: What the multipliers need in addition to q, for words of W bits: 2^(2W) mod q, which
            brings a word into Montgomery form; for Barrett's the reciprocal, floor(2^(2W) / q) -
            2^W.
        scale: What the product of two transforms is multiplied by: 1 / N mod q, in Montgomery form
            times 2^(2W).
        powers: The first ``lanes`` powers of psi, a primitive 2N-th root of unity, from psi^1.
    """

    q: int
    unit: int
    scale: int
    powers: tuple[int, ...]

    @property
    def words(self) -> tuple[int, ...]:
        """The words in the order of the descriptor stream."""
        return (self.q, self.unit, self.scale, *self.powers)


def prime_error(prime: int, design: StreamDesign) -> str:
    """Why the design does not take the prime; nothing where it does."""
    if prime < 2 or prime.bit_length() > design.word_bits:
        return (
            f"prime {prime} has {prime.bit_length()} bits and design {design.name} takes primes of "
            f"up to {design.word_bits}: choose a smaller prime or a design with larger word_bits"
        )
    if design.multiplier == BARRETT and prime.bit_length() != design.word_bits:
        return (
            f"prime {prime} has {prime.bit_length()} bits and design {design.name} takes primes of "
            f"{design.word_bits}, as its multiplier is barrett: choose a prime of that size, or "
            "multiplier montgomery"
        )
    if prime % (2 * design.n) != 1:
        return (
            f"prime {prime} is {prime % (2 * design.n)} modulo 2N = {2 * design.n}, and design "
            f"{design.name} needs 1: choose a prime for ring degree {design.n}"
        )
    if not is_prime(prime):
        return f"{prime} is no prime: choose one that is 1 modulo 2N = {2 * design.n}"
    return ""


def descriptor(prime: int, root: int, design: StreamDesign) -> Descriptor:
    """The descriptor of products modulo a prime.

    Args:
        prime: An NTT prime, q = 1 mod 2N, of at most ``word_bits`` bits.
        root: A primitive 2N-th root of unity modulo ``prime``.
        design: The device.

    Raises:
        ParameterError: If the design does not take the prime, or the root is not a root.
    """
    error = prime_error(prime, design)
    if error:
        raise ParameterError(error)
    if pow(root, design.n, prime) != prime - 1:
        raise ParameterError(
            f"root {root} is no primitive 2N-th root of unity modulo {prime}, N = {design.n}: take "
            "ringsmith._core.smallest_root"
        )
    power = 1 << 2 * design.word_bits
    form = 1 if design.multiplier == BARRETT else power % prime
    unit = power // prime - (1 << design.word_bits) if design.multiplier == BARRETT else form
    powers = tuple(pow(root, 1 + lane, prime) for lane in range(design.lanes))
    return Descriptor(prime, unit, form * pow(design.n, -1, prime) % prime, powers)
