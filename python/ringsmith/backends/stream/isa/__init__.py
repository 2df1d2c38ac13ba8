"""What a device of architecture stream is told of a product."""
