"""SEAL's BFV ciphertexts on Ringsmith's devices: its own bytes, or one line that says why not."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import seal
from typer.testing import CliRunner, Result

from ringsmith import interop
from ringsmith.cli.main import app
from ringsmith.errors import InteropError, ProgramError
from ringsmith.graph.operations import operations
from ringsmith.interop.bundle import read_bundle
from ringsmith.objects import Ciphertext
from ringsmith.params import parameter_set
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.runtime.seal_evaluator import SealEvaluator

N, BITS, T_BITS = 4096, [36, 36, 37], 20
runner = CliRunner()


@dataclass(frozen=True, eq=False)
class World:
    """SEAL with BFV: keys, operands, and the folder that they are saved in."""

    folder: Path
    context: seal.SEALContext
    evaluator: seal.Evaluator
    decryptor: seal.Decryptor
    relin: seal.RelinKeys
    galois: seal.GaloisKeys
    a: seal.Ciphertext
    b: seal.Ciphertext
    plain: seal.Plaintext

    def path(self, name: str) -> str:
        """A file's path."""
        return str(self.folder / f"{name}.seal")

    def run(self, *arguments: str) -> Result:
        """Runs ``ringsmith seal eval``."""
        command = ["seal", "eval", *arguments, "--params", self.path("params"), "--force"]
        return runner.invoke(app, [*command, "-o", self.path("result")])

    def expected(self, operation: str) -> bytes:
        """What SEAL saves of its own result."""
        evaluator, a, b = self.evaluator, self.a, self.b
        results: dict[str, Callable[[], seal.Ciphertext]] = {
            "add": lambda: evaluator.add(a, b),
            "sub": lambda: evaluator.sub(a, b),
            "negate": lambda: evaluator.negate(a),
            "add_plain": lambda: evaluator.add_plain(a, self.plain),
            "sub_plain": lambda: evaluator.sub_plain(a, self.plain),
            "multiply": lambda: evaluator.multiply(a, b),
            "multiply_plain": lambda: evaluator.multiply_plain(a, self.plain),
            "square": lambda: evaluator.square(a),
            "relinearize": lambda: evaluator.relinearize(evaluator.multiply(a, b), self.relin),
            "mod_switch": lambda: evaluator.mod_switch_to_next(a),
            "rotate": lambda: evaluator.rotate_rows(a, 1, self.galois),
            "rotate by parts": lambda: evaluator.rotate_rows(a, 5, self.galois),
            "conjugate": lambda: evaluator.rotate_columns(a, self.galois),
            "swap_columns": lambda: evaluator.rotate_columns(a, self.galois),
        }
        return results[operation]().to_string()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    parms = seal.EncryptionParameters(seal.scheme_type.bfv)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, BITS))
    parms.set_plain_modulus(seal.PlainModulus.Batching(N, T_BITS))
    context = seal.SEALContext(parms)
    keygen = seal.KeyGenerator(context)
    galois = seal.GaloisKeys()
    keygen.create_galois_keys([1, 4, 0], galois)
    plain = seal.BatchEncoder(context).encode(list(range(1, N + 1)))
    public = keygen.create_public_key()
    encryptor = seal.Encryptor(context, public)
    made = World(
        tmp_path_factory.mktemp("seal"),
        context,
        seal.Evaluator(context),
        seal.Decryptor(context, keygen.secret_key()),
        keygen.create_relin_keys(),
        galois,
        encryptor.encrypt(plain),
        encryptor.encrypt(plain),
        plain,
    )
    deep = made.evaluator.multiply(made.a, made.b)
    for name, item in {"a": made.a, "b": made.b, "plain": plain, "deep": deep}.items():
        item.save(made.path(name), seal.compr_mode_type.none)
    keys = {"relin": made.relin, "galois": galois, "public": public, "secret": keygen.secret_key()}
    for name, key in {"params": parms, **keys}.items():
        key.save(made.path(name))
    Path(made.path("secret")).chmod(0o600)
    return made


def arguments(world: World, operation: str) -> list[str]:
    """The command's operands and keys."""
    path, name = world.path, operation.removesuffix(" by parts")
    match name:
        case "add" | "sub" | "multiply":
            return [name, path("a"), path("b")]
        case "add_plain" | "sub_plain" | "multiply_plain":
            return [name, path("a"), path("plain")]
        case "relinearize":
            return [name, path("deep"), "--relin-keys", path("relin")]
        case "rotate":
            steps = "1" if operation == name else "5"
            return [name, path("a"), "--galois-keys", path("galois"), "--steps", steps]
        case "conjugate" | "swap_columns":
            return [name, path("a"), "--galois-keys", path("galois")]
    return [name, path("a")]


BFV_OPERATIONS = [*map(str, operations("bfv")), "conjugate", "rotate by parts"]


@pytest.mark.parametrize("operation", BFV_OPERATIONS)
def test_the_commands_result_is_seals_own_file(operation: str, world: World) -> None:
    done = world.run(*arguments(world, operation))
    assert done.exit_code == 0, done.output
    assert Path(world.path("result")).read_bytes() == world.expected(operation)


def test_seal_python_objects_are_computed_on_as_seal_does(world: World) -> None:
    mine = SealEvaluator(world.context, relin_keys=world.relin, galois_keys=world.galois)
    a, b, plain = world.a, world.b, world.plain
    results = {
        "add": mine.add(a, b),
        "sub": mine.sub(a, b),
        "negate": mine.negate(a),
        "add_plain": mine.add_plain(a, plain),
        "sub_plain": mine.sub_plain(a, plain),
        "multiply": mine.multiply(a, b),
        "multiply_plain": mine.multiply_plain(a, plain),
        "square": mine.square(a),
        "relinearize": mine.relinearize(mine.multiply(a, b)),
        "mod_switch": mine.mod_switch(a),
        "rotate": mine.rotate(a, 1),
        "rotate by parts": mine.rotate(a, 5),
        "conjugate": mine.conjugate(a),
    }
    assert set(results) == set(BFV_OPERATIONS) - {"swap_columns"}  # conjugate is the same
    for operation, result in results.items():
        assert result.to_string() == world.expected(operation), operation


def test_operations_follow_one_another_down_the_levels(world: World) -> None:
    mine, theirs = SealEvaluator(world.context, relin_keys=world.relin), world.evaluator
    x, y = world.a, world.a
    x = mine.mod_switch(mine.relinearize(mine.square(x)))
    y = theirs.mod_switch_to_next(theirs.relinearize(theirs.square(y), world.relin))
    x, y = mine.multiply_plain(x, world.plain), theirs.multiply_plain(y, world.plain)
    x, y = mine.add_plain(x, world.plain), theirs.add_plain(y, world.plain)
    assert x.to_string() == y.to_string()


# ---- devices -------------------------------------------------------------------------------------

SAME_ON_RPAU = tuple(
    each for each in BFV_OPERATIONS if each not in ("multiply", "square", "swap_columns")
)
"""What an accelerator makes of SEAL's operands to SEAL's bits."""


@pytest.mark.parametrize("operation", SAME_ON_RPAU)
def test_all_but_products_are_seals_on_the_model(operation: str, world: World) -> None:
    keys = {"relin_keys": world.relin, "galois_keys": world.galois}
    mine = SealEvaluator(world.context, **keys, device="model")
    operands: dict[str, tuple[object, ...]] = {
        "negate": (world.a,),
        "mod_switch": (world.a,),
        "relinearize": (world.evaluator.multiply(world.a, world.b),),
        "rotate": (world.a, 1),
        "rotate by parts": (world.a, 5),
        "conjugate": (world.a,),
        "add_plain": (world.a, world.plain),
        "sub_plain": (world.a, world.plain),
        "multiply_plain": (world.a, world.plain),
    }
    name = operation.removesuffix(" by parts")
    result = getattr(mine, name)(*operands.get(operation, (world.a, world.b)))
    assert result.to_string() == world.expected(operation)


@pytest.mark.parametrize("operation", ["multiply", "square"])
def test_products_on_the_model_decrypt_to_seals(operation: str, world: World) -> None:
    mine = SealEvaluator(world.context, relin_keys=world.relin, device="model")
    operands = (world.a, world.b)[: 2 if operation == "multiply" else 1]
    result = getattr(mine, operation)(*operands)
    theirs = getattr(world.evaluator, operation)(*operands)
    assert result.to_string() != theirs.to_string()  # HPS, not BEHZ
    for a, b in ((result, theirs), (mine.relinearize(result), theirs)):
        assert world.decryptor.decrypt(a).to_string() == world.decryptor.decrypt(b).to_string()
    budgets = [world.decryptor.invariant_noise_budget(each) for each in (result, theirs)]
    assert abs(budgets[0] - budgets[1]) <= 1


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("multiply", "architecture rpau has no lift, which BFV's products"),
        ("square", "architecture rpau has no lift, which BFV's products"),
        ("rotate", "architecture rpau permutes polynomials in NTT form only"),
        ("conjugate", "architecture rpau permutes polynomials in NTT form only"),
    ],
)
def test_what_a_design_without_converters_cannot_is_refused(
    operation: str, words: str, world: World, tmp_path: Path
) -> None:
    file = tmp_path / "plain.toml"
    text = (resources.files("ringsmith.designs") / "nano.toml").read_text()
    file.write_text(text.replace("log_n = 13", "log_n = 12"))
    done = world.run(*arguments(world, operation), "--device", "model", "--design", str(file))
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "cpu" in done.stderr


@pytest.mark.parametrize("device", ["model", pytest.param("rtl", marks=pytest.mark.full)])
def test_seals_default_parameters_run_on_their_design(
    device: str, rng: np.random.Generator
) -> None:
    """A program for SEAL, with its default parameters of N = 2^13, on ``heaws-seal``."""
    n = 8192
    parms = seal.EncryptionParameters(seal.scheme_type.bfv)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.BFVDefault(n))
    parms.set_plain_modulus(seal.PlainModulus.Batching(n, 20))
    t = parms.plain_modulus().value()
    context = seal.SEALContext(parms)
    keygen = seal.KeyGenerator(context)
    galois = seal.GaloisKeys()
    keygen.create_galois_keys([3, 0], galois)
    encryptor = seal.Encryptor(context, keygen.create_public_key())
    decryptor = seal.Decryptor(context, keygen.secret_key())
    encoder = seal.BatchEncoder(context)

    def values(cipher: seal.Ciphertext) -> list[int]:
        return [value % t for value in encoder.decode(decryptor.decrypt(cipher))]

    mine = SealEvaluator(
        context,
        relin_keys=keygen.create_relin_keys(),
        galois_keys=galois,
        device=device,
        design="heaws-seal",
    )
    x, y = (rng.integers(-(t // 2), t // 2, n) for _ in range(2))  # products fit 64 bits
    a, b = (encryptor.encrypt(encoder.encode(each.tolist())) for each in (x, y))
    product = mine.relinearize(mine.multiply(a, b))
    expected = x * y % t
    assert values(product) == expected.tolist()
    rows = expected.reshape(2, -1)
    assert values(mine.rotate(product, 3)) == np.roll(rows, -3, axis=1).ravel().tolist()
    assert values(mine.conjugate(product)) == rows[::-1].ravel().tolist()
    low = mine.mod_switch(product)
    square = mine.relinearize(mine.square(low))
    assert values(mine.sub(square, low)) == ((expected * expected - expected) % t).tolist()
    assert decryptor.invariant_noise_budget(square) > 50


# ---- errors --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ckks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CKKS files over the same primes."""
    folder = tmp_path_factory.mktemp("ckks")
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, BITS))
    context = seal.SEALContext(parms)
    keygen = seal.KeyGenerator(context)
    plain = seal.Plaintext()
    seal.CKKSEncoder(context).encode([1.0], 2.0**20, plain)
    cipher = seal.Encryptor(context, keygen.create_public_key()).encrypt(plain)
    galois = seal.GaloisKeys()
    keygen.create_galois_keys([1], galois)
    for name, item in {"a": cipher, "plain": plain}.items():
        item.save(str(folder / f"{name}.seal"), seal.compr_mode_type.none)
    keys = {"relin": keygen.create_relin_keys(), "galois": galois, "params": parms}
    for name, key in {**keys, "public": keygen.create_public_key()}.items():
        key.save(str(folder / f"{name}.seal"))
    return folder


CKKS_GIVEN = "belongs to CKKS parameters of the same primes, and the parameters given are BFV"
BFV_GIVEN = "which are CKKS): N, the primes, the scheme or the plain modulus differ"


def test_keys_and_ciphertexts_of_the_other_scheme_are_refused(world: World, ckks: Path) -> None:
    mine, theirs, out = world.path, lambda name: str(ckks / f"{name}.seal"), world.path("no")
    (ckks / "values.txt").write_text("1\n")
    values = str(ckks / "values.txt")
    evaluate = ("seal", "eval")
    for command, words in (
        ((*evaluate, "relinearize", mine("deep"), "--relin-keys", theirs("relin")), CKKS_GIVEN),
        (
            (*evaluate, "rotate", mine("a"), "--steps", "1", "--galois-keys", theirs("galois")),
            CKKS_GIVEN,
        ),
        ((*evaluate, "add", mine("a"), theirs("a")), CKKS_GIVEN),
        ((*evaluate, "add_plain", mine("a"), theirs("plain")), "in NTT form, as CKKS plaintexts"),
        (("encrypt", values, "--public-key", theirs("public")), CKKS_GIVEN),
        ((*evaluate, "rescale", mine("a")), "rescale is CKKS's, and the parameters are BFV's: use"),
    ):
        done = runner.invoke(app, [*command, "--params", mine("params"), "-o", out])
        assert (done.exit_code, Path(out).exists()) == (2, False)
        assert words in " ".join(done.stderr.split())
    for command, words in (
        ((*evaluate, "relinearize", theirs("a"), "--relin-keys", mine("relin")), BFV_GIVEN),
        ((*evaluate, "negate", mine("a")), BFV_GIVEN),
        (
            (*evaluate, "add_plain", theirs("a"), mine("plain")),
            "not in NTT form, .*a BFV plaintext",
        ),
        (("encrypt", values, "--public-key", mine("public")), BFV_GIVEN),
        (("decrypt", theirs("a"), "--secret-key", mine("secret")), BFV_GIVEN),
        (("decrypt", mine("a"), "--secret-key", mine("secret")), BFV_GIVEN),
    ):
        done = runner.invoke(app, [*command, "--params", theirs("params"), "-o", out])
        assert (done.exit_code, Path(out).exists()) == (2, False)
        pattern = words if ".*" in words else re.escape(words)
        assert re.search(pattern, " ".join(done.stderr.split())), done.stderr


def test_keys_in_process_of_the_other_scheme_are_refused(world: World) -> None:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, BITS))
    context = seal.SEALContext(parms)
    with pytest.raises(InteropError, match=re.escape(BFV_GIVEN)):
        SealEvaluator(context, relin_keys=world.relin)
    relin = seal.KeyGenerator(context).create_relin_keys()
    with pytest.raises(InteropError, match=CKKS_GIVEN):
        SealEvaluator(world.context, relin_keys=relin)


def test_operands_that_do_not_fit_are_refused(world: World) -> None:
    shape = interop.read_parameters(world.path("params"))
    evaluator = Evaluator(shape.to_bfv())
    a = interop.read_ciphertext(world.path("a"), shape)
    plain = interop.read_plaintext(world.path("plain"), shape)
    low = evaluator.run("mod_switch", a)
    zero = Ciphertext(np.zeros_like(a.data))
    for call, words in (
        (lambda: evaluator.run("mod_switch", low), "the ciphertext has one limb left and drops"),
        (lambda: evaluator.run("add", a, low), "the operands have 2 and 1 limbs: mod_switch the"),
        (lambda: evaluator.run("add", a, plain), "add takes a second ciphertext"),
        (lambda: evaluator.run("add_plain", a, a), "add_plain takes a plaintext of its scheme"),
        (lambda: evaluator.run("add", a, Ciphertext(a.data, 2.0)), "the scale 2, and BFV's have 1"),
        (lambda: evaluator.run("negate", zero), "the result of negate is transparent"),
        (lambda: evaluator.run("relinearize", a, a), "relinearize takes no second operand"),
        (
            lambda: evaluator.run("multiply", evaluator.run("multiply", a, a), a),
            "multiply takes 2 polynomials, not 3: relinearize first",
        ),
    ):
        with pytest.raises(ProgramError, match=re.escape(words)):
            call()
    wide = interop.SealParameters(shape.n, shape.primes, 1 << 40).to_bfv()
    with pytest.raises(ProgramError, match="has 2 limbs left and drops none: without them q would"):
        Evaluator(wide).run("mod_switch", Ciphertext(a.data))


# ---- the client's commands -----------------------------------------------------------------------


def test_commands_encrypt_and_decrypt_integers(world: World, tmp_path: Path) -> None:
    values = tmp_path / "values.txt"
    values.write_text("5\n-7\n\n12345\n")
    keys = str(tmp_path / "keys")
    made = runner.invoke(
        app, ["keys", keys, "--params", world.path("params"), "--rotate", "1", "--conjugate"]
    )
    assert made.exit_code == 0, made.output
    bundle = read_bundle(Path(keys) / "evaluation")
    assert bundle.parameters == interop.read_parameters(world.path("params"))
    assert bundle.keys.relin is not None
    assert set(bundle.keys.galois) == {3, 2 * N - 1}
    params = ["--params", f"{keys}/evaluation/parameters.seal"]
    public, secret = f"{keys}/public_key.seal", f"{keys}/secret_key.seal"
    for options in ([], ["--coefficients"]):
        cipher = str(tmp_path / f"x{len(options)}.seal")
        encrypt = ["encrypt", str(values), *params, "--public-key", public, "-o", cipher]
        done = runner.invoke(app, [*encrypt, *options])
        assert done.exit_code == 0, done.output
        decrypt = ["decrypt", cipher, *params, "--secret-key", secret, "--count", "4"]
        shown = runner.invoke(app, [*decrypt, *options])
        assert (shown.exit_code, shown.stdout) == (0, "5\n-7\n12345\n0\n")


def test_seal_decrypts_what_the_command_encrypted(world: World, tmp_path: Path) -> None:
    values, out = tmp_path / "values.txt", str(tmp_path / "x.seal")
    values.write_text("1\n2\n-3\n")
    command = ["encrypt", str(values), "--params", world.path("params"), "-o", out]
    done = runner.invoke(app, [*command, "--public-key", world.path("public")])
    assert done.exit_code == 0, done.output
    cipher = seal.Ciphertext()
    cipher.load(world.context, out)
    plain = world.decryptor.decrypt(cipher)
    t = seal.PlainModulus.Batching(N, T_BITS).value()
    slots = seal.BatchEncoder(world.context).decode(plain)[:4]
    assert [value % t for value in slots] == [1, 2, t - 3, 0]


def test_commands_refuse_what_bfv_has_not(world: World, tmp_path: Path) -> None:
    values, out = tmp_path / "values.txt", str(tmp_path / "x.seal")
    params = ["--params", world.path("params")]
    encrypt = ["encrypt", str(values), *params, "--public-key", world.path("public"), "-o", out]
    decrypt = ["decrypt", world.path("a"), *params, "--secret-key", world.path("secret")]
    for text, options, words in (
        ("1.5\n", [], "values.txt, line 1: '1.5' is not a whole number, as BFV needs it"),
        ("1048576\n", [], "1048576 is outside the plaintext space"),
        ("1\n", ["--scale-bits", "3"], "--scale-bits: the parameters are of BFV, which has no"),
        ("1\n", ["--limbs", "1"], "--limbs: the parameters are of BFV"),
    ):
        values.write_text(text)
        done = runner.invoke(app, [*encrypt, *options])
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())
    for options, words in ((["--digits", "3"], "--digits: the"), (["--complex"], "--complex: the")):
        done = runner.invoke(app, [*decrypt, *options])
        assert done.exit_code == 2
        assert words in done.stderr
    spent = world.a
    while world.decryptor.invariant_noise_budget(spent):
        spent = world.evaluator.multiply_plain(spent, world.plain)
    file = str(tmp_path / "spent.seal")
    spent.save(file, seal.compr_mode_type.none)
    done = runner.invoke(app, ["decrypt", file, *params, "--secret-key", world.path("secret")])
    assert done.exit_code == 2
    assert "the ciphertext has no noise budget left" in done.stderr


def test_keys_of_a_set_that_seal_cannot_hold_are_refused(tmp_path: Path) -> None:
    done = runner.invoke(app, ["keys", str(tmp_path / "keys"), "--set", "heaws"])
    assert done.exit_code == 2
    assert "0 special primes and 2 digits of 6 data primes, and SEAL has exactly 1" in " ".join(
        done.stderr.split()
    )
    assert not (tmp_path / "keys").exists()
    with pytest.raises(InteropError, match="these are CKKS parameters, without a plain modulus"):
        interop.SealParameters.from_parameters(parameter_set("nano")).to_bfv()
