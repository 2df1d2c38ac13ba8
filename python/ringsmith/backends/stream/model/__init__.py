"""What a device of architecture stream computes, and when, without its RTL."""
