"""A claim on frozen weights: its premise in model units, its rows as maximisation problems."""

from smilenn.problem.problem import Flips, Frame, InputClaim, Problem, Row, build, build_all, digest

__all__ = ["Flips", "Frame", "InputClaim", "Problem", "Row", "build", "build_all", "digest"]
