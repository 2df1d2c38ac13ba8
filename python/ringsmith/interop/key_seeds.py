"""The seeds of evaluation keys as a file; SEAL's files next to it hold the full keys.

A JSON file; a key that has no seed is not in it::

    {"format": "ringsmith-key-seeds", "version": 1,
     "relin": "<20 hex digits>", "galois": {"<Galois element>": "<20 hex digits>", …}}
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ringsmith.errors import InteropError
from ringsmith.files import read_bounded
from ringsmith.files.json_text import parse_json
from ringsmith.interop.seeded_keys import shorten_key
from ringsmith.objects import SEED_BYTES, EvaluationKeys, KeySwitchKey

_FORMAT, _VERSION = "ringsmith-key-seeds", 1
_MAX_FILE = 1 << 22  # every Galois element of N = 2^16 and more
_FIELDS = {"format", "version", "relin", "galois"}
_ELEMENT = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True)
class KeySeeds:
    """Seeds of evaluation keys; public, like the a parts that are expanded from them.

    Attributes:
        relin: The seed of the relinearization keys; None: they have none.
        galois: Galois element -> seed of its Galois key, if it has one.
    """

    relin: bytes | None = None
    galois: Mapping[int, bytes] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, keys: EvaluationKeys) -> "KeySeeds":
        """The seeds that some keys carry."""
        galois = {e: key.seed for e, key in keys.galois.items() if key.seed is not None}
        return cls(None if keys.relin is None else keys.relin.seed, MappingProxyType(galois))

    def attach(self, keys: EvaluationKeys, primes: Sequence[int]) -> EvaluationKeys:
        """Returns the keys with their seeds; seeds of other keys are ignored.

        Args:
            keys: Full keys, as SEAL's files hold them.
            primes: All K primes of the keys, special primes last.

        Raises:
            InteropError: If the a part of a key is not what its seed expands to.
        """
        relin = None if keys.relin is None else _with_seed(keys.relin, self.relin, primes)
        galois = {e: _with_seed(key, self.galois.get(e), primes) for e, key in keys.galois.items()}
        return EvaluationKeys(relin, galois)


def write_key_seeds(seeds: KeySeeds) -> bytes:
    """The file's bytes."""
    table: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    if seeds.relin is not None:
        table["relin"] = seeds.relin.hex()
    table["galois"] = {str(element): seed.hex() for element, seed in seeds.galois.items()}
    return (json.dumps(table, indent=1) + "\n").encode()


def read_key_seeds(path: Path) -> KeySeeds:
    """Reads a file of ``write_key_seeds``, which may come from an untrusted source.

    Raises:
        InteropError: When the file cannot be read or holds something else.
    """
    text = read_bounded(path, _MAX_FILE)
    table = parse_json(text, lambda why: InteropError(f"{path}: not the JSON of key seeds: {why}"))
    known = isinstance(table, dict) and table.get("format") == _FORMAT
    version = table.get("version") if known else None
    if type(version) is not int or version != _VERSION or table.keys() - _FIELDS:
        raise InteropError(f"{path}: not a file of {_FORMAT!r}, version {_VERSION}")
    galois = table.get("galois")
    if not isinstance(galois, dict) or not all(map(_ELEMENT.fullmatch, galois)):
        raise InteropError(f"{path}: 'galois' must hold seeds by Galois element")
    relin = _seed(path, table["relin"]) if "relin" in table else None
    seeds = {int(e): _seed(path, seed) for e, seed in galois.items()}
    return KeySeeds(relin, MappingProxyType(seeds))


def _seed(path: Path, text: object) -> bytes:
    try:
        seed = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise InteropError(
            f"{path}: {text!r:.60} is no seed: {2 * SEED_BYTES} hexadecimal digits make one"
        )
    return seed


def _with_seed(key: KeySwitchKey, seed: bytes | None, primes: Sequence[int]) -> KeySwitchKey:
    if seed is None:
        return key
    whole = replace(key, seed=seed)
    shorten_key(whole, primes)  # refuses a seed that is not this key's
    return whole
