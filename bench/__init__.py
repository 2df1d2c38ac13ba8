"""Measurements that are written down: one command each. ``python -m bench`` runs them all."""
