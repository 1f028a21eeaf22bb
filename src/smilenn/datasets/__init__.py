"""Data sets: the paper's tasks, in their raw units, with their files checked by sha256."""

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.credit import make_credit
from smilenn.datasets.digits import load_digits_zero
from smilenn.datasets.mnist import Images, fetch_mnist
from smilenn.datasets.split import split
from smilenn.datasets.synthetic import make_cubic, make_monotone_sine

__all__ = [
    "DataError",
    "Dataset",
    "Images",
    "fetch_compas",
    "fetch_mnist",
    "load_digits_zero",
    "make_credit",
    "make_cubic",
    "make_monotone_sine",
    "split",
]
