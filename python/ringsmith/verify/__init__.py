"""Campaigns of random programs: a design's device beside the model, spread over workers."""
