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
from functools import partial
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
Parameters = CkksParameters | BfvParameters


@dataclass(frozen=True)
class Row:
    """A kept file: its name, how it is read, how its first version was written, what it holds."""

    name: str
    load: Load
    write: Callable[[Path], object]
    digest: str


class Keys:
    """Keys of a fixed seed, and what is made with them."""

    def __init__(self, parameters: Parameters, *, seeded: bool) -> None:
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


def own_row(
    name: str, kind: type, parameters: Parameters, what: str, digest: str, *, seeded: bool = False
) -> Row:
    """A file of ours, of an attribute of ``Keys``."""

    def write(path: Path) -> None:
        interop.save_object(path, getattr(Keys(parameters, seeded=seeded), what), parameters)

    load = partial(interop.load_object, kind=kind, parameters=parameters)
    return Row(f"{name}.rso", load, write, digest)


def secret_row(name: str, parameters: Parameters, digest: str) -> Row:
    """A secret key: a copy with mode 0600, which Git does not keep, is read."""

    def load(path: Path) -> client.SecretKey:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            copy.chmod(0o600)
            return client.load_secret_key(copy, parameters)

    def write(path: Path) -> None:
        client.save_secret_key(path, Keys(parameters, seeded=False).secret, parameters)

    return Row(name, load, write, digest)


def seal_row(
    name: str, parameters: Parameters, what: str, form: tuple[int, int], digest: str
) -> Row:
    """A file of SEAL's minor version and compression, of an attribute of ``Keys``."""
    minor, method = form
    shape = SealParameters.from_parameters(parameters)
    function = name.replace("-", "_")

    def write(path: Path) -> None:
        found = getattr(Keys(parameters, seeded=False), what)
        options = {"version": (4, minor), "compression": Compression(method)}
        data = getattr(interop, f"write_{function}")(found, shape, **options)
        path.write_bytes(with_key_tag(data, getattr(found, "key_tag", None)))

    packed = ("", "-zlib", "-zstd")[method]
    load = partial(getattr(interop, f"read_{function}"), parameters=shape)
    return Row(f"{name}-seal-4.{minor}{packed}.seal", load, write, digest)


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
    own_row("ciphertext-1-ckks", Ciphertext, HYBRID, "cipher", "6cd3bc7edf79e5ba806fa5299761efd1"),
    own_row("ciphertext-1-bfv", Ciphertext, WORDS, "cipher", "58257c7d787786936bf2ba9668b7ac23"),
    own_row("plaintext-1", Plaintext, HYBRID, "plain", "348b7c8fc4576dd74ea84c804dc372e5"),
    own_row(
        *("plain-polynomial-1", PlainPolynomial, WORDS, "plain"), "88f3cb5dd848ee022ae48fd69b5f8597"
    ),
    own_row("public-key-1", PublicKey, WORDS, "public", "5aafa4422d5da73538fb9ee35ba25a2a"),
    own_row("key-switch-key-1", KeySwitchKey, WORDS, "relin", "d028e6f9ac361a0f38a5a22204c7e74a"),
    own_row("evaluation-keys-1", EvaluationKeys, WORDS, "keys", "2eac57098975e98aa96d42d11754fe1e"),
    own_row(
        *("seed-compressed-keys-1", EvaluationKeys, HYBRID, "keys"),
        "9f89842625b4b82064300e36c22b3a8c",
        seeded=True,
    ),
    secret_row("secret-key-1.rsx", HYBRID, "169957d11e1afdd8f7aacd258a3bd5db"),
    *(parameters_file(minor) for minor in range(NEWEST_MINOR + 1)),
    seal_row("ciphertext", CKKS, "cipher", (0, 1), "893d92b559727e4685ed0ac172af3d70"),
    seal_row("ciphertext", BFV, "cipher", (4, 2), "172f3a77c62a02031c9c91b6f9967f8a"),
    seal_row("plaintext", CKKS, "plain", (4, 0), "0a0565c5fd94c7841e74b04a58b6bd58"),
    seal_row("public-key", CKKS, "public", (4, 1), "d9886550447228715b58d6f7594e360c"),
    secret_row("secret-key-seal-4.4.seal", CKKS, "3526ae9abb3b8a38be024b907fdf1fa7"),
    seal_row("relin-keys", CKKS, "relin", (4, 1), "1491e40a1d77bd20af49a85a33f26c54"),
    Row(
        *("evaluation-bundle-1", lambda path: read_bundle(path).keys, bundle),
        "ed71060e8de946daad39fabd1186e9f8",
    ),
    Row("key-seeds-1.json", read_key_seeds, seeds, "0e6a420a143e17978ccaa376692def83"),
    Row(
        *("subroutine-graph-1.jsonl", lambda path: to_json(from_json(path.read_text())), graph),
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
