"""Compiles a subroutine graph to rounds of the host's work and products."""
