"""`smile fit --robust DELTA --norm 2` and the radii that `smile predict` writes."""

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import smilenn
from smilenn.cli import app


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def test_the_euclidean_norm_and_its_radii(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    x = np.clip(rng.uniform(0.2, 0.8, (3, 4))[y] + rng.normal(0, 0.06, (150, 4)), 0, 1)
    frame = pd.DataFrame(x, columns=list("abcd")).assign(kind=np.array(["p", "q", "r"])[y])
    frame.to_csv(tmp_path / "data.csv", index=False)
    fit = ("fit", tmp_path / "data.csv", "--target", "kind", "--out", tmp_path / "m", "--epochs", "80")
    code, out, err = smile(*fit, "--robust", "0.05", "--norm", "2")
    assert code == 0, err
    assert "Euclidean" in out
    code, _, err = smile("predict", tmp_path / "m", tmp_path / "data.csv", "--out", tmp_path / "p.csv")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found.columns) == ["prediction", "probability", "certified", "accepted", "radius_2"]
    model = smilenn.load(tmp_path / "m")
    assert isinstance(model, smilenn.SmileClassifier)
    wanted = model.certified_radius(pd.read_csv(tmp_path / "data.csv")[list("abcd")], norm=2)
    answers = model.predict_or_reject(pd.read_csv(tmp_path / "data.csv")[list("abcd")])
    assert (found["accepted"] == (answers != "rejected")).all() and found["accepted"].any()
    assert (found["accepted"] | ~found["certified"]).all()  # rejection asks for half of the bound
    assert np.allclose(found["radius_2"], wanted, rtol=1e-15, atol=0) and (wanted > 0).any()


def test_radii_of_shares_are_multiples(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    x = (rng.uniform(0.2, 0.8, (2, 3))[y] + rng.normal(0, 0.06, (120, 3))) * [1, 10, 100]
    pd.DataFrame(x, columns=list("abc")).assign(kind=y).to_csv(tmp_path / "data.csv", index=False)
    fit = ("fit", tmp_path / "data.csv", "--target", "kind", "--out", tmp_path / "m", "--epochs", "80")
    code, _, err = smile(*fit, "--robust", "2%", "--norm", "2", "--task", "classification")
    assert code == 0, err
    code, _, err = smile("predict", tmp_path / "m", tmp_path / "data.csv", "--out", tmp_path / "p.csv")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found.columns) == ["prediction", "probability", "certified", "accepted", "radius_2_in_deltas"]
    assert ((found["radius_2_in_deltas"] >= 1) == found["certified"]).all() and found["certified"].any()
    code, _, err = smile("report", tmp_path / "m", "--data", tmp_path / "data.csv", "--out", tmp_path / "r.html")
    assert code == 0, err
    assert "in multiples of the rule's δ" in (tmp_path / "r.html").read_text().replace("&#x27;", "'")


def test_a_norm_is_of_a_robust_rule(tmp_path):
    pd.DataFrame({"a": [0.0, 1.0], "y": [0, 1]}).to_csv(tmp_path / "data.csv", index=False)
    fit = ("fit", tmp_path / "data.csv", "--target", "y", "--out", tmp_path / "m")
    code, _, err = smile(*fit, "--increasing", "a", "--norm", "2")
    assert code == 2 and "--norm says how --robust measures a change; add --robust." in err
    code, _, err = smile(*fit, "--robust", "0.1", "--norm", "3")
    assert code == 2 and "'3' is not one of" in err
