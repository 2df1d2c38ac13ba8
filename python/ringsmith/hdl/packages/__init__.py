"""Functions and numbers of the SystemVerilog packages of shared folders, in Python.

``rtl/packages.toml`` names them; ``generate`` writes the modules next to it, and those of the
architectures, from ``rtl/``.
"""
