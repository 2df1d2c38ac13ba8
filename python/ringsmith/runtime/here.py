"""A program run in one process, keys and all: for trying things, behind ``Program.run``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from ringsmith.backends.base import Device
from ringsmith.backends.cards.interface import CARD
from ringsmith.backends.registry import backend_without_designs
from ringsmith.errors import DeviceError, ParameterError, ProgramError, check_type
from ringsmith.objects import EvaluationKeys, PublicKey
from ringsmith.program import Program
from ringsmith.runtime.compiled import (
    Compiled,
    RunResult,
    compile_for_smallest_design,
    compile_program,
    open_device,
)
from ringsmith.runtime.designs import Design, named_design

if TYPE_CHECKING:
    from ringsmith.program.kit import SecretKey

    Keys = tuple[SecretKey, PublicKey, EvaluationKeys]


@dataclass
class _Kept:
    """What later runs of a program use again.

    Attributes:
        keys: By whether evaluation keys have seeds.
        compiled: By the design; None: the smallest that runs the program.
        on_cpu: The program for a device without designs.
        lock: Held while something is made.
    """

    keys: "dict[bool, Keys]" = field(default_factory=dict)
    compiled: dict[Design | None, Compiled] = field(default_factory=dict)
    on_cpu: Compiled | None = None
    lock: Lock = field(default_factory=Lock)


_KEPT = "_run_here"
"""Attribute of a program. A compiled program holds its program, so a table of weak keys would not
let it go."""


@dataclass(frozen=True, eq=False)
class Here:
    """What a run in one process yields.

    Attributes:
        outputs: Decrypted numbers by the output's name.
        result: Ciphertexts and cost.
    """

    outputs: dict[str, NDArray[Any]]
    result: RunResult


def run_here(
    program: Program,
    inputs: Mapping[str, ArrayLike] | None,
    vectors: Mapping[str, ArrayLike],
    device: str,
    design: str | Design | None,
    *,
    complex_numbers: bool | None,
) -> dict[str, NDArray[Any]]:
    """Runs a program and returns its numbers; arguments are those of ``Program.run``."""
    if inputs is not None and vectors:
        raise ProgramError(
            f"inputs were given as a mapping and by keyword ({', '.join(vectors)}): give all of "
            "them in one way"
        )
    given = vectors if inputs is None else inputs
    return here(program, given, device, design, complex_numbers=complex_numbers).outputs


def here(
    program: Program,
    inputs: Mapping[str, ArrayLike],
    device: str,
    design: str | Design | None = None,
    *,
    complex_numbers: bool | None = None,
) -> Here:
    """Encrypts, runs and decrypts; keys and the compiled program are kept with the program.

    Raises:
        ProgramError, DeviceError, ParameterError: As ``Program.run``.
    """
    check_type("device", device, str, 'name one, such as "cpu" or "model"')
    if device == CARD:
        raise DeviceError(
            f"device {CARD}: a run in one process opens no card: encrypt, and run the compiled "
            f'program with open_device("{CARD}", design, port=port)'
        )
    kept: _Kept = vars(program).setdefault(_KEPT, _Kept())
    compiled, opened = _prepared(program, kept, device, design)
    secret_key, public_key, keys = _keys(program, kept, compiled)
    result = compiled.run(opened, program.encrypt(public_key, inputs), keys)
    numbers = program.decrypt(secret_key, result.outputs, complex_numbers=complex_numbers)
    return Here(numbers, result)


def _prepared(
    program: Program, kept: _Kept, device: str, design: str | Design | None
) -> tuple[Compiled, Device]:
    """The program compiled for a device, and the device."""
    if backend_without_designs(device) is not None:
        if design is not None:
            raise ParameterError(
                f'device {device} has no designs: leave out design, or take device "model" or "rtl"'
            )
        opened = open_device(device)
        with kept.lock:
            kept.on_cpu = kept.on_cpu or compile_program(program)
            return kept.on_cpu, opened
    point = None if design is None else named_design(design)
    with kept.lock:
        if point not in kept.compiled:
            kept.compiled[point] = (
                compile_for_smallest_design(program)
                if point is None
                else compile_program(program, point)
            )
        compiled = kept.compiled[point]
    executable = compiled.compiled_graph.executable
    assert executable is not None, "it was compiled for a design"
    return compiled, open_device(device, executable.design)


def _keys(program: Program, kept: _Kept, compiled: Compiled) -> "Keys":
    """The keys of a program, made for its first run."""
    seeded = compiled.compiled_graph.expands_keys
    with kept.lock:
        if seeded not in kept.keys:
            kept.keys[seeded] = program.generate_keys(seeded=seeded)
        return kept.keys[seeded]
