"""Programs that a server offers: their public part for clients, and files for workers."""

import hashlib
import hmac
import logging
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringsmith.backends.registry import backend_without_designs
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.files import SECRET_MODE, read_bounded, write_whole
from ringsmith.program import ClientKit, Program
from ringsmith.runtime import Compiled, compile_for_smallest_design, compile_program
from ringsmith.schemes import program_file
from ringsmith.service.bodies import FIELDS
from ringsmith.service.tasks import DeviceChoice, ProgramFiles

log = logging.getLogger("ringsmith.service")

_JOB_PART = "job"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SECRET_BYTES = 32
_REVISION_BYTES = 16
_OBJECT_SLACK = 1 << 16
"""Bytes of headers of a ciphertext or a key, at most."""


@dataclass(frozen=True, eq=False)
class Publication:
    """A program that a server offers.

    Attributes:
        name: Its file's name without the suffix, which clients use.
        revision: Changes with the program, but reveals nothing about it.
        kit: The client kit.
        kit_bytes: The client kit as a file.
        files: The files that workers load.
        design: The design that it was compiled for; empty: none.
    """

    name: str
    revision: str
    kit: ClientKit
    kit_bytes: bytes
    files: ProgramFiles
    design: str

    @property
    def parameters_id(self) -> str:
        """The identity of the parameters, in hexadecimal."""
        return self.kit.parameters.parameters_id.hex()

    @cached_property
    def input_bytes(self) -> dict[str, int]:
        """Upper bound of the bytes of each encrypted input, as a file."""
        word = 8 * self.kit.parameters.n
        sizes = {name: 2 * port.limbs * word for name, port in self.kit.inputs.items()}
        return {name: size + size // 128 + _OBJECT_SLACK for name, size in sizes.items()}

    @cached_property
    def key_bytes(self) -> int:
        """Upper bound of the bytes of all needed evaluation keys, as files of full keys.

        Clients may hand over full keys, or truncated ones, which are smaller.
        """
        needs = self.kit.key_needs
        one = self.kit.parameters.key_bytes
        return needs.count * (one + one // 128 + _OBJECT_SLACK) + _OBJECT_SLACK


def server_secret(folder: Path) -> bytes:
    """Returns the secret from which a server derives revisions; each folder has its own.

    A file that is empty or cut off, as after a power failure, is replaced: revisions made with it
    would confirm guesses of a program.
    """
    path = folder / "secret"
    found = read_bounded(path, _SECRET_BYTES) if path.exists() else b""
    if len(found) == _SECRET_BYTES:
        return found
    if path.exists():
        log.warning("%s has %d bytes, and not %d: replaced", path, len(found), _SECRET_BYTES)
    found = secrets.token_bytes(_SECRET_BYTES)
    write_whole(path, found, overwrite=True, mode=SECRET_MODE)
    return found


def publish(path: Path, folder: Path, device: DeviceChoice, secret: bytes) -> Publication:
    """Reads a program, compiles it for a device, and writes the files that workers load.

    Raises InteropError if the file is no program; ParameterError if its name cannot be part of a
    URL; ProgramError if it does not fit the device.
    """
    name = path.name.removesuffix(".rsp")
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"{path}: the file's name is the program's in URLs: take 1 to 64 letters, digits, '_', "
            "'.' and '-', a letter or digit first"
        )
    data = read_bounded(path, program_file.MAX_FILE)
    program = program_file.from_bytes(data, str(path))
    if not isinstance(program, Program):
        raise InteropError(f"{path}: a client kit, which has no operations: give the program")
    _check_ports(program, path)
    revision = hmac.new(secret, data, hashlib.sha256).digest()[:_REVISION_BYTES].hex()
    own = folder / f"{name}-{revision}"
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    program_path, kit_path = own / "program.rsp", own / "kit.rsk"
    kit = program.client_kit()
    kit_bytes = program_file.to_bytes(kit)
    for target, content in ((program_path, data), (kit_path, kit_bytes)):
        write_whole(target, content, overwrite=True, mode=SECRET_MODE)
    compiled_path, design = _compile(program, own, device)
    files = ProgramFiles(
        name, revision, str(program_path), str(kit_path), compiled_path, device.design
    )
    return Publication(name, revision, kit, kit_bytes, files, design)


def _check_ports(program: Program, path: Path) -> None:
    """Refuses names that mean something else in a form. Raises ParameterError if there are any."""
    for kind, names, taken in (
        ("input", program.inputs, FIELDS),
        ("output", program.outputs, (_JOB_PART,)),
    ):
        for name in names:
            if name in taken:
                raise ParameterError(
                    f"{path}: {kind} {name!r}: forms of the service have a field of this name; "
                    f"rename the {kind}"
                )


def _compile(program: Program, folder: Path, device: DeviceChoice) -> tuple[str, str]:
    """Compiles a program for an accelerator; returns the file or None, and the design's name."""
    if backend_without_designs(device.kind) is not None:
        compile_program(program)  # compilation errors are raised here
        return "", ""
    compiled: Compiled = (
        compile_program(program, device.design)
        if device.design
        else compile_for_smallest_design(program)
    )
    executable = compiled.compiled_graph.executable
    assert executable is not None, "it was compiled for a design"
    target = folder / f"{executable.design.name}.rsc"
    try:
        compiled.save(target, overwrite=True)
        os.chmod(target, SECRET_MODE)  # noqa: PTH101
    except ProgramError:  # too large for a file: each worker compiles it
        return "", executable.design.name
    return str(target), executable.design.name


def publish_all(
    paths: Sequence[Path], folder: Path, device: DeviceChoice, secret: bytes
) -> dict[str, Publication]:
    """Publishes programs and returns them by name; see ``publish``.

    Raises ParameterError if two have one name, or there is none.
    """
    found: dict[str, Publication] = {}
    for path in paths:
        one = publish(path, folder, device, secret)
        if one.name in found:
            raise ParameterError(f"{path}: another program is called {one.name!r}: rename one file")
        found[one.name] = one
    if not found:
        raise ParameterError("no program to serve: name the file of one, such as score.rsp")
    return found
