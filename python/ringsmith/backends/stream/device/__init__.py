"""The machines of architecture stream: its model and its RTL."""
