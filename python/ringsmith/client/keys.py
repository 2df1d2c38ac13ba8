"""Key generation, and the secret key's type."""

import hashlib
import itertools
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, SupportsIndex

import numpy as np

from ringsmith import memory
from ringsmith._core import secret
from ringsmith.client.checks import check_parameters, checked_bfv, checked_ckks
from ringsmith.errors import ParameterError, check_type
from ringsmith.interop.seeded_keys import draw_seed
from ringsmith.objects import (
    KEY_TAG_BYTES,
    SEED_BYTES,
    EvaluationKeys,
    KeySwitchKey,
    OnTheFlyKey,
    OnTheFlyKeys,
    PublicKey,
    Residues,
    check_length,
    keys_by_field,
)
from ringsmith.params import KeyNeeds, KeyShape, RlweParameters, core_context
from ringsmith.params.identity import ID_BYTES
from ringsmith.params.keys import RELIN_KEY, galois_key_name
from ringsmith.progress import task

_Made = tuple[Residues, bytes | None, tuple[int, ...]]
"""A key-switching key, its seed and the primes of its limbs."""


class SecretKey:
    """A secret key: shape (K, N), ternary, NTT form over all primes.

    Its ``repr`` shows no residues, and it cannot be pickled or copied, so that it is not disclosed
    by accident. Only ``ringsmith.client`` reads it. ``save_secret_key`` writes it to a file.

    Args:
        data: The residues.
        parameters_id: The identity of its parameters; None: unknown.
        key_tag: The random tag of its key pair; None: unknown.
    """

    __slots__ = ("_data", "_key_tag", "_parameters_id")

    def __init__(
        self, data: Residues, *, parameters_id: bytes | None = None, key_tag: bytes | None = None
    ) -> None:
        check_length("parameters_id", parameters_id, ID_BYTES)
        check_length("key_tag", key_tag, KEY_TAG_BYTES)
        self._data, self._parameters_id, self._key_tag = data, parameters_id, key_tag

    @property
    def parameters_id(self) -> bytes | None:
        """The identity of the key's parameters; None: unknown."""
        return self._parameters_id

    @property
    def key_tag(self) -> bytes | None:
        """The random tag of the key pair, independent of the key; None: unknown."""
        return self._key_tag

    def reveal(self) -> Residues:
        """Returns the residues, for decryption and for ``save_secret_key``."""
        return self._data

    def __repr__(self) -> str:
        return "SecretKey(hidden)"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a secret key is not pickled or copied: save it with save_secret_key, or pass a public "
            "key or evaluation keys instead"
        )


def generate_keys(
    parameters: RlweParameters,
    needs: KeyNeeds,
    *,
    seeded: bool = False,
    any_plain_modulus: bool = False,
) -> tuple[SecretKey, PublicKey, EvaluationKeys]:
    """Makes fresh keys from the operating system's randomness.

    Args:
        parameters: The parameter set.
        needs: Which evaluation keys to make, such as ``program.key_needs``, and for how many limbs:
            a key works at these and at fewer, and is the smaller the fewer they are. Microsoft
            SEAL takes keys of ``parameters.limbs`` only.
        seeded: Whether the a part of each evaluation key is expanded from its own seed, which is
            stored in the key. A device that also expands it needs half the key memory. This
            requires pseudo-Mersenne primes (``interop.seeded_keys.seeds_are_direct``).
        any_plain_modulus: Whether the keys also work with sets of other plain moduli, as for
            integers modulo several t. BFV's keys do not depend on t. Such keys carry the tag of
            their key pair, but no identity of parameters.

    Raises:
        ParameterError: When a Galois element is illegal, the parameters have fewer limbs,
            the keys take more memory than there is, or ``any_plain_modulus`` is set for CKKS.
        TypeError: When an argument is of another kind.
    """
    _check_needs(parameters, needs)
    if any_plain_modulus:
        checked_bfv(parameters, "a key pair for any plain modulus")
    key, public, found = _generated(parameters, needs, seeded=seeded)
    identity = None if any_plain_modulus else parameters.parameters_id
    return _tagged(identity, secrets.token_bytes(KEY_TAG_BYTES), key, public, found)


def generate_on_the_fly_keys(
    parameters: RlweParameters, needs: KeyNeeds
) -> tuple[SecretKey, PublicKey, OnTheFlyKeys]:
    """Makes fresh keys that the ``cpu`` device expands on the fly, in half the memory.

    They are those of ``interop.seeded_keys.on_the_fly_keys``; no more than one whole key is in
    memory at a time. Arguments and errors are those of ``generate_keys``.
    """
    _check_needs(parameters, needs, halves=1)
    key, public, found = _generated(parameters, needs, seeded=True, kept=_half)
    identity, tag = parameters.parameters_id, secrets.token_bytes(KEY_TAG_BYTES)
    short = {}
    for name, (half, seed, base) in found.items():
        assert seed is not None, "keys were made with seeds"
        short[name] = OnTheFlyKey(half, seed, base, parameters_id=identity, key_tag=tag)
    return (*_pair(identity, tag, key, public), OnTheFlyKeys(**keys_by_field(short)))


def _half(made: _Made) -> _Made:
    """The b part of a key."""
    data, seed, base = made
    return np.ascontiguousarray(data[:, 0]), seed, base


def _generated(
    parameters: RlweParameters,
    needs: KeyNeeds,
    *,
    seeded: bool,
    kept: Callable[[_Made], _Made] = lambda made: made,
) -> tuple[Residues, Residues, dict[str, _Made]]:
    """Makes a secret key, a public key and evaluation keys; ``kept`` says what is kept of each."""
    context, words = core_context(parameters), parameters.word_bits
    key = secret.generate_secret_key(context)
    public = secret.generate_public_key(context, key)

    def made(limbs: int, element: int | None, _: int) -> _Made:
        shape = parameters.key_shape(limbs)
        seed = None
        if seeded:
            seed = _drawn(parameters, shape, _fresh_seed)
        data = secret.generate_key_switch_key(
            context, key, element, word_bits=words, key_seed=seed, limbs=limbs
        )
        return kept((data, seed, shape.base))

    def sparse(raised: int, _: int) -> dict[str, _Made]:
        shapes = _sparse_shapes(parameters, raised)
        seeds: list[bytes] | None = None
        if seeded:
            seeds = [_drawn(parameters, shape, _fresh_seed) for shape in shapes.values()]
        data = secret.generate_sparse_keys(
            context, key, **_sparse_arguments(parameters, raised), key_seeds=seeds
        )
        found = _sparse_made(shapes, data, seeds)
        return {name: kept(each) for name, each in found.items()}

    return key, public, _one_by_one(needs, made, sparse)


def generate_keys_for_test(
    parameters: RlweParameters, needs: KeyNeeds, seed: int, *, seeded: bool = False
) -> tuple[SecretKey, PublicKey, EvaluationKeys]:
    """Makes the keys of a fixed seed. They are insecure: anyone can make the same keys.

    Arguments and errors are those of ``generate_keys``.
    """
    _check_needs(parameters, needs)
    context, words = core_context(parameters), parameters.word_bits
    key = secret.generate_secret_key_for_test(context, seed)
    public = secret.generate_public_key_for_test(context, key, seed + 1)

    def expanded_of(shape: KeyShape, own: int) -> bytes | None:
        numbers = itertools.count(own, 1 << 64)
        if not seeded:
            return None
        return _drawn(parameters, shape, lambda: next(numbers).to_bytes(SEED_BYTES, "little"))

    def made(limbs: int, element: int | None, number: int) -> _Made:
        shape, own = parameters.key_shape(limbs), seed + 2 + number
        expanded = expanded_of(shape, own)
        data = secret.generate_key_switch_key_for_test(
            context, key, element, word_bits=words, key_seed=expanded, limbs=limbs, seed=own
        )
        return data, expanded, shape.base

    def sparse(raised: int, number: int) -> dict[str, _Made]:
        shapes, own = _sparse_shapes(parameters, raised), seed + 2 + number
        drawn = (expanded_of(shape, own + i) for i, shape in enumerate(shapes.values()))
        seeds = [each for each in drawn if each is not None] or None
        data = secret.generate_sparse_keys_for_test(
            context, key, **_sparse_arguments(parameters, raised), key_seeds=seeds, seed=own
        )
        return _sparse_made(shapes, data, seeds)

    found = _one_by_one(needs, made, sparse)
    named = parameters.parameters_id + str(seed).encode()
    tag = hashlib.blake2b(named, digest_size=KEY_TAG_BYTES).digest()
    return _tagged(parameters.parameters_id, tag, key, public, found)


def _one_by_one(
    needs: KeyNeeds,
    made: Callable[[int, int | None, int], _Made],
    sparse: Callable[[int, int], dict[str, _Made]],
) -> dict[str, _Made]:
    """Makes all keys, and says how far this is.

    Args:
        needs: Which keys.
        made: Makes a key of limbs, a Galois element, or None for relinearization, and a number
            that no other key has.
        sparse: Makes the keys to and from a sparse secret, of the limbs raised to and a number.
    """
    found = {}
    with task("making evaluation keys", needs.count, "keys") as counted:
        if needs.relin is not None:
            found[RELIN_KEY] = made(needs.relin, None, 0)
            counted.advance()
        for number, (element, limbs) in enumerate(needs.galois.items(), 1):
            found[galois_key_name(element)] = made(limbs, element, number)
            counted.advance()
        if needs.raised is not None:
            found |= sparse(needs.raised, 1 + len(needs.galois))
            counted.advance(2)
    return found


def _fresh_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


def _sparse_shapes(parameters: RlweParameters, raised: int) -> dict[str, KeyShape]:
    """The shapes of the keys to and from the sparse secret."""
    return KeyNeeds(raised=raised).shapes(parameters)


def _sparse_arguments(parameters: RlweParameters, raised: int) -> dict[str, int]:
    """What the core makes these keys for."""
    given = checked_ckks(parameters, "bootstrapping").bootstrapping
    assert given is not None, "the shapes of the keys were asked for"
    return {
        "weight": given.weight,
        "limbs": parameters.lowest_limbs,
        "special": given.special,
        "raised": raised,
    }


def _sparse_made(
    shapes: Mapping[str, KeyShape], data: Sequence[Residues], seeds: Sequence[bytes] | None
) -> dict[str, _Made]:
    given: Sequence[bytes | None] = seeds or [None] * len(shapes)
    rows = zip(shapes.items(), data, given, strict=True)
    return {name: (words, seed, shape.base) for (name, shape), words, seed in rows}


def _drawn(parameters: RlweParameters, shape: KeyShape, draw: Callable[[], bytes]) -> bytes:
    """Returns a key's seed from ``draw``."""
    return draw_seed(draw, parameters.primes, parameters.n, shape)


def _tagged(
    identity: bytes | None,
    tag: bytes,
    key: Residues,
    public: Residues,
    found: Mapping[str, _Made],
) -> tuple[SecretKey, PublicKey, EvaluationKeys]:
    """Returns the keys of one key pair as objects."""

    def switching(made: _Made) -> KeySwitchKey:
        return KeySwitchKey(*made, parameters_id=identity, key_tag=tag)

    own = EvaluationKeys(**keys_by_field({name: switching(made) for name, made in found.items()}))
    return (*_pair(identity, tag, key, public), own)


def _pair(
    identity: bytes | None, tag: bytes, key: Residues, public: Residues
) -> tuple[SecretKey, PublicKey]:
    return (
        SecretKey(key, parameters_id=identity, key_tag=tag),
        PublicKey(public, parameters_id=identity, key_tag=tag),
    )


def _check_needs(parameters: RlweParameters, needs: KeyNeeds, halves: int = 2) -> None:
    """Refuses needs that are wrong, or whose keys do not fit in memory with so many halves each."""
    check_parameters(parameters)
    check_type("key needs", needs, KeyNeeds, "give program.key_needs, or KeyNeeds() for none")
    for element in needs.galois:
        if not 1 < element < 2 * parameters.n or element % 2 == 0:
            raise ParameterError(
                f"Galois element {element} is not odd in 3 … {2 * parameters.n - 1}: "
                "parameters.galois_element(steps) gives a rotation's"
            )
    _check_memory(parameters, needs.bytes(parameters) * halves // 2, needs.count)


def _check_memory(parameters: RlweParameters, size: int, count: int) -> None:
    """Refuses keys that do not fit in memory, with the secret and the public key."""
    size += 3 * len(parameters.primes) * 8 * parameters.n
    left = memory.available()
    if left is not None and size > left:
        raise ParameterError(
            f"{count} evaluation keys and the key pair take {memory.in_words(size)}, and this "
            f"process may take {memory.in_words(left)} more memory: use a machine, or a control "
            "group, with more; or fewer levels, fewer rotations or a smaller ring "
            "(program.explain() lists the keys)"
        )
