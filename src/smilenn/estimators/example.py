"""A counterexample as a table in the user's own columns: one row a copy of the network, outputs beside inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from smilenn.properties.claim import COPIES
from smilenn.properties.naming import output_words

if TYPE_CHECKING:
    from smilenn.domain import Domain
    from smilenn.properties.forms import Outputs
    from smilenn.verdict import Counterexample

MOST_COLUMNS = 24  # wider tables show only what differs between the copies


def example_frame(example: Counterexample, domain: Domain, outputs: Outputs) -> pd.DataFrame:
    """[k, columns and outputs], its rows called ``a``, ``b``, …; outputs are named as in sentences."""
    frame = domain.decode(example.x).set_axis(list(COPIES[: len(example.x)]))
    named = {output_words(outputs, name): example.outputs[:, i] for i, name in enumerate(outputs.names)}
    return frame.assign(**named)


def example_html(frame: pd.DataFrame, inputs: int) -> str:
    """The table for a notebook, copies side by side; of many `inputs` those that differ, and the outputs."""
    differs = [frame.iloc[:, i].nunique(dropna=False) > 1 for i in range(frame.shape[1])]
    kept = [i for i, moved in enumerate(differs) if i >= inputs or inputs <= MOST_COLUMNS or moved]
    return str(frame.iloc[:, kept].T.to_html())
