"""A given network inside a certified box."""
