"""The client's folder: the secret key's file, the public key's, and the bundle for the server.

::

    secret_key.seal     SEAL's SecretKey; mode 0600
    public_key.seal     SEAL's PublicKey: for encryption
    evaluation/         the evaluation bundle (``ringsmith.interop.bundle``): for the server

The folder has mode 0700 and is never overwritten.
"""

from pathlib import Path

from ringsmith.client.keys import generate_keys
from ringsmith.client.secret_file import save_secret_key
from ringsmith.files import new_folder
from ringsmith.interop import SealParameters, save_object
from ringsmith.interop.bundle import Bundle, write_bundle
from ringsmith.params import KeyNeeds, RlweParameters

SECRET_KEY = "secret_key.seal"  # noqa: S105 - the name of a file
PUBLIC_KEY = "public_key.seal"
EVALUATION = "evaluation"


def create_client_folder(
    folder: Path, parameters: RlweParameters, needs: KeyNeeds, *, seeded: bool = False
) -> None:
    """Makes fresh keys and writes them into a new folder, atomically.

    Args:
        folder: Must not exist.
        parameters: The parameter set: one special prime, one data prime a digit.
        needs: Which evaluation keys to make.
        seeded: Whether the a part of each evaluation key is expanded from a seed, which the bundle
            then also holds; see ``generate_keys``.

    Raises:
        InteropError: When the folder exists or cannot be written, or SEAL's files cannot hold such
            parameters.
        ParameterError: When a Galois element is illegal.
    """
    shape = SealParameters.from_parameters(parameters)
    with new_folder(folder, 0o700) as work:
        secret, public, keys = generate_keys(parameters, needs, seeded=seeded)
        save_secret_key(work / SECRET_KEY, secret, parameters)
        save_object(work / PUBLIC_KEY, public, parameters)
        write_bundle(work / EVALUATION, Bundle(parameters.name, shape, keys))
