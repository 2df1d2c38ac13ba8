"""SEAL's BFV files: read as SEAL wrote them, written as SEAL writes them, refused as CKKS's."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import seal
from tests.core.shared import seeded

from ringsmith import _core, interop, trace
from ringsmith.client.bundle import create_client_folder
from ringsmith.errors import InteropError
from ringsmith.interop.bundle import read_bundle
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext
from ringsmith.params import BfvParameters, KeyNeeds, SecurityWarning, parameter_set

SealObject = Any
"""Whatever ``seal-python``, which has no types, makes."""

N = 2048
PRIMES = tuple(sorted(_core.prime_search(40, N, 3)))
T = 65537


class Bfv:
    """SEAL's BFV objects over PRIMES, and the bytes that SEAL saves."""

    def __init__(self, folder: Path, scheme: SealObject = seal.scheme_type.bfv) -> None:
        self.folder = folder
        self.parms = seal.EncryptionParameters(scheme)
        self.parms.set_poly_modulus_degree(N)
        self.parms.set_coeff_modulus([seal.Modulus(q) for q in PRIMES])
        if scheme == seal.scheme_type.bfv:
            self.parms.set_plain_modulus(T)
        self.context = seal.SEALContext(self.parms, True, seal.sec_level_type.none)
        self.keygen = seal.KeyGenerator(self.context)
        self.public = self.keygen.create_public_key()
        self.relin = self.keygen.create_relin_keys()
        self.galois = seal.GaloisKeys()
        self.keygen.create_galois_keys([1, 0], self.galois)
        self.encryptor = seal.Encryptor(self.context, self.public)
        self.evaluator = seal.Evaluator(self.context)
        self.decryptor = seal.Decryptor(self.context, self.keygen.secret_key())

    def saved(self, item: SealObject) -> bytes:
        """The bytes of any SEAL object, uncompressed."""
        path = self.folder / "object.seal"
        if isinstance(item, seal.Ciphertext | seal.Plaintext):
            item.save(str(path), seal.compr_mode_type.none)
        else:
            item.save(str(path))
        return path.read_bytes()

    def load(self, item: SealObject, data: bytes) -> SealObject:
        """Lets SEAL read bytes into a fresh object of its own."""
        path = self.folder / "loaded.seal"
        path.write_bytes(data)
        item.load(self.context, str(path))
        return item

    def batched(self, values: list[int]) -> SealObject:
        """SEAL's plaintext of N slots."""
        return seal.BatchEncoder(self.context).encode(values)


@pytest.fixture(scope="module")
def bfv(tmp_path_factory: pytest.TempPathFactory) -> Bfv:
    """SEAL with BFV."""
    return Bfv(tmp_path_factory.mktemp("bfv"))


@pytest.fixture(scope="module")
def ckks(tmp_path_factory: pytest.TempPathFactory) -> Bfv:
    """SEAL with CKKS over the same primes."""
    return Bfv(tmp_path_factory.mktemp("ckks"), seal.scheme_type.ckks)


SHAPE = interop.SealParameters(N, PRIMES, T)
CKKS_SHAPE = interop.SealParameters(N, PRIMES)


def test_bfv_parameters_are_read_and_written_as_seal_does(bfv: Bfv) -> None:
    data = bfv.saved(bfv.parms)
    assert interop.read_parameters(data) == SHAPE
    assert interop.write_parameters(SHAPE) == data
    for limbs, context in (
        (3, bfv.context.key_context_data()),
        (2, bfv.context.first_context_data()),
    ):
        assert SHAPE.parms_id(limbs) == struct.pack("<4Q", *context.parms_id())
        assert SHAPE.limbs(SHAPE.parms_id(limbs)) == limbs


def test_bfv_parameters_convert_and_back() -> None:
    with pytest.warns(SecurityWarning):
        converted = SHAPE.to_bfv()
    assert isinstance(converted, BfvParameters)
    assert (converted.plain_modulus, converted.primes) == (T, PRIMES)
    assert (converted.multiplication, converted.relinearization) == ("behz", "special_prime")
    assert interop.SealParameters.from_parameters(converted) == SHAPE
    assert SHAPE.to_parameters().scheme == "bfv"
    assert CKKS_SHAPE.to_parameters().scheme == "ckks"
    with pytest.raises(InteropError, match="SEAL has exactly 1 special prime and one prime a"):
        interop.SealParameters.from_parameters(parameter_set("heaws"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("error_deviation", 102.0, "have error_deviation = 102.0, which SEAL's files cannot say"),
        ("multiplication", "hps", "have multiplication = 'hps', which SEAL's files cannot say"),
    ],
)
def test_what_seals_files_cannot_say_is_refused_not_lost(
    field: str, value: object, message: str, tmp_path: Path
) -> None:
    with pytest.warns(SecurityWarning):
        made = BfvParameters.from_primes(
            n=N,
            data_primes=PRIMES[:-1],
            special_prime=PRIMES[-1],
            plain_modulus=T,
            security=None,
            **{field: value},  # type: ignore[arg-type]
        )
    with pytest.raises(InteropError) as caught:
        interop.SealParameters.from_parameters(made)
    assert message in str(caught.value)
    assert f"leave {field} out of the parameters" in str(caught.value)
    with pytest.raises(InteropError, match=field):
        create_client_folder(tmp_path / "client", made, KeyNeeds())
    assert not (tmp_path / "client").exists()


def test_a_server_plans_the_noise_budget_that_the_client_has(tmp_path: Path) -> None:
    made = SHAPE.to_bfv()
    create_client_folder(tmp_path / "client", made, KeyNeeds(relin=made.limbs))
    served = read_bundle(tmp_path / "client" / "evaluation").parameters.to_bfv(made.name)
    assert served == made
    assert trace(lambda x: x * x, served).forecast() == trace(lambda x: x * x, made).forecast()


@pytest.mark.parametrize("drops", [0, 1])
def test_bfv_ciphertexts_are_seals_own_bytes(bfv: Bfv, drops: int) -> None:
    cipher = bfv.encryptor.encrypt(bfv.batched(list(range(N))))
    for _ in range(drops):
        bfv.evaluator.mod_switch_to_next_inplace(cipher)
    data = bfv.saved(cipher)
    read = interop.read_ciphertext(data, SHAPE)
    assert read.data.shape == (2, 2 - drops, N)
    assert read.scale == 1.0
    assert read.data.reshape(-1).tolist() == np.frombuffer(data, "<u8", offset=113).tolist()
    assert interop.write_ciphertext(read, SHAPE) == data


def test_bfv_plaintexts_are_seals_own_bytes(bfv: Bfv) -> None:
    plain = bfv.batched([(7 * i) % T for i in range(N)])
    data = bfv.saved(plain)
    read = interop.read_plaintext(data, SHAPE)
    assert isinstance(read, PlainPolynomial)
    assert read.data.tolist() == np.frombuffer(data, "<u8", offset=88).tolist()
    assert interop.write_plaintext(read, SHAPE) == data


def test_a_short_bfv_plaintext_is_filled_with_zeros(bfv: Bfv) -> None:
    data = bfv.saved(seal.Plaintext("3x^2 + 1"))
    read = interop.read_plaintext(data, SHAPE)
    assert read.data[:4].tolist() == [1, 0, 3, 0]
    assert read.data.shape == (N,)
    assert not read.data[3:].any()
    again = bfv.load(seal.Plaintext(), interop.write_plaintext(read, SHAPE))
    decrypted = bfv.decryptor.decrypt(bfv.encryptor.encrypt(again))
    assert decrypted.to_string() == "3x^2 + 1"


def test_bfv_keys_are_seals_own_bytes(bfv: Bfv) -> None:
    for item, read, write in (
        (bfv.public, interop.read_public_key, interop.write_public_key),
        (bfv.keygen.secret_key(), interop.read_secret_key, interop.write_secret_key),
        (bfv.relin, interop.read_relin_keys, interop.write_relin_keys),
        (bfv.galois, interop.read_galois_keys, interop.write_galois_keys),
    ):
        data = bfv.saved(item)
        assert write(read(data, SHAPE), SHAPE) == data  # type: ignore[operator]


def test_a_seeded_bfv_ciphertext_expands_as_in_seal(bfv: Bfv, rng: np.random.Generator) -> None:
    data = seeded(bfv.saved(bfv.encryptor.encrypt(bfv.batched([1] * N))), rng.bytes(64))
    expected = bfv.saved(bfv.load(seal.Ciphertext(), data))
    mine = interop.read_ciphertext(data, SHAPE)
    assert mine.data.reshape(-1).tolist() == np.frombuffer(expected, "<u8", offset=113).tolist()


def test_info_tells_bfv_files(bfv: Bfv) -> None:
    found = interop.describe(bfv.saved(bfv.parms))
    assert (found.fields["scheme"], found.fields["plain modulus"]) == ("BFV", "65537 (17 bits)")
    plain = interop.describe(bfv.saved(bfv.batched([1] * N)), SHAPE)
    assert plain.kind == "plaintext"
    assert plain.fields["scheme"] == "BFV: coefficients modulo t"
    cipher = interop.describe(bfv.saved(bfv.encryptor.encrypt(bfv.batched([1] * N))), SHAPE)
    assert (cipher.kind, cipher.fields["form"]) == ("ciphertext", "coefficients")
    assert cipher.fields["level"] == "2 of 2 limbs"
    assert interop.describe(bfv.saved(bfv.public), SHAPE).kind == "public key"
    assert interop.describe(bfv.saved(bfv.keygen.secret_key()), SHAPE).kind == "secret key"
    assert (
        "of other parameters" in interop.describe(bfv.saved(bfv.public), CKKS_SHAPE).fields["level"]
    )


# ---- the other scheme's, and damage --------------------------------------------------------------

OTHER_SCHEME = "belongs to CKKS parameters of the same primes, and the parameters given are BFV"


@pytest.mark.parametrize(
    ("item", "read"),
    [
        (lambda s: s.public, interop.read_public_key),
        (lambda s: s.relin, interop.read_relin_keys),
        (lambda s: s.galois, interop.read_galois_keys),
        (lambda s: s.keygen.secret_key(), interop.read_secret_key),
        (lambda s: s.keygen.secret_key(), interop.read_ciphertext),
    ],
)
def test_keys_of_the_other_scheme_are_refused(
    item: Callable[[Bfv], Any], read: Callable[..., Any], bfv: Bfv, ckks: Bfv
) -> None:
    with pytest.raises(InteropError, match=OTHER_SCHEME):
        read(ckks.saved(item(ckks)), SHAPE)
    with pytest.raises(
        InteropError, match=r"which are CKKS.*the scheme or the plain modulus differ"
    ):
        read(bfv.saved(item(bfv)), CKKS_SHAPE)


def test_ciphertexts_and_plaintexts_of_the_other_scheme_are_refused(bfv: Bfv, ckks: Bfv) -> None:
    plain = bfv.batched([1] * N)
    encoded = seal.Plaintext()
    seal.CKKSEncoder(ckks.context).encode([1.0], 2.0**30, encoded)
    with pytest.raises(InteropError, match=OTHER_SCHEME):
        interop.read_ciphertext(ckks.saved(ckks.encryptor.encrypt(encoded)), SHAPE)
    with pytest.raises(InteropError, match="which are CKKS"):
        interop.read_ciphertext(bfv.saved(bfv.encryptor.encrypt(plain)), CKKS_SHAPE)
    with pytest.raises(InteropError, match="in NTT form, as CKKS plaintexts are"):
        interop.read_plaintext(ckks.saved(encoded), SHAPE)
    with pytest.raises(InteropError, match=r"not in NTT form, .*it is a BFV plaintext"):
        interop.read_plaintext(bfv.saved(plain), CKKS_SHAPE)


def damaged(data: bytes, at: int, value: int) -> bytes:
    """The bytes with the word at a position replaced."""
    return data[:at] + struct.pack("<Q", value) + data[at + 8 :]


def test_damaged_bfv_files_are_refused(bfv: Bfv) -> None:
    plain = bfv.saved(bfv.batched([1] * N))
    cipher = bfv.saved(bfv.encryptor.encrypt(bfv.batched([1] * N)))
    parms = bfv.saved(bfv.parms)
    ntt = bfv.evaluator.transform_to_ntt(bfv.encryptor.encrypt(bfv.batched([1] * N)))
    two = struct.unpack("<Q", struct.pack("<d", 2.0))[0]
    for read, data, words in (
        (interop.read_plaintext, damaged(plain, 48, N + 1), "2049 coefficients are more than N"),
        (interop.read_plaintext, damaged(plain, 48, 1 << 63), "coefficients are more than N"),
        (interop.read_plaintext, damaged(plain, 88, T), f"is {T} and the plain modulus t = {T}"),
        (interop.read_plaintext, damaged(plain, 56, two), "scale 2.0 is not 1, as of all BFV"),
        (interop.read_plaintext, plain[:-8], "bytes expected"),
        (interop.read_ciphertext, damaged(cipher, 73, two), "scale 2.0 is not 1, as of all BFV"),
        (
            interop.read_ciphertext,
            bfv.saved(ntt),
            "the NTT-form flag is 1, but the parameters need",
        ),
        (interop.read_ciphertext, damaged(cipher, 113, PRIMES[0]), "is not below its prime"),
    ):
        with pytest.raises(InteropError, match=words):
            read(data, SHAPE)  # type: ignore[operator]
    plain_modulus = len(parms) - 8
    for value, words in (
        (0, "the plain modulus is 0, and BFV needs one"),
        (1, "plain modulus 1"),
        (1 << 60, "is not a number in 2"),
        (PRIMES[0], "coprime to the primes"),
    ):
        with pytest.raises(InteropError, match=words):
            interop.read_parameters(damaged(parms, plain_modulus, value))
    with pytest.raises(InteropError, match="scheme 3 is neither BFV"):
        interop.read_parameters(parms[:16] + b"\x03" + parms[17:])


def test_what_is_not_bfvs_is_not_written() -> None:
    polynomial = np.zeros(N, np.uint64)
    residues = np.zeros((2, 2, N), np.uint64)
    for write, item, shape, words in (
        (
            interop.write_plaintext,
            PlainPolynomial(polynomial),
            CKKS_SHAPE,
            "BFV plaintext has no CKKS",
        ),
        (
            interop.write_plaintext,
            Plaintext(residues[0], 1.0),
            SHAPE,
            "CKKS plaintext has no BFV",
        ),
        (
            interop.write_plaintext,
            PlainPolynomial(polynomial[1:]),
            SHAPE,
            "expected are N = 2048 coeff",
        ),
        (
            interop.write_plaintext,
            PlainPolynomial(polynomial + np.uint64(T)),
            SHAPE,
            "a coefficient is 65537",
        ),
        (
            interop.write_ciphertext,
            Ciphertext(residues, 2.0),
            SHAPE,
            "scale 2.0 is not 1, as of all BFV",
        ),
    ):
        with pytest.raises(InteropError, match=words):
            write(item, shape)  # type: ignore[operator]
