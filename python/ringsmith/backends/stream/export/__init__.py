"""Writing designs of architecture ``stream`` out as folders."""
