"""The RPAU architecture: residue-polynomial arithmetic units side by side, joined in a ring."""
