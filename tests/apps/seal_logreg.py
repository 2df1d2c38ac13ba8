"""Encrypted logistic regression that starts from what Microsoft SEAL made."""

import numpy as np
import seal

from ringsmith import runtime
from ringsmith.apps.logreg import INPUT, OUTPUT, Predictions
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.apps.seal_program import SealProgram, rotation_steps
from ringsmith.apps.session import Session
from ringsmith.client import encode
from ringsmith.interop import (
    SealParameters,
    read_ciphertext,
    read_galois_keys,
    read_relin_keys,
    write_plaintext,
)
from ringsmith.objects import EvaluationKeys
from ringsmith.program import Node


def assert_equals_seal_from_seals_ciphertext(
    current: Session[Predictions], device: runtime.Device
) -> None:
    """SEAL's keys and ciphertext in, the same plaintexts for both, and the same bits out."""
    program, parameters = current.server.program, current.server.program.parameters
    shape = SealParameters.from_parameters(parameters)
    baseline = SealBaseline(parameters, rotation_steps(program))

    def seal_plaintext(node: Node) -> seal.Plaintext:
        assert node.plain is not None
        vector = node.plain.vector(parameters.slots)
        ours = encode(parameters, vector, scale=node.plain.scale, limbs=node.limbs)
        plain = seal.Plaintext()
        plain.load_bytes(baseline.context, write_plaintext(ours, shape))
        return plain

    records_in = program.inputs[INPUT]
    slots = program.slots(current.vectors[0])[INPUT]
    ciphertext = baseline.encrypt(slots, records_in.scale, records_in.limbs)
    expected = SealProgram(baseline, program, seal_plaintext).run({INPUT: ciphertext})[OUTPUT]

    keys = EvaluationKeys(
        read_relin_keys(baseline.relin_keys.to_string(), shape),
        read_galois_keys(baseline.galois_keys.to_string(), shape),
    )
    records = read_ciphertext(ciphertext.to_string(), shape)
    [result] = current.server.run(device, [{INPUT: records}], keys)
    found = result.outputs[OUTPUT]
    assert np.array_equal(found.data, read_ciphertext(expected.to_string(), shape).data)
    assert found.scale == expected.scale()
    clear = program.simulate(current.vectors[0])[OUTPUT]
    assert np.abs(baseline.decrypt(expected) - clear).max() < 1e-5
