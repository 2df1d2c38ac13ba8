"""Bootstraps with fixed keys in a small ring, and prints the kernel and the result's SHA-256.

Run as a program under RINGSMITH_KERNEL by test_bootstrapping_bits.py.
"""

import hashlib
import warnings

import numpy as np

import ringsmith as rs
from ringsmith import _core
from ringsmith.client import encode, encrypt_for_test, generate_keys_for_test
from ringsmith.params import Bootstrapping, CkksParameters


def main() -> None:
    """Prints one line."""
    stages = Bootstrapping(coeffs_to_slots=2, slots_to_coeffs=2, degree=7, doublings=1)
    warnings.simplefilter("ignore")
    parameters = CkksParameters.create(
        n=1 << 10,
        prime_bits=(60, 40, *(39,) * 2, *(60,) * stages.eval_mod, *(56,) * 2),
        special_bits=(61,) * 3,
        scale_bits=40,
        dnum=4,
        security=None,
        bootstrapping=stages,
    )
    program = rs.trace(lambda x: rs.bootstrap(x), parameters, inputs=["x"])
    _, public, keys = generate_keys_for_test(parameters, program.key_needs, 5, seeded=True)
    port = program.inputs["x"]
    plain = encode(parameters, np.linspace(-1, 1, 512), scale=port.scale, limbs=port.limbs)
    x = encrypt_for_test(parameters, public, plain, 6)
    outputs = rs.compile_program(program).run(rs.open_device("cpu"), {"x": x}, keys).outputs
    digest = hashlib.sha256(outputs["result"].data.tobytes()).hexdigest()
    print(_core.kernel_name(), digest)


main()
