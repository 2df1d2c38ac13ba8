"""Writes a design out as a folder: RTL, plain Verilog, program, testbench, packaging, manifest."""

from ringsmith.generate.folder import Made, generate_again, generate_design
from ringsmith.generate.synthesis import Synthesized, synthesize

__all__ = ["Made", "Synthesized", "generate_again", "generate_design", "synthesize"]
