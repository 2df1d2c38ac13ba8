"""Programs of HEIR, a compiler for homomorphic encryption (docs/guide/heir.md)."""

from ringsmith.heir.importing import (
    Imported,
    PlanBy,
    Wish,
    guessed_scheme,
    import_module,
    program_of,
)
from ringsmith.heir.module import Scheme, Traced, trace_module

__all__ = [
    "Imported",
    "PlanBy",
    "Scheme",
    "Traced",
    "Wish",
    "guessed_scheme",
    "import_module",
    "program_of",
    "trace_module",
]
