"""Tasks in this process, in local processes or on a Dask cluster: the same results, whoever computes them."""
