"""``ringsmith bench cpu``: the ``cpu`` device beside other libraries, interleaved in one run."""
