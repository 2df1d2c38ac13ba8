"""Checks of a run's arguments, before a device gets them."""

from collections.abc import Mapping, Sequence

import numpy as np

from ringsmith._core import PrecomputedKey
from ringsmith.backends.handles import Resident
from ringsmith.backends.keys import AnyKey
from ringsmith.backends.types import InputsOnDemand
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.graph.types import MAX_DIGITS
from ringsmith.objects import (
    KeySwitchKey,
    OfKeyPair,
    OfParameters,
    OnTheFlyKey,
    Residues,
    check_key_tag,
    check_parameters_id,
    keys_by_name,
)
from ringsmith.params import KeyShape, RlweParameters
from ringsmith.runtime.precomputed_keys import AnyKeys


def check_belonging(
    whose: str, identity: bytes | None, keys: AnyKeys, operands: Mapping[str, OfParameters]
) -> bytes | None:
    """Checks that keys and operands are of the parameters, and all of one key pair.

    An unknown identity or tag fits everything.

    Args:
        whose: Names the program or evaluator.
        identity: The identity of its parameters.
        keys: The evaluation keys.
        operands: Ciphertexts and plaintexts, by their names in error messages.

    Returns:
        The tag of the operands' key pair, which is the result's; None: unknown.

    Raises:
        ProgramError: Names what does not fit.
    """
    hint = "give keys and ciphertexts of its parameters"
    theirs = "the evaluation keys"
    check_parameters_id(theirs, keys.parameters_id, whose, identity, hint, ProgramError)
    tag, tagged = None, ""
    for name, operand in operands.items():
        check_parameters_id(name, operand.parameters_id, whose, identity, hint, ProgramError)
        own = operand.key_tag if isinstance(operand, OfKeyPair) else None
        if own is None:
            continue
        hint_pair = "give keys and ciphertexts of one client"
        check_key_tag(name, own, theirs, keys.key_tag, hint_pair, ProgramError)
        check_key_tag(name, own, tagged, tag, hint_pair, ProgramError)
        tag, tagged = own, name
    return tag


def check_inputs(
    graph: SubroutineGraph,
    inputs: Mapping[str, Residues],
    residents: Mapping[str, Resident],
    *,
    residues: bool = True,
) -> None:
    """Checks that every input is given, has its shape, and is canonical.

    Args:
        graph: The graph.
        inputs: Residues (limbs, N) by name; those that are made on demand are not read.
        residents: Inputs that lie on the device, by name.
        residues: Whether to check the residues; False if the device does it.

    Raises:
        ProgramError: Otherwise; names the input.
    """
    _check_names("input", list(graph.inputs), [*inputs, *residents])
    made = inputs.made if isinstance(inputs, InputsOnDemand) else ()
    for name, kind in graph.inputs.items():
        if name in made:
            continue
        what, expected = f"input {name!r}", (len(kind.base), graph.n)
        if name in residents:
            _check_resident(what, residents[name], expected, [graph.primes[i] for i in kind.base])
            continue
        _check_shape(what, inputs[name], expected)
        if residues:
            _check_residues(what, inputs[name], [graph.primes[i] for i in kind.base])


def check_keys(
    graph: SubroutineGraph, keys: Mapping[str, AnyKey], *, residues: bool = True
) -> None:
    """Checks that every key-switching key of the graph is given, serves, and is canonical.

    A key may have more digits and primes than the graph needs. Precomputed keys are canonical; the
    graph's interpreter checks whether they fit.

    Args:
        graph: The graph.
        keys: The keys by name.
        residues: Whether to check the residues; False if the device does it.

    Raises:
        ProgramError: Otherwise; names the key.
    """
    for name, needed in graph.keys.items():
        if name not in keys:
            raise ProgramError(
                f"key {name!r} is missing: the program needs {sorted(graph.keys)}; let the client "
                "generate the evaluation keys for this program"
            )
        key = keys[name]
        if isinstance(key, PrecomputedKey):
            continue
        if isinstance(key, OnTheFlyKey):
            what, words = f"half 0 of key {name!r}", key.half
            shape: tuple[int, ...] = (key.digits, len(key.base), graph.n)
        else:
            what, words = f"key {name!r}", key.data
            shape = (key.digits, 2, len(key.base), graph.n)
        _check_key_shape(graph, name, key.shape, needed)
        _check_shape(what, words, shape)
        if residues:
            _check_residues(what, words, [graph.primes[i] for i in key.base])


def check_key_shapes(parameters: RlweParameters, keys: AnyKeys) -> None:
    """Refuses a key of digits or primes that no key of the parameters has.

    Raises:
        ProgramError: Names the key.
    """
    for name, key in keys_by_name(keys).items():
        if isinstance(key, KeySwitchKey | OnTheFlyKey) and not parameters.has_key_shape(key.shape):
            raise ProgramError(
                f"key {name!r} has {key.digits} digits and the primes {list(key.base)}, and "
                f"parameters {parameters.name!r} make no such key: use keys of the same parameters"
            )


def _check_key_shape(graph: SubroutineGraph, name: str, found: KeyShape, needed: KeyShape) -> None:
    """Refuses a key with too few digits or primes, or with primes that the graph has not."""
    if found.base[-1] >= graph.key_primes or found.digits > MAX_DIGITS:
        raise ProgramError(
            f"key {name!r} has {found.digits} digits and the primes {list(found.base)}, and full "
            f"keys have {graph.key_primes} primes: use keys of the same parameters"
        )
    if found.digits < needed.digits or not set(needed.base) <= set(found.base):
        raise ProgramError(
            f"key {name!r} has {found.digits} digits and the primes {list(found.base)}, and the "
            f"program needs {needed.digits} digits and the primes {list(needed.base)}: use keys of "
            "the same parameters, made for this program or for as many limbs"
        )


def _check_names(what: str, expected: Sequence[str], given: Sequence[str]) -> None:
    if sorted(expected) != sorted(given):
        raise ProgramError(f"the program takes the {what}s {sorted(expected)}, not {sorted(given)}")


def _check_resident(
    what: str, resident: Resident, shape: tuple[int, int], primes: Sequence[int]
) -> None:
    """Checks shape and range of what lies on a device, by what is known of it."""
    if resident.shape != shape:
        raise ProgramError(
            f"{what} has shape {resident.shape} on the device; it must have shape {shape}: use "
            "objects of the program's parameters and level"
        )
    if any(below > prime for below, prime in zip(resident.below, primes, strict=True)):
        raise ProgramError(_out_of_range(what))


def _out_of_range(what: str) -> str:
    return (
        f"{what} has residues that are not below their prime: it is damaged, or of other parameters"
    )


def _check_shape(what: str, data: Residues, shape: tuple[int, ...]) -> None:
    if data.shape != shape or data.dtype != np.uint64:
        raise ProgramError(
            f"{what} has shape {data.shape} and type {data.dtype}; it must have shape {shape} and "
            "type uint64: use objects of the program's parameters and level"
        )


def _check_residues(what: str, data: Residues, primes: Sequence[int]) -> None:
    """Checks the range; the last axis but one counts the limbs."""
    limits = np.array(primes, dtype=np.uint64)[:, np.newaxis]
    if np.any(data.max(axis=-1, keepdims=True) >= limits):  # no flag for every residue of a key
        raise ProgramError(_out_of_range(what))
