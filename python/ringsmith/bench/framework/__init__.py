"""``ringsmith bench framework``: what the Framework paper has numbers of, beside ours."""
