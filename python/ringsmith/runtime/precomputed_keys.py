"""Precomputed evaluation keys: the form in which the ``cpu`` device multiplies, for frequent use.

A precomputed key is checked once and stored in the layout of this process's kernels.
Results are bit-identical. It takes as much memory as the key, or half for primes of up to 32 bits.
Hoisted rotations take more memory for each level where they use it. It cannot be saved to a file:
the form differs between processes and kernel sets.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType
from typing import NoReturn

from ringsmith._core import PrecomputedKey
from ringsmith.backends.keys import core_key
from ringsmith.errors import ParameterError
from ringsmith.objects import (
    EvaluationKeys,
    OnTheFlyKeys,
    check_parameters_id,
    keys_by_field,
    keys_by_name,
)
from ringsmith.params import RlweParameters, core_context
from ringsmith.params.keys import galois_key_name
from ringsmith.short_repr import short_repr


@short_repr
@dataclass(frozen=True, eq=False)
class PrecomputedKeys:
    """Precomputed evaluation keys for the ``cpu`` device of this process.

    ``precompute_keys`` makes them.

    Attributes:
        relin: The relinearization key.
        galois: Galois keys by Galois element.
        to_sparse: Of bootstrapping: the key to the sparse secret.
        from_sparse: Of bootstrapping: the key back from it.
        parameters_id: The identity of the keys' parameters; None: unknown.
        key_tag: The random tag of their key pair; None: unknown.
    """

    relin: PrecomputedKey | None = None
    galois: Mapping[int, PrecomputedKey] = field(default_factory=lambda: MappingProxyType({}))
    to_sparse: PrecomputedKey | None = None
    from_sparse: PrecomputedKey | None = None
    _: KW_ONLY
    parameters_id: bytes | None = None
    key_tag: bytes | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "precomputed keys are for this process alone: pickle the EvaluationKeys and call "
            "precompute_keys where they arrive"
        )

    @property
    def nbytes(self) -> int:
        """Memory that all keys take."""
        return sum(key.nbytes for key in keys_by_name(self).values())


AnyKeys = EvaluationKeys | OnTheFlyKeys | PrecomputedKeys
"""Evaluation keys in each form; forms other than ``EvaluationKeys`` are for ``cpu`` only."""


def precompute_keys(keys: EvaluationKeys, parameters: RlweParameters) -> PrecomputedKeys:
    """Returns precomputed keys for many runs on the ``cpu`` device.

    Precomputing a key takes about as long as a rotation. The result holds no reference to the full
    keys: delete them, or save them for another process.

    Args:
        keys: Keys with both parts, full or truncated.
        parameters: The parameters of the keys.

    Raises:
        ParameterError: If a key is not of these parameters, has a residue that is not canonical, or
            is in digits that no special prime divides.
    """
    if parameters.word_bits or parameters.residue_digits:
        kind = "digits of words" if parameters.word_bits else "residue digits"
        raise ParameterError(f"keys in {kind} cannot be precomputed: use them as they are")
    check_parameters_id(
        "the evaluation keys",
        keys.parameters_id,
        f"parameters {parameters.name!r}",
        parameters.parameters_id,
        "name the parameters that they were made for",
    )
    context = core_context(parameters)
    named = {
        name: PrecomputedKey(context, core_key(key))
        for name, key in keys_by_name(replace(keys, galois={})).items()
    }
    named |= {
        galois_key_name(e): PrecomputedKey(context, core_key(key), e)
        for e, key in keys.galois.items()
    }
    return PrecomputedKeys(
        **keys_by_field(named),
        parameters_id=keys.parameters_id,
        key_tag=keys.key_tag,
    )
