"""How a subroutine graph becomes a program: placement, emission, schedule, executable."""
