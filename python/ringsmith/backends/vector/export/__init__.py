"""Writing designs of architecture ``vector`` out as folders."""
