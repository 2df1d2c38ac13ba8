"""The HE graph as a whole: a planned program, readable and runnable in the clear."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringsmith.errors import ProgramError, check_type
from ringsmith.files.records import IN_MEMORY
from ringsmith.graph.operations import Key, Op
from ringsmith.objects import Ciphertext, Contents, EvaluationKeys, PublicKey
from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.params.flooding import STATISTICAL_SECURITY
from ringsmith.program.arrays import ArrayNode, evaluate_arrays, padded
from ringsmith.program.evaluate import simulate
from ringsmith.program.kit import ClientKit
from ringsmith.program.late import of_runtime, of_schemes
from ringsmith.program.listing import describe_keys
from ringsmith.program.loops import Flat
from ringsmith.program.nodes import Node, Note
from ringsmith.program.overflow import (
    DEFAULT_BOUND,
    RangeError,
    largest_bound,
    promised,
    undeclared,
)
from ringsmith.program.packing import Packing, Port, checked_tensors, tensors, vectors
from ringsmith.program.plain import Space
from ringsmith.program.sharing import SHARED, Sharing

if TYPE_CHECKING:
    from ringsmith.program.kit import SecretKey

_LARGEST_MODULUS = 1 << 23
"""Sums of 2^16 products modulo more may overflow 64 bits, and Python's integers are used."""


@dataclass(frozen=True, eq=False)
class Program(ABC):
    """An encrypted program with everything planned; made by ``trace``.

    A scheme's own is a ``CkksProgram`` or a ``BfvProgram``.

    Attributes:
        name: Name of the traced function.
        parameters: The parameter set that it was planned for.
        nodes: The HE graph, operands before users.
        lengths: Numbers that each input holds, by name; the slots after them are zero.
        output_lengths: Numbers that each output holds, by name; ``decrypt`` returns no slots after
            them.
        choice: The reasons for automatically chosen parameters.
        packed_inputs: Of an imported program: how tensors lie in the inputs, by the tensor's name.
        packed_outputs: The same of the outputs.
        complex_inputs: Inputs whose numbers may be complex.
        complex_outputs: Outputs whose numbers may be complex: ``decrypt`` returns such.
        input_contents: What the slots of inputs must hold, by name; of all slots nothing. A result
            of another run that holds something else is refused.
        output_contents: What the slots of outputs hold.
        notes: What was added so that results are right, for people.
        unchecked: Whether ranges do not decide what fits: results are meant modulo t (BFV), or are
            promised to fit (imported CKKS programs). Otherwise no result exceeds what its
            ciphertext holds.
        arrays: What each output means as an array; empty for a program from a file, or imported.
        rotations: Which bits several rotations of one value have, and sums of rotations: ``shared``
            (they share the digits and divisions of key switching) or ``seal`` (those of Microsoft
            SEAL's operations, one after another).
    """

    name: str
    parameters: RlweParameters
    nodes: tuple[Node, ...]
    lengths: Mapping[str, int]
    output_lengths: Mapping[str, int]
    choice: str = ""
    packed_inputs: Mapping[str, Packing] = field(default_factory=dict)
    packed_outputs: Mapping[str, Packing] = field(default_factory=dict)
    complex_inputs: tuple[str, ...] = ()
    complex_outputs: tuple[str, ...] = ()
    input_contents: Mapping[str, Contents] = field(default_factory=dict)
    output_contents: Mapping[str, Contents] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    unchecked: bool = False
    arrays: Mapping[str, ArrayNode] = field(
        default_factory=dict, repr=False, metadata={IN_MEMORY: True}
    )
    rotations: str = SHARED

    @cached_property
    def sharing(self) -> Sharing:
        """What rotations share."""
        return Sharing.of(self.nodes, self.parameters) if self.rotations == SHARED else Sharing()

    @cached_property
    def flat(self) -> Flat:
        """The nodes with loops written out, to follow numbers: a bootstrapping's steps are once."""
        return Flat.of(self.nodes, light=True)

    @cached_property
    def unrolled(self) -> "Program":
        """The program with loops written out; this one where it has none."""
        if not self.loops:
            return self
        return replace(self, nodes=Flat.of(self.nodes, light=False).nodes)

    @property
    def loops(self) -> int:
        """How many loops it has."""
        return len({node.loop for node in self.nodes if node.loop})

    @property
    def inputs(self) -> dict[str, Node]:
        """The input nodes by name: at which limbs and scale to encrypt."""
        return {node.name or "": node for node in self.nodes if node.op is Op.INPUT}

    @property
    def outputs(self) -> dict[str, Node]:
        """The output nodes by name: at which limbs and scale results arrive."""
        return {node.name or "": node for node in self.nodes if node.op is Op.OUTPUT}

    @property
    def key_needs(self) -> KeyNeeds:
        """The evaluation keys that a run needs, each with the most limbs it is used at."""
        needs = KeyNeeds()
        for node in self.nodes:
            if node.op.record.key is Key.RELINEARIZATION:
                needs |= KeyNeeds(relin=self.nodes[node.operands[0]].limbs)
            elif node.op.record.key is Key.SPARSE:
                needs |= KeyNeeds(raised=node.limbs)
            elif node.element is not None:
                needs |= KeyNeeds(galois={node.element: node.limbs})
        return needs

    @property
    def multiplies(self) -> bool:
        """Whether the program multiplies ciphertexts."""
        return any(node.op.record.multiplies for node in self.nodes)

    def client_kit(self) -> ClientKit:
        """Returns the client kit: without graph, constants and source lines."""
        return self._kit(self.output_ports)

    def _kit(self, outputs: Mapping[str, Port]) -> ClientKit:
        return ClientKit(
            self.name,
            self.parameters,
            self.input_ports,
            outputs,
            self.key_needs,
            self.packed_inputs,
            self.packed_outputs,
        )

    def generate_keys(
        self, *, seeded: bool = True
    ) -> "tuple[SecretKey, PublicKey, EvaluationKeys]":
        """Makes fresh keys, as ``ClientKit.generate_keys``."""
        return self._kit(self._ports).generate_keys(seeded=seeded)

    def encrypt(
        self, public_key: PublicKey, inputs: Mapping[str, ArrayLike], *, partial: bool = False
    ) -> dict[str, Ciphertext]:
        """Encrypts a vector or tensor for every input, as ``ClientKit.encrypt``."""
        return self._kit(self._ports).encrypt(public_key, inputs, partial=partial)

    def decrypt(
        self,
        secret_key: "SecretKey",
        outputs: Mapping[str, Ciphertext],
        *,
        complex_numbers: bool | None = None,
        share: int | None = None,
        statistical_security: int = STATISTICAL_SECURITY,
    ) -> dict[str, NDArray[Any]]:
        """Decrypts results to the numbers or tensors of outputs, as ``ClientKit.decrypt``."""
        kit = self._kit(self._ports) if share is None else self.client_kit()
        return kit.decrypt(
            secret_key,
            outputs,
            complex_numbers=complex_numbers,
            share=share,
            statistical_security=statistical_security,
        )

    def run(
        self,
        inputs: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        device: str = "cpu",
        design: object = None,
        complex_numbers: bool | None = None,
        **vectors: ArrayLike,
    ) -> dict[str, NDArray[Any]]:
        """Encrypts, runs and decrypts in this process: for trying things, ``program.run(x=x)``.

        The secret key is in the process that computes, so that nothing is hidden from it. In use,
        the client calls ``generate_keys``, ``encrypt`` and ``decrypt``, and the server
        ``compile_program`` and ``Compiled.run``. Keys and the compiled program are kept until this
        object is deleted: the first call takes longer than later ones.

        Args:
            inputs: Numbers by the input's name, as for ``encrypt``; or give them by keyword.
            device: ``cpu``, ``model`` or ``rtl``, as for ``open_device``.
            design: The accelerator that ``model`` and ``rtl`` are: a name, a TOML file or a design.
                None: the smallest that runs the program.
            complex_numbers: As for ``decrypt``.
            **vectors: Numbers by the input's name.

        Returns:
            The numbers of each output by name, as ``decrypt``.

        Raises:
            ProgramError: When an input is missing or unknown, or the design cannot run the program.
            DeviceError: When there is no such device.
            ParameterError: When there is no such design, or an input holds no such numbers.
        """
        found: dict[str, NDArray[Any]] = of_runtime("run_here", "here")(
            self, inputs, vectors, device, design, complex_numbers=complex_numbers
        )
        return found

    def to_bytes(self) -> bytes:
        """Returns the program as the bytes of a file.

        Raises:
            ProgramError: When it exceeds the size limits of readers.
        """
        written: bytes = of_schemes("to_bytes", "program_file")(self)
        return written

    def __reduce__(self) -> "tuple[Callable[[bytes], object], tuple[bytes]]":
        """Pickles the program as its file, without the arrays that ``evaluate`` computes on."""
        return Program.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> "Program":
        return self  # nothing in it changes

    def __deepcopy__(self, memo: object) -> "Program":
        return self

    @staticmethod
    def from_bytes(data: bytes) -> "Program | ClientKit":
        """Reads the bytes of a file, as ``load``."""
        found: Program | ClientKit = of_schemes("from_bytes", "program_file")(data)
        return found

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes the program to a file atomically; the suffix is ``.rsp`` by convention.

        The file holds the graph with its exact constants, the parameters, inputs and outputs. It
        also holds source lines, with the base names of their files but no folder names.

        Raises:
            InteropError: When the file exists and may not be overwritten, or cannot be written.
            ProgramError: When the program exceeds the size limits of readers.
        """
        of_schemes("save", "program_file")(path, self, overwrite=overwrite)

    @staticmethod
    def load(path: str | Path) -> "Program | ClientKit":
        """Reads a program from a file, or a client kit.

        Returns:
            A ``CkksProgram`` or ``BfvProgram``, which lowers to the same subroutines as the saved
            one; a ``ClientKit`` if the file holds one.

        Raises:
            InteropError: When the file holds neither, is damaged or too large; names the field.
        """
        found: Program | ClientKit = of_schemes("load", "program_file")(path)
        return found

    @cached_property
    def input_ports(self) -> Mapping[str, Port]:
        """The inputs as clients see them, with the ranges of their numbers."""
        bound = None if self.unchecked else self.default_bound
        found = {}
        for name, node in self.inputs.items():
            low, high = (None, None) if bound is None else (-bound, bound)
            if node.bound is not None:
                low, high = node.bound.low, node.bound.high
            is_complex = name in self.complex_inputs
            found[name] = Port(node.limbs, node.scale, self.lengths[name], low, high, is_complex)
        return MappingProxyType(found)

    @cached_property
    def output_ports(self) -> Mapping[str, Port]:
        """The outputs as clients see them, with the noise that the forecast allows."""
        return MappingProxyType(self._with_noise(self._ports))

    @property
    def _ports(self) -> dict[str, Port]:
        """The outputs without their noise, which takes a forecast."""
        return {
            name: Port(
                node.limbs,
                node.scale,
                self.output_lengths[name],
                complex_numbers=name in self.complex_outputs,
            )
            for name, node in self.outputs.items()
        }

    @abstractmethod
    def _with_noise(self, ports: Mapping[str, Port]) -> dict[str, Port]:
        """Returns outputs with their noise by the forecast, for all inputs in their ranges."""

    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Computes in NumPy what the program means, to get the expected decrypted result.

        Arrays have the shapes of inputs and outputs. How numbers lie in slots does not matter, so
        that a fault of their layout shows as a difference. A program from a file, or an imported
        one, has no arrays: it is simulated.

        Args:
            inputs: A vector for each input, at most as long as declared; zeros follow. For an
                imported program: its tensors.

        Returns:
            The numbers of each output, as ``decrypt`` returns them; for an imported program its
            tensors.

        Raises:
            ProgramError: When an input is missing, unknown, too long, outside its range or not of
                the scheme's numbers. When a number leaves the range that the program promises.
        """
        given = self._checked(inputs)
        if not self.arrays:
            found = self._simulated(self._vectors(given))
            found = {name: found[name][:size] for name, size in self.output_lengths.items()}
            return self._tensors({name: self._shown(values) for name, values in found.items()})
        if self._modulus is not None and self._modulus > _LARGEST_MODULUS:
            given = {name: array.astype(object) for name, array in given.items()}
        found = evaluate_arrays(self.arrays, given, self._modulus)
        return {name: self._shown(values) for name, values in found.items()}

    def simulate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Runs the operations on clear data, slot by slot: what every slot of a result holds.

        Args:
            inputs: As for ``evaluate``.

        Returns:
            All slots of each output.

        Raises:
            ProgramError: As ``evaluate``.
        """
        found = self._simulated(self._vectors(self._checked(inputs)))
        return {name: self._shown(values) for name, values in found.items()}

    def slots(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Returns what all slots of each input's ciphertext hold.

        Args:
            inputs: As for ``evaluate``.

        Raises:
            ProgramError: As ``evaluate``.
        """
        count = self._space.slots
        return {
            name: np.pad(values, (0, count - values.size))
            for name, values in self._vectors(self._checked(inputs)).items()
        }

    def _simulated(self, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return simulate(self.flat.nodes, self._space, given, self._modulus)

    def _checked(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Returns the numbers of the inputs, with zeros up to their lengths; or the arrays."""
        check_type("inputs", inputs, Mapping, 'give vectors by name: {"x": numbers}')
        if self.packed_inputs:
            return checked_tensors(
                self.packed_inputs,
                inputs,
                self.input_ports,
                lambda name, value: self._space.array(
                    value, self._of_input(name).source, f"input {name!r}"
                ),
            )
        if inputs.keys() != self.lengths.keys():
            raise ProgramError(
                f"the program takes the inputs {sorted(self.lengths)} and was given "
                f"{sorted(map(str, inputs))}: give a vector for each input"
            )
        found = {}
        for name, port in self.input_ports.items():
            source = self.inputs[name].source
            array = np.atleast_1d(self._space.numbers(inputs[name], source, f"input {name!r}"))
            if array.size > port.length:
                raise ProgramError(
                    f"input {name!r} holds {port.length} numbers and was given {array.size}: "
                    "declare a greater length when tracing, or split the vector"
                )
            port.check_numbers(name, array)
            found[name] = padded(array, port.length)
        return found

    @property
    @abstractmethod
    def _space(self) -> Space:
        """The slots of a ciphertext."""

    @property
    @abstractmethod
    def _modulus(self) -> int | None:
        """What numbers are reduced modulo; None: nothing."""

    @property
    @abstractmethod
    def _largest_bound(self) -> float:
        """The magnitude that no input may exceed in any case."""

    @property
    def default_bound(self) -> float:
        """The magnitude up to which inputs without a declared range make no result overflow."""
        if not undeclared(self.nodes) or promised(self.nodes):
            return DEFAULT_BOUND

        def fits(bound: float) -> bool:
            try:
                self.check_ranges(bound)
            except RangeError:
                return False
            return True

        return largest_bound(fits, self._largest_bound)

    @abstractmethod
    def check_ranges(self, bound: float = DEFAULT_BOUND) -> None:
        """Refuses a program in which a value may leave what its ciphertext holds.

        Args:
            bound: The magnitude of inputs without a declared range.

        Raises:
            RangeError: Names the user's line.
            ConstantOutputError: When an output is the same for all inputs.
        """

    @abstractmethod
    def _shown(self, values: NDArray[Any]) -> NDArray[Any]:
        """Returns computed numbers as ``decrypt`` returns them."""

    @abstractmethod
    def describe(self) -> str:
        """Returns a listing: one node per line with limbs, size and source."""

    @abstractmethod
    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
        lines: bool = False,
    ) -> str:
        """Returns the listing with costs and a forecast, for people.

        Args:
            bounds: Bounds of the inputs' magnitudes. The forecast of precision needs them, that of
                noise does not.
            cycles: Clock cycles by node id; ``ringsmith.explain`` computes them for a design.
            lines: Whether the listing has a row for each line of the user's, not for each node.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """

    def _of_input(self, name: str) -> Node:
        """The first node of an input."""
        return self.inputs[self.packed_inputs[name].ports[0]]

    def _vectors(self, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the inputs' contents: vectors unchanged, arrays packed."""
        return vectors(self.packed_inputs, given, self.lengths) if self.packed_inputs else given

    @cached_property
    def filled(self) -> Mapping[str, NDArray[np.bool_]]:
        """Which slots hold numbers of an input, by its name; the others hold zeros."""
        slots = np.arange(self._space.slots)
        found = {name: slots < length for name, length in self.lengths.items()}
        for packing in self.packed_inputs.values():
            for port, row in zip(packing.ports, packing.filled, strict=True):
                found[port] = np.tile(row, slots.size // packing.slots)
        return found

    def _tensors(self, outputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the outputs: vectors unchanged, or the tensors in them."""
        packed = self.packed_outputs
        return tensors(packed, outputs) if packed else outputs

    def _heading(self, *, with_choice: bool = False) -> list[str]:
        """Returns the first lines of listings: name, parameters, their reasons, keys."""
        parameters = self.parameters
        lines = [
            f"program {self.name}: parameters {parameters.name}, "
            f"N = {parameters.n}, {parameters.limbs} data primes"
        ]
        if with_choice:
            lines.append(f"security: {parameters.security_text}")
        if with_choice and self.choice:
            lines += ["parameters were chosen:", self.choice]
        lines.append(f"keys: {describe_keys(parameters, self.nodes, self.key_needs)}")
        for what, packings in (("input", self.packed_inputs), ("output", self.packed_outputs)):
            lines += [f"{what} {name!r}: {packing.words}" for name, packing in packings.items()]
        return [*lines, *(f"added: {note}" for note in self.notes)]

    def __str__(self) -> str:
        return self.describe()


def check_program(program: object, call: str) -> None:
    """Refuses what is no program; the message says how to get one.

    Args:
        program: The argument.
        call: The function that was called, such as ``explain``.

    Raises:
        TypeError: When it is no program.
    """
    if isinstance(program, Program):
        return
    if isinstance(program, ClientKit):
        hint = "a kit has no operations: give the program that it was made of"
    elif isinstance(program, str | os.PathLike):
        hint = f'read it first: {call}(Program.load("{os.fspath(program)!s:.60}"))'
    elif callable(program):
        name = getattr(program, "__name__", "f")
        shown = name if name.isidentifier() else "f"
        hint = f'trace the function first: {call}(trace({shown}, "auto"))'
    else:
        hint = f"give what trace returns: {call}(trace(f, parameters))"
    raise TypeError(f"program: {type(program).__name__} was given where a Program belongs: {hint}")
