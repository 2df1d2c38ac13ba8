"""The client's folder: the secret key's file, the public key's, and the bundle for the server.

::

    secret_key.seal     SEAL's SecretKey; mode 0600
    public_key.seal     SEAL's PublicKey: for whoever encrypts
    evaluation/         the evaluation bundle (``ringsmith.interop.bundle``): for the server

The folder has mode 0700 and is never written over.
"""

import shutil
import stat
from pathlib import Path

from ringsmith.client.keys import SecretKey, generate_keys
from ringsmith.errors import InteropError
from ringsmith.files import SECRET_MODE, write_whole
from ringsmith.interop import (
    SealParameters,
    read_secret_key,
    write_public_key,
    write_secret_key,
)
from ringsmith.interop.bundle import Bundle, make_folder, write_bundle
from ringsmith.params import KeyNeeds, RlweParameters

SECRET_KEY = "secret_key.seal"  # noqa: S105 - the name of a file
PUBLIC_KEY = "public_key.seal"
EVALUATION = "evaluation"


def create_client_folder(
    folder: Path, parameters: RlweParameters, needs: KeyNeeds, *, seeded: bool = False
) -> None:
    """Makes fresh keys and writes them into a new folder; whole, or nothing of it.

    Args:
        folder: Must not exist.
        parameters: The parameter set: one special prime, one data prime a digit.
        needs: Which evaluation keys to make.
        seeded: Whether half of each evaluation key is expanded from a seed, which the bundle then
            holds, too; see ``generate_keys``.

    Raises:
        InteropError: When the folder exists or cannot be written, or SEAL's files cannot hold such
            parameters.
        ParameterError: When a Galois element is illegal.
    """
    shape = SealParameters.from_parameters(parameters)
    make_folder(folder, 0o700)
    try:
        secret, public, keys = generate_keys(parameters, needs, seeded=seeded)
        write_secret_key_file(folder / SECRET_KEY, secret, shape)
        write_whole(folder / PUBLIC_KEY, write_public_key(public, shape), overwrite=False)
        write_bundle(folder / EVALUATION, Bundle(parameters.name, shape, keys))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_secret_key_file(path: Path, key: SecretKey, parameters: SealParameters) -> None:
    """Writes a secret key to a new file that its owner alone can read.

    Raises:
        InteropError: When the file exists or cannot be written.
    """
    data = write_secret_key(key.reveal(), parameters)
    write_whole(path, data, overwrite=False, mode=SECRET_MODE)


def read_secret_key_file(path: Path, parameters: SealParameters) -> SecretKey:
    """Reads a secret key from a file that its owner alone can read.

    Raises:
        InteropError: When others can read the file, or it holds no secret key of the parameters.
    """
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise InteropError(f"{path}: cannot be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InteropError(
            f"{path}: others than its owner may use this secret key (mode {mode & 0o777:04o}): "
            f"chmod 600 {path}"
        )
    return SecretKey(read_secret_key(path, parameters))
