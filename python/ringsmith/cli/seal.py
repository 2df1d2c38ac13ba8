"""``ringsmith seal``: shows Microsoft SEAL's files and computes on them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ringsmith.interop import SealParameters
    from ringsmith.objects import EvaluationKeys, OnTheFlyKeys

seal_app = typer.Typer(
    help="Tell Microsoft SEAL's files, and compute on them.", no_args_is_help=True
)

InFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file that SEAL saved.")]
Parameters = Annotated[Path, typer.Option("--params", help="SEAL's EncryptionParameters.")]


class Packing(StrEnum):
    """Compression of what is written."""

    NONE = "none"
    ZLIB = "zlib"
    ZSTD = "zstd"


@seal_app.command()
def info(
    file: InFile,
    params: Annotated[
        Path | None, typer.Option("--params", help="Tell level and type exactly, with these.")
    ] = None,
) -> None:
    """Tell what a SEAL file is: type, version, compression, shape, scale."""
    from ringsmith.interop import describe, read_parameters

    found = describe(file, None if params is None else read_parameters(params))
    major, minor = found.header.version
    fields = {
        "type": found.kind,
        "SEAL": f"{major}.{minor}",
        "compression": str(found.header.compression),
        "bytes": str(found.header.size),
        **found.fields,
    }
    width = max(map(len, fields))
    for name, value in fields.items():
        print(f"{name:{width}}  {value}")


@seal_app.command("eval")
def evaluate(
    operation: Annotated[str, typer.Argument(metavar="OP", help="What to do.")],
    first: Annotated[Path, typer.Argument(metavar="IN", help="A ciphertext.")],
    params: Parameters,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the result goes: a new file.")
    ],
    second: Annotated[
        Path | None,
        typer.Argument(metavar="[IN2]", help="A second ciphertext; a plaintext for OP_plain."),
    ] = None,
    relin_keys: Annotated[Path | None, typer.Option(help="For relinearize.")] = None,
    galois_keys: Annotated[Path | None, typer.Option(help="For rotate and conjugate.")] = None,
    key_seeds: Annotated[
        Path | None,
        typer.Option(help="What half of the keys is expanded from, of `keys --seeded`."),
    ] = None,
    on_the_fly: Annotated[
        bool,
        typer.Option(
            "--expand-on-the-fly", help="Keep half of each key; expand the rest at use (cpu)."
        ),
    ] = False,
    steps: Annotated[
        int | None, typer.Option(help="Of rotate: slots to the left, or negative to the right.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where to compute: cpu, model, rtl, card, or another package's.")
    ] = "cpu",
    port: Annotated[
        str | None, typer.Option(help="Serial port of a card, such as /dev/ttyUSB0.")
    ] = None,
    baud: Annotated[
        int | None,
        typer.Option(help="The port's bits a second, as in the card's bitstream; else a million."),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="Accelerator to use: a name, or a TOML file; else the smallest that fits."
        ),
    ] = None,
    seal_version: Annotated[
        str, typer.Option(help="SEAL 4.x to write for: 4.0 … 4.3 read only their own.")
    ] = "4.4",
    compression: Annotated[Packing, typer.Option(help="Of the result.")] = Packing.NONE,
    force: Annotated[
        bool, typer.Option("--force", help="Write over an older ciphertext that is no input.")
    ] = False,
) -> None:
    """Compute OP on a SEAL ciphertext of CKKS or BFV; the result is the one that SEAL would save.

    OP: add, sub, multiply (IN and IN2 ciphertexts); add_plain, sub_plain, multiply_plain (IN2 a
    plaintext); negate, square, relinearize, mod_switch, rotate (of BFV: both rows), conjugate (of
    BFV: swap_columns); of CKKS rescale, and relinearize_rescale, one division, which SEAL has not.
    A file does not say how much noise it has: take parameters whose modulus suffices for all
    operations. With --design rpm the device multiplies polynomials for the CPU, and BFV's
    products are not SEAL's bits (HPS), but decrypt to the same.
    """
    from ringsmith.backends.cards.interface import DEFAULT_BAUD
    from ringsmith.backends.registry import backend_without_designs, multiplications, named_design
    from ringsmith.errors import ProgramError
    from ringsmith.files import check_target, write_whole
    from ringsmith.graph.operations import Op
    from ringsmith.interop import (
        Compression,
        read_ciphertext,
        read_parameters,
        read_plaintext,
        with_key_tag,
        write_ciphertext,
    )
    from ringsmith.runtime.evaluator import Evaluator, operation_named

    if (steps is None) == (operation == Op.ROTATE):
        wanted = "needs --steps" if steps is None else "takes no --steps"
        raise ProgramError(f"{operation} {wanted}")
    interprets = backend_without_designs(device)
    if design and interprets and not multiplications(device, named_design(design)):
        raise ProgramError(
            f"--design {design} needs --device model or rtl: the {device} has no design"
        )
    if on_the_fly and not (interprets and interprets.capabilities.any_keys):
        raise ProgramError(
            f"--expand-on-the-fly is for the cpu: leave it out, and --device {device} loads half "
            "of the keys with seeds where its design has a PRNG"
        )
    version = _version(seal_version)
    inputs = (first, second, params, relin_keys, galois_keys, key_seeds)
    check_target(output, overwrite=force, inputs=inputs)
    shape = read_parameters(params)
    if output.exists():
        _refuse_all_but_ciphertexts(output, shape)
    parameters = shape.to_parameters()
    op = operation_named(operation, parameters)
    ciphertext = read_ciphertext(first, shape)
    keys = _keys(shape, relin_keys, galois_keys, key_seeds)
    forms = _half_in_memory(shape, keys) if on_the_fly else keys
    evaluator = Evaluator(parameters, forms, device, design, port, baud or DEFAULT_BAUD)
    operand = None
    if second is not None:
        read = read_plaintext if op.record.plain else read_ciphertext
        operand = read(second, shape)
    result = evaluator.run(operation, ciphertext, operand, steps=steps or 0)
    packing = Compression[compression.name]
    data = write_ciphertext(result, shape, version=version, compression=packing)
    write_whole(output, with_key_tag(data, result.key_tag), overwrite=force)


def _refuse_all_but_ciphertexts(output: Path, shape: "SealParameters") -> None:
    """``--force`` is for results: a key that it replaced would be lost."""
    from ringsmith.errors import InteropError
    from ringsmith.interop import describe

    try:
        kind = describe(output, shape).kind
    except InteropError:
        kind = "no whole file of SEAL's"
    if kind != "ciphertext":
        raise InteropError(
            f"{output}: {kind}: --force overwrites ciphertexts alone: choose another name, or "
            "remove it"
        )


def _keys(
    shape: "SealParameters", relin: Path | None, galois: Path | None, seeds: Path | None
) -> "EvaluationKeys":
    from ringsmith.interop import read_galois_keys, read_relin_keys
    from ringsmith.interop.key_seeds import read_key_seeds
    from ringsmith.objects import EvaluationKeys

    keys = EvaluationKeys(
        None if relin is None else read_relin_keys(relin, shape),
        {} if galois is None else read_galois_keys(galois, shape),
    )
    return keys if seeds is None else read_key_seeds(seeds).attach(keys, shape.primes)


def _half_in_memory(shape: "SealParameters", keys: "EvaluationKeys") -> "OnTheFlyKeys":
    from ringsmith.interop.seeded_keys import on_the_fly_keys

    found = on_the_fly_keys(keys, shape.primes)
    print(f"keys: {found.nbytes:,} bytes in memory of {keys.nbytes:,}")
    return found


def _version(text: str) -> tuple[int, int]:
    from ringsmith.errors import InteropError

    major, _, minor = text.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        raise InteropError(f"SEAL version {text!r} is not of the form 4.1")
    return int(major), int(minor)
