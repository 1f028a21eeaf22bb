"""Data sets: the paper's tasks, in their raw units, with their files checked by digest."""

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.credit import make_credit
from smilenn.datasets.crime import fetch_crime
from smilenn.datasets.digits import load_digits_zero
from smilenn.datasets.law import fetch_law
from smilenn.datasets.mnist import Images, fetch_mnist
from smilenn.datasets.prepare import Prepared, prepare
from smilenn.datasets.public import fetch_table
from smilenn.datasets.split import split
from smilenn.datasets.synthetic import make_cubic, make_monotone_sine

__all__ = [
    "DataError",
    "Dataset",
    "Images",
    "Prepared",
    "fetch_compas",
    "fetch_crime",
    "fetch_law",
    "fetch_mnist",
    "fetch_table",
    "load_digits_zero",
    "make_credit",
    "make_cubic",
    "make_monotone_sine",
    "prepare",
    "split",
]
