"""Functions for HEIR's Python front end, and what a process that may import ``heir`` does.

Importing ``heir`` replaces modules of numba for the whole process.
"""

# ruff: noqa: ANN201, ANN401 - heir has no types, and a function's type is what HEIR infers

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from heir import compile as heir_compile
from heir.mlir import F32, I16, Secret, Tensor

from ringsmith.heir.backend import RingsmithBackend


def product(a: Secret[Tensor[[8], F32]], b: Secret[Tensor[[8], F32]]):
    """Two secret vectors."""
    return a * b


def weighted(x: Secret[Tensor[[8], F32]], w: Tensor[[8], F32]):
    """A secret vector and a clear one."""
    return x * w


def scaled(x: Secret[I16], factor: I16):
    """A secret number and a clear one."""
    return x * factor + x


def fused(a: Secret[F32], b: Secret[F32]):
    """Two secret fractions."""
    return a * b + a


def difference(a: Secret[I16], b: Secret[I16]):
    """Two secret numbers."""
    total = a + b
    return total * (a - b)


def total(a: Secret[I16], b: Secret[I16]):
    """Two secret numbers, without a product."""
    return a + b


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (product, weighted, scaled, fused, difference, total)
}


def compiled(source: str, scheme: str, *, pipeline: bool = False, **backend: Any) -> Any:
    """Compiles a function."""
    how = {
        "scheme": scheme,
        "backend": RingsmithBackend(**backend),
        "heir_opt_options": None if pipeline else RingsmithBackend.options(scheme),
    }
    function = _FUNCTIONS.get(source)
    return heir_compile(source, **how) if function is None else heir_compile(**how)(function)


def results(
    source: str, scheme: str, calls: Sequence[Sequence[object]], **how: Any
) -> list[tuple[Any, int | None]]:
    """Returns the result and the clock cycles of each call of one function."""
    function = compiled(source, scheme, **how)
    return [(function(*arguments), function.cycles) for arguments in calls]


def step_by_step(source: str, scheme: str, a: object, b: object) -> list[object]:
    """Returns what a caller sees who encrypts, evaluates and decrypts."""
    function = compiled(source, scheme)
    seen: list[object] = []
    for refused in (lambda: function.encrypt_a(a), lambda: function.encrypt_c):
        try:
            refused()
        except Exception as error:
            seen.append(error)
    function.setup()
    given = function.encrypt_a(a), function.encrypt_b(b)
    for evaluate in (function.eval, getattr(function, source)):
        seen.append(function.decrypt_result(evaluate(*given)))
    return [*seen, function.original(a, b)]


def comparison(source: str, scheme: str, meant: str = "", **how: Any) -> str:
    """Returns what ``setup`` says of its comparison with the function."""
    function = compiled(source, scheme, **how)
    if meant:
        function.func = _FUNCTIONS[meant]
    function.setup()
    return str(function.compared)


def saved(source: str, scheme: str, path: Path, **how: Any) -> None:
    """Writes a function's program to a file."""
    compiled(source, scheme, **how).program.save(path)


def two_lists_of_options() -> tuple[list[str], list[str]]:
    """Returns two lists of options; HEIR changed the first."""
    first = RingsmithBackend.options("ckks", slots=2048)
    first.append("--mlir-print-debuginfo")
    return first, RingsmithBackend.options("ckks", slots=2048)
