"""HE parameter sets: checked, frozen, named; the security table; keys that a program needs."""

from ringsmith.params.automatic import AutoParameters
from ringsmith.params.automatic_bfv import AutoBfvParameters
from ringsmith.params.bfv import BfvParameters
from ringsmith.params.bootstrapping import Bootstrapping
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.context import bfv_context, ckks_encoder, core_context
from ringsmith.params.keys import KeyNeeds, KeyShape
from ringsmith.params.limits import ParameterLimits
from ringsmith.params.ring import RlweParameters
from ringsmith.params.security import SecurityWarning, security_level
from ringsmith.params.sets import PARAMETER_SETS, ckks_set, parameter_set
from ringsmith.params.sparse import SparsePrime, sparse_primes

__all__ = [
    "PARAMETER_SETS",
    "AutoBfvParameters",
    "AutoParameters",
    "BfvParameters",
    "Bootstrapping",
    "CkksParameters",
    "KeyNeeds",
    "KeyShape",
    "ParameterLimits",
    "RlweParameters",
    "SecurityWarning",
    "SparsePrime",
    "bfv_context",
    "ckks_encoder",
    "ckks_set",
    "core_context",
    "parameter_set",
    "security_level",
    "sparse_primes",
]
