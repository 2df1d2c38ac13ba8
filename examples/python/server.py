"""The server: owns the model, computes on ciphertexts, and has no secret key.

    python server.py publish   once: writes the program, and clients' kit
    python server.py answer    for each request

Folders: ``server`` is the server's own; ``exchange`` is what both see.
"""

import sys
from pathlib import Path

import numpy as np

from ringsmith import (
    Compiled,
    Program,
    compile_program,
    open_device,
    polynomial,
    trace,
)
from ringsmith.interop import load_object, save_object
from ringsmith.objects import Ciphertext, EvaluationKeys

OWN, EXCHANGE = Path("server"), Path("exchange")
WEIGHTS = np.array([0.5, -1.25, 2, 0.75, -0.5, 1, 0.25, -1.5])


def score(x):  # x: (8,) encrypted
    logit = x @ WEIGHTS + 0.25
    # About 1 / (1 + exp(-logit)).
    return polynomial(logit, [0.5, 0.197, 0, -0.004])


def publish():
    program = trace(score, "auto", {"x": (8,)})
    program.save(OWN / "score.rsp")  # with its weights: it stays here
    # What a client needs, without weights.
    program.client_kit().save(EXCHANGE / "score.rsk")
    # Name a design for an accelerator.
    compile_program(program).save(OWN / "score.rsc")


def answer():
    program = Program.load(OWN / "score.rsp")
    of = program.parameters
    keys = load_object(EXCHANGE / "evaluation", EvaluationKeys, of)
    inputs = {}
    for name in program.inputs:
        path = EXCHANGE / f"{name}.seal"
        inputs[name] = load_object(path, Ciphertext, of)
    compiled = Compiled.load(OWN / "score.rsc")
    outputs = compiled.run(open_device("cpu"), inputs, keys).outputs
    for name, ciphertext in outputs.items():
        save_object(EXCHANGE / f"{name}.seal", ciphertext, of)


{"publish": publish, "answer": answer}[sys.argv[1]]()
