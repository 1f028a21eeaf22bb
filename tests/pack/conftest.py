"""A classifier and a regressor with their rows as CSV, and a pack of each."""

import numpy as np
import pandas as pd
import pytest
from tests.conftest import small_ensembles
from tests.service.conftest import ONE, table
from typer.testing import CliRunner

from smilenn import Config, Fair, Monotone, SmileClassifier, SmileRegressor
from smilenn.certify.signing import new_key
from smilenn.cli import app


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with two models, their rows and a key."""
    out = tmp_path_factory.mktemp("packs")
    frame, score = table()
    labels = pd.Series(np.where(score > score.median(), "yes", "no"), name="loan")
    rules = [Monotone(increasing=["income"]), Fair(["race"], eps=0.5)]
    model = SmileClassifier(properties=rules, missing="fill", config=Config(epochs=8), network=ONE, random_state=0)
    model.fit(frame.iloc[:200], labels[:200]).save(out / "classifier")
    rows = frame.assign(loan=labels).iloc[150:]
    rows.iloc[3, 0] = np.nan
    rows.to_csv(out / "labels.csv", index=False)
    quick = SmileRegressor(increasing=["income"], config=Config(epochs=8), network=ONE, random_state=0)
    quick.fit(frame.iloc[:200], score[:200].rename("score")).save(out / "regressor")
    frame.assign(score=score, income=frame["income"] * 1.2).iloc[150:].to_csv(out / "numbers.csv", index=False)
    new_key(out / "key.pem")
    return out


@pytest.fixture(scope="session")
def packs(place):
    """Both packs, the classifier's signed."""
    asked = {
        "c": ("classifier", "--data", place / "labels.csv", "--key", place / "key.pem"),
        "r": ("regressor", "--data", place / "numbers.csv"),
    }
    with small_ensembles():
        for name, (model, *options) in asked.items():
            code, _, err = smile("pack", place / model, *options, "--out", place / name, "--quiet")
            assert code == 0, err
    return {"classifier": place / "c", "regressor": place / "r"}
