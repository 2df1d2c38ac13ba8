"""How many cards one service feeds, by a simulation with measured times and by formulas."""
