"""Compiles a subroutine graph to the programs of a design of architecture vector."""
