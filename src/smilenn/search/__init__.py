"""Search for counterexamples of the box: heuristic, fast, never a proof. NumPy and SciPy only.

`gradient.search` looks for them, `polish.polish` climbs from the best one, `pool.Pool` keeps them while weights move,
and `abstraction` makes them differentiable.
"""
