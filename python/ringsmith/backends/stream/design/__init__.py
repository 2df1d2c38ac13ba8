"""Designs of architecture stream: parameters, limits, latencies, areas, RTL."""
