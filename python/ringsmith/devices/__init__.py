"""Machines behind one narrow interface. This room knows memories, programs and cycles, and no HE scheme."""
