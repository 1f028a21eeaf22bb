"""LP branch-and-bound, whose tree a certificate carries."""
