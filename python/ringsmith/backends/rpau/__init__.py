"""The RPAU architecture: residue-polynomial arithmetic units in parallel, joined in a ring."""
