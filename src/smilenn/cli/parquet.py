"""Parquet files as frames: the one place that imports pyarrow or polars."""

from __future__ import annotations

import pandas as pd

from smilenn.cli.source import Source
from smilenn.errors import SmileError


def read_parquet(source: Source) -> pd.DataFrame:
    """A Parquet file as a frame, by pyarrow or else by polars."""
    try:
        import pyarrow  # noqa: F401  # pandas reads through it
    except ModuleNotFoundError:
        try:
            import polars
        except ModuleNotFoundError:
            raise SmileError(
                f"{source.name} is a Parquet file, which pyarrow reads; pip install pyarrow, or save it as CSV."
            ) from None
        table = polars.read_parquet(source.path)
        return pd.DataFrame({name: table[name].to_numpy() for name in table.columns})
    return pd.read_parquet(source.path).reset_index(drop=True)
