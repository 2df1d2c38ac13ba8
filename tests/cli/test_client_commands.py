"""``ringsmith keys``, ``encrypt`` and ``decrypt``, and the bundle that a server gets."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import seal
from typer.testing import CliRunner, Result

from ringsmith import _core, interop
from ringsmith.cli.main import app
from ringsmith.client import load_secret_key
from ringsmith.errors import InteropError
from ringsmith.interop.bundle import read_bundle
from ringsmith.params import BfvParameters, parameter_set

VALUES = [1.5, -2.0, 0.25]
NOT_TO_SHARE = (
    "do not share these numbers with anyone who sees the ciphertexts: their noise reveals the "
    "secret key; --share hides it\n"
)
_WIDE = """
scheme = "ckks"
n = 8192
prime_bits = [60, 56]
special_bits = 60
scale_bits = 55
"""
runner = CliRunner()


def run(*words: object) -> Result:
    """Runs ``ringsmith`` with the words."""
    return runner.invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client's folder ``keys`` for ``nano``, and an encrypted vector next to it."""
    folder = tmp_path_factory.mktemp("client")
    done = run("keys", folder / "keys", "--set", "nano", "--rotate", "1", "--conjugate")
    assert done.exit_code == 0, done.output
    (folder / "values.txt").write_text("1.5\n-2\n\n0.25\n")
    done = run("encrypt", folder / "values.txt", *public(folder), "-o", folder / "cipher.seal")
    assert done.exit_code == 0, done.output
    return folder


def params(home: Path) -> list[object]:
    return ["--params", home / "keys" / "evaluation" / "parameters.seal"]


def public(home: Path) -> list[object]:
    return [*params(home), "--public-key", home / "keys" / "public_key.seal"]


def secret(home: Path) -> list[object]:
    return [*params(home), "--secret-key", home / "keys" / "secret_key.seal"]


def refused(done: Result, message: str) -> None:
    """The command refused in one line."""
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("ringsmith: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_what_is_encrypted_is_decrypted(home: Path) -> None:
    done = run("decrypt", home / "cipher.seal", *secret(home), "--count", 4, "--digits", 6)
    assert done.exit_code == 0, done.output
    found = [float(line) for line in done.stdout.splitlines()]
    assert np.abs(np.array(found) - [*VALUES, 0]).max() < 2.0**-20
    done = run("decrypt", home / "cipher.seal", *secret(home), "--count", 1, "--complex")
    assert re.fullmatch(r"[-+.e0-9]+j\n", done.stdout)
    assert abs(complex(done.stdout) - 1.5) < 2.0**-20


def test_numbers_with_a_byte_order_mark_are_read(home: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.txt"
    numbers.write_bytes("\ufeff0.5\r\n-1\r\n".encode())
    done = run("encrypt", numbers, *public(home), "-o", tmp_path / "x.seal")
    assert done.exit_code == 0, done.output
    done = run("decrypt", tmp_path / "x.seal", *secret(home), "--count", 3, "--digits", 4)
    assert [float(line) for line in done.stdout.split()] == pytest.approx([0.5, -1, 0], abs=1e-4)
    assert done.stderr == NOT_TO_SHARE


def test_imaginary_parts_that_are_left_out_are_named(home: Path, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("0.5\n1+2j\n")
    assert run("encrypt", numbers, *public(home), "-o", tmp_path / "x.seal").exit_code == 0
    told = "the imaginary parts are left out, and reach 2: --complex shows them\n"
    done = run("decrypt", tmp_path / "x.seal", *secret(home), "--count", 2)
    assert done.stderr == told + NOT_TO_SHARE
    done = run("decrypt", tmp_path / "x.seal", *secret(home), "--count", 2, "--complex")
    assert done.stderr == NOT_TO_SHARE


def test_shared_numbers_have_the_digits_that_survive(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(_WIDE)
    made = run("keys", tmp_path / "keys", "--set", tmp_path / "set.toml", "--no-relin")
    assert made.exit_code == 0, made.output
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("1.5\n-2\n0.25\n")
    done = run("encrypt", numbers, *public(tmp_path), "-o", tmp_path / "x.seal")
    assert done.exit_code == 0, done.output
    decrypt = ["decrypt", tmp_path / "x.seal", *secret(tmp_path), "--count", 3]
    share = [*decrypt, "--share", 1, "--noise-bound", 2.0**-36]
    done = run(*share)
    assert done.exit_code == 0, done.output
    assert not done.stderr
    assert re.fullmatch(r"(-?\d\.\d\d\n){3}", done.stdout), "9 bits are 2 decimals"
    assert [float(x) for x in done.stdout.split()] == pytest.approx([1.5, -2, 0.25], abs=0.01)
    shown = {run(*share).stdout for _ in range(20)}
    assert len(run(*share, "--complex").stdout.split()[0]) >= len("1.50+0.00j")
    assert len(shown) <= 3, "what survives hardly changes"
    refused(run(*decrypt, "--share", 1), "--share needs --noise-bound: a file does not say how")
    refused(run(*share, "--digits", 3), "--digits: --share prints the digits that survive")
    refused(
        run(*share, "--statistical-security", 60),
        "statistical_security = 60 leaves -5.5 bits after the point",
    )
    refused(run(*decrypt, "--noise-bound", 1), "--noise-bound goes with --share")
    refused(run(*decrypt, "--statistical-security", 40), "goes with --share QUERIES")
    refused(run(*decrypt, "--share", 0, "--noise-bound", 1), "share = 0 is no number of")


def test_a_ciphertext_of_another_client_is_refused(home: Path, tmp_path: Path) -> None:
    """By its tag, where it has one; else by what a wrong key decrypts."""
    made = run("keys", tmp_path / "other", "--set", "nano", "--no-relin")
    assert made.exit_code == 0, made.output
    key = ["--secret-key", tmp_path / "other" / "secret_key.seal"]
    refused(
        run("decrypt", home / "cipher.seal", *params(home), *key),
        "the ciphertext: of another key pair (tag ",
    )
    seals = tmp_path / "cipher.seal"
    seals.write_bytes((home / "cipher.seal").read_bytes()[:-24])
    refused(
        run("decrypt", seals, *params(home), *key), "the decrypted plaintext fills its modulus of 4"
    )
    assert run("decrypt", seals, *secret(home), "--count", 1).exit_code == 0


def test_results_of_the_commands_keep_the_tag(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "sum.seal"
    done = run("seal", "eval", "negate", home / "cipher.seal", *params(home), "-o", out)
    assert done.exit_code == 0, done.output
    assert out.read_bytes()[-24:] == (home / "cipher.seal").read_bytes()[-24:]
    assert "key tag" in run("seal", "info", out).stdout


def test_the_server_computes_with_the_bundle_alone(home: Path, tmp_path: Path) -> None:
    bundle = home / "keys" / "evaluation"
    names = ("square", "relinearized", "rescaled", "rotated")
    steps = [home / "cipher.seal", *(tmp_path / f"{name}.seal" for name in names)]
    relin = ["--relin-keys", bundle / "relin_keys.seal"]
    galois = ["--galois-keys", bundle / "galois_keys.seal", "--steps", 1]
    operations = (["square"], ["relinearize", *relin], ["rescale"], ["rotate", *galois])
    for words, before, after in zip(operations, steps, steps[1:], strict=False):
        done = run("seal", "eval", *words, before, *params(home), "-o", after)
        assert done.exit_code == 0, done.output
    done = run("decrypt", steps[-1], *secret(home), "--count", 2)
    found = [float(line) for line in done.stdout.splitlines()]
    assert np.abs(np.array(found) - [4, 0.0625]).max() < 2.0**-15


def test_seal_decrypts_with_the_keys_made_here(home: Path) -> None:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.load(str(home / "keys" / "evaluation" / "parameters.seal"))
    context = seal.SEALContext(parms)
    key, cipher = seal.SecretKey(), seal.Ciphertext()
    key.load(context, str(home / "keys" / "secret_key.seal"))
    cipher.load(context, str(home / "cipher.seal"))
    relin, galois = seal.RelinKeys(), seal.GaloisKeys()
    relin.load(context, str(home / "keys" / "evaluation" / "relin_keys.seal"))
    galois.load(context, str(home / "keys" / "evaluation" / "galois_keys.seal"))
    evaluator = seal.Evaluator(context)
    cipher = evaluator.relinearize(evaluator.square(cipher), relin)
    cipher = evaluator.rotate_vector(cipher, 1, galois)
    decoded = seal.CKKSEncoder(context).decode(seal.Decryptor(context, key).decrypt(cipher))
    assert np.abs(np.array(decoded[:2]) - [4, 0.0625]).max() < 2.0**-15


def test_only_the_owner_can_read_the_secret_key(home: Path, tmp_path: Path) -> None:
    keys = home / "keys"
    assert (keys / "secret_key.seal").stat().st_mode & 0o777 == 0o600
    assert keys.stat().st_mode & 0o777 == 0o700
    open_key = tmp_path / "open.seal"
    open_key.write_bytes((keys / "secret_key.seal").read_bytes())
    open_key.chmod(0o640)
    done = run("decrypt", home / "cipher.seal", *params(home), "--secret-key", open_key)
    refused(done, f"may use this secret key (mode 0640): chmod 600 {open_key}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("keys/public_key.seal", "no secret key; its type is: public key"),
        ("keys/evaluation/relin_keys.seal", "no secret key; its type is: relinearization keys"),
        ("cipher.seal", "no secret key; its type is: ciphertext"),
        ("values.txt", "no SEAL header"),
        ("absent.seal", "cannot be read: No such file"),
    ],
)
def test_what_is_no_secret_key_is_refused_as_that(home: Path, name: str, message: str) -> None:
    done = run("decrypt", home / "cipher.seal", *params(home), "--secret-key", home / name)
    refused(done, message)


def test_a_mild_umask_does_not_open_the_secret_key(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert run("keys", tmp_path / "keys", "--set", "nano", "--no-relin").exit_code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "keys" / "secret_key.seal").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "keys" / "evaluation" / "relin_keys.seal").exists()


def test_keys_are_never_written_over(home: Path) -> None:
    before = {path: path.read_bytes() for path in (home / "keys").rglob("*.seal")}
    refused(run("keys", home / "keys", "--set", "nano"), "exists and is not overwritten")
    assert {path: path.read_bytes() for path in (home / "keys").rglob("*.seal")} == before


def test_a_failure_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise InteropError("disk full")

    monkeypatch.setattr("ringsmith.client.bundle.write_bundle", fail)
    refused(run("keys", tmp_path / "keys", "--set", "nano"), "disk full")
    assert list(tmp_path.iterdir()) == []


def bfv_keys(folder: Path) -> Path:
    """A client's folder of BFV keys."""
    parameters = BfvParameters.create(
        n=8192, prime_bits=(43, 43, 44), special_bits=44, plain_bits=20
    )
    file = folder / "params.seal"
    file.write_bytes(interop.write_parameters(interop.SealParameters.from_parameters(parameters)))
    made = run("keys", folder / "keys", "--params", file, "--rotate", "1")
    assert made.exit_code == 0, made.output
    return folder / "keys"


def test_a_t_that_does_not_batch_points_to_coefficients(tmp_path: Path) -> None:
    made = BfvParameters.create(n=2048, prime_bits=(27,), special_bits=27, plain_modulus=256)
    file, values, cipher = (tmp_path / name for name in ("params.seal", "values.txt", "c.seal"))
    file.write_bytes(interop.write_parameters(interop.SealParameters.from_parameters(made)))
    assert run("keys", tmp_path / "keys", "--params", file).exit_code == 0
    values.write_text("3\n-4\n")
    encrypt = ["encrypt", values, *public(tmp_path), "-o", cipher]
    decrypt = ["decrypt", cipher, *secret(tmp_path), "--count", "2"]
    message = "plain modulus t = 256 does not batch, so there are no slots: say --coefficients"
    refused(run(*encrypt), message)
    done = run(*encrypt, "--coefficients")
    assert done.exit_code == 0, done.output
    refused(run(*decrypt), message)
    assert run(*decrypt, "--coefficients").stdout == "3\n-4\n"


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_the_bundle_holds_no_part_of_the_secret_key(
    scheme: str, home: Path, tmp_path: Path
) -> None:
    """No 16 bytes of the key, in any form that it could leak in, are in any file for the server.

    The control is the secret key's own file, in which they are found.
    """
    folder = home / "keys" if scheme == "ckks" else bfv_keys(tmp_path)
    shape = interop.read_parameters(folder / "evaluation" / "parameters.seal")
    assert shape.scheme == scheme
    n, prime = shape.n, shape.primes[0]
    key = load_secret_key(folder / "secret_key.seal", shape.to_parameters()).reveal()
    coefficients = _core.ntt_inverse(key[0], prime, _core.smallest_root(prime, n))
    ternary = np.where(coefficients > 1, -1, coefficients.astype(np.int64))
    assert set(ternary) == {-1, 0, 1}
    parts = {limb[start : start + 2].tobytes() for limb in key for start in range(0, n, 64)}
    for form in (coefficients, ternary):
        parts |= {form[start : start + 24].tobytes() for start in range(0, n, 64)}
    parts |= {ternary.astype(np.int8)[s : s + 24].tobytes() for s in range(0, n, 64)}
    files = [*(folder / "evaluation").iterdir(), folder / "public_key.seal"]
    assert len(files) == 5
    for path in files:
        data = path.read_bytes()
        assert not any(part in data for part in parts), path
    own = (folder / "secret_key.seal").read_bytes()
    assert any(part in own for part in parts)


def test_a_bundle_is_read_back(home: Path) -> None:
    bundle = read_bundle(home / "keys" / "evaluation")
    assert bundle.name == "nano"
    assert bundle.parameters.primes == parameter_set("nano").primes
    assert bundle.keys.relin is not None
    assert set(bundle.keys.galois) == {3, 2 * 8192 - 1}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("secret_key.seal", lambda _: b"x", "holds 'secret_key.seal'.* least of all a secret key"),
        ("relin_keys.seal", lambda _: None, "'relin_keys.seal' of the manifest is missing"),
        ("relin_keys.seal", lambda good: good[:-32], "cut off or damaged"),
        (
            "relin_keys.seal",
            lambda good: good[:300] + bytes(8) + good[308:],
            "SHA-256 is not the manifest's",
        ),
        ("manifest.json", lambda _: None, "manifest.json: cannot be read"),
        ("manifest.json", lambda _: b"[" * 60000, "not the JSON of an evaluation bundle"),
        ("manifest.json", lambda _: b"[]", "not a manifest of 'ringsmith-evaluation-keys'"),
        (
            "manifest.json",
            lambda good: json.dumps(json.loads(good) | {"files": {"../x": ""}}).encode(),
            "must name 'parameters.seal'",
        ),
    ],
)
def test_a_bundle_that_was_tampered_with_is_refused(
    home: Path, tmp_path: Path, name: str, change: Callable[[bytes], bytes | None], message: str
) -> None:
    folder = tmp_path / "bundle"
    folder.mkdir()
    for path in (home / "keys" / "evaluation").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    good = (folder / name).read_bytes() if (folder / name).exists() else b""
    data = change(good)
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    with pytest.raises(InteropError, match=message):
        read_bundle(folder)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("1\ntwo\n", [], "values.txt, line 2: 'two' is not a number"),
        ("1\nnan\n", [], "values.txt, line 2: 'nan' is not finite"),
        ("1e999\n", [], "values.txt, line 1: '1e999' is not finite"),
        ("", [], "values.txt: holds no number"),
        ("\n \n", [], "values.txt: holds no number"),
        ("1\n" * 4097, [], "more than the 4096 numbers that have a slot"),
        ("1\n", ["--scale-bits", "1000"], "is outside 0 … 999"),
        ("1\n", ["--scale-bits", "300"], "exceeds the modulus"),
        ("1\n", ["--limbs", "9"], "limbs = 9 is outside 1 … 4"),
    ],
)
def test_vectors_that_cannot_be_encrypted_are_refused(
    home: Path, tmp_path: Path, text: str, more: list[str], message: str
) -> None:
    values, output = tmp_path / "values.txt", tmp_path / "cipher.seal"
    values.write_text(text)
    refused(run("encrypt", values, *public(home), *more, "-o", output), message)
    assert not output.exists()


def test_decrypted_values_go_to_a_new_file_of_the_owner(home: Path, tmp_path: Path) -> None:
    output = tmp_path / "values.txt"
    command = ["decrypt", home / "cipher.seal", *secret(home), "-o", output]
    assert run(*command).exit_code == 0
    assert output.stat().st_mode & 0o777 == 0o600
    assert len(output.read_text().splitlines()) == 4096
    refused(run(*command), "exists and is not overwritten")


def test_encrypt_writes_over_no_file(home: Path, tmp_path: Path) -> None:
    values = tmp_path / "values.txt"
    values.write_text("1\n")
    for target in (values, home / "keys" / "secret_key.seal", home / "cipher.seal"):
        before = target.read_bytes()
        refused(
            run("encrypt", values, *public(home), "-o", target), "exists and is not overwritten"
        )
        assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cipher", "is read for this and not overwritten"),
        ("link", "is read for this and not overwritten"),
        ("keys/evaluation/parameters", "is read for this and not overwritten"),
        ("keys/secret_key", "secret key: --force overwrites ciphertexts alone"),
        ("keys/public_key", "public key: --force overwrites ciphertexts alone"),
        ("notes", "no whole file of SEAL's: --force overwrites ciphertexts alone"),
    ],
)
def test_force_writes_over_no_input_no_key_and_no_other_file(
    home: Path, name: str, message: str
) -> None:
    (home / "notes.seal").write_text("mine")
    if not (home / "link.seal").exists():
        (home / "link.seal").symlink_to("cipher.seal")
    target = home / f"{name}.seal"
    before = target.read_bytes()
    command = ["seal", "eval", "negate", home / "cipher.seal", *params(home), "-o", target]
    refused(run(*command), "exists and is not overwritten")
    refused(run(*command, "--force"), message)
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name either --params FILE or --set NAME"),
        (["--set", "nano", "--params", "x"], "name either --params FILE or --set NAME"),
        (["--set", "giant"], "no parameter set is called 'giant'"),
        (["--params", "absent.seal"], "cannot be read: No such file"),
        (["--set", "nano", "--rotate", "5000"], "rotation by 5000 steps: take 1 … 4095"),
    ],
)
def test_keys_that_cannot_be_made_are_refused(
    tmp_path: Path, words: list[str], message: str
) -> None:
    refused(run("keys", tmp_path / "keys", *words), message)
    assert list(tmp_path.iterdir()) == []
