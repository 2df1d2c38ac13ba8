"""Static timing of synthesized RTL: logic levels and the worst paths between registers.

``graph`` makes a graph of delays of a netlist that Yosys mapped to LUTs, carries, DSPs and RAMs,
``paths`` finds the longest paths in it, ``synthesis`` runs Yosys and keeps the result.
"""
