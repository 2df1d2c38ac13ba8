"""Machines: architectures, each a folder that answers the same questions."""
