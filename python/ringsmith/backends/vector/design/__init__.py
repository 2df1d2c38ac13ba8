"""Designs of architecture vector: parameters, limits, latencies, areas, RTL."""
