"""The owner of the models, once: trains both in the clear, and writes what the server serves.

    python publish.py FOLDER

``classifier.rsp`` and ``forecast.rsp`` hold the weights and stay with the server. ``public.json``
says how raw numbers become inputs: everybody may see it.
"""

import json
import sys
from pathlib import Path

from ringsmith.apps.gmdh.curves import load_curves
from ringsmith.apps.gmdh.interface import input_name
from ringsmith.apps.gmdh.server import PARAMETERS, plan_approximate
from ringsmith.apps.gmdh.training import train as train_network
from ringsmith.apps.logreg.model import train as train_classifier
from ringsmith.apps.logreg.records import load_records
from ringsmith.apps.logreg.server import plan
from ringsmith.apps.logreg.sizes import DEMO
from ringsmith.params import ckks_set

folder = Path(sys.argv[1])

patients, _ = load_records(DEMO.held_out)
model = train_classifier(patients, DEMO)
plan(model, DEMO).save(folder / "classifier.rsp")

fit, select, _ = load_curves()
network = train_network(fit, select)
plan_approximate(network, ckks_set(PARAMETERS)).save(folder / "forecast.rsp")

public = {
    "classifier": {
        "columns": model.preprocessing.columns.tolist(),
        "mean": model.preprocessing.mean.tolist(),
        "deviation": model.preprocessing.deviation.tolist(),
        "block": DEMO.block,
    },
    "forecast": {
        "hours": {input_name(hour): hour for hour in network.hours},
        "unit": network.unit,
    },
}
(folder / "public.json").write_text(json.dumps(public))
