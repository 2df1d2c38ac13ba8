"""A hospital: has its patients' tumours classified by a service that never sees them.

python classifier_client.py URL PUBLIC
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from ringsmith.apps.logreg import DEMO, Preprocessing, load_records
from ringsmith.remote import Service

url, folder = sys.argv[1], Path(sys.argv[2])
public = json.loads((folder / "public.json").read_text())["classifier"]
_, patients = load_records(DEMO.held_out)  # real ones, which the model was not trained on

columns, mean, deviation = (np.array(public[key]) for key in ("columns", "mean", "deviation"))
features = Preprocessing(columns, mean, deviation)(patients.features)

with Service(url, os.environ.get("RINGSMITH_TOKEN")) as service:
    program = service.program("classifier")
    secret_key, public_key, evaluation_keys = program.generate_keys()
    inputs = program.encrypt(public_key, {"records": features})
    outputs = service.run(program, inputs, evaluation_keys)

found = program.decrypt(secret_key, outputs)["probability"]

clear = json.loads((folder / "clear.json").read_text())["classifier"]
print("patient  encrypted     in the clear  diagnosis")
for i, (ours, theirs) in enumerate(zip(found[:5], clear["results"], strict=False)):
    print(
        f"{i:7}  {ours:12.9f}  {theirs:12.9f}  {'malignant' if patients.malignant[i] else 'benign'}"
    )
difference = np.abs(found - clear["results"]).max()
print(f"largest difference {difference:.1e}, forecast to be at most {clear['error']:.1e}")
right = np.mean((found > 0.5) == patients.malignant)
print(f"{len(patients)} patients, {right:.1%} classified right")
