"""CKKS: approximate numbers; levels and scales planned, precision forecast."""
