"""HE parameter sets: checked, frozen, named; the security table; what keys a program needs."""

from ringsmith.params.automatic import AutoParameters
from ringsmith.params.ckks import CkksParameters
from ringsmith.params.context import core_context
from ringsmith.params.keys import KeyNeeds
from ringsmith.params.security import SecurityWarning, security_level
from ringsmith.params.sets import PARAMETER_SETS, parameter_set

__all__ = [
    "PARAMETER_SETS",
    "AutoParameters",
    "CkksParameters",
    "KeyNeeds",
    "SecurityWarning",
    "core_context",
    "parameter_set",
    "security_level",
]
