"""Functions of NumPy that take encrypted arrays by its protocols, against NumPy itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    EncryptedArray,
    InputSpec,
    Program,
    bounded,
    conv1d,
    conv2d,
    inner_product,
    matmul,
    matvec,
    parameter_set,
    sigmoid,
    sum_slots,
    trace,
)
from ringsmith.errors import ProgramError

Numbers = NDArray[Any]
RNG = np.random.default_rng(20)
X = RNG.uniform(-1, 1, (4, 6))
Z = RNG.uniform(-0.7, 0.7, (3, 5)) + 1j * RNG.uniform(-0.7, 0.7, (3, 5))
WEIGHTS, MASK = RNG.uniform(0.1, 1, 6), X > 0
ROUGH = AutoParameters(precision_bits=10)

EXACT: dict[str, Callable[[Any], Any]] = {
    "average": lambda x: np.average(x),
    "average along an axis": lambda x: np.average(x, axis=0),
    "weighted average": lambda x: np.average(x, axis=1, weights=WEIGHTS),
    "weighted average of all": lambda x: np.average(x[0], weights=WEIGHTS),
    "convolve": lambda x: np.convolve(x[0], WEIGHTS[:3]),
    "convolve, the longer second": lambda x: np.convolve(WEIGHTS[:3], x[0], mode="same"),
    "convolve, even": lambda x: np.convolve(x[0], WEIGHTS[:4], mode="same"),
    "convolve, valid": lambda x: np.convolve(x[0], WEIGHTS[:4], mode="valid"),
    "convolve of encrypted arrays": lambda x: np.convolve(x[0], x[1, :2]),
    "convolve of encrypted ones, valid": lambda x: np.convolve(x[1, :2], x[0], "valid"),
    "correlate": lambda x: np.correlate(x[0], WEIGHTS[:3]),
    "correlate, full": lambda x: np.correlate(x[0], x[1, 1:4], mode="full"),
    "cov": lambda x: np.cov(x),
    "cov of columns": lambda x: np.cov(x, rowvar=False),
    "cov of one variable": lambda x: np.cov(x[0], ddof=0),
    "polyval": lambda x: np.polyval([0.3, -1.2, 0.5, 0.1], x),
    "vdot": lambda x: np.vdot(x[0], WEIGHTS),
    "vdot, plain first": lambda x: np.vdot(WEIGHTS, x[0]),
    "split": lambda x: np.split(x, 2)[1] + np.hsplit(x, [2])[0][2:, :1],
    "array_split": lambda x: np.array_split(x[0], 4)[0],
    "diag": lambda x: np.diag(x[:, :4]),
    "zeros_like": lambda x: x + np.zeros_like(x) + np.full_like(x, 2),
    "prod": lambda x: x[:, :3].prod(axis=1),
    "copy": lambda x: np.copy(x) + x.copy(),
    "real": lambda x: np.real(x),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_function_of_numpy_means_the_same(name: str) -> None:
    function = EXACT[name]
    found = trace(function, "auto", {"x": X.shape}).run(x=X)["result"]
    expected = np.asarray(function(X))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "fft": lambda z: np.fft.fft(z),
    "fft along the first axis": lambda z: np.fft.fft(z, axis=0),
    "a filter": lambda z: np.fft.ifft(np.fft.fft(z) * np.arange(5)),
    "real and imag": lambda z: np.real(z) + 2 * np.imag(z),
    "vdot": lambda z: np.vdot(z[0], z[1]),
    "correlate": lambda z: np.correlate(z[0], z[1, :3]),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_a_function_of_complex_numbers_means_the_same(name: str) -> None:
    function = COMPLEX[name]
    program = trace(function, "auto", {"z": InputSpec(Z.shape, complex_numbers=True)})
    found = program.run(z=Z)["result"]
    expected = np.asarray(function(Z))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-4


def test_results_that_may_be_complex_are_returned_so() -> None:
    """Of a program from a file, too; nothing is dropped unless it is asked for."""
    spec = InputSpec(Z.shape, complex_numbers=True)
    made = trace(
        lambda z: {"turned": 1j * z, "size": np.real(z * z.conjugate())}, "auto", {"z": spec}
    )
    for program in (made, Program.from_bytes(made.to_bytes())):
        assert isinstance(program, Program)
        found = program.run(z=Z)
        assert np.abs(found["turned"] - 1j * Z).max() < 1e-5
        assert np.abs(found["size"] - np.abs(Z) ** 2).max() < 1e-5
    real = made.run(z=Z, complex_numbers=False)["turned"]
    assert real.dtype == np.float64
    assert np.abs(real + Z.imag).max() < 1e-5
    turned = trace(lambda x: x * 1j, "auto", {"x": X.shape}).run(x=X)["result"]
    assert np.abs(turned - 1j * X).max() < 1e-5


P = RNG.uniform(0.3, 1, (2, 4))
NEAR: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp": (lambda x: np.exp(x), 0.002),
    "log": (lambda x: np.log(x), 0.002),
    "sqrt": (lambda x: np.sqrt(x), 0.001),
    "tanh": (lambda x: np.tanh(x), 0.001),
    "reciprocal": (lambda x: np.reciprocal(x), 0.003),
    "power of a half": (lambda x: x**0.5, 0.001),
    "power of minus one": (lambda x: x**-1, 0.003),
    "quotient": (lambda x: x[0] / x[1], 0.003),
    "quotient of a number": (lambda x: 2 / x, 0.006),
    "quotient of an array": (lambda x: np.ones((2, 4)) / x, 0.003),
    "maximum": (lambda x: np.maximum(x, 0.6), 0.006),
    "minimum, plain first": (lambda x: np.minimum(np.full(4, 0.5), x), 0.006),
    "clip": (lambda x: np.clip(x, 0.5, 0.8), 0.01),
    "median": (lambda x: np.median(x[:, :3], axis=1), 0.02),
    "median of an even number": (lambda x: np.median(x[0, :2]), 0.01),
    "norm": (lambda x: np.linalg.norm(x[:, :2] / 2, axis=1), 0.001),
    "ptp": (lambda x: np.ptp(x[:, :2], axis=1), 0.012),
}


@pytest.mark.parametrize("name", NEAR)
def test_an_approximated_function_of_numpy_is_near(name: str) -> None:
    function, error = NEAR[name]
    found = trace(function, ROUGH, {"x": InputSpec(P.shape, bound=(0.3, 1))}).run(x=P)["result"]
    expected = np.asarray(function(P))
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < error + 2.0**-10


def test_whole_numbers_are_convolved_exactly() -> None:
    x = RNG.integers(-9, 9, 7)
    function: Callable[[Any], Any] = lambda x: np.correlate(x, x[:3], "full") + np.vdot(x, x)  # noqa: E731
    found = trace(function, AutoBfvParameters(), {"x": (7,)}).run(x=x)["result"]
    assert (found == function(x)).all()


@pytest.mark.parametrize("stride", [1, 2])
def test_one_kernel_takes_arrays_without_channels(stride: int) -> None:
    image, kernel = RNG.uniform(-1, 1, (2, 5, 6)), RNG.uniform(-1, 1, (2, 3))
    program = trace(lambda x: conv2d(x, kernel, stride=stride), "auto", {"x": image.shape})
    windows = np.lib.stride_tricks.sliding_window_view(image, (2, 3), axis=(1, 2))
    expected = (windows * kernel).sum(axis=(-1, -2))[:, ::stride, ::stride]
    assert np.abs(program.run(x=image)["result"] - expected).max() < 1e-5
    line = trace(lambda x: conv1d(x, kernel[0]), "auto", {"x": (6,)})
    expected = np.correlate(image[0, 0], kernel[0])
    assert np.abs(line.run(x=image[0, 0])["result"] - expected).max() < 1e-5


def test_a_function_of_known_numbers_is_known() -> None:
    """Such as the first step of a gradient descent from zeros."""

    def step(x: EncryptedArray) -> EncryptedArray:
        return x + sigmoid(x @ np.zeros(6)).reshape(4, 1)

    found = trace(step, "auto", {"x": X.shape}).run(x=X)["result"]
    assert np.abs(found - X - 0.5).max() < 1e-5


def assigns(x: EncryptedArray) -> EncryptedArray:
    x[0] = 1
    return x


REFUSED: dict[str, tuple[Callable[[EncryptedArray], Any], str]] = {
    "an assignment": (assigns, "an encrypted array is not changed in place"),
    "argsort": (lambda x: np.argsort(x), "np.argsort does not take encrypted arrays: np.sort"),
    "argmin": (lambda x: np.argmin(x), r"take argmax\(-x, axis\)"),
    "argmax, a method": (lambda x: x.argmax(), "an encrypted array has no argmax: argmax"),
    "round": (lambda x: np.round(x), "round what was decrypted"),
    "sin": (lambda x: np.sin(x), r"chebyshev\(x, np.sin, degree, \(low, high\)\)"),
    "float": (lambda x: float(x.sum()), "an encrypted array is not a number"),
    "a part of an array": (lambda x: np.array([x[0, 0], 1.0]), "np.stack and np.concatenate"),
    "a comparison": (lambda x: x > 0.5, r"compare\(a, b, margin=…\) is about 1"),
    "a quotient by numbers around 0": (
        lambda x: 1 / x,
        r"one side of 0, and x may lie in \[-1, 1\]",
    ),
    "a root of numbers below 0": (lambda x: np.sqrt(x), r"sqrt takes numbers from 0"),
    "convolve of matrices": (lambda x: np.convolve(x, x), r"convolve of shapes \(4, 6\)"),
    "correlate, the shorter first": (lambda x: np.correlate(x[0, :2], x[0]), "the longer first"),
    "an unequal split": (lambda x: np.split(x, 3), "does not result in an equal division"),
    "an option": (lambda x: np.median(x, overwrite_input=True), "np.median: .*overwrite_input"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused_at_the_users_line(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message) as caught:
        trace(function, parameter_set("nano"), {"x": X.shape})
    assert str(caught.value).startswith(f"{__file__}:")


def test_whole_numbers_are_not_divided_by_encrypted_ones() -> None:
    for function in (lambda x: 1 / x, lambda x: x / x, lambda x: x**-1):
        with pytest.raises(ProgramError, match=r"not divided|use a whole number from 1"):
            trace(function, AutoBfvParameters(), {"x": (4,)})


def test_numbers_above_zero_divide() -> None:
    """The one way around a range that holds 0: a promise."""
    program = trace(lambda x: x / bounded(x.sum(), (0.5, 4)), ROUGH, {"x": (4,)})
    x = np.array([0.1, 0.2, 0.3, 0.4])
    assert np.abs(program.run(x=x)["result"] - x).max() < 0.004


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, y: x & y, "of values that are 0 or 1 write a \\* b for and"),
        (lambda x, y: x | y, "a \\+ b - a \\* b for or"),
        (lambda x, y: ~(x + y), "1 - a for not"),
        (lambda x, y: np.logical_or(x, y), "a \\+ b - a \\* b for or"),
        (lambda x, y: matvec(np.ones((3, 4)), x * y), "of arrays write matrix @ x"),
        (lambda x, y: matmul(x, y, 2), "of arrays write a @ b"),
        (lambda x, y: inner_product(x + y, np.ones(4), 4), "of arrays write x @ weights"),
        (lambda x, y: sum_slots(x + y), r"of arrays write x.sum\(axis\)"),
    ],
)
def test_what_arrays_do_not_take_is_refused_with_what_to_write(
    function: Callable[[Any, Any], Any], words: str
) -> None:
    for wish in ("auto", AutoBfvParameters()):
        with pytest.raises(ProgramError, match=rf"{Path(__file__).name}:\d+: .*{words}"):
            trace(function, wish, {"x": (4,), "y": (4,)})


def test_the_first_argument_may_be_given_by_its_name() -> None:
    program = trace(lambda x: np.sum(a=x, axis=0), "auto", {"x": (2, 3)})
    assert (program.evaluate({"x": np.ones((2, 3))})["result"] == 2).all()
