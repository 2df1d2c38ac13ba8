"""Search through design points: ``ringsmith explore``."""
