"""Key-switching keys for devices, and checks of their form."""

from collections.abc import Mapping, Sequence

from ringsmith._core import PrecomputedKey, TruncatedKey
from ringsmith.backends.types import CompiledGraph
from ringsmith.errors import ProgramError
from ringsmith.interop.seeded_keys import (
    MIN_DIRECT_CHANCE,
    foreign_digit,
    is_direct,
    seeds_are_direct,
)
from ringsmith.objects import KeySwitchKey, OnTheFlyKey

AnyKey = KeySwitchKey | OnTheFlyKey | PrecomputedKey
"""A key-switching key in each of its forms."""


def core_key(key: KeySwitchKey) -> TruncatedKey:
    """Returns a key with the primes of its limbs, as the core takes it."""
    return TruncatedKey(key.data, key.base)


def whole_keys(device: str, keys: Mapping[str, AnyKey]) -> dict[str, KeySwitchKey]:
    """Returns the keys, for a device that accepts full keys only.

    Raises:
        ProgramError: If one is expanded on the fly or precomputed.
    """
    whole = {name: key for name, key in keys.items() if isinstance(key, KeySwitchKey)}
    for name in keys.keys() - whole.keys():
        form = "expanded on the fly" if isinstance(keys[name], OnTheFlyKey) else "precomputed"
        raise ProgramError(
            f"key {name!r} is {form}, and so for the cpu: give device {device} the whole key, "
            "EvaluationKeys; one with a PRNG loads half of it"
        )
    return whole


def expandable(key: KeySwitchKey, primes: Sequence[int]) -> bool:
    """Whether a device with a PRNG can expand the a part of a key: it has a direct seed.

    Args:
        key: The key.
        primes: All K primes of full keys.
    """
    return key.seed is not None and seeds_are_direct(primes, key.data.shape[-1], key.shape)


def check_seeds(compiled: CompiledGraph, keys: Mapping[str, KeySwitchKey]) -> None:
    """Refuses a key without a direct seed, where the device would expand its a part.

    Args:
        compiled: The compiled graph, which says which keys the device expands.
        keys: The keys that the graph needs.

    Raises:
        ProgramError: Names the keys, and says how to compile for them.
    """
    executable = compiled.executable
    if executable is None:
        return
    graph, expanded = compiled.graph, executable.seeded
    primes = graph.primes[: graph.key_primes]
    missing = sorted(name for name in expanded if not expandable(keys[name], primes))
    if missing:
        left = sorted(expanded.difference(missing))
        raise ProgramError(
            f"the program was compiled for keys with seeds, and {', '.join(missing)} "
            f"{'has' if len(missing) == 1 else 'have'} none that design {executable.design.name} "
            f"expands: make keys with generate_keys(seeded=True), or compile it for full keys, "
            f"with seeded={tuple(left)!r:.200}"
        )


def check_seed(name: str, key: KeySwitchKey, limb: int, prime: int) -> bytes:
    """Checks that a limb of a key's a part is what its seed expands to, and returns the seed.

    Args:
        name: Of the key.
        key: The key.
        limb: Which prime of full keys the limb is of.
        prime: That prime.

    Raises:
        ProgramError: If the key has no seed, or one that expands to something else, or that is not
            direct.
    """
    if key.seed is None:
        raise ProgramError(
            f"the program expands half 1 of key {name!r} on the device and this key has no seed: "
            "make keys with generate_keys(..., seeded=True), or compile the program for a whole key"
        )
    digit = foreign_digit(key, key.seed, limb, prime)
    if digit is not None:
        raise ProgramError(
            f"key {name!r}, digit {digit}, limb {limb}: half 1 is not what the key's seed expands "
            "to: give the key without a seed, or the seed that it was made with"
        )
    if not is_direct(key.seed, limb, prime, key.data.shape[-1], key.digits):
        raise ProgramError(
            f"key {name!r}, limb {limb}: its seed expands to words that are not below the prime "
            f"{prime}, and the device has no substitutes for them: compile the program for a whole "
            "key, or take primes nearer to a power of two, of which at least 1 seed in "
            f"{1 / MIN_DIRECT_CHANCE:.0f} has no such words"
        )
    return key.seed
