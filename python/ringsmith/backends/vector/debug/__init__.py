"""Looking inside architecture vector: areas, timing, and coverage."""
