"""Devices of the vector architecture."""
