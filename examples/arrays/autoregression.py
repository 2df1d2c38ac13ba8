"""An autoregressive model forecasts an encrypted series.

python examples/arrays/autoregression.py
"""

import numpy as np

from ringsmith import trace

rng = np.random.default_rng(3)
noise = rng.normal(size=200) / 10
series = np.zeros(200)
for i in range(3, 200):
    series[i] = series[i - 3 : i] @ [0.2, -0.3, 0.9] + noise[i]
past = np.stack([series[2:-1], series[1:-2], series[:-3]], axis=1)
weights = np.linalg.lstsq(past, series[3:], rcond=None)[0]


def function(x):
    a, b, c = weights
    one_step = a * x[2:-1] + b * x[1:-2] + c * x[:-3]
    ahead = [x[-3], x[-2], x[-1]]
    for _ in range(4):
        ahead.append(a * ahead[-1] + b * ahead[-2] + c * ahead[-3])
    return {"residuals": x[3:] - one_step, "forecast": np.stack(ahead[3:])}


program = trace(function, "auto", {"x": series.shape})
found, expected = program.run(x=series), function(series)
print("noise:", found["residuals"].std().round(3))
print("forecast:", found["forecast"].round(3))
errors = {k: np.abs(found[k] - v).max() for k, v in expected.items()}
print("errors:", errors)
