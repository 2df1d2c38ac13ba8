"""Ringsmith: homomorphic-encryption programs, the accelerators that run them, and their runtime."""

from importlib.metadata import version as _version

__version__ = _version("ringsmith")

__all__ = ["__version__"]
