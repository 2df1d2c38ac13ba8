"""Files that are made from descriptions: so far the register block, from its SystemRDL."""
