"""BFV: exact numbers modulo t; noise planned and forecast."""
