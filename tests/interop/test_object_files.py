"""Keys, ciphertexts and plaintexts through files: SEAL's where SEAL can hold them, else ours."""

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import seal
from tests.interop.object_clients import Client, client_of, parts, sets

from ringsmith import client
from ringsmith.errors import InteropError
from ringsmith.files.budget import Budget
from ringsmith.files.container import MAGIC, pack, unpack
from ringsmith.interop import SealParameters, describe, load_object, object_file, save_object
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKeys,
    PlainPolynomial,
    Plaintext,
    PublicKey,
)
from ringsmith.params import KeyNeeds
from ringsmith.runtime import precompute_keys


@pytest.fixture(scope="module", params=["ckks", "bfv", "hybrid", "words", "hps"])
def owner(request: pytest.FixtureRequest) -> Client:
    parameters, seeded = sets()[request.param]
    return client_of(parameters, seeded=seeded)


@pytest.fixture(scope="module")
def ckks() -> Client:
    return client_of(sets()["ckks"][0], seeded=False)


@pytest.fixture(scope="module")
def hybrid() -> Client:
    return client_of(sets()["hybrid"][0], seeded=True)


def test_every_object_returns_from_its_file_with_identity_and_tag(
    owner: Client, tmp_path: Path
) -> None:
    for index, thing in enumerate(owner.things):
        path = tmp_path / str(index)
        save_object(path, thing, owner.parameters)
        again = load_object(path, type(thing), owner.parameters)
        assert type(again) is type(thing)
        assert parts(again) == parts(thing)


def test_a_secret_key_returns_from_its_file_and_is_for_its_owner_alone(
    owner: Client, tmp_path: Path
) -> None:
    path = tmp_path / "secret"
    client.save_secret_key(path, owner.secret, owner.parameters)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]
    key = client.load_secret_key(path, owner.parameters)
    assert np.array_equal(key.reveal(), owner.secret.reveal())
    assert (key.parameters_id, key.key_tag) == (owner.secret.parameters_id, owner.secret.key_tag)
    decrypted = client.decrypt_vector(owner.parameters, key, owner.things[1])
    assert np.abs(decrypted[:3] - [1, 2, 3]).max() < 0.1
    with pytest.raises(InteropError, match="exists and is not overwritten"):
        client.save_secret_key(path, owner.secret, owner.parameters)
    for mode in (0o640, 0o604):
        path.chmod(mode)
        with pytest.raises(InteropError, match=f"may use this secret key .mode {mode:04o}.: chmod"):
            client.load_secret_key(path, owner.parameters)


def test_seal_loads_the_files_and_passes_over_the_tag(ckks: Client, tmp_path: Path) -> None:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    shape = SealParameters.from_parameters(ckks.parameters)
    parms.set_poly_modulus_degree(shape.n)
    parms.set_coeff_modulus([seal.Modulus(q) for q in shape.primes])
    context = seal.SEALContext(parms, True, seal.sec_level_type.none)
    _, cipher, public, keys, _ = ckks.things
    save_object(tmp_path / "cipher", cipher, ckks.parameters)
    save_object(tmp_path / "public", public, ckks.parameters)
    save_object(tmp_path / "keys", keys, ckks.parameters)
    client.save_secret_key(tmp_path / "secret", ckks.secret, ckks.parameters)
    for name, holder in (
        ("cipher", seal.Ciphertext()),
        ("public", seal.PublicKey()),
        ("secret", seal.SecretKey()),
        ("keys/relin_keys.seal", seal.RelinKeys()),
        ("keys/galois_keys.seal", seal.GaloisKeys()),
    ):
        holder.load(context, str(tmp_path / name))
        tag = (tmp_path / name).read_bytes()[-24:]
        assert tag == b"RSKEYTAG" + (ckks.public.key_tag or b"")
        found = describe(tmp_path / name, shape)
        assert found.fields["key tag"] == tag[8:].hex()


def test_only_a_whole_tag_is_passed_over(ckks: Client, tmp_path: Path) -> None:
    path = tmp_path / "cipher"
    save_object(path, ckks.things[1], ckks.parameters)
    good = path.read_bytes()
    path.write_bytes(good[:-24])
    assert load_object(path, Ciphertext, ckks.parameters).key_tag is None
    for bad in (good[:-1], good + b"\0", good[:-24] + b"X" + good[-23:], good + good[-24:]):
        path.write_bytes(bad)
        with pytest.raises(InteropError, match="bytes too many"):
            load_object(path, Ciphertext, ckks.parameters)


def test_seal_is_used_where_it_can_hold_the_object(owner: Client, tmp_path: Path) -> None:
    name = owner.parameters
    seals = len(name.special_primes) == 1 and getattr(name, "multiplication", "behz") == "behz"
    for index, thing in enumerate(owner.things):
        path = tmp_path / str(index)
        save_object(path, thing, owner.parameters)
        if isinstance(thing, EvaluationKeys) and seals:
            assert path.is_dir()
        else:
            ours = path.read_bytes().startswith(MAGIC)
            assert ours == (not seals or isinstance(thing, KeySwitchKey))


def test_keys_with_seeds_take_half_the_file_and_load_on_the_fly_or_whole(
    hybrid: Client, tmp_path: Path
) -> None:
    plain = client.generate_keys(hybrid.parameters, KeyNeeds(2, {3: 2}))[2]
    save_object(tmp_path / "seeded", hybrid.keys, hybrid.parameters)
    save_object(tmp_path / "plain", plain, hybrid.parameters)
    sizes = [(tmp_path / name).stat().st_size for name in ("seeded", "plain")]
    assert sizes[0] < 0.55 * sizes[1]
    on_the_fly = load_object(tmp_path / "seeded", OnTheFlyKeys, hybrid.parameters)
    assert parts(on_the_fly) == parts(on_the_fly_keys(hybrid.keys, hybrid.parameters.primes))


def test_an_existing_file_is_kept_unless_it_may_be_overwritten(
    hybrid: Client, tmp_path: Path
) -> None:
    path, cipher = tmp_path / "file", hybrid.things[1]
    path.write_text("mine")
    with pytest.raises(InteropError, match="exists and is not overwritten"):
        save_object(path, cipher, hybrid.parameters)
    assert path.read_text() == "mine"
    save_object(path, cipher, hybrid.parameters, overwrite=True)
    assert parts(load_object(path, Ciphertext, hybrid.parameters)) == parts(cipher)


# ---- what is refused -----------------------------------------------------------------------------

Refused = tuple[str, Callable[[Client, Client, Path], object]]
REFUSED: list[Refused] = [
    (
        "made with other parameters",
        lambda a, b, path: save_object(path / "x", a.things[1], b.parameters),
    ),
    (
        "made with other parameters",
        lambda a, b, path: client.save_secret_key(path / "x", a.secret, b.parameters),
    ),
    (
        "made with other parameters",
        lambda a, b, path: load_object(path / "cipher", Ciphertext, a.parameters),
    ),
    (
        "made with other parameters",
        lambda a, b, path: client.load_secret_key(path / "secret", a.parameters),
    ),
    (
        "holds 'ciphertext', and was to be read as 'public-key'",
        lambda a, b, path: load_object(path / "cipher", PublicKey, b.parameters),
    ),
    (
        "its format is 'ringsmith-secret-key', and this is to be a key, ciphertext or plaintext",
        lambda a, b, path: load_object(path / "secret", PublicKey, b.parameters),
    ),
    (
        "its format is 'ringsmith-object', and this is to be a secret key",
        lambda a, b, path: client.load_secret_key(private(path / "cipher"), b.parameters),
    ),
    (
        "SEAL cannot hold parameters",
        lambda a, b, path: load_object(path / "seals", Ciphertext, b.parameters),
    ),
    (
        "the evaluation keys: made with other parameters",
        lambda a, b, path: load_object(path / "folder", EvaluationKeys, b.parameters),
    ),
    (
        "a folder, and no ciphertext: name a file",
        lambda a, b, path: load_object(path / "folder", Ciphertext, a.parameters),
    ),
    (
        "evaluation keys of SEAL are a folder",
        lambda a, b, path: load_object(path / "seals", EvaluationKeys, a.parameters),
    ),
    (
        "no plain-polynomial, but a plaintext",
        lambda a, b, path: load_object(path / "plain", PlainPolynomial, a.parameters),
    ),
    ("cannot be read", lambda a, b, path: load_object(path / "none", Ciphertext, a.parameters)),
]


def private(path: Path) -> Path:
    """The file, for its owner alone."""
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def written(ckks: Client, hybrid: Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of both clients."""
    folder = tmp_path_factory.mktemp("written")
    save_object(folder / "seals", ckks.things[1], ckks.parameters)
    save_object(folder / "plain", ckks.things[0], ckks.parameters)
    save_object(folder / "folder", ckks.keys, ckks.parameters)
    save_object(folder / "cipher", hybrid.things[1], hybrid.parameters)
    client.save_secret_key(folder / "secret", hybrid.secret, hybrid.parameters)
    return folder


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(
    words: str,
    call: Callable[[Client, Client, Path], object],
    ckks: Client,
    hybrid: Client,
    written: Path,
) -> None:
    before = sorted(written.iterdir())
    with pytest.raises(InteropError) as found:
        call(ckks, hybrid, written)
    assert words in str(found.value)
    assert "\n" not in str(found.value)
    assert sorted(written.iterdir()) == before


def test_what_is_no_public_object_is_not_saved(hybrid: Client, tmp_path: Path) -> None:
    for thing in (hybrid.secret, precompute_keys(hybrid.keys, hybrid.parameters), 7):
        with pytest.raises(TypeError, match="secret keys have ringsmith"):
            save_object(tmp_path / "x", thing, hybrid.parameters)  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())


# ---- The bytes of object files: whatever is changed in them is refused, or read as what fits -----


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
