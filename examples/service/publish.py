"""The owner of the models, once: trains both in the clear, and writes what the server serves.

    python publish.py PROGRAMS PUBLIC

``PROGRAMS/classifier.rsp`` and ``PROGRAMS/forecast.rsp`` hold the weights and stay with the server.
``PUBLIC/public.json`` says how raw numbers become inputs: everybody may see it.
``PUBLIC/clear.json`` exists for this example alone: what the models say of the clients' records in
the clear, and by how much an encrypted result may differ. It lets the clients compare.
"""

import json
import sys
from pathlib import Path

from ringsmith.apps.gmdh import OUTPUT as DEMAND
from ringsmith.apps.gmdh import PARAMETERS, bounds_of, input_name, load_curves, plan_approximate
from ringsmith.apps.gmdh import train as train_network
from ringsmith.apps.logreg import CLIP, DEMO, load_records, plan
from ringsmith.apps.logreg import OUTPUT as PROBABILITY
from ringsmith.apps.logreg import train as train_classifier
from ringsmith.params import ckks_set

programs, public = map(Path, sys.argv[1:3])
programs.mkdir(exist_ok=True)
public.mkdir(exist_ok=True)

records, patients = load_records(DEMO.held_out)
model = train_classifier(records, DEMO)
classifier = plan(model, DEMO)
classifier.save(programs / "classifier.rsp")

fit, select, days = load_curves()
network = train_network(fit, select)
forecast = plan_approximate(network, ckks_set(PARAMETERS))
forecast.save(programs / "forecast.rsp")

terms = {
    "classifier": {
        "columns": model.preprocessing.columns.tolist(),
        "mean": model.preprocessing.mean.tolist(),
        "deviation": model.preprocessing.deviation.tolist(),
    },
    "forecast": {
        "hours": {input_name(hour): hour for hour in network.hours},
        "unit": network.unit,
        "bits": network.readings.bits,
        "limits": network.readings.limits,
    },
}
(public / "public.json").write_text(json.dumps(terms))

bounds = bounds_of(network, network.unit)
clear = {
    "classifier": {
        "results": model.polynomial_probabilities(model.preprocessing(patients.features)).tolist(),
        "error": classifier.forecast(CLIP).outputs[PROBABILITY].error,
    },
    "forecast": {
        "results": network.forecast(days.observed).tolist(),
        "error": forecast.forecast(bounds).outputs[DEMAND].error * network.unit,
    },
}
(public / "clear.json").write_text(json.dumps(clear))
