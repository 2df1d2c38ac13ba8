"""Devices: one folder per architecture, all with the same interface."""
