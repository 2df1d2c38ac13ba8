"""Which program ``trace`` and ``waves`` look into: a file, an operation, the demo's."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ringsmith.errors import InteropError, ParameterError, ProgramError

if TYPE_CHECKING:
    from ringsmith.backends.base import Backend, Executable
    from ringsmith.runtime import CompiledGraph

DEFAULT_DESIGN = "nano"
"""The design that operations and the logistic regression are scheduled for."""


@dataclass(frozen=True)
class Wish:
    """The options that name a program.

    Attributes:
        program: A file: a program, a compiled program or an executable.
        logreg: Whether the logistic regression of the demo is meant.
        operation: One HE operation.
        design: The design to schedule for; None: see the help of ``--design``.
        parameters: The parameter set of an operation or of the logistic regression.
    """

    program: Path | None
    logreg: bool
    operation: str | None
    design: str | None
    parameters: str | None


def executable_of(wish: Wish) -> "tuple[str, Executable]":
    """The program that the options name, with a title for it.

    Raises ParameterError if an option does not belong to such a program; ProgramError, InteropError
    if a file holds no program, or the design cannot run it.
    """
    if (wish.program is not None) + wish.logreg + (wish.operation is not None) != 1:
        raise typer.BadParameter("name one program: a file, --logreg or --operation NAME")
    if wish.program is not None:
        return wish.program.stem, _of_file(wish.program, wish)
    design = wish.design or DEFAULT_DESIGN
    _check_traced(design)
    if wish.operation is not None:
        compiled, title = _operation(wish.operation, design, wish.parameters), wish.operation
    else:
        compiled, title = _logreg(design, wish.parameters), "logistic regression"
    return title, _scheduled(compiled)


def _operation(operation: str, design: str, parameters: str | None) -> "CompiledGraph":
    from ringsmith import runtime
    from ringsmith.backends.registry import named_design
    from ringsmith.lower import lower_operation
    from ringsmith.params import ckks_set

    point, chosen = named_design(design), ckks_set(parameters or "nano")
    return runtime.compile_graph(lower_operation(operation, chosen, chosen.limbs), point)


def _logreg(design: str, parameters: str | None) -> "CompiledGraph":
    from ringsmith.apps.logreg import LogisticRegression, size_for

    size = size_for(None, design)
    if parameters is not None:
        size = replace(size, parameter_set=parameters)
    return LogisticRegression(size).server(design).compiled[0].compiled_graph


def _scheduled(compiled: "CompiledGraph") -> "Executable":
    assert compiled.executable is not None, "it was compiled for a design"
    return compiled.executable


def _of_file(path: Path, wish: Wish) -> "Executable":
    """The executable in a file, or of the program in it."""
    from ringsmith.files import read_bounded
    from ringsmith.runtime import compiled_file

    if wish.parameters is not None:
        raise ParameterError("--parameters with a file: its program has its own: leave it out")
    if not _is_ours(path):
        return _written(path, wish.design)
    if compiled_file.is_compiled(read_bounded(path, compiled_file.MAX_FILE), str(path)):
        return _compiled(path, wish.design)
    return _program(path, wish.design)


def _is_ours(path: Path) -> bool:
    """Whether a file begins as our programs do; what cannot be read is refused later, by name."""
    from ringsmith.files import open_regular
    from ringsmith.files.container import MAGIC

    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, InteropError):
        return False


def _program(path: Path, design: str | None) -> "Executable":
    """A program, scheduled for a design or for the smallest that runs it."""
    from ringsmith import runtime
    from ringsmith.program import Program

    if design is not None:
        _check_traced(design)
    found = Program.load(path)
    if not isinstance(found, Program):
        raise ProgramError(f"{path}: a client kit, which has no operations: give the program")
    if design is None:
        return _scheduled(runtime.compile_for_smallest_design(found).compiled_graph)
    return _scheduled(runtime.compile_program(found, design).compiled_graph)


def _compiled(path: Path, design: str | None) -> "Executable":
    """A compiled program as it was scheduled."""
    from ringsmith.runtime import Compiled

    executable = Compiled.load(path, design).compiled_graph.executable
    if executable is None:
        raise ProgramError(
            f"{path}: compiled for no design, so it has no instructions: compile it for a design, "
            "or give the program itself (.rsp)"
        )
    return executable


def _written(path: Path, design: str | None) -> "Executable":
    """An executable as ``--save`` writes it."""
    from ringsmith.backends.registry import inspectors, named_design
    from ringsmith.files import read_bounded

    readers = [each for each in inspectors() if each.max_file_bytes]
    data = read_bounded(path, max(each.max_file_bytes for each in readers))
    errors = []
    for reader in readers:
        try:
            found = reader.read(data.decode())
        except UnicodeDecodeError:
            raise ProgramError(f"{path}: not a text file, and so no executable") from None
        except ProgramError as error:
            errors.append(error)
            continue
        if design is not None and named_design(design) != found.design:
            raise ProgramError(
                f"{path}: an executable of design {found.design.name}, not of {design}: leave "
                "--design out"
            )
        return found
    raise ProgramError(f"{path}: {'; '.join(map(str, errors))}") from errors[0]


def _check_traced(design: str) -> None:
    """Refuses a design whose programs have no instructions, before the work.

    Raises ParameterError names the designs that there are to choose from.
    """
    from ringsmith.backends.registry import backend_of, backends_with_designs, named_design

    backend = backend_of(named_design(design))
    traced = {each.name: each for each in backends_with_designs() if _traces(each)}
    if backend.name not in traced:
        names = ", ".join(name for each in traced.values() for name in each.designs())
        raise ParameterError(
            f"design {design!r} is of architecture {backend.name}, which has no instructions: "
            f"choose one of {names}"
        )


def _traces(backend: "Backend") -> bool:
    inspector = backend.inspector()
    return inspector is not None and inspector.traces
