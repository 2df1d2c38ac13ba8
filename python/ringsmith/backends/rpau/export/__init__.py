"""Writing designs of architecture ``rpau`` out as folders."""
