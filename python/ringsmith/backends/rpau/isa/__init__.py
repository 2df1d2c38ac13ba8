"""The instruction set of architecture rpau: its one file, and everything made from it."""
