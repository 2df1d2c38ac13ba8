"""Keys, ciphertexts and plaintexts to files and back: one pair of functions for all of them.

``save_object`` writes what Microsoft SEAL can hold in SEAL's formats: one object a file, with the
tag of its key pair behind it (``seal_stream.with_key_tag``), and evaluation keys as a bundle, a
folder. Everything else goes into a container of ours, ``ringsmith-object``
(``docs/reference/formats.md``). ``load_object`` tells from the file which it is.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ringsmith.errors import InteropError, check_type, checked_path
from ringsmith.files import open_regular, read_bounded, write_whole
from ringsmith.files.budget import LEAST, Budget
from ringsmith.files.container import MAGIC, pack, unpack
from ringsmith.files.records import Decoder, Encoder
from ringsmith.interop.bundle import Bundle, read_bundle, write_bundle
from ringsmith.interop.check import Object, check_object
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seal_read import MAX_SIZE, read_ciphertext, read_plaintext, read_public_key
from ringsmith.interop.seal_stream import Source, with_key_tag
from ringsmith.interop.seal_write import write_ciphertext, write_plaintext, write_public_key
from ringsmith.interop.seeded_keys import expand_keys, on_the_fly_keys
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKeys,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    check_parameters_id,
    keys_by_name,
)
from ringsmith.params import RlweParameters

FORMAT, VERSION = "ringsmith-object", 1
KINDS: Mapping[str, type] = {
    "ciphertext": Ciphertext,
    "plaintext": Plaintext,
    "plain-polynomial": PlainPolynomial,
    "public-key": PublicKey,
    "key-switch-key": KeySwitchKey,
    "evaluation-keys": EvaluationKeys,
    "seed-compressed-keys": OnTheFlyKeys,
}
"""Kinds of contents. ``seed-compressed-keys``: evaluation keys that all have seeds."""
_MAX_KEYS = 1 << 16
"""Galois keys: one for every odd element of the largest ring."""
_KEY_FACTOR = 16
"""Bytes of memory for each byte of a file of keys: residues are random, seeds are short."""
_SLACK = 1 << 20

T = TypeVar("T", bound=Object)


def save_object(
    path: str | Path, thing: Object, parameters: RlweParameters, *, overwrite: bool = False
) -> None:
    """Writes an object to a file atomically.

    Uses SEAL's format if SEAL has one for it and supports the parameters; evaluation keys are then
    a folder, if all are full. Otherwise writes a Ringsmith container.

    Args:
        path: The file or folder.
        thing: A ciphertext, plaintext, public key, key-switching key or evaluation keys. Secret
            keys have ``ringsmith.client.save_secret_key``.
        parameters: The parameters that it was made with.
        overwrite: Whether a file may be replaced; a folder never is.

    Raises:
        InteropError: When the object is not of the parameters, or the file exists or cannot be
            written.
        TypeError: When an argument is of another kind.
    """
    check_type("parameters", parameters, RlweParameters, "give those that the object was made with")
    _check_kind(type(thing))
    check_object(f"{path}: the {_named(type(thing))} to write", thing, parameters)
    if isinstance(thing, EvaluationKeys) and _has_bundle(thing, parameters):
        shape = SealParameters.from_parameters(parameters)
        write_bundle(checked_path(path), Bundle(parameters.name, shape, thing))
        return
    write_whole(checked_path(path), _encoded(thing, parameters), overwrite=overwrite)


def encode_object(thing: Object, parameters: RlweParameters) -> bytes:
    """Returns an object as one text of bytes, for a network: what ``save_object`` writes to a file.

    Uses SEAL's format if SEAL has one for it and supports the parameters. Otherwise, and for
    evaluation keys, returns a Ringsmith container. Keys that all have seeds take half the bytes.

    Raises:
        InteropError: When the object is not of the parameters.
        TypeError: When an argument is of another kind.
    """
    check_type("parameters", parameters, RlweParameters, "give those that the object was made with")
    _check_kind(type(thing))
    check_object(f"the {_named(type(thing))}", thing, parameters)
    return _encoded(thing, parameters)


def decode_object(
    data: bytes, kind: type[T], parameters: RlweParameters, what: str = "the bytes"
) -> T:
    """Reads the bytes of an object that ``encode_object`` returned, or that SEAL saved.

    Args:
        data: The bytes.
        kind: The class of the object, such as ``Ciphertext``.
        parameters: The parameters that it was made with.
        what: Names the bytes in errors.

    Raises:
        InteropError: When they are damaged, hold another kind of object or one of other parameters.
        TypeError: When an argument is of another kind.
    """
    check_type("parameters", parameters, RlweParameters, "give those that the object was made with")
    _check_kind(kind)
    if data[: len(MAGIC)] == MAGIC:
        return object_from_bytes(data, kind, parameters, what)
    found: Any = _from_seal(data, kind, parameters, what)
    assert isinstance(found, kind), "each way checks it"
    return found


def _encoded(thing: Object, parameters: RlweParameters) -> bytes:
    data = _seal_bytes(thing, parameters) if parameters.seal_obstacle() is None else None
    return object_bytes(thing, parameters) if data is None else data


def load_object(path: str | Path, kind: type[T], parameters: RlweParameters) -> T:
    """Reads an object that ``save_object`` wrote, or that SEAL saved.

    Args:
        path: The file, or the folder of evaluation keys.
        kind: The class of the object, such as ``Ciphertext``.
        parameters: The parameters that it was made with.

    Raises:
        InteropError: When the file cannot be read, is damaged, holds another kind of object or one
            of other parameters.
        TypeError: When an argument is of another kind.
    """
    check_type("parameters", parameters, RlweParameters, "give those that the object was made with")
    _check_kind(kind)
    path = checked_path(path)
    found: Any
    if path.is_dir():
        found = _from_bundle(path, kind, parameters)
    elif _begins_with_magic(path):
        data = read_bounded(path, _most(kind, parameters))
        found = object_from_bytes(data, kind, parameters, str(path))
    else:
        found = _from_seal(path, kind, parameters, str(path))
    assert isinstance(found, kind), "each way checks it"
    return found


def object_bytes(thing: Object, parameters: RlweParameters) -> bytes:
    """Returns the bytes of a Ringsmith container; the object was checked."""
    if isinstance(thing, EvaluationKeys) and all(
        key.seed is not None for key in keys_by_name(thing).values()
    ):
        thing = on_the_fly_keys(thing, parameters.primes)
    encoder, kind = Encoder(arrays=[]), type(thing)
    content = {"kind": _named(kind), "object": encoder.encode(thing, kind, "object")}
    return pack(FORMAT, VERSION, content, encoder.arrays or ())


def object_from_bytes(
    data: bytes, kind: type[T], parameters: RlweParameters, what: str = "the bytes"
) -> T:
    """Reads the bytes of a Ringsmith container.

    Raises:
        InteropError: When they are no object, damaged or too large, or hold another kind of object.
    """
    most, named = _most(kind, parameters), _named(kind)
    if kind in (EvaluationKeys, OnTheFlyKeys):
        most = min(most, _SLACK + _KEY_FACTOR * len(data))
    budget = Budget(max(LEAST, most))
    content = unpack(data, what, {FORMAT: VERSION}, budget, "a key, ciphertext or plaintext")
    value: Any = content.content
    if not isinstance(value, dict) or value.keys() != {"kind", "object"}:
        raise InteropError(f"{what}: content is not an object of kind and object: damaged")
    stored = KINDS.get(value["kind"]) if isinstance(value["kind"], str) else None
    if stored is not kind and (stored, kind) != (OnTheFlyKeys, EvaluationKeys):
        raise InteropError(f"{what}: holds {value['kind']!r:.60}, and was to be read as {named!r}")
    try:
        decoder = Decoder(content.arrays, budget=budget)
        found = decoder.decode(value["object"], stored, "object")
    except InteropError as error:
        raise InteropError(f"{what}: {error}") from None
    check_object(f"{what}: the {named}", found, parameters)
    if kind is EvaluationKeys and isinstance(found, OnTheFlyKeys):
        found = expand_keys(found, parameters.primes)
    assert isinstance(found, kind)
    return found


def _most(kind: type, parameters: RlweParameters) -> int:
    """Bytes that an object of a kind can have, in a file or in memory."""
    size = 8 * parameters.n * len(parameters.primes)
    if kind in (EvaluationKeys, OnTheFlyKeys):
        return _SLACK + 2 * _MAX_KEYS * parameters.key_digits * size
    return _SLACK + (2 * parameters.key_digits if kind is KeySwitchKey else MAX_SIZE) * size


def _has_bundle(keys: EvaluationKeys, parameters: RlweParameters) -> bool:
    """Whether SEAL can hold evaluation keys: all are full, and of such parameters."""
    if parameters.seal_obstacle() is not None:
        return False
    full = parameters.key_shape(parameters.limbs)
    return all(key.shape == full for key in keys_by_name(keys).values())


def _seal_bytes(thing: Object, parameters: RlweParameters) -> bytes | None:
    """An object as SEAL saves it, with its tag; None where SEAL has no format for it."""
    shape = SealParameters.from_parameters(parameters)
    if isinstance(thing, Ciphertext):
        return with_key_tag(write_ciphertext(thing, shape), thing.key_tag)
    if isinstance(thing, PublicKey):
        return with_key_tag(write_public_key(thing, shape), thing.key_tag)
    if isinstance(thing, Plaintext | PlainPolynomial):
        return write_plaintext(thing, shape)
    return None


def _from_seal(source: Source, kind: type, parameters: RlweParameters, what: str) -> object:
    readers: dict[type, Callable[[Source, SealParameters], object]] = {
        Ciphertext: read_ciphertext,
        PublicKey: read_public_key,
        Plaintext: read_plaintext,
        PlainPolynomial: read_plaintext,
    }
    if kind not in readers:
        folder = ": evaluation keys of SEAL are a folder" if kind is EvaluationKeys else ""
        raise InteropError(f"{what}: no {_named(kind)} that save_object wrote{folder}")
    if parameters.seal_obstacle() is not None:
        raise InteropError(
            f"{what}: not a file of ringsmith, and SEAL cannot hold parameters "
            f"{parameters.name!r}: name the parameters that the object was made with"
        )
    found = readers[kind](source, SealParameters.from_parameters(parameters))
    if not isinstance(found, kind):
        raise InteropError(f"{what}: no {_named(kind)}, but a {_named(type(found))}")
    return found


def _from_bundle(path: Path, kind: type, parameters: RlweParameters) -> object:
    if kind is not EvaluationKeys:
        raise InteropError(f"{path}: a folder, and no {_named(kind)}: name a file")
    bundle = read_bundle(path)
    whose, hint = f"parameters {parameters.name!r}", "name the parameters that they were made with"
    found, identity = bundle.parameters.parameters_id, parameters.parameters_id
    check_parameters_id(f"{path}: the evaluation keys", found, whose, identity, hint, InteropError)
    return bundle.keys


def _begins_with_magic(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InteropError(f"{path}: cannot be read: {error.strerror}") from None


def _check_kind(kind: object) -> None:
    if kind not in KINDS.values():
        known = ", ".join(each.__name__ for each in KINDS.values())
        raise TypeError(
            f"{getattr(kind, '__name__', kind)!s:.60} is not saved to files by this: give one of "
            f"{known}; secret keys have ringsmith.client.save_secret_key"
        )


def _named(kind: type) -> str:
    return next(name for name, each in KINDS.items() if each is kind)
