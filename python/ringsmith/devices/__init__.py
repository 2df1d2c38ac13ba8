"""Machines behind one narrow interface: memories, programs and cycles, and no HE scheme."""
