"""Functions along an axis of encrypted arrays: they are near NumPy's, or refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    EncryptedArray,
    argmax,
    bounded,
    softmax,
    sort,
    trace,
)
from ringsmith.errors import ProgramError

Numbers = NDArray[Any]
ROUGH = AutoParameters(precision_bits=8)
# Entries that differ by an eighth of the range or more.
X = np.array([[0.9, -0.9, 0.1], [-0.3, 0.8, -0.9], [0.2, 0.5, 0.95], [-0.8, 0, 0.6]])


def exact_softmax(x: Numbers, axis: int = -1) -> Numbers:
    powers = np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)


NEAR: dict[str, tuple[Callable[[EncryptedArray], EncryptedArray], Any, float]] = {
    "softmax": (lambda x: softmax(x, axis=1), exact_softmax(X), 2.0**-10),
    "softmax along the first axis": (
        lambda x: softmax(1.5 * x, 0, error=0.01),
        exact_softmax(1.5 * X, 0),
        0.01,
    ),
    "std": (lambda x: x.std(axis=1, error=0.02), X.std(axis=1), 0.02),
    "max": (lambda x: x[:, :2].max(axis=1), X[:, :2].max(axis=1), 0.02),
    "min that keeps its axis": (
        lambda x: np.min(x[:2], axis=0, keepdims=True),
        X[:2].min(axis=0, keepdims=True),
        0.02,
    ),
    "argmax": (lambda x: argmax(x, axis=1, margin=0.25), X.max(axis=1, keepdims=True) == X, 0.02),
    "argmax along the first axis": (
        lambda x: argmax(x, axis=0, margin=0.25),
        X.max(axis=0, keepdims=True) == X,
        0.02,
    ),
    "sort of two": (lambda x: np.sort(x[:2], axis=0), np.sort(X[:2], axis=0), 0.02),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_function_along_an_axis_is_near_numpys(name: str) -> None:
    function, expected, error = NEAR[name]
    program = trace(function, ROUGH, {"x": X.shape})
    found = program.run(x=X)["result"]
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= error
    meant = program.evaluate({"x": X})["result"]
    noise = max(each.error for each in program.forecast().outputs.values())
    assert np.abs(found - meant).max() <= noise


@pytest.mark.full
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.max(axis=0), X.max(axis=0)),
        (lambda x: x.min(), np.array(X.min())),
        (lambda x: sort(x, axis=0), np.sort(X, axis=0)),
        (lambda x: sort(x, axis=1), np.sort(X, axis=1)),
    ],
    ids=["max", "min of all", "sort of four", "sort of three"],
)
def test_deep_networks_of_comparisons_are_near_numpys(
    function: Callable[[EncryptedArray], EncryptedArray], expected: Numbers
) -> None:
    program = trace(function, AutoParameters(precision_bits=6), {"x": X.shape})
    found = program.run(x=X)["result"]
    assert found.shape == np.shape(expected)
    assert np.abs(found - expected).max() <= 0.06


REFUSED: dict[str, tuple[Callable[[EncryptedArray], Any], str]] = {
    "no axis": (lambda x: softmax(x, 2), r"axis = 2 of an array of shape \(4, 3\)"),
    "two axes": (lambda x: argmax(x, (0, 1)), r"axis = \(0, 1\): name one axis"),  # type: ignore[arg-type]
    "an axis of one entry": (lambda x: argmax(x[:, :1], 1), "has one entry"),
    "an error of nothing": (lambda x: softmax(x, 1, error=0), "error = 0 is not between 0 and 1"),
    "NumPy's argmax": (lambda x: np.argmax(x, axis=0), "argmax\\(x, axis\\) of ringsmith"),
    "a plain array": (lambda x: x + softmax(X), "softmax\\(x, axis\\) takes an encrypted array"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused_at_the_users_line(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message) as caught:
        trace(function, ROUGH, {"x": X.shape})
    assert str(caught.value).startswith(f"{__file__}:")


def test_integers_modulo_t_have_no_order() -> None:
    for function in (argmax, softmax, sort, lambda x: x.max(), lambda x: x.std()):
        with pytest.raises(ProgramError, match="BFV computes modulo t"):
            trace(function, AutoBfvParameters(), {"x": (4,)})


def test_a_narrower_promise_makes_softmax_cheaper() -> None:
    wide = trace(lambda x: softmax(2 * x, 1), ROUGH, {"x": X.shape})
    narrow = trace(lambda x: softmax(bounded(2 * x, 1), 1), ROUGH, {"x": X.shape})
    assert narrow.parameters.limbs < wide.parameters.limbs
