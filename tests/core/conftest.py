"""Microsoft SEAL and the core: the same parameters, ciphertexts and keys in both."""

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import seal

from ringsmith import _core, interop
from ringsmith._core import secret
from ringsmith.objects import KeySwitchKey, PlainPolynomial, Residues
from ringsmith.params import sparse_primes
from ringsmith.params.sets import MEDHA_WIDE_PRIME

PRIME_BITS = {
    11: (40, 30, 30, 41),
    12: (50, 40, 40, 36),  # a special prime below the digits
    13: (60, 42, 42, 42, 60),
    14: (60, 45, 45, 45, 45, 45, 60),
    15: (60, *(50,) * 12, 60),
}
"""Bits of data primes and special prime for each log2 N; sizes differ so that digits reduce."""

STEPS = (1, -3, 64, -500)
"""Rotation steps that have a Galois key; another key is for conjugation."""

SCALE = 2.0**30

BfvCase = tuple[int, tuple[int, ...], int | str]

BFV_CASES: dict[str, BfvCase] = {
    "2^12 batching 20": (12, (40, 30, 33, 41), "batching 20"),
    "2^12 t=2": (12, (36, 35, 36, 37), 2),
    "2^12 batching 60": (12, (55, 50, 54, 56), "batching 60"),
    "2^12 one prime more": (12, (60, 60, 60), "batching 59"),
    "2^12 one data prime": (12, (60, 60), "batching 40"),
    "2^12 scaled beyond B": (12, (60, 60), "batching 20"),
    "2^13 composite": (13, (42, 60, 42, 30, 50), 3 * 5**8 * 7),
    "2^13 batching 40": (13, (60, 42, 42, 42, 60), "batching 40"),
    "2^14 batching 20": (14, (60, *(45,) * 5, 60), "batching 20"),
    "2^14 power of two": (14, (48,) * 9, 1 << 42),
    "2^14 batching 60": (14, (60, *(45,) * 5, 60), "batching 60"),
    "2^15 batching 33": (15, (60, *(50,) * 12, 60), "batching 33"),
    "2^15 t=3": (15, (55,) * 5, 3),
}
"""log2 N, bits of data primes and special prime, t or the bits of a t that batches."""

QUICK_BFV_CASES = tuple(BFV_CASES)[:8]


def find_primes(log_degree: int) -> list[int]:
    """Primes of PRIME_BITS, all distinct."""
    return primes_of(log_degree, PRIME_BITS[log_degree])


def primes_of(log_degree: int, bits: tuple[int, ...]) -> list[int]:
    """Distinct primes of these sizes."""
    found = {b: _core.prime_search(b, 1 << log_degree, bits.count(b)) for b in set(bits)}
    return [found[b].pop() for b in bits]


def find_sparse_primes(log_degree: int) -> list[int]:
    """As many sparse primes, at most ten: Medha's 60-bit one, then 54-bit ones."""
    count = min(len(PRIME_BITS[log_degree]), 10)
    return [MEDHA_WIDE_PRIME.value, *(p.value for p in sparse_primes(54, count - 1))]


class SealObjects:
    """SEAL's objects for one parameter set, and their words as arrays."""

    def __init__(self, parameters: interop.SealParameters, folder: Path) -> None:
        self.parameters = parameters
        self.n, self.primes = parameters.n, list(parameters.primes)
        self.core = _core.Context(self.n, self.primes)
        self._folder = folder
        bfv = parameters.plain_modulus != 0
        scheme = seal.scheme_type.bfv if bfv else seal.scheme_type.ckks
        self.seal_parameters = seal.EncryptionParameters(scheme)
        self.seal_parameters.set_poly_modulus_degree(self.n)
        self.seal_parameters.set_coeff_modulus([seal.Modulus(q) for q in self.primes])
        if bfv:
            self.seal_parameters.set_plain_modulus(parameters.plain_modulus)
        self.context = seal.SEALContext(self.seal_parameters, True, seal.sec_level_type.none)
        assert self.context.parameters_set(), self.context.parameter_error_message()
        self.keygen = seal.KeyGenerator(self.context)
        self.public_key = self.keygen.create_public_key()
        self.relin_keys = self.keygen.create_relin_keys()
        self.galois_keys = seal.GaloisKeys()
        self.evaluator = seal.Evaluator(self.context)
        self.encryptor = seal.Encryptor(self.context, self.public_key)
        self.decryptor = seal.Decryptor(self.context, self.keygen.secret_key())

    def saved(self, item: object) -> bytes:
        """The bytes of any SEAL object, uncompressed."""
        path = self._folder / "object.seal"
        if isinstance(item, seal.Ciphertext | seal.Plaintext):
            item.save(str(path), seal.compr_mode_type.none)
        else:
            item.save(str(path))
        return path.read_bytes()

    def load(self, item: object, data: bytes) -> object:
        """Lets SEAL read bytes into a fresh object of its own."""
        path = self._folder / "loaded.seal"
        path.write_bytes(data)
        item.load(self.context, str(path))
        return item

    def words(self, item: object) -> Residues:
        """The residues of a SEAL ciphertext (size, L, N) or plaintext (L, N)."""
        if isinstance(item, seal.Plaintext):
            return interop.read_plaintext(self.saved(item), self.parameters).data
        return interop.read_ciphertext(self.saved(item), self.parameters).data

    @cached_property
    def relin_key(self) -> Residues:
        """The relinearization key as words."""
        return interop.read_relin_keys(self.saved(self.relin_keys), self.parameters).data

    @cached_property
    def galois_key(self) -> dict[int, KeySwitchKey]:
        """The Galois keys by element."""
        return interop.read_galois_keys(self.saved(self.galois_keys), self.parameters)

    @cached_property
    def secret_key(self) -> Residues:
        """The secret key as words (K, N)."""
        return interop.read_secret_key(self.saved(self.keygen.secret_key()), self.parameters)


class SealOracle(SealObjects):
    """SEAL's CKKS."""

    def __init__(self, log_degree: int, folder: Path, *, sparse: bool = False) -> None:
        primes = find_sparse_primes(log_degree) if sparse else find_primes(log_degree)
        super().__init__(interop.SealParameters(1 << log_degree, tuple(primes)), folder)
        self.keygen.create_galois_keys([*STEPS, 0], self.galois_keys)
        self.encoder = seal.CKKSEncoder(self.context)

    def values(self, rng: np.random.Generator) -> np.ndarray:
        """A value for every slot."""
        return rng.uniform(-2, 2, self.n // 2)

    def plaintext(
        self, rng: np.random.Generator, drops: int = 0, scale: float = SCALE
    ) -> seal.Plaintext:
        """A random plaintext, ``drops`` levels below the first."""
        plain = seal.Plaintext()
        self.encoder.encode(self.values(rng).tolist(), scale, plain)
        for _ in range(drops):
            self.evaluator.mod_switch_to_next_inplace(plain)
        return plain

    def ciphertext(self, rng: np.random.Generator, drops: int = 0) -> seal.Ciphertext:
        """A random encryption, ``drops`` levels below the first."""
        cipher = self.encryptor.encrypt(self.plaintext(rng))
        for _ in range(drops):
            self.evaluator.mod_switch_to_next_inplace(cipher)
        return cipher

    @property
    def drops(self) -> range:
        """How many levels down one can go: from 0 to one limb left."""
        return range(self.core.max_limbs)


class BfvOracle(SealObjects):
    """SEAL's BFV, and the core's context with SEAL's extension primes."""

    def __init__(self, case: BfvCase, folder: Path) -> None:
        log_degree, bits, plain = case
        n, primes = 1 << log_degree, primes_of(log_degree, bits)
        if isinstance(plain, str):
            size = int(plain.split()[1])
            found = _core.prime_search(size, n, 1 + bits.count(size))
            plain = next(q for q in found if q not in primes)
        super().__init__(interop.SealParameters(n, tuple(primes), plain), folder)
        self.t = plain
        self.extension = _core.bfv.behz_extension_primes(n, primes[:-1], plain)
        self.bfv = _core.BfvContext(self.core, plain, self.extension)
        for step in STEPS[:2]:  # SEAL makes keys by steps only where t batches
            element = _core.galois_element(n, step)
            self.galois_key[element] = KeySwitchKey(
                secret.generate_key_switch_key(self.core, self.secret_key, element)
            )
        swap = secret.generate_key_switch_key(self.core, self.secret_key, 2 * n - 1)
        self.galois_key[2 * n - 1] = KeySwitchKey(swap)
        data = interop.write_galois_keys(self.galois_key, self.parameters)
        self.galois_keys = self.load(seal.GaloisKeys(), data)

    @cached_property
    def galois_key(self) -> dict[int, KeySwitchKey]:
        """The Galois keys by element, made by the core."""
        return {}

    def message(self, rng: np.random.Generator) -> Residues:
        """N random coefficients below t, 0 and t - 1 among them."""
        values = rng.integers(0, self.t, self.n, dtype=np.uint64)
        values[:2] = [0, self.t - 1]
        return values

    def plaintext(self, values: Residues) -> seal.Plaintext:
        """SEAL's plaintext of such coefficients."""
        data = interop.write_plaintext(PlainPolynomial(values), self.parameters)
        return self.load(seal.Plaintext(), data)

    def ciphertext(self, rng: np.random.Generator, drops: int = 0) -> seal.Ciphertext:
        """A random encryption, ``drops`` levels below the first."""
        cipher = self.encryptor.encrypt(self.plaintext(self.message(rng)))
        for _ in range(drops):
            self.evaluator.mod_switch_to_next_inplace(cipher)
        return cipher

    @property
    def drops(self) -> range:
        """How many levels down one can go: to the lowest whose q exceeds t."""
        return range(self.bfv.max_limbs - self.bfv.min_limbs + 1)


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(
            (log_degree, sparse),
            marks=[pytest.mark.full] if log_degree > (11 if sparse else 13) else [],
        )
        for log_degree in PRIME_BITS
        for sparse in (False, True)
    ],
    ids=lambda param: f"N=2^{param[0]}{' sparse' if param[1] else ''}",
)
def oracle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SealOracle:
    """SEAL at every ring degree, its own primes and sparse ones; large ones in the full run."""
    log_degree, sparse = request.param
    return SealOracle(log_degree, tmp_path_factory.mktemp("seal"), sparse=sparse)


@pytest.fixture(scope="session")
def small_oracle(tmp_path_factory: pytest.TempPathFactory) -> SealOracle:
    """SEAL at the smallest degree, where more cases are affordable."""
    return SealOracle(11, tmp_path_factory.mktemp("seal"))


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(case, marks=[] if case in QUICK_BFV_CASES else [pytest.mark.full])
        for case in BFV_CASES
    ],
)
def bfv_oracle(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> BfvOracle:
    """SEAL's BFV for every case; those of large rings in the full run."""
    return BfvOracle(BFV_CASES[request.param], tmp_path_factory.mktemp("seal"))


@pytest.fixture(scope="session")
def make_bfv_oracle(tmp_path_factory: pytest.TempPathFactory) -> Callable[[BfvCase], BfvOracle]:
    """Makes SEAL's BFV for a case of a test's own."""
    return lambda case: BfvOracle(case, tmp_path_factory.mktemp("seal"))


@pytest.fixture
def random_residues(rng: np.random.Generator) -> Callable[..., Residues]:
    """Makes canonical residues (..., limbs, N), with 0, 1 and q - 1 among them."""

    def make(n: int, primes: list[int], *leading: int) -> Residues:
        limbs = [rng.integers(0, q, (*leading, n), dtype=np.uint64) for q in primes]
        for limb, q in zip(limbs, primes, strict=True):
            limb[..., :3] = [0, 1, q - 1]
        return np.ascontiguousarray(np.stack(limbs, axis=-2))

    return make


@pytest.fixture
def key_sums() -> Callable[..., _core.Graph]:
    """Key switching without its division: as one node, or one half alone, by primitives."""

    def make(context: _core.Context, halves: tuple[int, ...]) -> _core.Graph:
        graph = _core.Graph(context.n, context.primes, context.roots)
        base = list(range(len(context.primes)))
        data = base[: context.max_limbs]
        x = graph.add_node("input", [], {"name": "x", "base": data, "form": "coeff"})
        if halves == (0, 1):
            switch = {"sizes": [1] * len(data), "variant": "fast_base_conv", "drop": []}
            attrs = {"key": "k", "element": 1, "base": base, **switch}
            pair = graph.add_node("ntt", [graph.add_node("key_switch", [x], attrs)], {})
            for half in halves:
                node = graph.add_node("half", [pair], {"half": half})
                graph.add_node("output", [node], {"name": f"y{half}"})
            return graph
        raised = []
        for digit in data:
            up = {"digit": [digit], "base": base, "variant": "rns_digit"}
            raised.append(graph.add_node("ntt", [graph.add_node("mod_up", [x], up)], {}))
        for half in halves:
            attributes = {"key": "k", "half": half, "digits": data, "base": base}
            product = graph.add_node("ksk_inner_product", raised, attributes)
            graph.add_node("output", [product], {"name": f"y{half}"})
        return graph

    return make


@pytest.fixture
def same_threads_afterwards() -> Iterator[None]:
    """Lets a test set the number of threads."""
    before = _core.threads()
    yield
    _core.set_threads(before)
