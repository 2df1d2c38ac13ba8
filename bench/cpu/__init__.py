"""``ringsmith bench cpu``: the ``cpu`` device compared with other libraries."""
