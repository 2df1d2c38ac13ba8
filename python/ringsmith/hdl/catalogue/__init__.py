"""The catalogue of the RTL, its block diagram and its file lists, written from the sources."""
