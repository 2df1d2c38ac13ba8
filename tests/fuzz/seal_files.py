"""Coverage-guided fuzzing of the readers of SEAL's files, with atheris (libFuzzer for Python).

    python tests/fuzz/seal_files.py [CORPUS] [-max_total_time=SECONDS] [other libFuzzer options]

The first byte of an input chooses the reader and how the rest becomes a file: as it is, or as the
payload of an uncompressed, zlib or zstd object. Any exception but ``InteropError``, a residue that
is not canonical, or more memory than libFuzzer's ``-rss_limit_mb`` is a finding.
"""

import inspect
import sys
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

import atheris
import numpy as np
import zstandard
from tests.core.shared import wrapped

from ringsmith import _core, interop
from ringsmith.errors import InteropError
from ringsmith.objects import (
    Ciphertext,
    KeySwitchKey,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    Residues,
)

N = 1024
T = 65537
PARAMETERS = interop.SealParameters(N, tuple(sorted(_core.prime_search(30, N, 2))))
BFV = interop.SealParameters(N, PARAMETERS.primes, T)

READERS: tuple[Callable[[bytes], object], ...] = (
    interop.read_parameters,
    lambda data: interop.read_plaintext(data, PARAMETERS),
    lambda data: interop.read_ciphertext(data, PARAMETERS),
    lambda data: interop.read_public_key(data, PARAMETERS),
    lambda data: interop.read_secret_key(data, PARAMETERS),
    lambda data: interop.read_relin_keys(data, PARAMETERS),
    lambda data: interop.read_galois_keys(data, PARAMETERS),
    lambda data: interop.describe(data, PARAMETERS),
    lambda data: interop.read_plaintext(data, BFV),
    lambda data: interop.read_ciphertext(data, BFV),
    lambda data: interop.read_relin_keys(data, BFV),
    lambda data: interop.describe(data, BFV),
)
PACKINGS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: data,
    lambda data: wrapped(data, 0),
    lambda data: wrapped(zlib.compress(data, 1), 1),
    lambda data: wrapped(zstandard.compress(data, 1), 2),
)


def residues(limbs: int, *leading: int) -> Residues:
    """Small canonical residues (..., limbs, N)."""
    return np.ones((*leading, limbs, N), dtype=np.uint64)


def seeds() -> list[bytes]:
    """A good input for every reader and packing."""
    key = KeySwitchKey(residues(2, 1, 2))
    files = (
        interop.write_parameters(PARAMETERS),
        interop.write_plaintext(Plaintext(residues(1), 2.0), PARAMETERS),
        interop.write_ciphertext(Ciphertext(residues(1, 2), 2.0), PARAMETERS),
        interop.write_public_key(PublicKey(residues(2, 2)), PARAMETERS),
        interop.write_secret_key(residues(2), PARAMETERS),
        interop.write_relin_keys(key, PARAMETERS),
        interop.write_galois_keys({3: key}, PARAMETERS),
        interop.write_parameters(BFV),
        interop.write_plaintext(PlainPolynomial(residues(1)[0]), BFV),
        interop.write_ciphertext(Ciphertext(residues(1, 2)), BFV),
        interop.write_relin_keys(key, BFV),
        interop.write_plaintext(PlainPolynomial(residues(1)[0]), BFV),
    )
    return [
        bytes([reader + len(READERS) * packing]) + (data[16:] if packing else data)
        for reader, data in enumerate(files)
        for packing in range(len(PACKINGS))
    ]


def arrays_of(result: object) -> list[Residues]:
    """All residues modulo primes of whatever a reader returned."""
    if isinstance(result, interop.SealParameters | interop.Description):
        return []
    if isinstance(result, np.ndarray):
        return [result]
    if isinstance(result, dict):
        return [key.data for key in result.values()]
    if isinstance(result, PlainPolynomial):
        assert result.data.shape == (N,)
        assert (result.data < T).all()
        return []
    assert isinstance(result, Plaintext | Ciphertext | PublicKey | KeySwitchKey)
    return [result.data]


def test_one_input(data: bytes) -> None:
    """Reads one input."""
    if not data:
        return
    packing, reader = divmod(data[0] % (len(READERS) * len(PACKINGS)), len(READERS))
    try:
        result = READERS[reader](PACKINGS[packing](data[1:]))
    except InteropError as error:
        assert str(error)  # noqa: PT017 - refusing is one of two right answers
        return
    primes = np.array(PARAMETERS.primes, dtype=np.uint64)
    for array in arrays_of(result):
        assert (array < primes[: array.shape[-2], np.newaxis]).all()


def instrument() -> None:
    """Makes every function and method of ``ringsmith.interop`` report its coverage.

    ``atheris.instrument_imports`` does not see modules that an editable installation's own finder
    loads.
    """
    modules = [m for name, m in sys.modules.items() if name.startswith("ringsmith.interop")]
    for module in modules:
        classes = [c for c in vars(module).values() if inspect.isclass(c)]
        for owner in (module, *classes):
            for function in vars(owner).values():
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    atheris.instrument_func(function)


def main() -> None:
    """Fills the corpus with good inputs, then fuzzes."""
    warnings.simplefilter("ignore")
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    for folder in folders[:1]:
        for index, data in enumerate(seeds()):
            (folder / f"seed{index}").write_bytes(data)
    instrument()
    atheris.Setup(sys.argv, test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
