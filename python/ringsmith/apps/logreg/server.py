"""The laboratory: it holds the model and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from ringsmith import runtime
from ringsmith.apps.logreg import packing
from ringsmith.apps.logreg.interface import INPUT, OUTPUT, Interface
from ringsmith.apps.logreg.model import Model
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.objects import Ciphertext, EvaluationKeys
from ringsmith.params import CkksParameters
from ringsmith.program import CkksProgram, EncryptedVector, inner_product, polynomial, trace


def plan(model: Model, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: packed records in, probabilities out.

    Weighted sum by ``log2(packing.BLOCK)`` rotations, bias, and the cubic in place of the sigmoid:
    three rescalings. Weights and bias are divided by the bound of the logits, and the cubic's
    coefficients multiplied by its powers: every encrypted number then stays near [-2, 2], so that
    the scale is used fully and no product comes near the modulus.

    Raises:
        ProgramError: When the parameters have fewer levels.
    """
    stride = packing.patients_per_ciphertext(parameters.slots)
    bound = model.logit_bound
    coefficients = [c * bound**power for power, c in enumerate(model.sigmoid_coefficients)]

    def logreg(records: EncryptedVector) -> dict[str, EncryptedVector]:
        weighted = inner_product(records, model.weights / bound, packing.BLOCK, stride=stride)
        return {OUTPUT: polynomial(weighted + model.bias / bound, coefficients)}

    return trace(logreg, parameters, {INPUT: parameters.slots})


class Server:
    """A model made ready to classify encrypted records.

    Attributes:
        program: The planned HE program.
        compiled: The same for the interpreter and, where a design is given, its accelerator.
        interface: What clients need to know.
    """

    def __init__(
        self, model: Model, parameters: CkksParameters, design: str | RpauDesign | None
    ) -> None:
        """Plans and compiles.

        Args:
            model: The trained model.
            parameters: HE parameters with at least three levels.
            design: Accelerator to schedule for; None: the ``cpu`` device only.

        Raises:
            ProgramError: When the parameters or the design are too small for the program.
        """
        self.program = plan(model, parameters)
        self.compiled = runtime.compile_program(self.program, design)
        records = self.program.inputs[INPUT]
        self.interface = Interface(
            parameters,
            self.program.key_needs,
            self.compiled.compiled_graph.expands_keys,
            model.preprocessing,
            records.scale,
            records.limbs,
        )

    def classify(
        self, machine: runtime.Machine, records: Ciphertext, keys: EvaluationKeys
    ) -> runtime.RunResult:
        """Returns the encrypted probabilities, as output ``OUTPUT``, and what the run took.

        Args:
            machine: Where to run, from ``runtime.open_device``.
            records: Packed records (``packing``), encrypted as the interface says.
            keys: The client's evaluation keys.
        """
        return self.compiled.run(machine, {INPUT: records}, keys)
