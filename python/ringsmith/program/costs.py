"""What operations cost on a device, by which arrays are packed and products computed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Costs in rotations, of a value that several rotations share the digits of.

    The defaults are of the ``cpu`` device, measured at N = 2^13 and 2^14 with four to six limbs: a
    rotation that cuts digits of its own takes 1.9 to 2.4, a product 2.0 to 3.5, a product with a
    plaintext and its addition 0.1, to which encoding it comes.

    Attributes:
        device: The device, or the design.
        rotation: A rotation that cuts digits of its own.
        product: A product of two ciphertexts, relinearized and rescaled.
        plain_product: A product with a plaintext, added to a sum.
        level: A level: what one limb more adds to ``ROTATIONS`` rotations, and a rescaling.
        ciphertext: An input or a result: encryption, decryption and transfers.
        key: A key of a rotation: making it, and its transfer.
    """

    device: str = "cpu"
    rotation: float = 2.0
    product: float = 3.0
    plain_product: float = 0.2
    level: float = 8.0
    ciphertext: float = 0.5
    key: float = 0.05


ROTATIONS = 16
"""Rotations of a program whose cost with a limb more is that of a level."""
CPU = Costs()
