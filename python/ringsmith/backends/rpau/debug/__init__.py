"""Looking inside architecture rpau: traces, pictures, waves, coverage, area."""
