"""Writes a design out as a folder: RTL, plain Verilog, program, testbench, packaging, manifest."""
