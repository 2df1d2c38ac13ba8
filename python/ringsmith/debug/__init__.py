"""Looking inside: traces of programs, their pictures, waves of the RTL, coverage."""
