"""``ringsmith bench medha``: every number of the two Medha papers beside ours."""
