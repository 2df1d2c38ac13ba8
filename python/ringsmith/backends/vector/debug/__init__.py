"""Looking inside architecture vector: areas, and timing."""
