"""Campaigns of random programs: a design's device compared with the model, spread over workers."""
