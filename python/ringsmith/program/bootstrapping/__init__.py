"""Bootstrapping: its operation in the language, and what it is made of."""

from ringsmith.program.bootstrapping.language import bootstrap

__all__ = ["bootstrap"]
