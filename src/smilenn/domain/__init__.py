"""The input space X: features in the user's own units, and tables read into it."""

from smilenn.domain.box import Domain, OutOfBounds
from smilenn.domain.feature import Feature, Kind
from smilenn.domain.idle import Idle, idle_columns
from smilenn.domain.learn import Scaling, check_learning
from smilenn.domain.table import as_array, as_frame

__all__ = [
    "Domain",
    "Feature",
    "Idle",
    "Kind",
    "OutOfBounds",
    "Scaling",
    "as_array",
    "as_frame",
    "check_learning",
    "idle_columns",
]
