"""Keys, ciphertexts and plaintexts through files: SEAL's where SEAL can hold them, else ours."""

import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import seal
from tests.interop.object_clients import Client, client_of, parts, sets

from ringsmith import client
from ringsmith.errors import InteropError
from ringsmith.files.container import MAGIC
from ringsmith.interop import SealParameters, describe, load_object, save_object
from ringsmith.interop.seeded_keys import on_the_fly_keys
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKeys,
    PlainPolynomial,
    PublicKey,
)
from ringsmith.params import KeyNeeds
from ringsmith.runtime import precompute_keys

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


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
