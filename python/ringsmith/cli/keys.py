"""The client's subcommands: ``keys``, ``encrypt`` and ``decrypt``. Files are Microsoft SEAL's."""

import cmath
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ringsmith.cli.options import Share, Shared, StatisticalSecurity, shared
from ringsmith.cli.seal import Parameters

if TYPE_CHECKING:
    from ringsmith.client import SecretKey
    from ringsmith.interop import SealParameters
    from ringsmith.objects import Ciphertext, PublicKey
    from ringsmith.params import BfvParameters, RlweParameters

T = TypeVar("T")


class _Sharing(Shared):
    """With what the noise reaches at most."""

    noise_bound: float | None


_MAX_NUMBERS = 1 << 24
"""Bytes of a file of numbers, at most: 256 for each slot of the largest ring."""
_NOT_TO_SHARE = (
    "do not share these numbers with anyone who sees the ciphertexts: their noise reveals the "
    "secret key; --share hides it"
)
_IMAGINARY = 1e-3
"""Imaginary parts above this part of the largest number are no noise."""


def keys(
    folder: Annotated[Path, typer.Argument(help="A folder to make; must not exist.")],
    params: Annotated[
        Path | None, typer.Option(help="SEAL's EncryptionParameters, from a file.")
    ] = None,
    parameter_set: Annotated[
        str | None,
        typer.Option("--set", help="A parameter set: a name, such as nano, or a TOML file."),
    ] = None,
    rotate: Annotated[
        list[int] | None,
        typer.Option(help="Make the Galois key of a rotation; as often as needed."),
    ] = None,
    conjugate: Annotated[
        bool, typer.Option(help="Make the Galois key of conjugation; of BFV, of the swap of rows.")
    ] = False,
    relin: Annotated[bool, typer.Option(help="Make relinearization keys.")] = True,
    seeded: Annotated[
        bool,
        typer.Option(
            "--seeded",
            help="Make half of each evaluation key from a seed: evaluation/key_seeds.json.",
        ),
    ] = False,
) -> None:
    """Make keys: secret_key.seal (yours alone), public_key.seal, and evaluation/ for the server."""
    from ringsmith import params as sets
    from ringsmith.client.bundle import EVALUATION, create_client_folder
    from ringsmith.errors import ParameterError
    from ringsmith.interop import read_parameters

    if (params is None) == (parameter_set is None):
        raise ParameterError("name either --params FILE or --set NAME")
    if params is not None:
        chosen = read_parameters(params).to_parameters(params.stem)
    else:
        chosen = sets.parameter_set(str(parameter_set))
    elements = [chosen.galois_element(steps) for steps in rotate or ()]
    if conjugate:
        elements.append(chosen.conjugation_element)
    needs = sets.KeyNeeds(chosen.limbs if relin else None, dict.fromkeys(elements, chosen.limbs))
    create_client_folder(folder, chosen, needs, seeded=seeded)
    print(f"{folder}: keys of {chosen.name}, N = {chosen.n}, {len(chosen.primes)} primes.")
    print(f"Give {folder / EVALUATION} to the server, and keep the secret key.")


Coefficients = Annotated[
    bool, typer.Option("--coefficients", help="BFV: numbers are coefficients, not slots.")
]


def encrypt(
    values: Annotated[
        Path, typer.Argument(help="A text file: one number a line, or 1+2j; of BFV, integers.")
    ],
    params: Parameters,
    public_key: Annotated[Path, typer.Option(help="SEAL's PublicKey.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the ciphertext goes: a new file.")
    ],
    scale_bits: Annotated[
        float | None,
        typer.Option(help="CKKS: log2 of the scale; the size of the last data prime, if none."),
    ] = None,
    limbs: Annotated[
        int | None, typer.Option(help="CKKS: data primes to use; all, if none.")
    ] = None,
    coefficients: Coefficients = False,
) -> None:
    """Encrypt a vector of numbers to a SEAL ciphertext."""
    from ringsmith.files import check_target, write_whole
    from ringsmith.interop import read_parameters, read_public_key, with_key_tag, write_ciphertext

    check_target(output, overwrite=False)
    shape = read_parameters(params)
    chosen = shape.to_parameters()
    key = read_public_key(public_key, shape)
    if chosen.exact:
        _refuse_options("BFV", {"--scale-bits": scale_bits, "--limbs": limbs})
        cipher = _encrypt_integers(chosen, key, values, coefficients=coefficients)
    else:
        _refuse_options("CKKS", {"--coefficients": coefficients or None})
        cipher = _encrypt_numbers(chosen, key, values, scale_bits, limbs)
    data = with_key_tag(write_ciphertext(cipher, shape), cipher.key_tag)
    write_whole(output, data, overwrite=False)


def decrypt(
    file: Annotated[Path, typer.Argument(help="A SEAL ciphertext.")],
    params: Parameters,
    secret_key: Annotated[Path, typer.Option(help="SEAL's SecretKey; readable by you alone.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new file, readable by you alone; else printed."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Slots to show; all, if none.")] = None,
    digits: Annotated[
        int | None, typer.Option(min=1, max=17, help="CKKS: significant digits; 9, if none.")
    ] = None,
    imaginary: Annotated[
        bool, typer.Option("--complex", help="CKKS: show the imaginary parts, too.")
    ] = False,
    coefficients: Coefficients = False,
    share: Share = None,
    noise_bound: Annotated[
        float | None,
        typer.Option(
            help="With --share: what the noise reaches at most. CKKS: the error of every number, "
            "as ClientKit.noise_bounds gives it; BFV: the largest coefficient of the error."
        ),
    ] = None,
    statistical_security: StatisticalSecurity = None,
) -> None:
    """Decrypt a SEAL ciphertext to one number a line.

    Decrypted CKKS values have noise that depends on the secret key: do not give them to anyone who
    sees the ciphertext, except with --share. It adds noise that hides theirs, and prints the digits
    that survive. A BFV ciphertext without noise budget gives an error. Do not pass on that
    error either (SECURITY.md). Numbers without an error are right only if the
    noise never reached the modulus: a ciphertext whose noise has wrapped around may look right.
    """
    from ringsmith.client import load_secret_key
    from ringsmith.errors import ParameterError
    from ringsmith.files import SECRET_MODE, check_target, write_whole
    from ringsmith.interop import read_ciphertext, read_parameters

    if output is not None:
        check_target(output, overwrite=False)
    shape = read_parameters(params)
    chosen = shape.to_parameters()
    cipher = read_ciphertext(file, shape)
    _refuse_other_types(secret_key, shape)
    key = load_secret_key(secret_key, chosen)
    sharing: _Sharing = {**shared(share, statistical_security), "noise_bound": noise_bound}
    if share is None and noise_bound is not None:
        raise ParameterError("--noise-bound goes with --share: name the decryptions to be shared")
    if chosen.exact:
        _refuse_options("BFV", {"--digits": digits, "--complex": imaginary or None})
        lines = _decrypt_integers(chosen, key, cipher, sharing, coefficients=coefficients)
    else:
        _refuse_options("CKKS", {"--coefficients": coefficients or None})
        shown = _shown(chosen, cipher, digits, sharing)
        lines = _decrypt_numbers(chosen, key, cipher, sharing, shown, imaginary=imaginary)
        if share is None:
            print(_NOT_TO_SHARE, file=sys.stderr)
    text = "\n".join(lines[:count]) + "\n"
    if output is None:
        print(text, end="")
    else:
        write_whole(output, text.encode(), overwrite=False, mode=SECRET_MODE)


def _encrypt_numbers(
    given: "RlweParameters",
    key: "PublicKey",
    values: Path,
    scale_bits: float | None,
    limbs: int | None,
) -> "Ciphertext":
    from ringsmith.client import encrypt_vector
    from ringsmith.client.checks import checked_ckks
    from ringsmith.errors import ParameterError

    chosen = checked_ckks(given, "a scale")
    bits = round(math.log2(chosen.data_primes[-1])) if scale_bits is None else scale_bits
    if not 0 <= bits < 1000:
        raise ParameterError(f"--scale-bits {bits} is outside 0 … 999")
    numbers = list(_numbers(values, chosen.slots, _number))
    return encrypt_vector(chosen, key, numbers, scale=2.0**bits, limbs=limbs)


def _encrypt_integers(
    given: "RlweParameters", key: "PublicKey", values: Path, *, coefficients: bool
) -> "Ciphertext":
    from ringsmith import client
    from ringsmith.client.checks import checked_bfv

    chosen = checked_bfv(given, "whole numbers")
    _check_slots(chosen, coefficients=coefficients)
    encode = client.encode_coefficients if coefficients else client.encode
    integers = list(_numbers(values, chosen.n, _integer))
    return client.encrypt(chosen, key, encode(chosen, integers))


def _shown(
    chosen: "RlweParameters", cipher: "Ciphertext", digits: int | None, sharing: _Sharing
) -> str:
    """Returns how numbers are printed: significant digits, or the decimals that survive."""
    from ringsmith.client import shared_bits
    from ringsmith.errors import ParameterError

    share, bound = sharing["share"], sharing["noise_bound"]
    if share is None:
        return f".{digits or 9}g"
    if digits is not None:
        raise ParameterError("--digits: --share prints the digits that survive: leave it out")
    if bound is None:
        raise ParameterError(
            "--share needs --noise-bound: a file does not say how large its noise may be; "
            "ClientKit.noise_bounds(share) of the program's kit does"
        )
    bits = shared_bits(
        chosen, cipher.scale, share, bound, statistical_security=sharing["statistical_security"]
    )
    return f".{math.floor(bits * math.log10(2))}f"


def _decrypt_numbers(
    given: "RlweParameters",
    key: "SecretKey",
    cipher: "Ciphertext",
    sharing: _Sharing,
    shown: str,
    *,
    imaginary: bool,
) -> list[str]:
    from ringsmith.client import DecryptionWarning, decrypt_vector
    from ringsmith.errors import InteropError

    with warnings.catch_warnings():
        warnings.simplefilter("error", DecryptionWarning)
        try:
            numbers = decrypt_vector(given, key, cipher, **sharing)
        except DecryptionWarning as warning:
            raise InteropError(str(warning)) from None
    largest = float(abs(numbers.imag).max())
    if not imaginary and largest > _IMAGINARY * max(1.0, float(abs(numbers.real).max())):
        print(
            f"the imaginary parts are left out, and reach {largest:.3g}: --complex shows them",
            file=sys.stderr,
        )
    return [f"{z.real:{shown}}" + (f"{z.imag:+{shown}}j" if imaginary else "") for z in numbers]


def _decrypt_integers(
    given: "RlweParameters",
    key: "SecretKey",
    cipher: "Ciphertext",
    sharing: _Sharing,
    *,
    coefficients: bool,
) -> list[str]:
    from ringsmith import client
    from ringsmith.client.checks import checked_bfv
    from ringsmith.errors import InteropError

    chosen = checked_bfv(given, "whole numbers")
    _check_slots(chosen, coefficients=coefficients)
    if client.noise_budget(chosen, key, cipher) == 0:
        raise InteropError(
            "the ciphertext has no noise budget left, so that its message is lost: compute less on "
            "it, or take parameters with a larger q or a smaller t"
        )
    decode = client.decode_coefficients if coefficients else client.decode
    return [str(value) for value in decode(chosen, client.decrypt(chosen, key, cipher, **sharing))]


def _check_slots(chosen: "BfvParameters", *, coefficients: bool) -> None:
    """Refuses slots where t has none, and names the option that does without."""
    from ringsmith.errors import ParameterError

    if not (coefficients or chosen.batching):
        raise ParameterError(
            f"plain modulus t = {chosen.plain_modulus} does not batch, so there are no slots: say "
            "--coefficients, to encrypt and to decrypt"
        )


def _refuse_options(scheme: str, given: Mapping[str, object]) -> None:
    """Refuses options that the other scheme has."""
    from ringsmith.errors import ParameterError

    for option, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{option}: the parameters are of {scheme}, which has no such option"
            )


def _numbers(path: Path, most: int, parse: Callable[[str, str], T]) -> Iterator[T]:
    """The numbers of a text file, one a line; empty lines are passed over."""
    from ringsmith.errors import InteropError
    from ringsmith.files import read_bounded

    found = 0
    try:
        text = read_bounded(path, _MAX_NUMBERS).decode("utf-8-sig")  # some editors write a mark
    except UnicodeDecodeError:
        raise InteropError(f"{path}: not a text file") from None
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        found += 1
        if found > most:
            raise InteropError(f"{path}: more than the {most} numbers that have a slot")
        yield parse(line.strip(), f"{path}, line {place}")
    if not found:
        raise InteropError(f"{path}: holds no number: write one a line")


def _integer(text: str, place: str) -> int:
    """A whole number; ``place`` names it in errors."""
    from ringsmith.errors import InteropError

    try:
        return int(text)
    except ValueError:
        raise InteropError(
            f"{place}: {text[:40]!r} is not a whole number, as BFV needs it"
        ) from None


def _number(text: str, place: str) -> complex:
    """A finite number; ``place`` names it in errors."""
    from ringsmith.errors import InteropError

    try:
        value = complex(text)
    except ValueError:
        raise InteropError(f"{place}: {text[:40]!r} is not a number") from None
    if not cmath.isfinite(value):
        raise InteropError(f"{place}: {text[:40]!r} is not finite")
    return value


def _refuse_other_types(path: Path, shape: "SealParameters") -> None:
    """Refuses a file that is certainly no secret key, before a warning to protect it."""
    from ringsmith.errors import InteropError
    from ringsmith.interop import describe

    kind = describe(path, shape).kind
    if kind not in ("secret key", "plaintext"):  # a key of other parameters looks like the latter
        raise InteropError(f"{path}: no secret key; its type is: {kind}")
