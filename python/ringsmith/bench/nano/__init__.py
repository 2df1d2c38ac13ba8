"""``ringsmith bench nano``: the demo's program, single operations and compile times on ``nano``."""
