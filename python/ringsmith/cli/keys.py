"""The client's subcommands: ``keys``, ``encrypt`` and ``decrypt``. Files are Microsoft SEAL's."""

import cmath
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.seal import Parameters

if TYPE_CHECKING:
    from ringsmith.interop import SealParameters


def add_to(app: typer.Typer) -> None:
    """Add the subcommands to the command line ``app``."""
    for command in (keys, encrypt, decrypt):
        app.command()(command)


def keys(
    folder: Annotated[Path, typer.Argument(help="A folder to make; must not exist.")],
    params: Annotated[
        Path | None, typer.Option(help="SEAL's EncryptionParameters (CKKS), from a file.")
    ] = None,
    parameter_set: Annotated[
        str | None, typer.Option("--set", help="A named parameter set, such as nano.")
    ] = None,
    rotate: Annotated[
        list[int] | None,
        typer.Option(help="Make the Galois key of a rotation; as often as needed."),
    ] = None,
    conjugate: Annotated[bool, typer.Option(help="Make the Galois key of conjugation.")] = False,
    relin: Annotated[bool, typer.Option(help="Make relinearization keys.")] = True,
) -> None:
    """Make keys: secret_key.seal (yours alone), public_key.seal, and evaluation/ for the server."""
    from ringsmith import params as sets
    from ringsmith.client.bundle import EVALUATION, create_client_folder
    from ringsmith.errors import ParameterError
    from ringsmith.interop import read_parameters

    if (params is None) == (parameter_set is None):
        raise ParameterError("name either --params FILE or --set NAME")
    if params is not None:
        chosen = read_parameters(params).to_ckks(scale=2.0, name=params.stem)
    else:
        chosen = sets.ckks_set(str(parameter_set))
    elements = [chosen.galois_element(steps) for steps in rotate or ()]
    if conjugate:
        elements.append(chosen.conjugation_element)
    needs = sets.KeyNeeds(chosen.limbs if relin else None, dict.fromkeys(elements, chosen.limbs))
    create_client_folder(folder, chosen, needs)
    typer.echo(f"{folder}: keys of {chosen.name}, N = {chosen.n}, {len(chosen.primes)} primes.")
    typer.echo(f"Give {folder / EVALUATION} to the server, and the secret key to nobody.")


def encrypt(
    values: Annotated[Path, typer.Argument(help="A text file: one number a line, or 1+2j.")],
    params: Parameters,
    public_key: Annotated[Path, typer.Option(help="SEAL's PublicKey.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the ciphertext goes: a new file.")
    ],
    scale_bits: Annotated[
        float | None,
        typer.Option(help="log2 of the scale; the size of the last data prime, if none."),
    ] = None,
    limbs: Annotated[int | None, typer.Option(help="Data primes to use; all, if none.")] = None,
) -> None:
    """Encrypt a vector of numbers to a SEAL ciphertext."""
    from ringsmith.client import encrypt_vector
    from ringsmith.errors import ParameterError
    from ringsmith.interop import read_parameters, read_public_key, write_ciphertext
    from ringsmith.interop.files import check_target, write_whole

    check_target(output, overwrite=False)
    shape = read_parameters(params)
    last = shape.primes[shape.max_limbs - 1]
    bits = round(math.log2(last)) if scale_bits is None else scale_bits
    if not 0 <= bits < 1000:
        raise ParameterError(f"--scale-bits {bits} is outside 0 … 999")
    chosen = shape.to_ckks(scale=2.0)
    numbers = list(_numbers(values, chosen.slots))
    key = read_public_key(public_key, shape)
    cipher = encrypt_vector(chosen, key, numbers, scale=2.0**bits, limbs=limbs)
    write_whole(output, write_ciphertext(cipher, shape), overwrite=False)


def decrypt(
    file: Annotated[Path, typer.Argument(help="A SEAL ciphertext.")],
    params: Parameters,
    secret_key: Annotated[Path, typer.Option(help="SEAL's SecretKey; readable by you alone.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A new file, readable by you alone; else printed."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Slots to show; all, if none.")] = None,
    digits: Annotated[int, typer.Option(min=1, max=17, help="Significant digits.")] = 9,
    imaginary: Annotated[
        bool, typer.Option("--complex", help="Show the imaginary parts, too.")
    ] = False,
) -> None:
    """Decrypt a SEAL ciphertext to one number a line.

    Decrypted CKKS values carry noise that depends on the secret key: hand them to nobody who also
    sees the ciphertext (SECURITY.md).
    """
    from ringsmith.client import decrypt_vector
    from ringsmith.client.bundle import read_secret_key_file
    from ringsmith.interop import read_ciphertext, read_parameters
    from ringsmith.interop.files import SECRET_MODE, check_target, write_whole

    if output is not None:
        check_target(output, overwrite=False)
    shape = read_parameters(params)
    cipher = read_ciphertext(file, shape)
    _refuse_other_types(secret_key, shape)
    key = read_secret_key_file(secret_key, shape)
    slots = decrypt_vector(shape.to_ckks(scale=2.0), key, cipher)[:count]
    lines = [
        f"{z.real:.{digits}g}" + (f"{z.imag:+.{digits}g}j" if imaginary else "") for z in slots
    ]
    text = "\n".join(lines) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text.encode(), overwrite=False, mode=SECRET_MODE)


def _numbers(path: Path, most: int) -> Iterator[complex]:
    """The numbers of a text file, one a line; empty lines are passed over."""
    from ringsmith.errors import InteropError

    found = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for place, line in enumerate(iter(lambda: lines.readline(200), ""), start=1):
                if not line.strip():
                    continue
                found += 1
                if found > most:
                    raise InteropError(f"{path}: more than the {most} numbers that have a slot")
                yield _number(line.strip(), f"{path}, line {place}")
    except OSError as error:
        raise InteropError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InteropError(f"{path}: not a text file") from None
    if not found:
        raise InteropError(f"{path}: holds no number: write one a line")


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
    """Refuses what is certainly no secret key, before anybody is told to protect it."""
    from ringsmith.errors import InteropError
    from ringsmith.interop import describe

    kind = describe(path, shape).kind
    if kind not in ("secret key", "plaintext"):  # a key of other parameters looks like the latter
        raise InteropError(f"{path}: no secret key; its type is: {kind}")
