"""Training: the paper's three phases, their losses and constants, and `fit`."""
