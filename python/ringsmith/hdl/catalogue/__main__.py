"""Writes the catalogue of the RTL, its block diagrams and its file lists; ``--check`` compares."""

import sys

from ringsmith.hdl.catalogue.files import FILES

if __name__ == "__main__":
    sys.exit(FILES.main(None, __doc__))
