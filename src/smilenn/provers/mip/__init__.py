"""Mixed-integer models of a row, and the solvers they run on."""
