"""Households: have their demand for power forecast by a service that never sees their readings.

python forecast_client.py URL PUBLIC
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from ringsmith.apps.gmdh import Readings, load_curves
from ringsmith.remote import Service

url, folder = sys.argv[1], Path(sys.argv[2])
public = json.loads((folder / "public.json").read_text())["forecast"]
_, _, days = load_curves()  # real ones, which the network was not fitted to

readings = Readings(public["bits"], tuple(public["limits"]))  # clipped and rounded, as in training
observed = readings.real(readings.integers(days.observed)) / public["unit"]

with Service(url, os.environ.get("RINGSMITH_TOKEN")) as service:
    program = service.program("forecast")
    secret_key, public_key, evaluation_keys = program.generate_keys()
    hours = {name: observed[:, hour] for name, hour in public["hours"].items()}
    inputs = program.encrypt(public_key, hours)
    outputs = service.run(program, inputs, evaluation_keys)

found = program.decrypt(secret_key, outputs)["forecast"] * public["unit"]

clear = json.loads((folder / "clear.json").read_text())["forecast"]
print("meter  encrypted     in the clear  measured")
for i, (ours, theirs) in enumerate(zip(found[:5], clear["results"], strict=False)):
    print(f"{i:5}  {ours:12.9f}  {theirs:12.9f}  {days.target[i]:8.3f}")
difference = np.abs(found - clear["results"]).max()
print(f"largest difference {difference:.1e}, forecast to be at most {clear['error']:.1e}")
error = np.mean(np.abs(found - days.target))  # demand is in standard deviations of its day
print(f"{len(days)} meters, mean error {error:.3f} of a standard deviation")
