"""Encrypted applications on real data, client and server apart, and what measures them."""
