"""Parameter sets as TOML files."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import SEED

from ringsmith import trace
from ringsmith.errors import ParameterError
from ringsmith.params import PARAMETER_SETS, BfvParameters, CkksParameters, parameter_set
from ringsmith.params.files import parameters_file, parameters_text

CKKS = 'scheme = "ckks"\nn = 4096\nprime_bits = [30, 30]\nspecial_bits = 30\nscale_bits = 27\n'
BFV = 'scheme = "bfv"\nn = 4096\nprime_bits = [36, 36]\nspecial_bits = 37\nplain_bits = 17\n'


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file of parameters."""

    def written(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return written


def test_a_file_holds_the_arguments_of_create(file: Callable[[str], Path]) -> None:
    wanted = CkksParameters.create(
        n=4096, prime_bits=(30, 30), special_bits=30, scale_bits=27, name="mine"
    )
    assert parameter_set(file(CKKS)) == parameter_set(str(file(CKKS))) == wanted
    assert parameter_set(file("\ufeff" + CKKS)) == wanted  # as an editor may begin a text
    assert parameter_set(file(CKKS + 'name = "other"\n')).name == "other"
    exact = BfvParameters.create(
        n=4096, prime_bits=(36, 36), special_bits=37, plain_bits=17, name="mine"
    )
    assert parameters_file(file(BFV)) == exact
    assert parameters_file(file(CKKS + "security = 0\n")) == wanted


def test_a_file_is_read_again_when_it_has_changed(file: Callable[[str], Path]) -> None:
    assert parameter_set(str(file(CKKS))).limbs == 2
    assert parameter_set(str(file(CKKS.replace("[30, 30]", "[30]")))).limbs == 1


@pytest.mark.parametrize("name", PARAMETER_SETS)
def test_every_named_set_is_written_and_read(name: str, file: Callable[[str], Path]) -> None:
    named = parameter_set(name)
    again = parameters_file(file(parameters_text(named)))
    assert again == named
    assert again.parameters_id == named.parameters_id


def test_a_program_is_traced_with_a_file(file: Callable[[str], Path]) -> None:
    program = trace(lambda x: x + 1, str(file(CKKS)))
    assert program.parameters == parameter_set(file(CKKS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scheme = None: write one of ckks, bfv"),
        ('scheme = ["ckks"]', r"scheme = \['ckks'\]"),
        ('scheme = "ckks"\nn = 4096', r"missing keys: \['prime_bits', 'scale_bits', 'spec"),
        (CKKS + "levels = 3", r"unknown keys: \['levels'\]"),
        (CKKS.replace("4096", "4000"), "N = 4000 is not a power of two"),
        (CKKS.replace("4096", '"4096"'), "n = '4096' is no whole number"),
        (CKKS.replace("4096", "true"), "n = True is no whole number"),
        (CKKS.replace("[30, 30]", "30"), "prime_bits = 30 is no list of whole numbers"),
        (CKKS.replace("[30, 30]", "[30, 30.5]"), r"prime_bits = \[30, 30.5\] is no list"),
        (CKKS + "name = 7", "name = 7 is no text"),
        (CKKS.replace("[30, 30]", "[30, 30, 30, 30]"), "128-bit security"),
        ("n = ", "not a TOML file"),
    ],
)
def test_a_file_that_holds_no_parameters_is_refused(
    text: str, message: str, file: Callable[[str], Path]
) -> None:
    with pytest.raises(ParameterError, match=message) as refused:
        parameter_set(str(file(text)))
    assert "mine.toml" in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"none\.toml"):
        parameter_set(str(tmp_path / "none.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParameterError, match="not a text file"):
        parameter_set(str(tmp_path / "bytes.toml"))


def test_random_values_are_refused_or_right(file: Callable[[str], Path]) -> None:
    print(f"RINGSMITH_TEST_SEED={SEED}")
    rng = random.Random(SEED)
    values = ["0", "-1", "1", "true", '""', '"x"', "[]", "[1]", "[[1]]", "1.5", "nan", "inf"]
    values += ["1024", "99999999999999999999", "{}", "1979-05-27", "[30, 31]", '["30"]']
    for _ in range(400):
        lines = (CKKS if rng.random() < 0.5 else BFV).splitlines()
        keys = [line.partition(" = ")[0] for line in lines]
        keys += ["dnum", "declared_security", "name", "security", "data_primes", "word_bits"]
        for _ in range(rng.randint(1, 2)):
            key = rng.choice(keys)
            lines = [line for line in lines if not line.startswith(key)]
            lines.append(f"{key} = {rng.choice(values)}")
        try:
            found = parameters_file(file("\n".join(lines)))
        except ParameterError as error:
            assert "mine.toml" in str(error)  # noqa: PT017 - one of two outcomes
        else:
            assert found == parameters_file(file(parameters_text(found)))
