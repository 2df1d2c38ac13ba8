"""The client: owns the numbers and the secret key, and never sees the model.

    python client.py ask     makes keys, encrypts
    python client.py read    decrypts the answer

Folders: ``client`` is the client's own; ``exchange`` is what both see.
"""

import sys
from pathlib import Path

from ringsmith import ClientKit
from ringsmith.client import load_secret_key, save_secret_key
from ringsmith.interop import load_object, save_object
from ringsmith.objects import Ciphertext

OWN, EXCHANGE = Path("client"), Path("exchange")
RECORD = [0.5, -0.25, 0.125, 1, 0, -0.5, 0.75, 0.25]

kit = ClientKit.load(EXCHANGE / "score.rsk")


def ask():
    secret_key, public_key, evaluation_keys = kit.generate_keys()
    save_secret_key(OWN / "secret_key.seal", secret_key, kit.parameters)
    save_object(EXCHANGE / "evaluation", evaluation_keys, kit.parameters)
    inputs = kit.encrypt(public_key, {"x": RECORD})
    for name, ciphertext in inputs.items():
        save_object(EXCHANGE / f"{name}.seal", ciphertext, kit.parameters)


def read():
    secret_key = load_secret_key(OWN / "secret_key.seal", kit.parameters)
    outputs = {}
    for name in kit.outputs:
        path = EXCHANGE / f"{name}.seal"
        outputs[name] = load_object(path, Ciphertext, kit.parameters)
    numbers = kit.decrypt(secret_key, outputs)
    print(f"score: {numbers['result']:.4f}")


{"ask": ask, "read": read}[sys.argv[1]]()
