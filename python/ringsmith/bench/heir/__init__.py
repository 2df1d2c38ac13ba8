"""``ringsmith bench heir``: compile time, keys and latency of HEIR's programs, by plan."""
