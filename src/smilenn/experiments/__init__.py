"""The paper's experiments: what is computed, in which cells, and what is made of them; see `smile reproduce`."""
