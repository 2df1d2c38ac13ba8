"""Parameters that bootstrap: what is refused, the failure probability, the named sets."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from ringsmith.errors import ParameterError
from ringsmith.params import Bootstrapping, CkksParameters, KeyNeeds, KeyShape, parameter_set

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
FIELDS = {
    "coeffs_to_slots": (0, 9),
    "slots_to_coeffs": (0, 9),
    "degree": (2, 30, 256),
    "doublings": (-1, 9),
    "arcsine": (0, 2, 4),
    "scale_bits": (19, 121),
    "ratio_bits": (1, 21),
    "period": (1, 1025),
    "weight": (31, 1025),
    "special": (0, 65),
}


@pytest.fixture(scope="module")
def boot() -> CkksParameters:
    found = parameter_set("boot-test")
    assert isinstance(found, CkksParameters)
    return found


@pytest.mark.parametrize("name", FIELDS)
def test_numbers_out_of_range_are_refused_by_name(name: str) -> None:
    for value in (*FIELDS[name], 2.5, True, None):
        with pytest.raises(ParameterError, match=f"bootstrapping: {name} = "):
            Bootstrapping(**{name: value})


def test_the_stages_take_the_levels_that_they_say() -> None:
    given = Bootstrapping(coeffs_to_slots=4, slots_to_coeffs=3, degree=31, doublings=3)
    assert (given.eval_mod, given.levels) == (8, 15)
    assert replace(given, arcsine=3).levels == 17


def test_parameters_without_enough_levels_are_refused(boot: CkksParameters) -> None:
    stages = boot.bootstrapping
    assert stages is not None
    assert boot.working_limbs == boot.limbs - stages.levels == 6
    with pytest.raises(ParameterError, match="takes 21 levels, and there are 20: name data"):
        replace(boot, bootstrapping=replace(stages, coeffs_to_slots=8, slots_to_coeffs=5))
    with pytest.raises(ParameterError, match="special = 8, and there are 7 special primes"):
        replace(boot, bootstrapping=replace(stages, special=8))
    with pytest.raises(ParameterError, match="weight = 5000 is not a whole"):
        replace(boot, bootstrapping=replace(stages, weight=5000))
    with pytest.raises(ParameterError, match="is no Bootstrapping"):
        replace(boot, bootstrapping="yes")


def test_the_scale_is_below_the_lowest_modulus(boot: CkksParameters) -> None:
    with pytest.raises(ParameterError, match=r"2\^55.0 is not 2\^10 \(ratio_bits\) below q_0"):
        replace(boot, scale=2.0**55)


def test_a_key_to_the_sparse_secret_has_at_most_121_bits(boot: CkksParameters) -> None:
    assert boot.sparse_key_shape == KeyShape(1, (0, boot.limbs))
    stages = boot.bootstrapping
    assert stages is not None
    with pytest.raises(ParameterError, match="a modulus of 172 bits, and at most 121 are secure"):
        replace(boot, bootstrapping=replace(stages, special=2))


def test_other_parameters_have_no_such_key() -> None:
    for name in ("nano", "heaws"):
        with pytest.raises(ParameterError, match="do not bootstrap, and have no key"):
            KeyNeeds(raised=1).shapes(parameter_set(name))


def test_needs_of_two_programs_are_those_of_the_larger(boot: CkksParameters) -> None:
    both = KeyNeeds(raised=3) | KeyNeeds(raised=5) | KeyNeeds(relin=2)
    assert (both.raised, both.relin, both.count, sorted(both.limbs)) == (5, 2, 3, [2, 5])
    shapes = KeyNeeds(raised=5).shapes(boot)
    assert shapes == {"to_sparse": boot.sparse_key_shape, "from_sparse": boot.key_shape(5)}
    assert KeyNeeds(raised=5).bytes(boot) == sum(each.bytes(boot.n) for each in shapes.values())


def test_the_failure_probability_is_that_of_sums_of_uniform_numbers() -> None:
    rng = np.random.default_rng(3)
    sums = rng.uniform(-0.5, 0.5, (33, 400_000)).sum(axis=0)
    seen = float(np.mean(np.abs(sums) > 2.5))
    wanted = 2.0 ** Bootstrapping(weight=32, period=3).failure_bits
    assert seen == pytest.approx(wanted, abs=6 * (wanted / 400_000) ** 0.5)
    assert Bootstrapping(weight=32, period=17).failure_bits == -np.inf
    assert Bootstrapping().failure_bits == pytest.approx(-121.7, abs=0.05)


def test_no_level_is_above_that_of_the_sparse_secret(boot: CkksParameters) -> None:
    def make(security: int | None, n: int = 1 << 16) -> CkksParameters:
        found = CkksParameters.create(
            n=n,
            prime_bits=(60, 40, 40, *(60,) * 8),
            special_bits=(61,),
            scale_bits=40,
            security=security,
            bootstrapping=Bootstrapping(coeffs_to_slots=1, slots_to_coeffs=1),
        )
        assert found.log_qp < 929, "256 bits but for the sparse secret"
        return found

    with pytest.raises(ParameterError, match="security = 192: parameters that bootstrap have 128"):
        make(192)
    with pytest.raises(ParameterError, match="N = 16384: the sparse secret of a bootstrapping"):
        make(128, 1 << 14)
    assert make(128, 1 << 15).security == make(128).security == 128
    assert make(None, 1 << 14).security is None
    assert "128 bits of the sparse secret" in make(None).security_text
    assert "sparse" not in boot.security_text  # which has none


def test_the_named_sets_hold_what_they_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, words = parameter_set("boot-64"), parameter_set("boot-32")
    assert isinstance(found, CkksParameters)
    assert (found.n, found.log_qp, found.security, found.working_limbs) == (1 << 16, 1745, 128, 14)
    assert isinstance(words, CkksParameters)
    assert (words.n, words.log_qp, words.security, words.working_limbs) == (1 << 16, 1679, 128, 20)
    assert max(words.primes) < 1 << 31
    assert words.sparse_key_shape.base == (0, 1, 50, 51)
    small = parameter_set("boot-test")
    assert isinstance(small, CkksParameters)
    assert (small.n, small.security, small.declared_security) == (1 << 12, None, 0)
    assert all(prime % (1 << 17) == 1 for prime in found.primes + small.primes)
