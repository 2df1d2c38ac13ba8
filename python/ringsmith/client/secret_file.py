"""The secret key's file: readable only by its owner, written atomically, never overwritten.

If SEAL supports the parameters, the file has Microsoft SEAL's format, followed by the tag of the
key pair. Otherwise it is a Ringsmith container, ``ringsmith-secret-key``
(``docs/reference/formats.md``).
"""

import stat
from dataclasses import dataclass
from pathlib import Path

from ringsmith.client.checks import check_parameters
from ringsmith.client.keys import SecretKey
from ringsmith.errors import InteropError, check_type, checked_path
from ringsmith.files import SECRET_MODE, check_target, open_regular, read_bounded, write_whole
from ringsmith.files.budget import LEAST, Budget
from ringsmith.files.container import MAGIC, pack, unpack
from ringsmith.files.records import Decoder, Encoder
from ringsmith.interop import (
    SealParameters,
    read_tagged_secret_key,
    with_key_tag,
    write_secret_key,
)
from ringsmith.interop.check import check_residues
from ringsmith.objects import Residues, check_parameters_id
from ringsmith.params import RlweParameters

FORMAT, VERSION = "ringsmith-secret-key", 1
_SLACK = 1 << 16


@dataclass(frozen=True, eq=False)
class _Record:
    """A secret key as the container holds it."""

    data: Residues
    parameters_id: bytes | None = None
    key_tag: bytes | None = None


def save_secret_key(path: str | Path, secret_key: SecretKey, parameters: RlweParameters) -> None:
    """Writes a secret key atomically to a new file of mode 0600.

    The file is not encrypted: anyone who reads the disk, or a backup of it, has the key.

    Args:
        path: The file, which must not exist.
        secret_key: The key.
        parameters: The parameters that it was made with.

    Raises:
        InteropError: When the key is of other parameters, or the file exists or cannot be written.
        TypeError: When an argument is of another kind.
    """
    check_parameters(parameters)
    check_type("secret key", secret_key, SecretKey, "give the first key of generate_keys")
    check_target(checked_path(path), overwrite=False)
    _check(f"{path}: the secret key to write", secret_key, parameters)
    key = secret_key.reveal()
    if parameters.seal_obstacle() is None:
        data = write_secret_key(key, SealParameters.from_parameters(parameters))
        data = with_key_tag(data, secret_key.key_tag)
    else:
        record = _Record(key, secret_key.parameters_id, secret_key.key_tag)
        encoder = Encoder(arrays=[])
        content = encoder.encode(record, _Record, "key")
        data = pack(FORMAT, VERSION, content, encoder.arrays or ())
    write_whole(checked_path(path), data, overwrite=False, mode=SECRET_MODE)


def load_secret_key(path: str | Path, parameters: RlweParameters) -> SecretKey:
    """Reads a secret key; like ``ssh``, refuses a file that other users can access.

    Args:
        path: A file written by ``save_secret_key`` or by SEAL.
        parameters: The parameters that the key was made with.

    Raises:
        InteropError: When users other than its owner may access the file, or it holds no secret
            key of the parameters.
        TypeError: When ``parameters`` are no parameter set.
    """
    check_parameters(parameters)
    path = checked_path(path)
    if _begins_with_magic(path):
        key = _from_container(path, parameters)
    else:
        shape = SealParameters.from_parameters(parameters)
        data, tag = read_tagged_secret_key(path, shape)
        key = SecretKey(data, parameters_id=parameters.parameters_id, key_tag=tag)
    _check(f"{path}: the secret key", key, parameters)
    return key


def _check(what: str, key: SecretKey, parameters: RlweParameters) -> None:
    """Refuses a secret key of other parameters."""
    whose, hint = f"parameters {parameters.name!r}", "name the parameters that it was made with"
    identity = parameters.parameters_id
    check_parameters_id(what, key.parameters_id, whose, identity, hint, InteropError)
    shape = (len(parameters.primes), parameters.n)
    check_residues(what, key.reveal(), shape, parameters.primes)


def _from_container(path: Path, parameters: RlweParameters) -> SecretKey:
    most = _SLACK + 8 * len(parameters.primes) * parameters.n
    data, budget = read_bounded(path, most), Budget(max(LEAST, most))
    container = unpack(data, str(path), {FORMAT: VERSION}, budget, "a secret key")
    try:
        record = Decoder(container.arrays, budget=budget).decode(container.content, _Record, "key")
    except InteropError as error:
        raise InteropError(f"{path}: {error}") from None
    return SecretKey(record.data, parameters_id=record.parameters_id, key_tag=record.key_tag)


def _begins_with_magic(path: Path) -> bool:
    """Checks a file's mode; returns whether it is a Ringsmith container."""
    try:
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InteropError(
                f"{path}: others than its owner may use this secret key (mode {mode & 0o777:04o}): "
                f"chmod 600 {path}"
            )
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InteropError(f"{path}: cannot be read: {error.strerror}") from None
