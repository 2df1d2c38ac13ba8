"""Keys, ciphertexts and plaintexts to files and back: one pair of functions for all of them.

``save_object`` writes what Microsoft SEAL can hold in SEAL's formats: one object a file, with the
tag of its key pair behind it (``seal_stream.with_key_tag``), and evaluation keys as a bundle, a
folder. Everything else goes into a container of ours, ``ringsmith-object``
(``docs/reference/formats.md``). ``load_object`` tells from the file which it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ringsmith.errors import InteropError, check_type, checked_path
from ringsmith.files import open_regular, read_bounded, write_whole
from ringsmith.files.container import MAGIC, Limits, pack, unpack
from ringsmith.files.records import Decoder, Encoder
from ringsmith.interop.bundle import Bundle, read_bundle, write_bundle
from ringsmith.interop.check import Object, check_object
from ringsmith.interop.seal_parameters import SealParameters
from ringsmith.interop.seal_read import MAX_SIZE, read_ciphertext, read_plaintext, read_public_key
from ringsmith.interop.seal_stream import Source, with_key_tag
from ringsmith.interop.seal_write import write_ciphertext, write_plaintext, write_public_key
from ringsmith.interop.seeded_keys import compact_keys, expand_keys
from ringsmith.objects import (
    Ciphertext,
    CompactKey,
    CompactKeys,
    EvaluationKeys,
    KeySwitchKey,
    PlainPolynomial,
    Plaintext,
    PublicKey,
    check_parameters_id,
)
from ringsmith.params import RlweParameters

FORMAT, VERSION = "ringsmith-object", 2
_UNSEEDED_VERSION = 1
"""Of objects without seeds, which mean the same in version 1: there seeds expand otherwise."""
KINDS: Mapping[str, type] = {
    "ciphertext": Ciphertext,
    "plaintext": Plaintext,
    "plain-polynomial": PlainPolynomial,
    "public-key": PublicKey,
    "key-switch-key": KeySwitchKey,
    "evaluation-keys": EvaluationKeys,
    "compact-keys": CompactKeys,
}
"""Kinds of contents. Evaluation keys that all have seeds are ``compact-keys`` (seed-compressed)."""
_TEXT = 1 << 14
_TEXT_OF_KEYS = 8
"""Bytes of the JSON text: 16 KiB, and of sets of keys one for every 8 bytes of the file, whose keys
have 8 KiB and more."""
_VALUES = 1 << 10
"""JSON values of 16 KiB of text."""
_MAX_KEYS = 1 << 16
"""Galois keys: one for every odd element of the largest ring."""
_EXPANSION = 8
"""Bytes that a byte of a file can make, at most: residues are random."""
_SLACK = 1 << 20

T = TypeVar("T", bound=Object)


def save_object(
    path: str | Path, thing: Object, parameters: RlweParameters, *, overwrite: bool = False
) -> None:
    """Writes an object to a file atomically.

    Uses SEAL's format if SEAL has one for it and supports the parameters; evaluation keys are then
    a folder. Otherwise writes a Ringsmith container.

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
    if parameters.seal_obstacle() is None and isinstance(thing, EvaluationKeys):
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
        data = read_bounded(path, _limits(kind, parameters, 0).file)
        found = object_from_bytes(data, kind, parameters, str(path))
    else:
        found = _from_seal(path, kind, parameters, str(path))
    assert isinstance(found, kind), "each way checks it"
    return found


def object_bytes(thing: Object, parameters: RlweParameters) -> bytes:
    """Returns the bytes of a Ringsmith container; the object was checked."""
    keys = thing.galois.values() if isinstance(thing, EvaluationKeys) else ()
    if isinstance(thing, EvaluationKeys) and all(
        key is None or key.seed is not None for key in (thing.relin, *keys)
    ):
        thing = compact_keys(thing, parameters.primes)
    encoder = Encoder()
    kind = type(thing)
    content = {"kind": _named(kind), "object": encoder.encode(thing, kind, "object")}
    version = VERSION if _has_seeds(thing) else _UNSEEDED_VERSION
    return pack(FORMAT, version, content, encoder.arrays)


def object_from_bytes(
    data: bytes, kind: type[T], parameters: RlweParameters, what: str = "the bytes"
) -> T:
    """Reads the bytes of a Ringsmith container.

    Keys of version 1 become full keys without seeds, because seeds now expand differently.

    Raises:
        InteropError: When they are none, damaged or too large, hold another kind of object, or are
            ``CompactKeys`` of version 1.
    """
    limits, named = _limits(kind, parameters, len(data)), _named(kind)
    content = unpack(data, what, {FORMAT: VERSION}, limits, "a key, ciphertext or plaintext")
    value: Any = content.content
    if not isinstance(value, dict) or value.keys() != {"kind", "object"}:
        raise InteropError(f"{what}: content is not an object of kind and object: damaged")
    stored = KINDS.get(value["kind"]) if isinstance(value["kind"], str) else None
    if stored is not kind and (stored, kind) != (CompactKeys, EvaluationKeys):
        raise InteropError(f"{what}: holds {value['kind']!r:.60}, and was to be read as {named!r}")
    try:
        found = Decoder(content.arrays).decode(value["object"], stored, "object")
    except InteropError as error:
        raise InteropError(f"{what}: {error}") from None
    if content.version == 1:
        found = _of_version_1(found, kind, what)
    check_object(f"{what}: the {named}", found, parameters)
    if kind is EvaluationKeys and isinstance(found, CompactKeys):
        found = expand_keys(found, parameters.primes, content.version)
    assert isinstance(found, kind)
    return found


def _of_version_1(found: object, kind: type, what: str) -> object:
    """Returns an object of version 1 without its seeds; seed-compressed keys are expanded first.

    Raises:
        InteropError: If it must stay seed-compressed.
    """
    if kind is CompactKeys:
        raise InteropError(
            f"{what}: compact keys of version 1, whose seeds expand to other words than today's: "
            "read them as EvaluationKeys, which are whole then, or make keys anew"
        )
    if isinstance(found, KeySwitchKey):
        return replace(found, seed=None)
    if isinstance(found, EvaluationKeys):
        relin = None if found.relin is None else replace(found.relin, seed=None)
        galois = {element: replace(key, seed=None) for element, key in found.galois.items()}
        return EvaluationKeys(relin, galois)
    return found


def _keys_of(thing: object) -> list[KeySwitchKey | CompactKey]:
    """The key-switching keys that an object is or holds."""
    if isinstance(thing, KeySwitchKey | CompactKey):
        return [thing]
    if not isinstance(thing, EvaluationKeys | CompactKeys):
        return []
    return [key for key in (thing.relin, *thing.galois.values()) if key is not None]


def _has_seeds(thing: object) -> bool:
    return any(key.seed is not None for key in _keys_of(thing))


def _limits(kind: type, parameters: RlweParameters, size: int) -> Limits:
    """How large the file of an object can be; ``size`` is the file's, once it is known."""
    limb, primes = 8 * parameters.n, len(parameters.primes)
    if kind in (EvaluationKeys, CompactKeys):
        file = _SLACK + _MAX_KEYS * parameters.key_digits * 2 * primes * limb
        body = min(file, _SLACK + _EXPANSION * size)
        text = _TEXT + size // _TEXT_OF_KEYS
        return Limits(file, body, text, _MAX_KEYS + 1, text * _VALUES // _TEXT)
    polynomials = 2 * parameters.key_digits if kind is KeySwitchKey else MAX_SIZE
    body = _SLACK + polynomials * primes * limb
    return Limits(body + body // 256, body, _TEXT, 1, _VALUES)


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
