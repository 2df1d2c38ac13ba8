"""The HE graph as a whole: a planned program, readable and runnable in the clear."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from ringsmith.graph.operations import Key, Op
from ringsmith.objects import Ciphertext, EvaluationKeys, PublicKey
from ringsmith.params import KeyNeeds, RlweParameters
from ringsmith.program.kit import ClientKit, Port
from ringsmith.program.late import of_runtime, of_schemes
from ringsmith.program.listing import describe_keys
from ringsmith.program.nodes import Node
from ringsmith.program.packing import Packing, tensors, vectors

if TYPE_CHECKING:
    from ringsmith.program.kit import SecretKey


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
    """

    name: str
    parameters: RlweParameters
    nodes: tuple[Node, ...]
    lengths: Mapping[str, int]
    output_lengths: Mapping[str, int]
    choice: str = ""
    packed_inputs: Mapping[str, Packing] = field(default_factory=dict)
    packed_outputs: Mapping[str, Packing] = field(default_factory=dict)

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
            elif node.element is not None:
                needs |= KeyNeeds(galois={node.element: node.limbs})
        return needs

    @property
    def multiplies(self) -> bool:
        """Whether the program multiplies ciphertexts."""
        return any(node.op.record.multiplies for node in self.nodes)

    def client_kit(self) -> ClientKit:
        """Returns the client kit: without graph, constants and source lines."""
        return ClientKit(
            self.name,
            self.parameters,
            MappingProxyType(_ports(self.inputs, self.lengths)),
            MappingProxyType(_ports(self.outputs, self.output_lengths)),
            self.key_needs,
            self.packed_inputs,
            self.packed_outputs,
        )

    def generate_keys(
        self, *, seeded: bool = False
    ) -> "tuple[SecretKey, PublicKey, EvaluationKeys]":
        """Makes fresh keys, as ``ClientKit.generate_keys``."""
        return self.client_kit().generate_keys(seeded=seeded)

    def encrypt(
        self, public_key: PublicKey, inputs: Mapping[str, ArrayLike], *, partial: bool = False
    ) -> dict[str, Ciphertext]:
        """Encrypts a vector or tensor for every input, as ``ClientKit.encrypt``."""
        return self.client_kit().encrypt(public_key, inputs, partial=partial)

    def decrypt(
        self,
        secret_key: "SecretKey",
        outputs: Mapping[str, Ciphertext],
        *,
        complex_numbers: bool = False,
    ) -> dict[str, NDArray[Any]]:
        """Decrypts results to the numbers or tensors of outputs, as ``ClientKit.decrypt``."""
        return self.client_kit().decrypt(secret_key, outputs, complex_numbers=complex_numbers)

    def run(
        self,
        inputs: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        device: str = "cpu",
        design: object = None,
        complex_numbers: bool = False,
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

    @abstractmethod
    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Runs the program on clear data, to get the expected decrypted result.

        Args:
            inputs: A vector for each input, at most as long as declared and padded with zeros. For
                an imported program: its tensors.

        Returns:
            All slots of each output; for an imported program its tensors.

        Raises:
            ProgramError: When an input is missing, unknown, too long or not of the scheme's
                numbers.
        """

    @abstractmethod
    def describe(self) -> str:
        """Returns a listing: one node per line with limbs, size and source."""

    @abstractmethod
    def explain(
        self,
        bounds: Mapping[str, ArrayLike] | float = 1.0,
        *,
        cycles: Mapping[int, int] | None = None,
    ) -> str:
        """Returns the listing with costs and a forecast, for people.

        Args:
            bounds: Bounds of the inputs' magnitudes. The forecast of precision needs them, that of
                noise does not.
            cycles: Clock cycles by node id; ``ringsmith.explain`` computes them for a design.

        Raises:
            ProgramError: When a bound is missing, or is no finite magnitude.
        """

    def _vectors(self, inputs: Mapping[str, ArrayLike]) -> Mapping[str, ArrayLike]:
        """Returns the inputs' contents: vectors unchanged, tensors packed."""
        packed = self.packed_inputs
        return vectors(packed, inputs, self.lengths) if packed else inputs

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
        if with_choice and self.choice:
            lines += ["parameters were chosen:", self.choice]
        return [*lines, f"keys: {describe_keys(self.key_needs)}"]

    def __str__(self) -> str:
        return self.describe()


def _ports(nodes: Mapping[str, Node], lengths: Mapping[str, int]) -> dict[str, Port]:
    """Inputs or outputs as clients see them."""
    return {name: Port(node.limbs, node.scale, lengths[name]) for name, node in nodes.items()}
