"""From a file of HEIR to a planned program, and the figures of it that people ask for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from numpy.typing import ArrayLike

from ringsmith import progress
from ringsmith.errors import ParameterError
from ringsmith.files import read_bounded
from ringsmith.heir.check import compare_with_input
from ringsmith.heir.clear import UnknownError, clear_function
from ringsmith.heir.compiler import Lowering, is_input, module_text
from ringsmith.heir.levels import as_heir_planned
from ringsmith.heir.module import PLAIN_MODULUS, Scheme, TensorPlan, Traced, trace_module
from ringsmith.heir.plan import (
    ParametersWish,
    automatic,
    heir_parameters,
    planned,
)
from ringsmith.heir.tape import Kind
from ringsmith.heir.text import MAX_BYTES
from ringsmith.params import KeyNeeds, RlweParameters, parameter_set
from ringsmith.program.graph import Program
from ringsmith.runtime.designs import limits_of

NOT_COMPARED = "not asked for: results are those of the module as HEIR compiled it"
"""What is said of a module that was not compared with its input."""

AUTO, HEIR = "auto", "heir"
"""Values of ``Wish.parameters`` that name no set."""


class PlanBy(StrEnum):
    """Whose plan a program follows."""

    OURS = "ours"
    HEIR = "heir"


@dataclass(frozen=True)
class Wish:
    """What is asked of an import.

    Attributes:
        plan: Whose plan the program follows.
        parameters: ``auto``; ``heir``, those that HEIR chose; or the name of a parameter set.
        scheme: The scheme to compile an input module for; None: by its numbers.
        slots: Slots S to compile an input module with; None: as few as HEIR can pack into.
        plain_modulus: t of BFV; None: the module's, else 65,537.
        precision_bits: Of CKKS with parameters ``auto``: what the forecast must promise; None: the
            scale is HEIR's, 2^45, or with a design the nearest that it has primes for.
        headroom_bits: Of CKKS: promises that results stay within ±2^headroom_bits. None: 8, or more
            where inputs within ±1 make greater results.
        fewer_keys: With plan ``ours``: whether rotations are composed, so that fewer have keys.
        design: With parameters ``auto``: the design that is to run the program.
        check: Whether a module that HEIR compiles is compared with its input, both in the clear.
    """

    plan: PlanBy = PlanBy.OURS
    parameters: str = AUTO
    scheme: Scheme | None = None
    slots: int | None = None
    plain_modulus: int | None = None
    precision_bits: float | None = None
    headroom_bits: int | None = None
    fewer_keys: bool = False
    design: str | None = None
    check: bool = True


@dataclass(frozen=True, eq=False)
class Imported:
    """A program that was imported.

    Attributes:
        program: The program.
        traced: The module that it comes from.
        compared: How the module was compared with its input in the clear, or why it was not.
    """

    program: Program
    traced: Traced
    compared: str = NOT_COMPARED

    def figures(self) -> dict[str, str]:
        """Returns what people ask for: sizes, operations and keys, HEIR's next to the program's."""
        program, traced = self.program, self.traced
        parameters = program.parameters
        before = Counter(step.kind.value for step in traced.steps if step.kind is not Kind.INPUT)
        after = Counter(str(node.op) for node in program.nodes if not node.op.record.port)
        rotations = {s.amount for s in traced.steps if s.kind is Kind.ROTATE}
        needs = program.key_needs
        limbs = parameters.limbs
        every = KeyNeeds(
            limbs if before["mul"] else None,
            {parameters.galois_element(amount): limbs for amount in rotations},
        )
        found = {
            "function": f"{traced.name}, {traced.scheme or 'vector level'}, "
            f"vectors of {traced.slots} slots",
            "inputs": _tensors(traced.inputs),
            "outputs": _tensors(traced.outputs),
            "parameters": f"{parameters.name}: N = {parameters.n}, {parameters.log_qp} bits in "
            f"{parameters.limbs} data primes and {len(parameters.special_primes)} special",
            "security": parameters.security_text,
            "operations of HEIR": _counts(before),
            "operations": _counts(after),
            "keys of HEIR": f"{len(rotations)} rotations"
            + (" and relinearization" if before["mul"] else "")
            + f", {every.bytes(parameters):,} bytes with these parameters",
            "keys": f"{len(needs.galois)} rotations"
            + (" and relinearization" if needs.relin else "")
            + f", {needs.bytes(parameters):,} bytes; half of that with seeds",
        }
        found["check"] = self.compared
        if program.choice:
            found["choice"] = "; ".join(program.choice.splitlines())
        if traced.parameters is not None:
            found["parameters of HEIR"] = (
                f"N = {traced.parameters.n}, {len(traced.parameters.data_primes)} data primes"
            )
        return found


def import_module(
    path: str | Path, wish: Wish, clear: Mapping[str, ArrayLike] | None = None
) -> Imported:
    """Imports a file.

    Args:
        path: An input module or a compiled one.
        wish: What is asked.
        clear: Values of arguments that are not secret, by name: ``arg1``.

    Raises:
        HeirError: When the module cannot be read; names the operation and its line. When HEIR has
            compiled it wrongly.
        ProgramError: When it cannot be planned.
        ParameterError: When there is no such parameter set.
        ToolError: When ``heir-opt`` is needed and not there.
    """
    path = Path(path)
    named = None if wish.parameters in (AUTO, HEIR) else parameter_set(wish.parameters)
    if wish.design is not None:
        limits_of(wish.design)  # a design that is not there is refused before HEIR compiles
    scheme_level = wish.plan is PlanBy.HEIR or wish.parameters == HEIR
    scheme = wish.scheme or guessed_scheme(path)
    t = wish.plain_modulus or PLAIN_MODULUS
    lowering = Lowering(scheme if scheme_level else None, wish.slots, t)
    text, name = module_text(path, lowering)
    traced = trace_module(text, name.replace(str(path), path.name), clear)
    del text
    compared = _compared(path, traced, t) if wish.check else NOT_COMPARED
    return Imported(program_of(traced, wish, named), traced, compared)


def _compared(path: Path, traced: Traced, plain_modulus: int) -> str:
    """Compares a module with its input, if the file is one; returns what was done."""
    text = read_bounded(path, MAX_BYTES).decode()
    if not is_input(text):
        return (
            "the file is a compiled module: what HEIR made of its input was not compared with it; "
            "give the input module"
        )
    with progress.task(f"computing {path.name} in the clear"):
        try:
            function = clear_function(text, path)
            return compare_with_input(traced, function, plain_modulus)
        except UnknownError as error:
            return f"not compared with its input, which is not computed in the clear: {error}"


def program_of(traced: Traced, wish: Wish, named: RlweParameters | None = None) -> Program:
    """Plans a traced module as it is asked for.

    Raises:
        ProgramError: When it cannot be planned.
        ParameterError: When options do not go together.
    """
    if wish.design is not None and (wish.plan is PlanBy.HEIR or wish.parameters != AUTO):
        raise ParameterError(
            f"design {wish.design!r:.60} chooses parameters: take --plan ours --parameters auto"
        )
    if wish.plan is PlanBy.HEIR:
        for option, value in (
            ("--precision-bits", wish.precision_bits),
            ("--fewer-keys", wish.fewer_keys or None),
        ):
            if value is not None:
                raise ParameterError(f"{option} is for --plan ours: leave it out")
        with progress.task(f"planning {traced.name} by HEIR's levels"):
            return as_heir_planned(
                traced,
                named or heir_parameters(traced),
                promised=wish.headroom_bits is not None,
            )
    chosen: ParametersWish | None = named
    if chosen is None and wish.parameters == HEIR:
        chosen = heir_parameters(traced)
    if chosen is None:
        chosen = automatic(
            traced,
            scheme=wish.scheme,
            plain_modulus=wish.plain_modulus,
            precision_bits=wish.precision_bits,
            headroom_bits=wish.headroom_bits,
            limits=None if wish.design is None else limits_of(wish.design),
        )
    elif wish.precision_bits is not None:
        raise ParameterError("--precision-bits is for --parameters auto: leave it out")
    with progress.task(f"planning {traced.name}"):
        return planned(traced, chosen, wish.headroom_bits, fewer_keys=wish.fewer_keys)


def guessed_scheme(path: Path) -> Scheme:
    """Returns CKKS for a module with fractions, BFV for one without.

    Raises:
        InteropError: When the file cannot be read.
    """
    fractions = any(kind in read_bounded(path, MAX_BYTES) for kind in (b"f32", b"f64", b"f16"))
    return Scheme.CKKS if fractions else Scheme.BFV


def _tensors(tensors: tuple[TensorPlan, ...]) -> str:
    return ", ".join(
        f"{each.name} {each.shape} in {len(each.steps)} ciphertext"
        + ("s" if len(each.steps) > 1 else "")
        for each in tensors
    )


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"
