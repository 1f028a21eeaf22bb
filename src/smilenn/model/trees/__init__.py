"""Fitted tree ensembles of other libraries as a layer of an encoder: `convert`, and `assert_same`, which compares
both on rows it is given.
"""

from smilenn.model.trees.convert import assert_same, convert
from smilenn.model.trees.forest import Column, Forest, Gaps

__all__ = ["Column", "Forest", "Gaps", "assert_same", "convert"]
