"""An autoregressive model forecasts an encrypted series.

python examples/arrays/autoregression.py
"""

import numpy as np

from ringsmith import trace

rng = np.random.default_rng(3)
noise = rng.normal(size=200) / 10
series = np.zeros(200)
for i in range(3, 200):
    series[i] = 0.9 * series[i - 1] - 0.3 * series[i - 2] + 0.2 * series[i - 3] + noise[i]
past = np.stack([series[2:-1], series[1:-2], series[:-3]], axis=1)
weights = np.linalg.lstsq(past, series[3:], rcond=None)[0]


def function(x):
    one_step = x[2:-1] * weights[0] + x[1:-2] * weights[1] + x[:-3] * weights[2]
    ahead = [x[-3], x[-2], x[-1]]
    for _ in range(4):
        ahead.append(sum(w * each for w, each in zip(weights, ahead[:-4:-1], strict=True)))
    return {"residuals": x[3:] - one_step, "forecast": np.stack(ahead[3:])}


program = trace(function, "auto", {"x": series.shape})
found, expected = program.run(x=series), function(series)
print("noise:", found["residuals"].std().round(3), "forecast:", found["forecast"].round(3))
print("error:", max(np.abs(found[name] - expected[name]).max() for name in expected))
