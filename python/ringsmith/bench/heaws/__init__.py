"""``ringsmith bench heaws``: what the HEAWS paper has numbers of, measured."""
