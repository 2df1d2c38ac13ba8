"""Files of every format and version of keys, ciphertexts and plaintexts load for ever.

``tests/corpus`` keeps them, those of programs too (``test_program_corpus.py``); none is ever
written again. A new version of a format adds a row and a file: ``python
tests/interop/test_object_corpus.py`` writes what is missing and prints the digests.
"""

import hashlib
import shutil
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import client, interop
from ringsmith.client import secret_file
from ringsmith.files.budget import Budget
from ringsmith.files.compression import Compression
from ringsmith.files.container import unpack
from ringsmith.graph import from_json, to_json
from ringsmith.interop import SealParameters, object_file, with_key_tag
from ringsmith.interop.bundle import Bundle, read_bundle, write_bundle
from ringsmith.interop.key_seeds import KeySeeds, read_key_seeds, write_key_seeds
from ringsmith.interop.seal_stream import NEWEST_MINOR
from ringsmith.lower import lower_operation
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKeys,
    PlainPolynomial,
    Plaintext,
    PublicKey,
)
from ringsmith.params import BfvParameters, CkksParameters, KeyNeeds, SecurityWarning

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
MOST_BYTES = 300_000
"""Of all kept files together."""

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SecurityWarning)
    CKKS = CkksParameters.create(
        n=1024, prime_bits=(25,), special_bits=26, scale_bits=20, security=None
    )
    HYBRID = CkksParameters.create(
        n=1024, prime_bits=(25,), special_bits=(26, 24), scale_bits=20, security=None
    )
    BFV = BfvParameters.create(
        n=1024, prime_bits=(25,), special_bits=26, plain_modulus=257, security=None
    )
    WORDS = BfvParameters.create(
        n=1024,
        prime_bits=(25,),
        plain_modulus=257,
        relinearization="word",
        word_bits=25,
        security=None,
    )
SEALS, BFV_SEALS = SealParameters.from_parameters(CKKS), SealParameters.from_parameters(BFV)
Load = Callable[[Path], object]


@dataclass(frozen=True)
class Row:
    """A kept file: its name, how it is read, how its first version was written, what it holds."""

    name: str
    load: Load
    write: Callable[[Path], object]
    digest: str


class Keys:
    """Keys of a fixed seed, and what is made with them."""

    def __init__(self, parameters: CkksParameters | BfvParameters, *, seeded: bool) -> None:
        needs = KeyNeeds(None, {3: 1})
        made = client.generate_keys_for_test(parameters, needs, 1, seeded=seeded)
        self.secret, self.public, self.keys = made
        self.plain = (
            client.encode_coefficients(parameters, [1, 2, 3])
            if isinstance(parameters, BfvParameters)
            else client.encode(parameters, [1, 2, 3])
        )
        self.cipher = client.encrypt(parameters, self.public, self.plain)
        self.relin = self.keys.galois[3]


def ours(kind: type, parameters: CkksParameters | BfvParameters) -> Load:
    return lambda path: interop.load_object(path, kind, parameters)


def secret(parameters: CkksParameters | BfvParameters) -> Load:
    """Reads a copy with mode 0600, which Git does not keep."""

    def load(path: Path) -> client.SecretKey:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            copy.chmod(0o600)
            return client.load_secret_key(copy, parameters)

    return load


def save(what: Callable[[], Any], parameters: CkksParameters | BfvParameters) -> Load:
    return lambda path: interop.save_object(path, what(), parameters)


def packed(make: Callable[..., bytes], what: Callable[[], Any], minor: int, method: int) -> Load:
    """Writes SEAL's format of a version and compression."""

    def write(path: Path) -> None:
        options = {"version": (4, minor), "compression": Compression(method)}
        found = what()
        shape = BFV_SEALS if getattr(found, "scale", 2.0) == 1.0 else SEALS
        data = make(found, shape, **options)
        path.write_bytes(with_key_tag(data, getattr(found, "key_tag", None)))

    return write


def parameters_file(minor: int) -> Row:
    """SEAL's parameters, as each minor version of SEAL saves them."""

    def write(path: Path) -> None:
        path.write_bytes(interop.write_parameters(BFV_SEALS, version=(4, minor)))

    return Row(f"parameters-seal-4.{minor}.seal", interop.read_parameters, write, PARAMETERS)


def bundle(path: Path) -> None:
    write_bundle(path, Bundle("corpus", SEALS, Keys(CKKS, seeded=True).keys))


def seeds(path: Path) -> None:
    path.write_bytes(write_key_seeds(KeySeeds.of(Keys(CKKS, seeded=True).keys)))


def graph(path: Path) -> None:
    path.write_text(to_json(lower_operation("square", CKKS, 1)))


PARAMETERS = "9a42bbcfac66224673a64de0c476bff8"
"""Of the parameters, whatever version of SEAL wrote them."""
ROWS = [
    Row(
        "ciphertext-1-ckks.rso",
        ours(Ciphertext, HYBRID),
        save(lambda: Keys(HYBRID, seeded=False).cipher, HYBRID),
        "6cd3bc7edf79e5ba806fa5299761efd1",
    ),
    Row(
        "ciphertext-1-bfv.rso",
        ours(Ciphertext, WORDS),
        save(lambda: Keys(WORDS, seeded=False).cipher, WORDS),
        "58257c7d787786936bf2ba9668b7ac23",
    ),
    Row(
        "plaintext-1.rso",
        ours(Plaintext, HYBRID),
        save(lambda: Keys(HYBRID, seeded=False).plain, HYBRID),
        "348b7c8fc4576dd74ea84c804dc372e5",
    ),
    Row(
        "plain-polynomial-1.rso",
        ours(PlainPolynomial, WORDS),
        save(lambda: Keys(WORDS, seeded=False).plain, WORDS),
        "88f3cb5dd848ee022ae48fd69b5f8597",
    ),
    Row(
        "public-key-1.rso",
        ours(PublicKey, WORDS),
        save(lambda: Keys(WORDS, seeded=False).public, WORDS),
        "5aafa4422d5da73538fb9ee35ba25a2a",
    ),
    Row(
        "key-switch-key-1.rso",
        ours(KeySwitchKey, WORDS),
        save(lambda: Keys(WORDS, seeded=False).relin, WORDS),
        "d028e6f9ac361a0f38a5a22204c7e74a",
    ),
    Row(
        "evaluation-keys-1.rso",
        ours(EvaluationKeys, WORDS),
        save(lambda: Keys(WORDS, seeded=False).keys, WORDS),
        "2eac57098975e98aa96d42d11754fe1e",
    ),
    Row(
        "seed-compressed-keys-1.rso",
        ours(EvaluationKeys, HYBRID),
        save(lambda: Keys(HYBRID, seeded=True).keys, HYBRID),
        "9f89842625b4b82064300e36c22b3a8c",
    ),
    Row(
        "secret-key-1.rsx",
        secret(HYBRID),
        lambda path: client.save_secret_key(path, Keys(HYBRID, seeded=False).secret, HYBRID),
        "169957d11e1afdd8f7aacd258a3bd5db",
    ),
    *(parameters_file(minor) for minor in range(NEWEST_MINOR + 1)),
    Row(
        "ciphertext-seal-4.0-zlib.seal",
        lambda path: interop.read_ciphertext(path, SEALS),
        packed(interop.write_ciphertext, lambda: Keys(CKKS, seeded=False).cipher, 0, 1),
        "893d92b559727e4685ed0ac172af3d70",
    ),
    Row(
        "ciphertext-seal-4.4-zstd.seal",
        lambda path: interop.read_ciphertext(path, BFV_SEALS),
        packed(interop.write_ciphertext, lambda: Keys(BFV, seeded=False).cipher, 4, 2),
        "172f3a77c62a02031c9c91b6f9967f8a",
    ),
    Row(
        "plaintext-seal-4.4.seal",
        lambda path: interop.read_plaintext(path, SEALS),
        packed(interop.write_plaintext, lambda: Keys(CKKS, seeded=False).plain, 4, 0),
        "0a0565c5fd94c7841e74b04a58b6bd58",
    ),
    Row(
        "public-key-seal-4.4-zlib.seal",
        lambda path: interop.read_public_key(path, SEALS),
        packed(interop.write_public_key, lambda: Keys(CKKS, seeded=False).public, 4, 1),
        "d9886550447228715b58d6f7594e360c",
    ),
    Row(
        "secret-key-seal-4.4.seal",
        secret(CKKS),
        lambda path: client.save_secret_key(path, Keys(CKKS, seeded=False).secret, CKKS),
        "3526ae9abb3b8a38be024b907fdf1fa7",
    ),
    Row(
        "relin-keys-seal-4.4-zlib.seal",
        lambda path: interop.read_relin_keys(path, SEALS),
        packed(interop.write_relin_keys, lambda: Keys(CKKS, seeded=False).relin, 4, 1),
        "1491e40a1d77bd20af49a85a33f26c54",
    ),
    Row(
        "evaluation-bundle-1",
        lambda path: read_bundle(path).keys,
        bundle,
        "ed71060e8de946daad39fabd1186e9f8",
    ),
    Row("key-seeds-1.json", read_key_seeds, seeds, "0e6a420a143e17978ccaa376692def83"),
    Row(
        "subroutine-graph-1.jsonl",
        lambda path: to_json(from_json(path.read_text())),
        graph,
        "02119f0ffdfaa28d05cb1ae685858b77",
    ),
]


def digest(thing: Any) -> str:  # noqa: ANN401 - whatever a file holds
    """Everything that a file made, in few digits."""
    return hashlib.blake2b(repr(_parts(thing)).encode(), digest_size=16).hexdigest()


def _parts(thing: Any) -> object:  # noqa: ANN401 - whatever a file holds
    if isinstance(thing, EvaluationKeys | OnTheFlyKeys):
        return [_parts(thing.relin), *((e, _parts(key)) for e, key in thing.galois.items())]
    if isinstance(thing, KeySeeds):
        return [thing.relin, dict(thing.galois)]
    if isinstance(thing, SealParameters):
        return [thing.n, thing.primes, thing.plain_modulus]
    if thing is None or isinstance(thing, str):
        return thing
    words = thing.reveal() if isinstance(thing, client.SecretKey) else thing.data
    fields = ("parameters_id", "key_tag", "scale", "seed")
    return [*(getattr(thing, name, None) for name in fields), np.asarray(words).tolist()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_kept_file_loads_as_what_it_was_written_from(row: Row) -> None:
    assert digest(row.load(CORPUS / row.name)) == row.digest


def test_every_version_of_our_formats_and_every_kind_of_object_is_kept() -> None:
    known = {object_file.FORMAT: object_file.VERSION, secret_file.FORMAT: secret_file.VERSION}
    versions, kinds = set(), set()
    for row in ROWS:
        if row.name.endswith((".rso", ".rsx")):
            budget = Budget(1 << 24)
            container = unpack((CORPUS / row.name).read_bytes(), row.name, known, budget, "")
            versions.add((container.format, container.version))
            kinds.add(container.content.get("kind", "secret-key"))
    assert versions == {(name, v) for name, new in known.items() for v in range(1, new + 1)}
    assert kinds == {*object_file.KINDS, "secret-key"}


def test_the_kept_files_are_small_and_each_is_in_a_test() -> None:
    from tests.program.test_program_corpus import DIGESTS

    assert {path.name for path in CORPUS.iterdir()} == {*DIGESTS, *(row.name for row in ROWS)}
    sizes = [path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(sizes) < MOST_BYTES


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for row in ROWS:
        if not (CORPUS / row.name).exists():
            row.write(CORPUS / row.name)
        print(row.name, digest(row.load(CORPUS / row.name)))
