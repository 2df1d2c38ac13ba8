"""Encrypted arrays of any shape: layouts, how entries are moved, and arithmetic on them."""
