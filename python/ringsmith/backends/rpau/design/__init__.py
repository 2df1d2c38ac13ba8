"""Designs of architecture rpau: parameters, limits, latencies, tables, areas, RTL."""
