"""Certificates: proofs in a file, and two checkers of them that import the standard library only."""
