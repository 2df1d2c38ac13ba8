"""Exact RNS-CKKS and RNS-BFV arithmetic, and the subroutine graph's interpreter (C++, `core/`).

Arrays of residues are NumPy ``uint64``, C-contiguous and canonical, in [0, q) of their limb's
prime; results are new arrays. A ciphertext is (size, L, N), a plaintext (L, N), a public key (2, K,
N), a key-switching key (digits, 2, K, N), an `OnTheFlyKey` or a `PrecomputedKey`: L data limbs, K
primes, special ones last, all in NTT form; BFV's ciphertexts are in coefficient form.
`add`, `sub` and `negate` serve both schemes; other functions here are CKKS's, BFV's are in `bfv`.
TypeError: another type or order. ParameterError or GraphError: a value or shape that does not fit,
with a hint.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith import errors
from ringsmith._core import bfv as bfv
from ringsmith._core import secret as secret

_Residues: TypeAlias = NDArray[np.uint64]
_Key: TypeAlias = _Residues | TruncatedKey | OnTheFlyKey | PrecomputedKey

MAX_MODULUS_BITS: int
"""Widest modulus of the core in bits."""

class ParameterError(errors.ParameterError):
    """A parameter or an argument is outside what the function accepts."""

class GraphError(errors.ProgramError):
    """A subroutine graph is malformed, or is run with inputs or keys that do not fit it."""

def kernel_name() -> str:
    """The kernel set that this process computes with.

    The one that the environment variable RINGSMITH_KERNEL names, else the fastest there is.

    Raises:
        ParameterError: If RINGSMITH_KERNEL is none of `kernel_names()`.
    """

def kernel_names() -> list[str]:
    """The kernel sets that this build and this processor have, slowest first."""

def read_seconds(words: _Residues, in_turn: bool) -> float:
    """CPU seconds of this thread to read a C-contiguous array once.

    In eight places in turn, or one word after the other.
    """

def multiplication_seconds() -> float:
    """CPU seconds for one vector multiplication of the kernel set, many at a time, in registers.

    Of 52-bit words with IFMA, of 32-bit halves in the other vector sets, of words in ``scalar``.
    """

def multiplication_lanes() -> int:
    """Words that it multiplies."""

MAX_THREADS: int
"""The most threads that can be asked for."""

def threads() -> int:
    """Threads that all computations of this process share; no result depends on it.

    What `set_threads` was given, else the environment variable RINGSMITH_THREADS, else the
    processors that this process may use.

    Raises:
        ParameterError: If RINGSMITH_THREADS is no number from 1 to MAX_THREADS.
    """

def set_threads(count: int) -> None:
    """Sets that number.

    Raises:
        ParameterError: Unless it is from 1 to MAX_THREADS.
    """

def is_prime(q: int) -> bool:
    """Whether a 64-bit number is prime."""

def prime_search(bits: int, n: int, count: int) -> list[int]:
    """The `count` largest primes of exactly `bits` bits with q = 1 mod 2n, largest first.

    SEAL's search order; its CoeffModulus.Create hands the same primes out smallest first.
    """

def smallest_root(q: int, n: int) -> int:
    """The numerically smallest primitive 2n-th root of unity modulo the prime q."""

def ntt_forward(a: _Residues, q: int, root: int) -> _Residues:
    """Negacyclic NTT of every row of a (..., N) array modulo the prime q.

    Natural order in, bit-reversed out: out[i] = a(root^(2*brev(i)+1)).
    """

def ntt_inverse(a: _Residues, q: int, root: int) -> _Residues:
    """The inverse of ntt_forward, division by N included."""

@final
class Ntt:
    """The tables of one ring and prime, made once."""

    def __init__(self, n: int, q: int, root: int) -> None: ...
    def forward(self, a: _Residues) -> None:
        """`ntt_forward` of N canonical words, in place and unchecked."""

    def inverse(self, a: _Residues) -> None:
        """`ntt_inverse` of N canonical words, in place and unchecked."""

def parms_id(scheme: int, n: int, primes: Sequence[int], plain_modulus: int = 0) -> bytes:
    """SEAL's 32-byte identifier of encryption parameters; scheme 1 BFV, 2 CKKS, 3 BGV."""

def expand_seed(seed: bytes, n: int, primes: Sequence[int]) -> _Residues:
    """The uniform polynomial (limbs, N) that SEAL expands from a 64-byte BLAKE2Xb seed."""

def trivium_words(key: bytes, iv: bytes, count: int) -> _Residues:
    """The first `count` 64-bit words of a Trivium stream, its first bit in bit 0.

    Key and IV are 10 bytes each, in the order of the eSTREAM test vectors.
    """

def expand_key_half(
    seed: bytes, digit: int, limb: int, q: int, n: int, block: int = 0
) -> _Residues:
    """One limb (N) of one digit of a seeded key-switching key's uniform half, modulo q.

    Or n residues of it, from residue 2^14 * block on. NTT form, bit-reversed order. `seed` is 10
    bytes, a Trivium key; `limb` counts the key's K primes. docs/reference/arithmetic.md has the
    definition.
    """

def expand_seed_words(
    seed: bytes, digit: int, limb: int, q: int, n: int, block: int = 0
) -> _Residues:
    """The words that `expand_key_half` makes residues from, below 2^seed_word_bits(q).

    Hardware multiplies with them; residues differ from them where they are not below q.
    """

def seed_word_bits(q: int) -> int:
    """Bits of a stream's word that make a residue modulo q."""

@final
class Context:
    """RLWE over a ring, for both schemes: data primes, then special primes.

    Digit j of `dnum` is the data primes j*a ... min((j+1)*a, L) - 1 with a = ceil(L / dnum); a dnum
    of 0 takes one prime a digit. `digit_sizes` has the data primes of each digit, in place of dnum.
    With no special prime, keys are cut in words only. Errors are SEAL's centred binomial ones, or
    with an `error_deviation` in 1 ... 1024 rounded Gaussian ones.
    """

    def __init__(
        self,
        n: int,
        primes: Sequence[int],
        special: int = 1,
        dnum: int = 0,
        error_deviation: float = 0.0,
        digit_sizes: Sequence[int] = ...,
    ) -> None: ...
    @property
    def n(self) -> int:
        """Ring degree N."""

    @property
    def primes(self) -> list[int]:
        """Data primes, then the special primes."""

    @property
    def roots(self) -> list[int]:
        """The smallest primitive 2N-th root of unity modulo each prime."""

    @property
    def max_limbs(self) -> int:
        """Number of data primes."""

    @property
    def dnum(self) -> int:
        """Digits of a key-switching key that is cut by primes."""

    def words(self, limbs: int, word_bits: int) -> int:
        """Words of `word_bits` bits in a coefficient of `limbs` limbs, the last one cut short."""

    @property
    def error_deviation(self) -> float:
        """Standard deviation of the errors of keys and encryptions; SEAL's is sqrt(10.5) = 3.24."""

    @property
    def error_bound(self) -> int:
        """Largest magnitude of those errors; SEAL's is 21."""

@final
class CkksEncoder:
    """Complex vectors to CKKS plaintexts of a context and back."""

    def __init__(self, ctx: Context) -> None: ...
    @property
    def slots(self) -> int:
        """Values in one plaintext: N / 2."""

    def encode(
        self, values: ArrayLike, scale: float, limbs: int, extended: bool = False
    ) -> _Residues:
        """Real or complex slot values to a plaintext (limbs, N), NTT form.

        extended: with the limbs of the special primes after the data primes' ones.
        """

    def decode(self, plain: _Residues, scale: float) -> NDArray[np.complex128]:
        """The N / 2 complex slot values of a plaintext (limbs, N)."""

@final
class BfvContext:
    """BFV over an RLWE context: a plain modulus t in 2 ... 2^60 - 1, and extension primes.

    Extension primes are what products are computed in, besides q: `bfv.behz_extension_primes` gives
    SEAL's, which serve both variants; any NTT primes serve "hps". May be empty where nothing is
    multiplied. ParameterError: t is not coprime to q and below it, or a data prime has 61 bits.
    """

    def __init__(
        self, ctx: Context, plain_modulus: int, extension_primes: Sequence[int]
    ) -> None: ...
    @property
    def n(self) -> int:
        """Ring degree N."""

    @property
    def plain_modulus(self) -> int:
        """T."""

    @property
    def batching(self) -> bool:
        """Whether plaintexts are vectors of N slots: t is a prime and 1 mod 2N."""

    @property
    def primes(self) -> list[int]:
        """Data, special, then extension primes: what a graph's bases index into."""

    @property
    def roots(self) -> list[int]:
        """The smallest primitive 2N-th root of unity modulo each of `primes`."""

    @property
    def max_limbs(self) -> int:
        """Number of data primes."""

    @property
    def min_limbs(self) -> int:
        """Limbs of the lowest level: fewer would make a q that does not exceed t."""

    def extension_base(
        self, limbs: int, variant: Literal["behz", "hps"] = "behz", size: int = 2
    ) -> list[int]:
        """Indices in `primes` of the extension that products at a level of `limbs` limbs take.

        behz: SEAL's: m_sk, and `limbs` primes, one more where 32 + bits(t) + bits(q) >=
        61 * (limbs + 1). hps: the fewest whose product p holds p >= size * N * t * q, `size` the
        polynomials of the smaller operand. ParameterError: there are not enough.
        """

def encrypt(ctx: Context, public_key: _Residues, plain: _Residues) -> _Residues:
    """Public-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N)."""

def encrypt_for_test(ctx: Context, public_key: _Residues, plain: _Residues, seed: int) -> _Residues:
    """`encrypt` from a fixed seed: never for real messages."""

def add(ctx: Context, a: _Residues, b: _Residues) -> _Residues:
    """Ciphertext a + b; the result has the larger of the two sizes."""

def sub(ctx: Context, a: _Residues, b: _Residues) -> _Residues:
    """Ciphertext a - b; the result has the larger of the two sizes."""

def negate(ctx: Context, a: _Residues) -> _Residues:
    """Ciphertext -a."""

def add_plain(ctx: Context, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a plus a plaintext of its level."""

def sub_plain(ctx: Context, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a minus a plaintext of its level."""

def multiply_plain(ctx: Context, a: _Residues, plain: _Residues) -> _Residues:
    """Ciphertext a times a plaintext of its level."""

def multiply(ctx: Context, a: _Residues, b: _Residues) -> _Residues:
    """Ciphertext a * b, not relinearized: size(a) + size(b) - 1 polynomials."""

def square(ctx: Context, a: _Residues) -> _Residues:
    """Ciphertext a * a, not relinearized."""

def relinearize(ctx: Context, a: _Residues, key: _Key) -> _Residues:
    """A ciphertext of three polynomials back to two."""

def relinearize_rescale(ctx: Context, a: _Residues, key: _Key) -> _Residues:
    """`relinearize` and `rescale` by one division: fewer transforms, bits of its own.

    The division errs by at most (k + 1) / 2 a coefficient and half, k the number of special primes.
    """

def rescale(ctx: Context, a: _Residues) -> _Residues:
    """Divides by the last data prime and rounds; one limb fewer."""

def mod_switch(ctx: Context, a: _Residues) -> _Residues:
    """Drops the last limb."""

def apply_galois(ctx: Context, a: _Residues, element: int, key: _Key) -> _Residues:
    """Applies X -> X^element to a ciphertext of two polynomials and switches back with `key`."""

def apply_galois_many(
    ctx: Context, a: _Residues, elements: Sequence[int], keys: Sequence[_Key]
) -> list[_Residues]:
    """`apply_galois` for each element with its key: the same bits, decomposed once for all."""

def galois_element(n: int, steps: int) -> int:
    """The element that rotates left by `steps` slots (right if negative); conjugation is 2n - 1."""

@final
class TruncatedKey:
    """A key-switching key (digits, 2, limbs, N) over some primes only; graphs take it.

    `base`: ascending indices of its limbs' primes.
    """

    def __init__(self, data: _Residues, base: Sequence[int]) -> None: ...
    @property
    def nbytes(self) -> int:
        """Bytes of its words."""

@final
class OnTheFlyKey:
    """A key-switching key as half 0, (digits, limbs, N), and the seed of half 1.

    `base`: indices of its limbs' primes; empty: all K primes.

    Half 1 is expanded limb by limb while the key is used (`expand_key_half`); results are those of
    the whole key. ParameterError: the seed has not ten bytes.
    """

    def __init__(self, half: _Residues, seed: bytes, base: Sequence[int] = ()) -> None: ...
    @property
    def nbytes(self) -> int:
        """Bytes of half 0 and the seed."""

@final
class PrecomputedKey:
    """A key-switching key in the form that the kernels of this process multiply by, for many uses.

    It holds no reference to `key`, an array (digits, 2, K, N) of digits of primes; results are
    those of that key. A Galois key is precomputed for its automorphism, `element`; others give
    the same words, more slowly. ParameterError: another key, one that does not fit `ctx`, a
    residue that is not canonical, or no such automorphism.
    """

    def __init__(self, ctx: Context, key: _Key, element: int = 1) -> None: ...
    @property
    def nbytes(self) -> int:
        """Bytes that it takes, with what it keeps for the levels at which it rotated last."""

@final
class Graph:
    """A subroutine graph over one ring (`docs/reference/subroutine-graph.md`)."""

    def __init__(
        self, n: int, primes: Sequence[int], roots: Sequence[int], extension: int = 0
    ) -> None: ...
    @property
    def n(self) -> int:
        """Ring degree N."""

    @property
    def primes(self) -> list[int]:
        """Data primes, then special primes, then `extension` extension primes."""

    @property
    def roots(self) -> list[int]:
        """A primitive 2N-th root of unity modulo each prime."""

    def __len__(self) -> int:
        """Number of nodes."""

    def add_node(self, op: str, operands: Sequence[int], attrs: Mapping[str, Any]) -> int:
        """Checks a node, appends it and returns its id; GraphError says why a node is refused."""

    def node_type(self, node: int) -> tuple[list[int], str]:
        """The base (prime indices) and form ('ntt' or 'coeff') of a node's value."""

    def node_kind(self, node: int) -> tuple[str, int]:
        """The kind ('polynomial', 'digits' or 'pair') of a node's value, and its polynomials."""

    def run(
        self,
        inputs: Mapping[str, _Residues],
        keys: Mapping[str, _Key],
        source: Callable[[str], _Residues] | None = None,
    ) -> dict[str, _Residues]:
        """All outputs as (limbs, N) arrays, from inputs (limbs, N) and keys in any form.

        K is the number of data and special primes: keys have no limbs of extension primes. Outputs
        named name.0, name.1 … that follow one another and have as many limbs are rows of one array.
        Inputs that are not given are asked of `source` by name, each when it is first read, and
        freed after it was last read.
        """
