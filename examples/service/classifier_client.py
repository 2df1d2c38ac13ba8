"""A hospital: has its patients' tumours classified by a service that never sees them.

python classifier_client.py URL public.json
"""

import json
import sys
from pathlib import Path

import numpy as np

from ringsmith.apps.logreg.packing import pack, unpack
from ringsmith.apps.logreg.records import Preprocessing, load_records
from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.remote import Service

url, public = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())["classifier"]
_, patients = load_records(DEMO.held_out)  # real ones, which the model was not trained on

columns, mean, deviation = (np.array(public[key]) for key in ("columns", "mean", "deviation"))
features = Preprocessing(columns, mean, deviation)(patients.features)

with Service(url) as service:
    program = service.program("classifier")
    secret_key, public_key, evaluation_keys = program.generate_keys()
    packed = pack(features, program.kit.parameters.slots, public["block"])
    inputs = program.encrypt(public_key, {"records": packed})
    outputs = service.run(program, inputs, evaluation_keys)

probabilities = unpack(program.decrypt(secret_key, outputs)["probability"], len(patients))
right = np.mean((probabilities > 0.5) == patients.malignant)
print(f"{len(patients)} patients, {right:.1%} classified right")
