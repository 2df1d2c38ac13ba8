"""The subcommands of ``remote``: encrypted programs that run on a service."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringsmith.cli.options import Share, StatisticalSecurity, named_arrays, shared

if TYPE_CHECKING:
    from ringsmith.client import SecretKey
    from ringsmith.objects import EvaluationKeys, PublicKey
    from ringsmith.remote import RemoteProgram, Service

remote_app = typer.Typer(
    help="Run encrypted programs on a service; the secret key stays here.", no_args_is_help=True
)

TOKEN_VARIABLE = "RINGSMITH_TOKEN"  # noqa: S105 - a name, not a token
_SECURITY = 128
_SECRET_KEY, _PUBLIC_KEY, _EVALUATION = "secret_key.seal", "public_key.seal", "evaluation"

Url = Annotated[str, typer.Argument(metavar="URL", help="The service, as http://127.0.0.1:8000.")]
Name = Annotated[str, typer.Argument(metavar="PROGRAM", help="The program's name there.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(help=f"A file with the token; else the environment's {TOKEN_VARIABLE}, if set."),
]
Weak = Annotated[
    bool,
    typer.Option(
        "--allow-weak-parameters",
        help="Take parameters below 128-bit security, with which the server can find the secret "
        "key: for experiments.",
    ),
]


@contextmanager
def _service(url: str, token_file: Path | None, *, weak: bool = False) -> "Iterator[Service]":
    from ringsmith.cli.options import needs_extra
    from ringsmith.files import read_bounded

    with needs_extra("remote", "remote"):
        from ringsmith.remote import Service
    token = os.environ.get(TOKEN_VARIABLE)
    if token_file is not None:
        token = read_bounded(token_file, 4096).decode("utf-8", "replace").strip()
    with Service(url, token or None, security=None if weak else _SECURITY) as service:
        yield service


@remote_app.command("programs")
def programs(url: Url, token_file: TokenFile = None) -> None:
    """List what a service offers."""
    with _service(url, token_file) as service:
        for name, revision in service.programs().items():
            print(f"{name}  {revision}")


@remote_app.command("kit")
def kit(
    url: Url,
    program: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the kit goes, such as score.rsk.")
    ],
    token_file: TokenFile = None,
    allow_weak_parameters: Weak = False,
) -> None:
    """Fetch a program's client kit: parameters, inputs, outputs, key needs; no weights."""
    from ringsmith.files import check_target

    check_target(output, overwrite=False)
    with _service(url, token_file, weak=allow_weak_parameters) as service:
        found = service.program(program)
    found.kit.save(output)
    inputs = ", ".join(f"{name} ({port.length})" for name, port in found.kit.inputs.items())
    outputs = ", ".join(f"{name} ({port.length})" for name, port in found.kit.outputs.items())
    print(f"{program}: {inputs} to {outputs}; N = {found.kit.parameters.n}; {output}")
    print(f"security: {found.kit.parameters.security_text}")


@remote_app.command("run")
def run(
    url: Url,
    program: Name,
    output_dir: Annotated[
        Path, typer.Option(help="A folder to make: an array NAME.npy for each output.")
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE", help="An input's array, as x=x.npy."),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            help="A folder of keys, yours alone: used where it exists, else made for later runs. "
            "Without it, keys are fresh and forgotten."
        ),
    ] = None,
    token_file: TokenFile = None,
    allow_weak_parameters: Weak = False,
    share: Share = None,
    statistical_security: StatisticalSecurity = None,
) -> None:
    """Encrypt inputs, have a program run on them, and decrypt the outputs.

    With --share, the results may be given to those who see the ciphertexts, such as the service.
    """
    from ringsmith.files import new_folder
    from ringsmith.files.arrays import array_bytes

    given = named_arrays("--input", inputs)
    sharing = shared(share, statistical_security)
    with (
        _service(url, token_file, weak=allow_weak_parameters) as service,
        new_folder(output_dir) as folder,
    ):
        found = service.program(program)
        if share is not None:  # before the service computes what could not be shared
            found.kit.shared_bits(share, statistical_security=sharing["statistical_security"])
        secret_key, public_key, evaluation_keys = _keys(found, keys)
        outputs = service.run(found, found.encrypt(public_key, given), evaluation_keys)
        decrypted = found.decrypt(secret_key, outputs, **sharing)
        for name, values in decrypted.items():
            (folder / f"{name}.npy").write_bytes(array_bytes(values))
            print(f"{name}  {values.shape}")
    print(f"{program}: run on {url}; results are in {output_dir}")
    print(f"security: {found.kit.parameters.security_text}")


def _keys(
    program: "RemoteProgram", folder: Path | None
) -> "tuple[SecretKey, PublicKey, EvaluationKeys]":
    """Keys of a folder, which are made where there are none; fresh ones without a folder."""
    from ringsmith.client import load_secret_key, save_secret_key
    from ringsmith.files import new_folder
    from ringsmith.interop import load_object, save_object
    from ringsmith.objects import EvaluationKeys, PublicKey

    parameters = program.kit.parameters
    if folder is None:
        return program.generate_keys()
    if not folder.exists():
        secret_key, public_key, evaluation_keys = program.generate_keys()
        with new_folder(folder, 0o700) as work:
            save_secret_key(work / _SECRET_KEY, secret_key, parameters)
            save_object(work / _PUBLIC_KEY, public_key, parameters)
            save_object(work / _EVALUATION, evaluation_keys, parameters)
        return secret_key, public_key, evaluation_keys
    return (
        load_secret_key(folder / _SECRET_KEY, parameters),
        load_object(folder / _PUBLIC_KEY, PublicKey, parameters),
        load_object(folder / _EVALUATION, EvaluationKeys, parameters),
    )
