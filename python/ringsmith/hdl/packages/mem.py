"""What Python uses of ``rs_mem_pkg``.

Generated from rtl/packages.toml and rtl/ by `python -m ringsmith.hdl.packages.generate`; do not
edit.
"""

RAM_LATENCY = 2
