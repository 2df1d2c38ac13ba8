"""The instruction set of the vector architecture: its file, encoder, decoder and text."""
