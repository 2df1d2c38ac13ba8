"""The client: owns the numbers and the secret key, and never sees the model.

    python client.py ask         makes keys, encrypts
    python client.py read        decrypts the answer

Folders: ``client`` is the client's own; ``exchange`` is what both see.
"""

import sys
from pathlib import Path

from ringsmith import ClientKit
from ringsmith.client.bundle import read_secret_key_file, write_secret_key_file
from ringsmith.interop import SealParameters, read_ciphertext, write_ciphertext
from ringsmith.interop.bundle import Bundle, write_bundle

OWN, EXCHANGE = Path("client"), Path("exchange")
RECORD = [0.5, -0.25, 0.125, 1, 0, -0.5, 0.75, 0.25]

kit = ClientKit.load(EXCHANGE / "score.rsk")
shape = SealParameters.from_parameters(kit.parameters)


def ask():
    secret_key, public_key, evaluation_keys = kit.generate_keys()
    write_secret_key_file(OWN / "secret_key.seal", secret_key, shape)
    write_bundle(EXCHANGE / "evaluation", Bundle(kit.name, shape, evaluation_keys))
    inputs = kit.encrypt(public_key, {"x": RECORD})
    (EXCHANGE / "x.seal").write_bytes(write_ciphertext(inputs["x"], shape))


def read():
    secret_key = read_secret_key_file(OWN / "secret_key.seal", shape)
    result = read_ciphertext(EXCHANGE / "result.seal", shape)
    numbers = kit.decrypt(secret_key, {"result": result})
    print(f"score: {numbers['result'][0]:.4f}")


{"ask": ask, "read": read}[sys.argv[1]]()
