"""``ringsmith bench bootstrapping``: the ``cpu`` device compared with Lattigo and OpenFHE."""
