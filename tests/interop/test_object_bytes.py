"""The bytes of object files: whatever is changed in them is refused, or read as what fits."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.interop.object_clients import Client, client_of, parts, sets

from ringsmith.errors import InteropError
from ringsmith.files.budget import Budget
from ringsmith.files.container import pack, unpack
from ringsmith.interop import object_file, save_object
from ringsmith.objects import Ciphertext, EvaluationKeys, PlainPolynomial, Plaintext

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


@pytest.fixture(scope="module")
def hybrid() -> Client:
    return client_of(sets()["hybrid"][0], seeded=True)


def mutated(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A file with another text, and a right digest."""
    found = unpack(data, "", {object_file.FORMAT: 9}, Budget(1 << 30), "")
    content = json.loads(json.dumps(found.content))
    change(content)
    return pack(found.format, found.version, content, found.arrays)


def of_bytes(digits: str) -> dict[str, Any]:
    """The column of one text of bytes, where there may be none."""
    return {"kinds": ["bytes"], "bytes": [digits]}


MUTATIONS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("'relics', and was to be read", lambda c: c.update(kind="relics")),
    ("an object of kind and object", lambda c: c.update(more=1)),
    ("object.scale 'x' is not of type float", lambda c: c["object"].update(scale=["x"])),
    ("scale -1.0 is not one of CKKS", lambda c: c["object"].update(scale=[-1.0])),
    ("key_tag = b'\\x00' is not 16 bytes", lambda c: c["object"].update(key_tag=of_bytes("00"))),
    ("made with other parameters", lambda c: c["object"].update(parameters_id=of_bytes("00" * 32))),
    ("has ['future'], which this", lambda c: c["object"].update(future=1)),
    ("is not the number of an array", lambda c: c["object"].update(data=1)),
    ("lacks 'data'", lambda c: c["object"].pop("data")),
]


@pytest.mark.parametrize(("words", "change"), MUTATIONS)
def test_changed_texts_are_refused(
    words: str, change: Callable[[dict[str, Any]], object], hybrid: Client
) -> None:
    good = object_file.object_bytes(hybrid.things[1], hybrid.parameters)
    bad = mutated(good, change)
    with pytest.raises(InteropError) as found:
        object_file.object_from_bytes(bad, Ciphertext, hybrid.parameters)
    assert words in str(found.value)


@pytest.mark.parametrize("seed", range(2))
def test_a_text_of_anything_is_refused_or_read_as_what_fits(seed: int, hybrid: Client) -> None:
    """Every value of the text in turn becomes something else, and the digest is right."""
    values = [None, -1, 0, 1, 3, 2**70, 0.5, 1e300, True, "", "00", "relics", [], [[3, 0]], {}]
    rng = np.random.default_rng(seed)
    for thing in (hybrid.things[1], hybrid.keys):
        good = object_file.object_bytes(thing, hybrid.parameters)
        for _ in range(40):
            bad = mutated(good, lambda content: change_one(content, values, rng))
            try:
                found = object_file.object_from_bytes(bad, type(thing), hybrid.parameters)
            except InteropError as error:
                assert "\n" not in str(error)  # noqa: PT017 - refusing is one of two right answers
            else:
                assert found.parameters_id in (None, hybrid.parameters.parameters_id)


def change_one(value: Any, values: list[Any], rng: np.random.Generator) -> None:  # noqa: ANN401
    """Replaces one value somewhere in a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = keys[int(rng.integers(len(keys)))]
    if isinstance(value[key], dict | list) and value[key] and rng.integers(4):
        change_one(value[key], values, rng)
    else:
        value[key] = values[int(rng.integers(len(values)))]


def test_residues_shapes_and_seeds_that_do_not_fit_are_refused(hybrid: Client) -> None:
    parameters, keys = hybrid.parameters, hybrid.keys
    assert keys.relin is not None
    plain, cipher, public = hybrid.things[:3]
    large, seed = np.full_like(cipher.data, parameters.primes[0]), bytes(10)
    for thing, words in (
        (replace(cipher, data=large), "a residue is not below its prime"),
        (replace(cipher, data=cipher.data[:1]), "has shape (1, 2, 1024)"),
        (replace(cipher, data=cipher.data[0, 0]), "has shape (1024,)"),
        (replace(plain, data=plain.data[:, :512]), "has shape (2, 512)"),
        (replace(public, data=public.data[:, :2]), "has shape (2, 2, 1024)"),
        (replace(keys.relin, seed=seed), "half 1 of this key is not what its seed expands to"),
        (EvaluationKeys(None, {4: keys.relin}), "Galois element 4 is not odd"),
        (PlainPolynomial(plain.data[0]), "a plaintext of BFV, and the parameters are CKKS's"),
    ):
        with pytest.raises(InteropError) as found:
            save_object(Path("/nowhere/x"), thing, parameters)
        assert words in str(found.value)
    with pytest.raises(InteropError, match="a plaintext of CKKS, and the parameters are BFV's"):
        save_object(Path("/nowhere/x"), Plaintext(plain.data, 1.0), sets()["words"][0])


@pytest.mark.parametrize("seed", range(3))
def test_damage_is_found(seed: int, hybrid: Client) -> None:
    rng = np.random.default_rng(seed)
    good = object_file.object_bytes(hybrid.things[1], hybrid.parameters)
    for _ in range(60):
        data = bytearray(good)
        for position in rng.integers(0, len(data), int(rng.integers(1, 4))):
            data[position] ^= int(rng.integers(1, 256))
        try:
            found = object_file.object_from_bytes(bytes(data), Ciphertext, hybrid.parameters)
        except InteropError:
            continue
        # Some bits of a zstd stream mean nothing.
        assert parts(found) == parts(hybrid.things[1])
    for length in (0, 7, 40, 63, 64, len(good) // 2, len(good) - 1):
        with pytest.raises(InteropError):
            object_file.object_from_bytes(good[:length], Ciphertext, hybrid.parameters)


def test_a_stream_that_makes_too_much_is_not_decompressed(hybrid: Client) -> None:
    zeros = np.zeros((1 << 24,), np.uint64)
    bomb = pack(object_file.FORMAT, 1, {"kind": "ciphertext", "object": {"data": 0}}, [zeros])
    assert len(bomb) < 1 << 15
    for kind in (Ciphertext, EvaluationKeys):
        with pytest.raises(InteropError, match=r"its body of .* bytes takes more than"):
            object_file.object_from_bytes(bomb, kind, hybrid.parameters)
