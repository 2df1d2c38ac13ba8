"""What a device of architecture stream is reported of a product."""
