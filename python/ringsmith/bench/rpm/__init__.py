"""``ringsmith bench rpm``: the RPM paper's tables beside the stream architecture."""
