"""What a new user types first, wrongly: every call works, or a sentence says what to call."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    ClientKit,
    Compiled,
    Program,
    bfv_parameters_for_depth,
    client,
    compile_program,
    explain,
    explore_designs,
    open_device,
    parameter_set,
    trace,
)
from ringsmith.errors import ParameterError, ProgramError, RingsmithError
from ringsmith.params import PARAMETER_SETS
from ringsmith.runtime import compile_for_smallest_design


def square(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return x * x + 1


class Things:
    """A program and what belongs to it."""

    def __init__(self) -> None:
        self.nano = parameter_set("pico")
        self.program = trace(lambda x: x + 1, self.nano, {"x": 4})
        self.kit = self.program.client_kit()
        self.secret, self.public, self.keys = self.program.generate_keys()
        self.inputs = self.program.encrypt(self.public, {"x": [1, 2]})
        self.compiled = compile_program(self.program)


@pytest.fixture(scope="module")
def things() -> Things:
    return Things()


def ckks(**changed: Any) -> CkksParameters:  # noqa: ANN401 - any arguments
    sizes: dict[str, Any] = {"prime_bits": (50, 40), "special_bits": 51, "scale_bits": 40}
    return CkksParameters.create(**{"n": 8192, **sizes, **changed})


def bfv(**changed: Any) -> BfvParameters:  # noqa: ANN401 - any arguments
    sizes: dict[str, Any] = {"prime_bits": (36, 36), "special_bits": 37, "plain_bits": 17}
    return BfvParameters.create(**{"n": 4096, **sizes, **changed})


PRIMES = parameter_set("nano").data_primes
SPECIAL = parameter_set("nano").special_primes

CALLS: list[tuple[Callable[[Any], object], str]] = [
    # programs
    (lambda t: explain(square), r'trace the function first: explain\(trace\(square, "auto"\)\)'),
    (lambda t: explain(lambda x: x), r'explain\(trace\(f, "auto"\)\)'),
    (lambda t: explain(t.compiled), r"Compiled was given where a Program belongs: give what trace"),
    (lambda t: explain(t.kit), "a kit has no operations: give the program"),
    (lambda t: explain("score.rsp"), r'read it first: explain\(Program.load\("score.rsp"\)\)'),
    (lambda t: explain(Path("score.rsp")), r'explain\(Program.load\("score.rsp"\)\)'),
    (lambda t: explain(t.program, 5), "int was given where a design belongs: give its name"),
    (lambda t: compile_program(square), r'compile_program\(trace\(square, "auto"\)\)'),
    (lambda t: compile_program(t.kit), "a kit has no operations"),
    (lambda t: compile_program("x.rsp"), r"compile_program\(Program.load"),
    (lambda t: compile_program(t.program, 5), "int was given where a design belongs"),
    (lambda t: compile_for_smallest_design(square), "compile_for_smallest_design"),
    (lambda t: explore_designs("u280", program=square), r"explore_designs\(trace\(square"),
    (lambda t: open_device(5), 'kind: int was given .*: name a device, such as "cpu"'),
    (lambda t: open_device("model", None), "NoneType was given where a design belongs"),
    (lambda t: open_device("nano"), "there is no device 'nano': choose one of"),
    (lambda t: trace(square, "nanoo"), "no parameter set is called 'nanoo': .*; or give \"auto\""),
    (lambda t: trace(square, "none.toml"), r"test_first_things.py:\d+: .*none.toml"),
    (lambda t: trace(square, t.nano, 4), r"inputs = 4 name no inputs: .* such as \{\"x\": 4\}"),
    (lambda t: trace(square, AutoParameters(), 4), "inputs = 4 name no inputs"),
    (lambda t: trace(square, AutoParameters(design=5)), "int was given where a design belongs"),
    # files
    (lambda t: t.program.save(5), "path: int was given where the path of a file belongs"),
    (lambda t: t.kit.save(None), "path: NoneType was given where the path"),
    (lambda t: t.compiled.save(5), "path: int was given where the path"),
    (lambda t: Program.load(5), "path: int was given where the path"),
    (lambda t: Program.load(t.program.to_bytes()), "bytes of a file: Program.from_bytes"),
    (lambda t: ClientKit.load(5), "path: int was given where the path"),
    (lambda t: Compiled.load(5), "path: int was given where the path"),
    (lambda t: client.load_secret_key(5, t.nano), "path: int was given where the path"),
    (lambda t: client.save_secret_key(5, t.secret, t.nano), "path: int was given where the path"),
    # parameters
    (lambda t: AutoParameters(security=[128]), r"security = \[128\] is not a level"),
    (lambda t: AutoParameters(limits="nano"), 'name a design instead: design="nano"'),
    (lambda t: ckks(prime_bits=40), r"prime_bits = 40 is no list: write \(40,\) for one"),
    (lambda t: ckks(prime_bits="40"), r"prime_bits = '40' is no list"),
    (lambda t: ckks(prime_bits=None), "prime_bits = None is no list"),
    (lambda t: ckks(special_bits=None), "special_bits = None is no list"),
    (lambda t: ckks(special_bits=37.0), "special_bits = 37.0 is no list"),
    (lambda t: ckks(scale_bits=10**20), "scale_bits = 1000.* must be a whole number of bits"),
    (lambda t: ckks(security=[128]), r"security = \[128\] is not a level"),
    (lambda t: ckks(declared_security="a"), "declared_security = 'a' is no number of bits"),
    (lambda t: ckks(name=5), "name = 5 is no text"),
    (lambda t: bfv(multiplication="hps", extension_primes=5), "extension_primes = 5 is no list"),
    (
        lambda t: CkksParameters.from_primes(n=8192, data_primes=5, special_prime=7, scale=2.0),
        "data_primes = 5 is no list",
    ),
    (
        lambda t: CkksParameters.from_primes(
            n=8192, data_primes=PRIMES, special_prime=None, scale=2.0
        ),
        "special_prime = None is no list",
    ),
    (
        lambda t: CkksParameters.from_primes(
            n=8192, data_primes=PRIMES, special_prime=SPECIAL, scale="a"
        ),
        "scale = 'a' is no number",
    ),
    (lambda t: CkksParameters(8192, PRIMES, SPECIAL[0], 2.0**40), "special_primes = .* is no list"),
    (lambda t: parameter_set(5), "no parameter set is called 5: choose one of"),
    (lambda t: parameter_set([]), r"no parameter set is called \[\]"),
    (lambda t: bfv_parameters_for_depth(2, "auto"), r"give AutoBfvParameters\(plain_bits=20\)"),
    (lambda t: bfv_parameters_for_depth(2, AutoParameters()), "AutoBfvParameters belongs"),
    # the client and its objects
    (lambda t: client.encode(t.nano, [1], scale="a"), "scale = 'a' must be finite"),
    (lambda t: client.encode(t.nano, [1], limbs="a"), "limbs = 'a' is outside 1"),
    (lambda t: client.FixedPoint(4) * 2, "factor: int was given where FixedPoint belongs"),
    (lambda t: t.inputs["x"] + t.inputs["x"], "a Ciphertext has no operators: .* trace it"),
    (lambda t: t.inputs["x"] * 2, "a Ciphertext has no operators"),
    (lambda t: 2 - t.inputs["x"], "a Ciphertext has no operators"),
    (lambda t: np.ones(3) * t.inputs["x"], "a Ciphertext has no operators"),
    (lambda t: -t.inputs["x"], "a Ciphertext has no operators"),
    # the search
    (lambda t: explore_designs(5, program=t.program), "name a card"),
    (
        lambda t: explore_designs("u280", program=t.program, workers="a"),
        "workers = 'a' is no whole number",
    ),
    (
        lambda t: explore_designs("u280", program=t.program, limit=2.5),
        "limit = 2.5 is no whole number",
    ),
    (
        lambda t: explore_designs("u280", program=t.program, megahertz="a"),
        "megahertz = 'a' is no number",
    ),
    (lambda t: explore_designs("u280", params="nano", operations=[5]), "5"),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_wrong_call_is_refused_by_a_sentence_that_names_the_right_one(
    number: int, things: Things
) -> None:
    call, message = CALLS[number]
    with pytest.raises((RingsmithError, TypeError), match=message) as refused:
        call(things)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_a_parameter_set_s_name_is_traced_as_the_set(name: str) -> None:
    chosen = parameter_set(name)
    if chosen.exact and chosen.message_modulus == 2:  # has no slots
        with pytest.raises(ProgramError, match="does not batch"):
            trace(lambda x: x + 1, name)
        return
    by_name, by_set = (trace(square, each, {"x": 4}) for each in (name, chosen))
    assert by_name.parameters == chosen
    assert by_name.describe() == by_set.describe()


def test_a_design_may_be_a_path_everywhere(things: Things, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = (Path(trace.__code__.co_filename).parent / "designs" / "pico.toml").read_text()
    path.write_text(text.replace('name = "pico"', 'name = "mine"'))
    compiled = compile_program(things.program, path)
    assert compiled.compiled_graph.design is not None
    assert compiled.compiled_graph.design.name == "mine"
    device = open_device("model", path)
    result = compiled.run(device, things.inputs, things.keys)
    assert result.cycles
    assert explain(things.program, path)
    wish = AutoParameters(design=path, precision_bits=5)
    assert trace(lambda x: x + 1, wish, {"x": 4}).parameters


def test_lists_of_primes_make_the_same_parameters_as_tuples() -> None:
    lists = CkksParameters(8192, list(PRIMES), list(SPECIAL), 2.0**40)  # type: ignore[arg-type]
    assert lists == CkksParameters(8192, PRIMES, SPECIAL, 2.0**40)
    assert hash(lists) == hash(CkksParameters(8192, PRIMES, SPECIAL, 2.0**40))


def test_an_unknown_parameter_set_names_those_that_there_are() -> None:
    with pytest.raises(ParameterError, match=r"choose one of .*nano.*ends with \.toml"):
        parameter_set("nanoo")
    wish = AutoBfvParameters(plain_bits=20)
    assert bfv_parameters_for_depth(1, wish).plain_modulus
