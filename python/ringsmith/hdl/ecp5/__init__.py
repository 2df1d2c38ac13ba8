"""Lattice's ECP5: from RTL to a bitstream by Yosys, nextpnr and Project Trellis."""
