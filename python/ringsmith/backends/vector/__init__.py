"""Architecture ``vector``: one array of modular ALUs and one permutation network for everything."""
