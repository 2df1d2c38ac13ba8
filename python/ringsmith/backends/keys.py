"""Key-switching keys as devices are given them, and what a device refuses of them."""

from collections.abc import Mapping

from ringsmith._core import PreparedKey
from ringsmith.errors import ProgramError
from ringsmith.interop.seeded_keys import foreign_digit
from ringsmith.objects import CompactKey, KeySwitchKey

AnyKey = KeySwitchKey | CompactKey | PreparedKey
"""A key-switching key in each of its forms."""


def whole_keys(device: str, keys: Mapping[str, AnyKey]) -> dict[str, KeySwitchKey]:
    """The keys, for a device that takes whole ones alone.

    Raises:
        ProgramError: If one is compact or prepared.
    """
    whole = {name: key for name, key in keys.items() if isinstance(key, KeySwitchKey)}
    for name in keys.keys() - whole.keys():
        form = "compact" if isinstance(keys[name], CompactKey) else "prepared"
        raise ProgramError(
            f"key {name!r} is {form}, and so for the cpu: give device {device} the whole key, "
            "EvaluationKeys; one with a PRNG loads half of it"
        )
    return whole


def check_seed(name: str, key: KeySwitchKey, limb: int, prime: int) -> bytes:
    """Checks that a limb of a key's half 1 is what its seed expands to, and returns the seed.

    Args:
        name: Of the key.
        key: The key.
        limb: The limb, counting the key's K primes.
        prime: That limb's prime.

    Raises:
        ProgramError: If the key has no seed, or one that expands to something else.
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
    return key.seed
