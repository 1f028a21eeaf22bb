"""Auditing networks that somebody else trained: brackets, counterexamples, certificates."""
