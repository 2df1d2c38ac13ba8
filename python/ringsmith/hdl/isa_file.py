"""What the files of instruction sets have in common."""

from collections.abc import Mapping, Set


class IsaError(ValueError):
    """An instruction-set file contradicts itself."""


def check_keys(
    what: str, entry: Mapping[str, object], required: Set[str], optional: Set[str] = frozenset()
) -> None:
    """Refuses an entry of a file without a key that it needs, or with an unknown one.

    Raises:
        IsaError: If so; names ``what`` and the keys.
    """
    missing, unknown = required - entry.keys(), entry.keys() - required - optional
    if missing or unknown:
        raise IsaError(f"{what}: missing keys {sorted(missing)}, unknown keys {sorted(unknown)}")
