"""The laboratory: it holds the model and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from ringsmith.apps.logreg import packing
from ringsmith.apps.logreg.circuits import CIRCUITS, Constants
from ringsmith.apps.logreg.interface import INPUT, OUTPUT, Interface
from ringsmith.apps.logreg.model import Model
from ringsmith.apps.logreg.records import CLIP
from ringsmith.apps.logreg.sizes import Size
from ringsmith.apps.server import ProgramServer
from ringsmith.backends.base import Design
from ringsmith.program import CkksProgram, EncryptedVector, InputSpec, trace


def plan(model: Model, size: Size, *, fused_rescale: bool = False) -> CkksProgram:
    """Returns the encrypted program, planned: packed records in, probabilities out.

    Weighted sum by rotations, bias, and the polynomial in place of the sigmoid: one level, and
    log2(degree + 1) more, and the circuit's own; the records are encrypted over these. Weights and
    bias are
    multiplied by ``Model.unit``, and the polynomial's coefficients divided by its powers: every
    encrypted number then stays near [-2, 2], so that the scale is used fully and no product comes
    near the modulus.

    Args:
        model: The trained model.
        size: What it was trained for.
        fused_rescale: Whether products are relinearized and rescaled by one division: ``trace``.

    Raises:
        ProgramError: When the parameters have fewer levels.
    """
    slots, block = size.parameters.slots, size.block
    unit, circuit = model.unit(size.monic), CIRCUITS[size.circuit]
    constants = Constants(
        packing.pack_weights(model.weights * unit, slots, block),
        model.bias * unit,
        model.scaled_coefficients(size.monic),
        block,
        packing.patients_per_ciphertext(slots, block),
    )

    def logreg(records: EncryptedVector) -> dict[str, EncryptedVector]:
        return {OUTPUT: circuit.evaluate(records, constants)}

    return trace(
        logreg,
        size.parameters,
        {INPUT: InputSpec(slots, size.limbs, bound=CLIP)},
        fused_rescale=fused_rescale,
        lazy_rescale=circuit.lazy_rescale,
    )


class Server(ProgramServer):
    """A model made ready to classify encrypted records.

    Attributes:
        interface: What clients need to know.
    """

    def __init__(
        self,
        model: Model,
        size: Size,
        design: str | Design | None,
        *,
        fused_rescale: bool = False,
    ) -> None:
        """Plans and compiles.

        Args:
            model: The trained model.
            size: What it was trained for.
            design: Accelerator to schedule for; None: the ``cpu`` device only.
            fused_rescale: As of ``plan``.

        Raises:
            ProgramError: When the parameters or the design are too small for the program.
        """
        super().__init__(plan(model, size, fused_rescale=fused_rescale), design)
        self.interface = Interface(*self.terms, size.block, model.preprocessing)
