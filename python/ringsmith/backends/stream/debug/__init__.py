"""Looking inside architecture stream: products compared, and its table of designs."""
