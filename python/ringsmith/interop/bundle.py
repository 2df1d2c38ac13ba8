"""Evaluation bundles: the folder that a client gives to a server, without a secret key.

A folder of SEAL files and a manifest::

    manifest.json       {"format": "ringsmith-evaluation-keys", "version": 1, "name": …,
                         "files": {"parameters.seal": <SHA-256 in hex>, …}}
    parameters.seal     SEAL's EncryptionParameters
    relin_keys.seal     SEAL's RelinKeys, where the client made them
    galois_keys.seal    SEAL's GaloisKeys, where the client made them
    key_seeds.json      seeds of the a parts of these keys (``interop.key_seeds``), where
                        the client made them so; the keys' files also hold the a parts

``write_bundle`` takes evaluation keys and nothing else, so it has no secret to write; a reader
refuses a folder that holds any other file, or one whose digest is not the manifest's.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import InteropError
from ringsmith.files import new_folder, open_regular, read_bounded, write_whole
from ringsmith.files.json_text import parse_json
from ringsmith.interop.key_seeds import KeySeeds, read_key_seeds, write_key_seeds
from ringsmith.interop.seal_parameters import SealParameters, read_parameters, write_parameters
from ringsmith.interop.seal_read import read_galois_keys, read_relin_keys
from ringsmith.interop.seal_stream import with_key_tag
from ringsmith.interop.seal_write import write_galois_keys, write_relin_keys
from ringsmith.objects import EvaluationKeys

MANIFEST = "manifest.json"
PARAMETERS = "parameters.seal"
RELIN_KEYS = "relin_keys.seal"
GALOIS_KEYS = "galois_keys.seal"
KEY_SEEDS = "key_seeds.json"
_FILES = frozenset({PARAMETERS, RELIN_KEYS, GALOIS_KEYS, KEY_SEEDS})
_FORMAT, _VERSION = "ringsmith-evaluation-keys", 1
_MAX_MANIFEST = 1 << 16


@dataclass(frozen=True, eq=False)
class Bundle:
    """The contents of a bundle.

    Attributes:
        name: The client's name of its parameters.
        parameters: The ring and primes.
        keys: The evaluation keys.
    """

    name: str
    parameters: SealParameters
    keys: EvaluationKeys


def write_bundle(folder: Path, bundle: Bundle) -> None:
    """Makes the folder, which must not exist, and writes a bundle into it, atomically.

    Raises:
        InteropError: When the folder exists or cannot be written, or the keys are of other
            parameters, or of bootstrapping.
    """
    shape, keys = bundle.parameters, bundle.keys
    if keys.to_sparse is not None or keys.from_sparse is not None:
        raise InteropError(
            f"{folder}: SEAL's files have no keys of bootstrapping: save_object writes them"
        )
    files = {PARAMETERS: write_parameters(shape)}
    if keys.relin is not None:
        files[RELIN_KEYS] = with_key_tag(write_relin_keys(keys.relin, shape), keys.key_tag)
    if keys.galois:
        files[GALOIS_KEYS] = with_key_tag(write_galois_keys(keys.galois, shape), keys.key_tag)
    seeds = KeySeeds.of(keys)
    if seeds.relin is not None or seeds.galois:
        files[KEY_SEEDS] = write_key_seeds(seeds)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    manifest = {"format": _FORMAT, "version": _VERSION, "name": bundle.name, "files": digests}
    files[MANIFEST] = (json.dumps(manifest, indent=1) + "\n").encode()
    with new_folder(folder) as work:
        for name, data in files.items():
            write_whole(work / name, data, overwrite=False)


def read_bundle(folder: Path) -> Bundle:
    """Reads a bundle, which may come from an untrusted source.

    Raises:
        InteropError: When a file is missing, damaged, or one that no bundle has, such as a secret
            key, or a seed is not its key's.
    """
    folder = Path(folder)
    name, digests = _read_manifest(folder / MANIFEST)
    found = {path.name for path in folder.iterdir()} - {MANIFEST}
    for stranger in sorted(found - digests.keys()):
        raise InteropError(
            f"{folder}: holds {stranger!r}, which its manifest does not name: an evaluation bundle "
            "has nothing else in it, least of all a secret key"
        )
    for missing in sorted(digests.keys() - found):
        raise InteropError(f"{folder}: {missing!r} of the manifest is missing")
    shape = read_parameters(folder / PARAMETERS)
    relin = read_relin_keys(folder / RELIN_KEYS, shape) if RELIN_KEYS in digests else None
    galois = read_galois_keys(folder / GALOIS_KEYS, shape) if GALOIS_KEYS in digests else {}
    seeds = read_key_seeds(folder / KEY_SEEDS) if KEY_SEEDS in digests else KeySeeds()
    for file, digest in digests.items():  # last: each file's size is within its limit by now
        with open_regular(folder / file) as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != digest:
                raise InteropError(f"{folder / file}: its SHA-256 is not the manifest's: damaged")
    return Bundle(name, shape, seeds.attach(EvaluationKeys(relin, galois), shape.primes))


def _read_manifest(path: Path) -> tuple[str, dict[str, str]]:
    """(name, file -> digest)."""
    text = read_bounded(path, _MAX_MANIFEST)
    manifest = parse_json(
        text,
        lambda why: InteropError(f"{path}: not the JSON of an evaluation bundle: {why}"),
    )
    if not isinstance(manifest, dict) or (manifest.get("format"), manifest.get("version")) != (
        _FORMAT,
        _VERSION,
    ):
        raise InteropError(f"{path}: not a manifest of {_FORMAT!r}, version {_VERSION}")
    name, files = manifest.get("name"), manifest.get("files")
    files = files if isinstance(files, dict) else {}
    if not isinstance(name, str) or not {PARAMETERS} <= files.keys() <= _FILES:
        raise InteropError(f"{path}: must name {PARAMETERS!r} and no files but {sorted(_FILES)}")
    return name, {file: str(digest) for file, digest in files.items()}
