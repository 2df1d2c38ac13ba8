"""Encrypted lookup: one of 1,024 records, and the server learns neither which nor what it holds.

A client (``client``) encrypts which record it wants, as two selectors: the record's row and its
column in a table of 32 x 32. The server (``server``) multiplies them, which leaves a one in the
record's slot and zeros in all others, multiplies by its table, and sums up. Products and sums are
exact: BFV.
"""
