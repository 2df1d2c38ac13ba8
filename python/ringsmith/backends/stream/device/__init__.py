"""The devices of architecture stream: its model and its RTL."""
