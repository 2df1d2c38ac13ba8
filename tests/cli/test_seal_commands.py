"""``ringsmith seal`` as a SEAL user types it: results are SEAL's own bytes, errors one line."""

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import seal
from typer.testing import CliRunner, Result

from ringsmith import _core, interop
from ringsmith.cli.main import app
from ringsmith.graph.operations import Op, operations
from ringsmith.params import core_context

N, BITS, SCALE = 8192, [47, 41, 41, 41, 48], 2.0**41
runner = CliRunner()

SEALS = [*(str(op) for op in operations("ckks") if op.record.in_seal), "rotate by parts"]
"""Operations of CKKS that SEAL has, and a rotation whose key is missing."""


@dataclass(frozen=True)
class Files:
    """SEAL's objects and the folder that they are saved in."""

    folder: Path
    evaluator: seal.Evaluator
    a: seal.Ciphertext
    b: seal.Ciphertext
    plain: seal.Plaintext
    relin: seal.RelinKeys
    galois: seal.GaloisKeys

    def path(self, name: str) -> str:
        """A file's path."""
        return str(self.folder / f"{name}.seal")

    def run(self, *arguments: str) -> Result:
        """Runs ``ringsmith seal eval`` with parameters and a result file, an older one or none."""
        command = ["seal", "eval", *arguments, "--params", self.path("params"), "--force"]
        return runner.invoke(app, [*command, "-o", self.path("result")])

    def decrypted(self, name: str) -> list[complex]:
        """The numbers that SEAL finds in a file."""
        parms = seal.EncryptionParameters(seal.scheme_type.ckks)
        parms.load(self.path("params"))
        context = seal.SEALContext(parms)
        key, cipher = seal.SecretKey(), seal.Ciphertext()
        key.load(context, self.path("secret"))
        cipher.load(context, self.path(name))
        return list(seal.CKKSEncoder(context).decode(seal.Decryptor(context, key).decrypt(cipher)))

    def result(self) -> bytes:
        """The bytes of the result file."""
        return Path(self.path("result")).read_bytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("seal")
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(N)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(N, BITS))
    context = seal.SEALContext(parms)
    keygen = seal.KeyGenerator(context)
    encryptor = seal.Encryptor(context, keygen.create_public_key())
    plain = seal.Plaintext()
    seal.CKKSEncoder(context).encode([1.5, -2.0, 0.25], SCALE, plain)
    galois = seal.GaloisKeys()
    keygen.create_galois_keys([1, 4, 0], galois)
    evaluator = seal.Evaluator(context)
    a, b = encryptor.encrypt(plain), encryptor.encrypt(plain)
    made = Files(folder, evaluator, a, b, plain, keygen.create_relin_keys(), galois)
    deep = evaluator.multiply(a, b)
    other = evaluator.rescale_to_next(a)
    low = a
    for _ in range(3):
        low = evaluator.mod_switch_to_next(low)
    saved = {"a": a, "b": b, "plain": plain, "deep": deep, "other": other, "low": low}
    for name, item in saved.items():
        item.save(made.path(name), seal.compr_mode_type.none)
    for name, keys in (("params", parms), ("relin", made.relin), ("galois", galois)):
        keys.save(made.path(name))
    keygen.secret_key().save(made.path("secret"))
    return made


@cache
def expected(files: Files, operation: str) -> bytes:
    """What SEAL saves of its own result."""
    evaluator, a, b = files.evaluator, files.a, files.b
    return {
        "add": lambda: evaluator.add(a, b),
        "sub": lambda: evaluator.sub(a, b),
        "negate": lambda: evaluator.negate(a),
        "add_plain": lambda: evaluator.add_plain(a, files.plain),
        "sub_plain": lambda: evaluator.sub_plain(a, files.plain),
        "multiply": lambda: evaluator.multiply(a, b),
        "multiply_plain": lambda: evaluator.multiply_plain(a, files.plain),
        "square": lambda: evaluator.square(a),
        "relinearize": lambda: evaluator.relinearize(evaluator.multiply(a, b), files.relin),
        "rescale": lambda: evaluator.rescale_to_next(evaluator.multiply(a, b)),
        "mod_switch": lambda: evaluator.mod_switch_to_next(a),
        "rotate": lambda: evaluator.rotate_vector(a, 1, files.galois),
        "rotate by parts": lambda: evaluator.rotate_vector(a, 5, files.galois),
        "conjugate": lambda: evaluator.complex_conjugate(a, files.galois),
    }[operation]().to_string()


def arguments(files: Files, operation: str) -> list[str]:
    """The command's operands and keys."""
    path = files.path
    name = operation.removesuffix(" by parts")
    match name:
        case "add" | "sub" | "multiply":
            return [name, path("a"), path("b")]
        case "add_plain" | "sub_plain" | "multiply_plain":
            return [name, path("a"), path("plain")]
        case "relinearize":
            return [name, path("deep"), "--relin-keys", path("relin")]
        case "rescale":
            return [name, path("deep")]
        case "rotate":
            steps = "1" if operation == name else "5"
            return [name, path("a"), "--galois-keys", path("galois"), "--steps", steps]
        case "conjugate":
            return [name, path("a"), "--galois-keys", path("galois")]
    return [name, path("a")]


def test_the_command_knows_every_operation_of_the_evaluator() -> None:
    text = " ".join(runner.invoke(app, ["seal", "eval", "--help"]).output.split())
    known = [op for op in Op if not op.record.port and not op.record.part]
    assert [op for op in known if op not in text] == []


@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.parametrize("operation", SEALS)
def test_eval_writes_the_bytes_that_seal_would(files: Files, device: str, operation: str) -> None:
    done = files.run(*arguments(files, operation), "--device", device)
    assert done.exit_code == 0, done.output
    assert files.result() == expected(files, operation)


@pytest.mark.parametrize("operation", ["rescale", "relinearize"])
def test_eval_on_rtl_writes_the_bytes_that_seal_would(files: Files, operation: str) -> None:
    done = files.run(*arguments(files, operation), "--device", "rtl", "--design", "nano")
    assert done.exit_code == 0, done.output
    assert files.result() == expected(files, operation)


def test_one_division_for_key_and_prime_is_the_cores_and_seal_decrypts_it(files: Files) -> None:
    relin = ["--relin-keys", files.path("relin")]
    done = files.run("relinearize_rescale", files.path("deep"), *relin)
    assert done.exit_code == 0, done.output
    shape = interop.read_parameters(files.path("params"))
    parameters = shape.to_ckks(SCALE)
    deep = interop.read_ciphertext(Path(files.path("deep")), shape)
    keys = interop.read_relin_keys(Path(files.path("relin")), shape)
    expected = _core.relinearize_rescale(core_context(parameters), deep.data, keys.data)
    mine = interop.read_ciphertext(files.result(), shape)
    assert np.array_equal(mine.data, expected)
    assert mine.scale == SCALE * SCALE / parameters.primes[3]
    assert np.allclose(files.decrypted("result")[:3], [2.25, 4.0, 0.0625], atol=1e-6)


def test_eval_writes_for_an_older_seal_and_compressed(files: Files) -> None:
    more = ["--seal-version", "4.0", "--compression", "zstd"]
    assert files.run(*arguments(files, "add"), *more).exit_code == 0
    data = files.result()
    assert data[3:6] == bytes([4, 0, interop.Compression.ZSTD])
    shape = interop.read_parameters(files.path("params"))
    mine, theirs = (interop.read_ciphertext(d, shape) for d in (data, expected(files, "add")))
    assert np.array_equal(mine.data, theirs.data)


def test_a_rotation_by_nothing_changes_nothing(files: Files) -> None:
    assert files.run("rotate", files.path("a"), "--steps", "0").exit_code == 0
    assert files.result() == files.a.to_string()


ERRORS = [
    (["add", "a"], "add takes a second ciphertext"),
    (["negate", "a", "b"], "negate takes no second operand"),
    (["add", "a", "deep"], "scales 2199023255552 and"),
    (["add", "a", "low"], "operands have 4 and 1 limbs"),
    (["multiply", "low", "low"], "beyond the modulus of 47 bits of 1 limbs"),
    (["square", "deep"], "square takes 2 polynomials, not 3: relinearize first"),
    (["rescale", "low"], "has one limb left"),
    (["mod_switch", "low"], "has one limb left"),
    (["sub", "a", "a"], "transparent"),
    (["rotate", "a"], "rotate needs --steps"),
    (["negate", "a", "--steps", "1"], "negate takes no --steps"),
    (["rotate", "a", "--steps", "1"], "Galois key of element 3 is missing"),
    (["rotate", "a", "--steps", "9999"], "rotation by 9999 steps: take 1 … 4095"),
    (["conjugate", "a"], "conjugation"),
    (["relinearize", "deep"], "needs relinearization keys"),
    (["relinearize_rescale", "deep"], "needs relinearization keys"),
    (
        ["relinearize_rescale", "a", "--relin-keys", "relin"],
        "takes 3 polynomials, not 2: rescale alone will do",
    ),
    (["swap_columns", "a"], "swap_columns is BFV's, and the parameters are CKKS's: use add, sub"),
    (["add", "a", "plain"], "SEAL ciphertext"),
    (["add_plain", "a", "b"], "SEAL plaintext"),
    (["add", "a", "absent"], "cannot be read: No such file"),
    (["relinearize", "deep", "--relin-keys", "galois"], "entries; SEAL has at most 14"),
    (["negate", "secret"], "is at the key level"),
    (["add", "a", "b", "--design", "nano"], "--design nano needs --device model or rtl"),
    (["add", "a", "b", "--device", "card"], "card is of one design: name the one that the board"),
    (["add", "a", "b", "--device", "card", "--design", "nano"], "device card needs the port"),
    (
        ["add", "a", "b", "--device", "card", "--design", "nano", "--port", "/dev/null"],
        "/dev/null cannot be opened as a serial port",
    ),
    (["add", "a", "b", "--device", "model", "--design", "giant"], "no design 'giant'"),
    (["add", "a", "b", "--seal-version", "5.0"], "version 5.0 is not known here"),
    (["add", "a", "b", "--seal-version", "new"], "version 'new' is not of the form 4.1"),
]


@pytest.mark.parametrize(("words", "message"), ERRORS, ids=lambda value: str(value))
def test_an_error_is_one_line_and_leaves_no_result(
    files: Files, words: list[str], message: str
) -> None:
    known = {path.stem: str(path) for path in files.folder.iterdir()} | {"absent": "absent.seal"}
    keep = {"rotate", "relinearize", "conjugate", "nano"}
    result = Path(files.path("result"))
    result.write_bytes(files.b.to_string())
    before = set(files.folder.iterdir())
    operands = [word if word in keep else known.get(word, word) for word in words[1:]]
    done = files.run(words[0], *operands)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("ringsmith: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert result.read_bytes() == files.b.to_string()
    assert set(files.folder.iterdir()) == before


def test_an_unwritable_result_is_refused_and_nothing_is_left(files: Files) -> None:
    folder = files.folder / "no such folder"
    command = ["seal", "eval", "negate", files.path("a"), "--params", files.path("params")]
    done = runner.invoke(app, [*command, "-o", str(folder / "result.seal")])
    assert done.exit_code == 2
    assert "no such folder is no folder: make it first" in done.stderr
    done = runner.invoke(app, [*command, "-o", str(files.folder)])
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
    assert not list(files.folder.parent.glob(f".{files.folder.name}.*"))


def test_info_tells_a_file(files: Files) -> None:
    done = runner.invoke(app, ["seal", "info", files.path("a"), "--params", files.path("params")])
    assert done.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["type"] == "ciphertext"
    assert lines["SEAL"] == "4.4"
    assert lines["level"] == "4 of 4 limbs"
    assert lines["scale"] == f"{SCALE:.17g}"


def test_info_refuses_what_is_no_seal_file_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.seal"
    path.write_bytes(struct.pack("<HBBBBHQ", 0xA15E, 16, 4, 4, 0, 0, 20) + b"SEAL")
    done = runner.invoke(app, ["seal", "info", str(path)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "neither parameters nor plaintext" in done.stderr


@pytest.mark.parametrize("content", [b"hi\n", b"a longer text, and no file of SEAL's\n"])
def test_info_says_that_a_file_has_no_seal_header(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    done = runner.invoke(app, ["seal", "info", str(path)])
    assert done.exit_code == 2
    assert "no SEAL header: is this a file that SEAL saved?" in done.stderr


@pytest.mark.filterwarnings("default::ringsmith.params.SecurityWarning")
def test_insecure_parameters_are_computed_on_with_a_warning(tmp_path: Path) -> None:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(2048)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(2048, [40, 40]))
    context = seal.SEALContext(parms, True, seal.sec_level_type.none)
    plain = seal.Plaintext()
    seal.CKKSEncoder(context).encode([1.0], 2.0**20, plain)
    cipher = seal.Encryptor(context, seal.KeyGenerator(context).create_public_key()).encrypt(plain)
    cipher.save(str(tmp_path / "a"), seal.compr_mode_type.none)
    parms.save(str(tmp_path / "p"))
    place = ["--params", str(tmp_path / "p"), "-o", str(tmp_path / "z")]
    done = runner.invoke(app, ["seal", "eval", "negate", str(tmp_path / "a"), *place])
    assert done.exit_code == 0
    assert done.stderr.startswith("ringsmith: warning: seal: ")
    assert "logQP = 80 bits at N = 2048 is below 128" in done.stderr


@pytest.mark.parametrize("n", [4096, 16384])
@pytest.mark.parametrize(
    "words",
    [
        ["add", "a", "b"],
        ["add_plain", "a", "plain"],
        ["relinearize", "deep", "--relin-keys", "relin"],
        ["rotate", "a", "--steps", "1", "--galois-keys", "galois"],
    ],
    ids=lambda words: words[0],
)
def test_with_wrong_parameters_the_first_file_is_named(
    words: list[str], n: int, files: Files, tmp_path: Path
) -> None:
    parms = seal.EncryptionParameters(seal.scheme_type.ckks)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, [36, 36, 37]))
    parms.save(str(tmp_path / "params"))
    names = {word: files.path(word) for word in ("a", "b", "deep", "plain", "relin", "galois")}
    command = ["seal", "eval", *(names.get(word, word) for word in words)]
    options = ["--params", str(tmp_path / "params"), "-o", str(tmp_path / "result")]
    done = runner.invoke(app, [*command, *options])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"ringsmith: {names[words[1]]}: ")
    assert "other encryption parameters" in done.stderr or "other parameters" in done.stderr
