"""SEAL's BFV files multiplied with a stream device: SEAL decrypts the product."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import seal
from typer.testing import CliRunner

from ringsmith.cli.main import app

N = 4096
runner = CliRunner()


@dataclass(frozen=True, eq=False)
class World:
    """SEAL with primes that design rpm takes, and files of its own."""

    folder: Path
    context: seal.SEALContext
    decryptor: seal.Decryptor
    numbers: list[np.ndarray]
    t: int

    def path(self, name: str) -> Path:
        """A file's path."""
        return self.folder / f"{name}.seal"

    def run(self, device: str, *words: str, result: str) -> Path:
        """Runs ``ringsmith seal eval`` with design rpm; the result's path."""
        files = [str(self.path(word)) if self.path(word).exists() else word for word in words]
        target = self.path(f"{result}-{device}")
        options = ["--params", str(self.path("params")), "-o", str(target), "--force"]
        done = runner.invoke(
            app, ["seal", "eval", *files, *options, "--device", device, "--design", "rpm"]
        )
        assert done.exit_code == 0, done.output
        return target

    def message(self, path: Path) -> np.ndarray:
        """What SEAL decrypts; the noise budget must not be used up."""
        ciphertext = seal.Ciphertext()
        ciphertext.load(self.context, str(path))
        assert self.decryptor.invariant_noise_budget(ciphertext) > 0
        plain = self.decryptor.decrypt(ciphertext)
        return np.asarray(seal.BatchEncoder(self.context).decode(plain)) % self.t


def make_world(folder: Path, bits: list[int], rng: np.random.Generator) -> World:
    """Keys, and two ciphertexts of random numbers."""
    parms = seal.EncryptionParameters(seal.scheme_type.bfv)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, bits))
    parms.set_plain_modulus(seal.PlainModulus.Batching(N, 17))
    context = seal.SEALContext(parms)
    keygen = seal.KeyGenerator(context)
    encryptor = seal.Encryptor(context, keygen.create_public_key())
    t = parms.plain_modulus().value()
    numbers = [rng.integers(-(t // 2), t // 2, N) for _ in range(2)]
    world = World(folder, context, seal.Decryptor(context, keygen.secret_key()), numbers, t)
    encoder = seal.BatchEncoder(context)
    for name, values in zip(("a", "b"), numbers, strict=True):
        encryptor.encrypt(encoder.encode(values.tolist())).save(str(world.path(name)))
    parms.save(str(world.path("params")))
    keygen.create_relin_keys().save(str(world.path("relin")))
    return world


def check_device(world: World, device: str) -> None:
    """Multiplies and relinearizes on a device; the CPU's bits, and the right message."""
    product = world.numbers[0] * world.numbers[1] % world.t
    results = []
    for name in ("cpu", device):
        deep = world.run(name, "multiply", "a", "b", result="deep")
        flat = world.run(name, "relinearize", deep.stem, "--relin-keys", "relin", result="flat")
        results.append((deep.read_bytes(), flat.read_bytes()))
        for path in (deep, flat):
            assert np.array_equal(world.message(path), product)
    assert results[0] == results[1]


def test_a_product_with_the_model_in_the_loop_decrypts_right(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    check_device(make_world(tmp_path, [30, 30, 30], rng), "model")


@pytest.mark.full
def test_a_product_with_the_rtl_in_the_loop_decrypts_right(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    check_device(make_world(tmp_path, [30, 30, 30], rng), "rtl")


def test_primes_that_are_too_wide_are_refused_in_one_line(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    world = make_world(tmp_path, [36, 36, 37], rng)
    files = [str(world.path(name)) for name in ("a", "b")]
    options = ["--params", str(world.path("params")), "-o", str(world.path("c"))]
    device = ["--device", "model", "--design", "rpm"]
    done = runner.invoke(app, ["seal", "eval", "multiply", *files, *options, *device])
    assert done.exit_code != 0
    assert "has 36 bits and design rpm takes primes of up to 30" in done.output
