"""One encrypted run of an application, from training to decryption, stage by stage."""

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ringsmith import runtime
from ringsmith.apps.client import Client
from ringsmith.apps.interface import Inputs
from ringsmith.apps.machines import run_and_compare
from ringsmith.apps.server import ProgramServer
from ringsmith.apps.stages import Stages
from ringsmith.objects import Ciphertext

PLAN = "Plan and compile the program"
"""The stage in which the server makes its program ready."""


class Serving(Protocol):
    """A server: runs its programs on encrypted inputs, in the order that its clients know."""

    def run(
        self, machine: runtime.Machine, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> Sequence[runtime.RunResult]:
        """Returns the results of all runs."""


_Model = TypeVar("_Model")
_Data = TypeVar("_Data", bound=Sized)
_Server = TypeVar("_Server", bound=Serving)
_Client = TypeVar("_Client", bound=Client[Any])
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, eq=False)
class Answer(Generic[_Outcome]):
    """What came back, decrypted.

    Attributes:
        results: Ciphertexts, cycles, instructions of each run.
        outcome: What was decrypted, compared with the model in the clear.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
    """

    results: Sequence[runtime.RunResult]
    outcome: _Outcome
    equal_bits: bool | None


@dataclass(frozen=True, eq=False)
class Session(Generic[_Model, _Data, _Server, _Client, _Outcome]):
    """Client and server, and the client's encrypted data.

    Attributes:
        model: The trained model; the server's.
        data: What is held out from training and computed on; the client's.
        server: Holds the compiled program, or several.
        client: Holds the keys.
        inputs: The data, encrypted: what each run computes on.
        compare: Compares what was decrypted with the model in the clear.
    """

    model: _Model
    data: _Data
    server: _Server
    client: _Client
    inputs: Sequence[Inputs]
    compare: Callable[[Any], _Outcome]

    def answer(self, stages: Stages, machine: runtime.Machine) -> Answer[_Outcome]:
        """Runs the programs on a machine, compares with the cpu device, and decrypts.

        Args:
            stages: Shows progress.
            machine: The server's device.

        Raises:
            DeviceError: When the machine fails.
        """
        keys = self.client.evaluation_keys
        results, equal = run_and_compare(
            stages, machine, lambda on: self.server.run(on, self.inputs, keys)
        )
        outputs = [output for result in results for output in result.outputs.values()]
        with stages("Client: decrypt"):
            found = self.client.decrypt(outputs, len(self.data))
        return Answer(results, self.compare(found), equal)


def program_note(server: ProgramServer) -> str:
    """How long a program is, and what it was scheduled as where it was scheduled for a design."""
    executable = server.compiled.compiled_graph.executable
    scheduled = f", {executable.instructions} instructions" if executable else ""
    return f"{len(server.program.nodes)} operations{scheduled}"


def make_keys(stages: Stages, make: Callable[[], _Client]) -> _Client:
    """Makes a client with its keys, as a stage that says how many the server gets."""
    with stages("Client: make keys") as stage:
        client = make()
        keys = client.evaluation_keys
        count = len(keys.galois) + (keys.relin is not None)
        stage.note = f"{count} evaluation key{'s' * (count != 1)} for the server"
    return client


def mebibytes(*ciphertexts: Ciphertext) -> str:
    """The memory that ciphertexts take together, with its unit."""
    return f"{sum(each.data.nbytes for each in ciphertexts) / 2**20:.1f} MiB"
