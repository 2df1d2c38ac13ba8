"""The list of schemes."""

from ringsmith.errors import ProgramError
from ringsmith.params import RlweParameters
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.schemes.base import Scheme
from ringsmith.schemes.bfv.scheme import BFV
from ringsmith.schemes.ckks.scheme import CKKS

__all__ = ["BFV", "CKKS", "SCHEMES", "scheme_of"]

SCHEMES: tuple[Scheme, ...] = (CKKS, BFV)
"""Every scheme."""


def scheme_of(parameters: RlweParameters | AutoRlweParameters) -> Scheme:
    """Returns the scheme of a parameter set or of requirements.

    Raises:
        ProgramError: When no scheme has such parameters.
    """
    for scheme in SCHEMES:
        if isinstance(parameters, scheme.parameters | scheme.automatic):
            return scheme
    raise ProgramError(
        f"no scheme has parameters of type {type(parameters).__name__}: choose from "
        f"{', '.join(scheme.parameters.__name__ for scheme in SCHEMES)}"
    )
