"""The subroutine graph in plain Python integers: slow, short, and of no code of Ringsmith's."""
