"""The devices of architecture rpau: its model, its RTL, and what the host knows of them."""
