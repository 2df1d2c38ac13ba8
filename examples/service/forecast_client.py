"""Households: have their demand for power forecast by a service that never sees their readings.

python forecast_client.py URL public.json
"""

import json
import sys
from pathlib import Path

import numpy as np

from ringsmith.apps.gmdh.curves import load_curves
from ringsmith.remote import Service

url, public = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())["forecast"]
_, _, days = load_curves()  # real ones, which the network was not fitted to

with Service(url) as service:
    program = service.program("forecast")
    secret_key, public_key, evaluation_keys = program.generate_keys()
    readings = {
        name: days.observed[:, hour] / public["unit"] for name, hour in public["hours"].items()
    }
    inputs = program.encrypt(public_key, readings)
    outputs = service.run(program, inputs, evaluation_keys)

(result,) = program.decrypt(secret_key, outputs).values()
forecast = result[: len(days)] * public["unit"]
error = np.mean(np.abs(forecast - days.target))  # demand is in standard deviations of its day
print(f"{len(days)} meters, mean error {error:.3f} of a standard deviation")
