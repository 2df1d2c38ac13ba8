"""The instruction-level model of architecture rpau, in C++."""
