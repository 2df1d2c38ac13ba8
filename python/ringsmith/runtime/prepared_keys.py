"""Evaluation keys in the form that the ``cpu`` device multiplies by, for whoever uses them often.

A prepared key is found canonical once and laid out for the kernels of this process; results are the
same to the bit. It takes as much memory as the key, or half for primes of up to 32 bits, and more
for each level where it is used in hoisted rotations. It is not for files: another process, or
another kernel set, has another form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ringsmith._core import PreparedKey
from ringsmith.errors import ParameterError
from ringsmith.objects import CompactKey, CompactKeys, EvaluationKeys, KeySwitchKey
from ringsmith.params import BfvParameters, CkksParameters, core_context


@dataclass(frozen=True, eq=False)
class PreparedKeys:
    """Evaluation keys for the ``cpu`` device of this process; ``prepare_keys`` makes them."""

    relin: PreparedKey | None = None
    galois: Mapping[int, PreparedKey] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def nbytes(self) -> int:
        """Memory that all keys take."""
        keys = (self.relin, *self.galois.values())
        return sum(key.nbytes for key in keys if key is not None)


AnyKey = KeySwitchKey | CompactKey | PreparedKey
"""A key-switching key in each of its forms."""

AnyKeys = EvaluationKeys | CompactKeys | PreparedKeys
"""Evaluation keys in each of their forms; what is not ``EvaluationKeys`` is for the ``cpu``."""


def prepare_keys(keys: EvaluationKeys, parameters: CkksParameters | BfvParameters) -> PreparedKeys:
    """The keys for many runs on the ``cpu`` device; preparing takes about as long as a rotation.

    Nothing refers to the whole keys: forget them, or save them for another process.

    Args:
        keys: Whole keys; of those with seeds, both halves.
        parameters: What the keys were made for.

    Raises:
        ParameterError: If a key is not of these parameters, has a residue that is not canonical, or
            is in digits of words.
    """
    if isinstance(parameters, BfvParameters) and parameters.relinearization == "word":
        raise ParameterError("keys in digits of words cannot be prepared: use them as they are")
    context = core_context(parameters)
    return PreparedKeys(
        None if keys.relin is None else PreparedKey(context, keys.relin.data),
        MappingProxyType({e: PreparedKey(context, key.data, e) for e, key in keys.galois.items()}),
    )
