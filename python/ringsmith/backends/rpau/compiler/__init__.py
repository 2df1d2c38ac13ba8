"""Compiles a subroutine graph to a program: placement, emission, schedule, executable."""
