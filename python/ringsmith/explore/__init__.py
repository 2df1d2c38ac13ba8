"""Search through design points: ``ringsmith explore``, and ``explore_designs`` from Python."""

from ringsmith.explore.exploration import Exploration, explore_designs

__all__ = ["Exploration", "explore_designs"]
