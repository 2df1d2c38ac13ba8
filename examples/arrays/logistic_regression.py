"""Logistic regression: 114 encrypted records are classified in one call.

python examples/arrays/logistic_regression.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from ringsmith import trace

data = load_breast_cancer()
records, labels = data.data / data.data.max(axis=0), data.target
train, test, train_labels, test_labels = train_test_split(
    records, labels, test_size=0.2, random_state=0
)
model = LogisticRegression(max_iter=1000).fit(train, train_labels)
weights, bias = model.coef_[0], model.intercept_[0]


def logits(x):
    return x @ weights + bias


program = trace(logits, "auto", {"x": test.shape})
found = program.run(x=test)["result"]
expected = test @ weights + bias
accuracy = np.mean((found > 0) == test_labels)
print(f"{len(found)} patients, {accuracy:.1%} right")
print(f"error {np.abs(found - expected).max():.0e}")
