"""Encrypted applications on real data, with separate client and server, and their benchmarks."""
