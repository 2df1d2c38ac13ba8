"""Parameters chosen for a design compile for it; a program that cannot run says so at its line."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    Program,
    bfv_parameters_for_depth,
    compile_program,
    inner_product,
    parameter_set,
    polynomial,
    trace,
)
from ringsmith import program as program_package
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.design_files import named
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.runtime.compiled import compile_for_smallest_design
from ringsmith.runtime.designs import Design, limits_of
from ringsmith.schemes.registry import BFV, CKKS, SCHEMES

HERE = Path(__file__)


def score(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return polynomial(inner_product(x, [0.5, -1, 2, 0.25], 4), [0.5, 0.197, 0, -0.004])


def shifted(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return x * [1, 3, 0, 2] + 1


@pytest.mark.parametrize(
    ("function", "wish"),
    [
        (score, AutoParameters(design="nano", precision_bits=15)),
        (lambda x: x * x, AutoParameters(design="octo")),
        (lambda x: x * x, AutoParameters(design="medha")),
        (lambda x: x * x, AutoParameters(design="rpm", precision_bits=4)),
        (lambda x: x * x + 1, AutoBfvParameters(design="rpm", plain_bits=17)),
        (shifted, AutoBfvParameters(design="nano", plain_bits=17)),
        (shifted, AutoBfvParameters(design="medha", plain_bits=17)),
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'design', '')}",
)
def test_what_is_chosen_for_a_design_compiles_for_it(
    function: Callable[..., Any], wish: AutoRlweParameters
) -> None:
    program = trace(function, wish, {"x": 4})
    parameters, limits = program.parameters, limits_of(wish.design)
    assert limits.min_n <= parameters.n <= limits.max_n
    assert limits.max_primes is None or len(parameters.primes) <= limits.max_primes
    assert not limits.primes or set(parameters.primes) <= set(limits.primes)
    assert max(q.bit_length() for q in parameters.primes) <= limits.max_prime_bits
    assert (parameters.security or 0) >= 128
    compiled = compile_program(program, wish.design).compiled_graph
    assert compiled.design is not None
    assert compiled.design.name == wish.design


def test_a_design_for_the_search_may_be_an_object_or_a_set_by_depth() -> None:
    wide = replace(load_design("nano"), name="wide", rpaus=7, word_bits=40)
    program = trace(lambda x: x**16, AutoParameters(design=wide, precision_bits=3), {"x": 1})
    assert program.parameters.levels == 4
    assert max(q.bit_length() for q in program.parameters.primes) <= 40
    wish = AutoBfvParameters(design="rpm", plain_bits=17)
    assert bfv_parameters_for_depth(1, wish).multiplication == "hps"


@pytest.mark.parametrize(
    ("function", "wish", "message"),
    [
        (
            lambda x: x**32,
            AutoParameters(design="nano"),
            "5 levels take 7 primes, and design nano holds 5: .* take a larger design than nano",
        ),
        (score, AutoParameters(design="nano", max_n=4096), "no ring degree is within the limits"),
        (
            lambda x: x * x,
            AutoBfvParameters(design="octo", plain_bits=17),
            "squares an encrypted BFV vector, and design octo has no unit for BFV products",
        ),
        (
            lambda x: x.swap_columns(),
            AutoBfvParameters(design="nano", plain_bits=17),
            "swaps the rows of an encrypted BFV vector, and design nano rotates CKKS vectors only",
        ),
    ],
)
def test_a_search_that_finds_nothing_for_a_design_says_why(
    function: Callable[..., Any], wish: AutoRlweParameters, message: str
) -> None:
    with pytest.raises(ProgramError, match=message) as raised:
        trace(function, wish, {"x": 4})
    assert str(raised.value).startswith(f"{HERE}:")


def test_a_design_that_does_not_exist_is_named() -> None:
    with pytest.raises(ParameterError, match=r"there is no design 'nix': choose one of .*, heaws"):
        trace(score, AutoParameters(design="nix"))
    with pytest.raises(ProgramError, match=r"design = 'nano': ringsmith\.trace knows designs"):
        program_package.trace(score, AutoParameters(design="nano"))


def ckks(n: int, bits: tuple[int, ...], special: tuple[int, ...] = (37,), dnum: int = 0) -> Any:  # noqa: ANN401
    scale = bits[-1]
    return CkksParameters.create(
        n=n, prime_bits=bits, special_bits=special, scale_bits=scale, dnum=dnum, security=None
    )


def bfv(**options: Any) -> BfvParameters:  # noqa: ANN401 - what create takes
    arguments = {"prime_bits": (36, 36), "special_bits": 37} | options
    return BfvParameters.create(n=8192, plain_bits=17, security=None, **arguments)


def product(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return x + x * x.rotate(1)


NANO = load_design("nano")


@pytest.mark.parametrize(
    ("program", "design", "line", "message"),
    [
        (
            lambda: trace(lambda x: x + product(x), bfv()),
            "nano",
            r"return x \+ x . x\.rotate",
            "rotates an encrypted BFV vector, and design nano rotates CKKS vectors only: run it on "
            "device cpu$",
        ),
        (
            lambda: trace(lambda x, y: x * y, bfv()),
            "nano",
            "lambda x, y: x",
            "multiplies two encrypted BFV vectors, and design nano has no unit for BFV products",
        ),
        (
            lambda: trace(lambda x: x * x, AutoBfvParameters(plain_bits=17, max_n=4096)),
            "rpm",
            "max_n=4096",
            "squares an encrypted BFV vector, which design rpm does by multiplication hps, and "
            "parameters 'auto-bfv-4096-.*' have 'behz': .* with multiplication='hps'",
        ),
        (
            lambda: trace(score, parameter_set("medha-set1")),
            "nano",
            'parameter_set."medha-set1"',
            "program score: parameters 'medha-set1' have N = 16384, and design nano is built for N "
            "= 8192: run it on device cpu, or compile it for medha, .*octo, .*or let "
            r"AutoParameters\(design='nano'\) choose parameters",
        ),
        (
            lambda: trace(score, ckks(8192, (33,) * 6)),
            "nano",
            "33,. . 6",
            "have 7 primes, 6 data and 1 special, and design nano holds 5",
        ),
        (
            lambda: trace(score, ckks(8192, (36, 23, 23, 23))),
            "nano",
            "36, 23, 23",
            "have the prime .* of 23 bits, and design nano takes primes of 24 to 48",
        ),
        (
            lambda: trace(score, ckks(16384, (60, 46, 46, 46), (60,))),
            "medha",
            "60, 46, 46, 46",
            r"prime .* is 2\^46 - .*, and words of 60 bits take at most 262143 away from 2\^46",
        ),
        (
            lambda: trace(lambda x: x.rotate(1), ckks(16384, (36,) * 4, (37, 37), dnum=2)),
            "octo",
            "dnum=2",
            r"have digits of 2 primes \(dnum = 2\), and design octo switches keys in digits of one",
        ),
        (
            lambda: trace(
                lambda x: x + 1, bfv(special_bits=(), relinearization="word", word_bits=36)
            ),
            "nano",
            "lambda x: x . 1, bfv",
            "have keys in words .*, and design nano takes keys with a special prime",
        ),
        (
            lambda: trace(lambda x: x + 1, bfv(special_bits=(), relinearization="residue")),
            "nano",
            "lambda x: x . 1, bfv",
            "have keys in residue digits .*, and design nano takes keys with a special prime",
        ),
        (
            lambda: trace(score, ckks(8192, (40, 35, 35, 35))),
            replace(NANO, name="small", constants=4),
            "40, 35, 35",
            "program score, which design small cannot run: the program needs .* constants and "
            "design small has constants = 4: .* run it on device cpu",
        ),
        (
            lambda: trace(lambda x: product(x), ckks(1024, (36, 26))),
            replace(NANO, name="small", log_n=8, larger_rings=2, work_polys=4, cores=1),
            r"return x \+ x . x\.rotate",
            "rotates an encrypted vector, which design small cannot run: instructions that belong "
            "together need .* at once and design small has 4: .* run it on device cpu",
        ),
    ],
)
def test_a_program_that_a_design_cannot_run_is_refused_at_its_line(
    program: Callable[[], Program], design: str | RpauDesign, line: str, message: str
) -> None:
    with pytest.raises(ProgramError, match=message) as raised:
        compile_program(program(), design)
    text = str(raised.value)
    where = re.match(rf"{re.escape(str(HERE))}:(\d+): ", text)
    assert where is not None, text
    lines = HERE.read_text().splitlines()
    first = int(where[1]) - 1
    assert re.search(line, " ".join(lines[first : first + 3])), lines[first]
    assert "\n" not in text
    assert "architecture" not in text


def test_the_smallest_design_names_the_line_too() -> None:
    message = "BFV vectors, which every design of architecture rpau does by multiplication hps, and"
    with pytest.raises(ProgramError, match=message) as raised:
        compile_for_smallest_design(trace(lambda x, y: x * y, bfv()))
    assert str(raised.value).startswith(f"{HERE}:")


def test_every_operation_has_words() -> None:
    assert all(" " in scheme.words(op) for op in Op for scheme in SCHEMES)
    assert BFV.words(Op.MULTIPLY) == "multiplies two encrypted BFV vectors"
    assert CKKS.words(Op.MULTIPLY) == "multiplies two encrypted vectors"


def test_every_design_has_limits_that_its_own_search_keeps() -> None:
    designs: list[str | Design] = [*named(), load_design("medha")]
    for design in designs:
        limits = limits_of(design)
        assert 2 <= limits.min_prime_bits <= limits.max_prime_bits <= 60
        assert limits.min_n <= limits.max_n
