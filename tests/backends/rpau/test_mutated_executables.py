"""Executables with one value changed: refused when read, or they run to their end."""

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringsmith.backends.rpau.compiler.executable_file import read_executable
from ringsmith.backends.rpau.debug.trace import Trace
from ringsmith.backends.rpau.debug.waves import run_on_random_data
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.lower import lower_operation
from ringsmith.params import CkksParameters
from ringsmith.runtime import compile_graph

WORK_POLYS = {"one run": 16, "runs in parts": 4}
CHANGES = 200
_MISSING = object()
_SIMPLE = (None, True, -1, 0, 7, 1 << 31, (1 << 64) - 1, 10**400, 1.5, "", "x", [], {}, [1])
_SHOWN = 9
"""Entries of a list that may be changed, and the last."""

Path = tuple[str | int, ...]


@pytest.fixture(scope="module", params=WORK_POLYS)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The file of a rotation with keys from seeds, as JSON values."""
    design = replace(
        load_design("nano"),
        name="small",
        log_n=10,
        rpaus=2,
        modulus_banks=2,
        prng="trivium",
        seeds=4,
        work_polys=WORK_POLYS[request.param],
        key_polys=8,
        larger_rings=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing is encrypted
        parameters = CkksParameters.create(
            n=1024, prime_bits=(40, 40), special_bits=41, scale_bits=30, security=None
        )
    executable = compile_graph(lower_operation("rotate", parameters, 2), design).executable
    assert executable is not None
    found: dict[str, Any] = json.loads(executable.to_json())
    assert (found["content"]["runs"]["counts"][0] > 1) == (request.param == "runs in parts")
    return found


def test_every_field_that_is_missing_or_wrong_is_refused_or_harmless(
    document: dict[str, Any],
) -> None:
    outcomes = {"refused": 0, "ran": 0}
    for place in _places(document, shown=1):
        found = _at(document, place)
        near = (found + 1, found - 1) if isinstance(found, int) else ()
        for value in (_MISSING, *_SIMPLE, *near):
            outcomes[_outcome(document, place, value)] += 1
    assert min(outcomes.values()) > 0


def test_a_value_from_elsewhere_in_the_file_is_refused_or_harmless(
    document: dict[str, Any], rng: np.random.Generator
) -> None:
    """Such a value is likely to be nearly right."""
    places = [p for p in _places(document) if isinstance(_at(document, p), int | str)]
    outcomes = {"refused": 0, "ran": 0}
    for _ in range(CHANGES):
        place, other = (places[rng.integers(len(places))] for _ in range(2))
        outcomes[_outcome(document, place, _at(document, other))] += 1
    assert min(outcomes.values()) > 0


def test_the_seed_of_a_key_that_is_not_loaded_is_refused(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["content"]["runs"]["items"]["seeds"]["items"]["key"][0] = "another"
    with pytest.raises(ProgramError, match="the seed of a key, but no other part of the key"):
        read_executable(json.dumps(changed))


def _outcome(document: dict[str, Any], place: Path, value: object) -> str:
    """What becomes of the document with one value changed; nothing but what it says may happen."""
    changed = copy.deepcopy(document)
    owner, key = _at(changed, place[:-1]), place[-1]
    if value is _MISSING:
        del owner[key]
    else:
        owner[key] = value
    try:
        executable = read_executable(json.dumps(changed))
    except ProgramError:
        return "refused"
    try:
        Trace.of_executable(executable)
        Trace.of_model(executable)
        run_on_random_data(executable, ModelCoprocessor(executable.design))
    except (ProgramError, DeviceError):  # its cycles are wrong, or it reads what it never wrote
        return "refused"
    return "ran"


def _places(value: Any, place: Path = (), *, shown: int = _SHOWN) -> Iterator[Path]:  # noqa: ANN401
    """Where every value stands, of long lists the first ones and the last."""
    if place:
        yield place
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _places(entry, (*place, key), shown=shown)
    elif isinstance(value, list):
        for index in sorted({*range(min(len(value), shown)), len(value) - 1} - {-1}):
            yield from _places(value[index], (*place, index), shown=shown)


def _at(value: Any, place: Path) -> Any:  # noqa: ANN401 - JSON
    for key in place:
        value = value[key]
    return value
