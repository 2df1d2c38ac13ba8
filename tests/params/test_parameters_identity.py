"""The identity of parameter sets: what changes it, what does not, and that it never changes."""

import warnings
from dataclasses import replace

import pytest

from ringsmith.interop import SealParameters
from ringsmith.params import BfvParameters, CkksParameters, SecurityWarning, parameter_set


def bfv_of(t: int) -> BfvParameters:
    """Small BFV parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=1024, prime_bits=(40, 40), special_bits=41, plain_modulus=t, security=None
        )


@pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
def test_the_identity_is_seals_key_level_name_where_seal_can_hold_the_set(
    small: CkksParameters,
) -> None:
    for parameters in (small, bfv_of(12289)):
        shape = SealParameters.from_parameters(parameters)
        assert parameters.parameters_id == shape.parms_id(len(parameters.primes))
        assert parameters.parameters_id == shape.parameters_id
        assert shape.to_parameters().parameters_id == parameters.parameters_id


@pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
def test_names_scales_and_declared_levels_do_not_change_the_identity(small: CkksParameters) -> None:
    again = replace(small, name="again", scale=2.0**30, declared_security=80)
    assert again.parameters_id == small.parameters_id


@pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
def test_every_field_of_key_switching_changes_the_identity(small: CkksParameters) -> None:
    exact = bfv_of(12289)
    a, b, c = small.data_primes[:3]
    moved = replace(small, data_primes=small.data_primes[:-1], dnum=0)
    sets = [
        small,
        moved,
        replace(small, dnum=3),
        replace(moved, special_primes=(*small.special_primes, small.data_primes[-1]), dnum=2),
        replace(small, data_primes=(b, a, c, *small.data_primes[3:])),
        exact,
        bfv_of(40961),
        replace(exact, multiplication="hps", extension_primes=()),
        replace(exact, error_deviation=102.0),
        replace(exact, relinearization="word", word_bits=20, special_primes=()),
        replace(exact, relinearization="word", word_bits=21, special_primes=()),
        replace(exact, relinearization="residue", special_primes=()),
    ]
    identities = [each.parameters_id for each in sets]
    assert {len(each) for each in identities} == {32}
    assert len(set(identities)) == len(sets)


KNOWN = {
    "nano": "6702e3118155644c3239befe6fdf0bad03f7f95e36d84b1f3db8d663fa3aec2d",
    "framework-set1": "c5effb4895a8ec857dc44c7e8e3314bc3376c3f03918bc68bcff9598923abffa",
    "heaws": "59ff549462a57a929e9a5d38cb0ac7b63d5fd1f41d58735eb0a9144ba6b4f174",
}
"""Identities never change: files hold them."""


@pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")
@pytest.mark.parametrize("name", KNOWN)
def test_identities_of_named_sets_never_change(name: str) -> None:
    assert parameter_set(name).parameters_id.hex() == KNOWN[name]
