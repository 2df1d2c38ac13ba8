"""A backend for HEIR's Python front end: its functions run on Ringsmith's devices.

    from heir import compile
    from ringsmith.heir.backend import RingsmithBackend

    @compile(backend=RingsmithBackend(), heir_opt_options=RingsmithBackend.options("ckks"))
    def f(…): …

This module imports ``heir.interfaces``, which needs numba and colorama: the extra ``heir-python``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from heir.backends.util.common import strip_and_verify_eval_arg_consistency
from heir.interfaces import BackendInterface, ClientInterface, CompilationResult, EncValue
from numpy.typing import NDArray

from ringsmith import runtime
from ringsmith.backends.registry import REFERENCE
from ringsmith.errors import ProgramError
from ringsmith.heir.check import compare
from ringsmith.heir.clear import UnknownError
from ringsmith.heir.compiler import DEFAULT_SLOTS, GENERIC, TIDY, Lowering
from ringsmith.heir.importing import NOT_COMPARED, Wish, program_of
from ringsmith.heir.module import PLAIN_MODULUS, Scheme, trace_module
from ringsmith.objects import Ciphertext
from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit
from ringsmith.program.overflow import DEFAULT_BOUND
from ringsmith.program.packing import Port
from ringsmith.schemes import program_file

if TYPE_CHECKING:
    from ringsmith.remote import RemoteProgram, Service

_ENCRYPT = "encrypt_"


@dataclass(frozen=True)
class RingsmithBackend(BackendInterface):  # type: ignore[misc]  # heir has no types
    """Where functions that HEIR compiles are run.

    Attributes:
        device: ``cpu``, ``model``, ``rtl``, or what ``open_device`` knows.
        design: The accelerator; None: the CPU, or the smallest that does.
        wish: How programs are planned.
        service: URL of a service that has the program under the function's name; None: evaluate in
            this process, on ``device``.
        token: The client's token, if the service asks for one.
    """

    device: str = REFERENCE
    design: str | None = None
    wish: Wish = Wish()  # noqa: RUF009 - frozen
    service: str | None = None
    token: str | None = None

    @staticmethod
    def options(
        scheme: str, slots: int = DEFAULT_SLOTS, plain_modulus: int = PLAIN_MODULUS
    ) -> list[str]:
        """Returns options for ``heir_opt_options``, a new list each time: HEIR appends to it.

        Args:
            scheme: ``ckks``, ``bfv`` or ``bgv``.
            slots: Slots S of a vector, a power of two.
            plain_modulus: t of BFV and BGV: results are exact modulo it.
        """
        return list(Lowering(Scheme(scheme), slots, plain_modulus).options(slots))

    def run_backend(
        self,
        workspace_dir: str,
        heir_opt: Any,  # noqa: ANN401 - HEIR's own object
        heir_translate: object,
        func_name: str,
        arg_names: Sequence[str],
        secret_args: Sequence[int],
        heir_opt_output: str,
        debug: bool,
    ) -> "RingsmithClient":
        """Reads what ``heir-opt`` printed; HEIR calls this once for each function."""
        text = heir_opt_output
        if '"builtin.module"(' not in text:
            text = heir_opt.run_binary(input=text, options=[*TIDY, GENERIC])
        return RingsmithClient(self, text, func_name, list(arg_names), list(secret_args))


@dataclass(frozen=True)
class Evaluated:
    """What ``eval`` returns.

    Attributes:
        outputs: A ciphertext for each output of the program.
        kit: Decrypts them. Its scales and limbs follow from the clear arguments.
    """

    outputs: Mapping[str, Ciphertext]
    kit: ClientKit


class RingsmithClient(ClientInterface):  # type: ignore[misc]
    """A compiled function: keys, encryption, evaluation, decryption.

    Attributes:
        compilation_result: What HEIR's helpers ask for.
        func: The Python function; HEIR sets it.
        cycles: Clock cycles of the last evaluation; None on the CPU, or before any.
        compared: How ``setup`` compared what HEIR compiled with the Python function, or why not.
        program: The planned program; ``program.save("NAME.rsp")`` writes what a service needs.
    """

    def __init__(
        self,
        backend: RingsmithBackend,
        text: str,
        name: str,
        arg_names: list[str],
        secret_args: list[int],
    ) -> None:
        self.compilation_result = CompilationResult(
            module=None, func_name=name, arg_names=arg_names, secret_args=secret_args
        )
        self.func: Callable[..., Any] | None = None
        self.cycles: int | None = None
        self.compared = "not set up"
        self._backend = backend
        self._text = text
        self._keys: Any = None
        self._compiled: runtime.Compiled | None = None
        self._device: Any = None
        self._remote: tuple[Service, RemoteProgram] | None = None
        self._clear = {i: n for i, n in enumerate(arg_names) if i not in secret_args}
        self.program = self._planned({})

    def setup(self) -> None:
        """Makes keys, and opens the service, or compiles for the device and opens it.

        What HEIR compiled is first compared with the Python function, both in the clear, on random
        numbers (``Wish.check``).

        Raises:
            HeirError: If HEIR has compiled the function wrongly.
            ProgramError: If a service is to evaluate clear arguments, or has another program.
            ServiceError: If the service has no program of this name.
        """
        self.compared = self._compared() if self._backend.wish.check else NOT_COMPARED
        if self._backend.service is not None:
            self._remote = self._open_service(self._backend.service)
        self._keys = self.program.generate_keys(seeded=True)
        if self._remote is not None:
            return
        self._compiled = self._compile(self.program)
        executable = self._compiled.compiled_graph.executable
        device = self._backend.device
        self._device = (
            runtime.open_device(device)
            if executable is None
            else runtime.open_device(device, executable.design)
        )

    def _compared(self) -> str:
        """Compares what HEIR compiled with the Python function; returns what was done."""
        traced = trace_module(self._text, self.name, placeholders=True)
        t = None if traced.parameters is None else traced.parameters.plain_modulus

        def function(given: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
            values = [given[f"arg{i}"] for i in range(len(self.compilation_result.arg_names))]
            try:
                assert self.func is not None, "HEIR has set it"
                found = self.func(*(v if v.ndim else v.item() for v in values))
            except Exception as error:
                why = f"{type(error).__name__}: {error}".partition("\n")[0]
                raise UnknownError(f"{why:.200}") from None
            return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]

        try:
            return compare(traced, function, t or self._backend.wish.plain_modulus or PLAIN_MODULUS)
        except UnknownError as error:
            return f"not compared with the function, which does not run in the clear: {error}"

    @property
    def name(self) -> str:
        """The function's name. HEIR's own has the module before it and a number after it."""
        unique: str = self.compilation_result.func_name
        own: str = getattr(self.func, "__name__", "")
        return own if re.fullmatch(rf".+_{re.escape(own)}_\d+", unique) else unique

    def __getattr__(self, key: str) -> Callable[..., Any]:
        """``encrypt_NAME`` of a secret argument, or the function by its name."""
        result: CompilationResult = self.__dict__.get("compilation_result")
        if result is not None and key in (self.name, result.func_name):
            return self.eval
        if result is not None and key.startswith(_ENCRYPT):
            name = key.removeprefix(_ENCRYPT)
            if name in result.arg_names and result.arg_names.index(name) in result.secret_args:
                return lambda value: self._encrypted(result.arg_names.index(name), name, value)
        raise AttributeError(f"{type(self).__name__} has no attribute {key!r}")

    def eval(self, *args: object, **kwargs: object) -> Evaluated:
        """Evaluates the function on encrypted and clear arguments, in its order."""
        self._require_setup()
        values, _ = strip_and_verify_eval_arg_consistency(self.compilation_result, *args, **kwargs)
        if self._remote is not None:
            return self._on_service(*self._remote, values)
        program, compiled = self.program, self._compiled
        if self._clear:
            clear = {i: values[i] for i in self._clear}
            program = self._planned(clear, self.program)
            secret = (values[i].largest for i in self.compilation_result.secret_args)
            program.check_ranges(max(DEFAULT_BOUND, *secret))
            compiled = self._compile(program)
        given = self._ciphertexts(values)
        assert compiled is not None, "setup made it"
        result = compiled.run(self._device, given, self._keys[2])
        self.cycles = result.cycles
        return Evaluated(result.outputs, program.client_kit())

    def _ciphertexts(self, values: Sequence[Any]) -> dict[str, Ciphertext]:
        """The ciphertexts of all secret arguments, by input."""
        given: dict[str, Ciphertext] = {}
        for i in self.compilation_result.secret_args:
            given |= values[i]
        return given

    def _open_service(self, url: str) -> "tuple[Service, RemoteProgram]":
        """Opens a service and compares its program with this one."""
        from ringsmith.remote import Service

        name = self.name
        if self._clear:
            first = self._clear[min(self._clear)]
            raise ProgramError(
                f"{name}: a service does not take clear arguments, and {first} is one: make it "
                "secret, or a constant of the function"
            )
        # The kit must be this program's own, whose parameters were chosen here.
        service = Service(url, self._backend.token, security=None)
        remote, own = service.program(name), self.program.client_kit()
        theirs = replace(remote.kit, name=own.name)
        if program_file.to_bytes(theirs) != program_file.to_bytes(own):
            service.close()
            raise ProgramError(
                f"{name}: the service's program has other parameters, inputs, outputs or keys "
                f'than this one: serve the file that program.save("{name}.rsp") writes'
            )
        return service, remote

    def _on_service(
        self, service: "Service", remote: "RemoteProgram", values: Sequence[Any]
    ) -> Evaluated:
        """Evaluates on a service; it gets the evaluation keys once."""
        job = service.submit(remote, self._ciphertexts(values), self._keys[2])
        outputs = job.wait()
        self.cycles = job.poll().figures.get("cycles")
        return Evaluated(outputs, self.program.client_kit())

    def decrypt_result(self, result: Evaluated, **_: object) -> object:
        """Decrypts what ``eval`` returned: a number or an array, or a tuple of several."""
        self._require_setup()
        found = result.kit.decrypt(self._keys[0], result.outputs)
        values = [v.item() if v.ndim == 0 else v for v in found.values()]
        return values[0] if len(values) == 1 else tuple(values)

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Encrypts the secret arguments, evaluates, and decrypts."""
        if self._keys is None:
            self.setup()
        result = self.compilation_result
        given = [
            self._encrypted(i, name, value) if i in result.secret_args else value
            for i, (name, value) in enumerate(zip(result.arg_names, args, strict=True))
        ]
        return self.decrypt_result(self.eval(*given, **kwargs))

    def _encrypted(self, position: int, name: str, value: object) -> EncValue:
        """One argument's ciphertexts."""
        self._require_setup()
        kit, tensor = self.program.client_kit(), f"arg{position}"
        packing = kit.packed_inputs[tensor]
        own = replace(
            kit,
            inputs={port: kit.inputs[port] for port in packing.ports},
            packed_inputs={tensor: packing},
        )
        assert isinstance(own, ClientKit)
        array = np.asarray(value)
        found = _Argument(own.encrypt(self._keys[1], {tensor: array}))
        found.largest = float(np.abs(array).max(initial=0))
        return EncValue(name, found)

    def _compile(self, program: Program) -> runtime.Compiled:
        if self._backend.device == REFERENCE or self._backend.design is not None:
            return runtime.compile_program(program, self._backend.design)
        return runtime.compile_for_smallest_design(program)

    def _planned(self, clear: Mapping[int, object], like: Program | None = None) -> Program:
        """Plans the module for clear arguments; others have placeholders."""
        values = {f"arg{i}": np.asarray(v) for i, v in clear.items()}
        file = self.name
        traced = trace_module(self._text, file, values, placeholders=like is None)
        program = program_of(traced, self._backend.wish, None if like is None else like.parameters)
        if like is not None:
            same = _without_ranges(program) == _without_ranges(like)
            known = like.key_needs.galois
            if not same or any(known.get(e, 0) < n for e, n in program.key_needs.galois.items()):
                raise ProgramError(
                    f"{file}: for these clear arguments it needs other inputs or keys than it was "
                    "set up for: make them constants of the function"
                )
        return program

    def _require_setup(self) -> None:
        if self._keys is None:
            raise ProgramError(f"{self.name}: call setup() first")


class _Argument(dict[str, Ciphertext]):
    """The ciphertexts of an argument."""

    largest: float = 0.0


def _without_ranges(program: Program) -> dict[str, Port]:
    """A program's inputs, but for the numbers that they may hold, which clear arguments decide."""
    return {
        name: replace(port, low=None, high=None)
        for name, port in program.client_kit().inputs.items()
    }
