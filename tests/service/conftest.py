"""Two small models, saved: a regressor, and a classifier that is fair and fills missing cells."""

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor

ONE = Network(members=1)  # commands and answers are the subject, not how well a model fits


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 100, 240),
            "years": rng.integers(0, 30, 240),
            "member": rng.integers(0, 2, 240),
            "region": rng.choice(["north", "south", "east"], 240),
            "race": rng.choice(["a", "b"], 240),
        }
    )
    score = 0.05 * frame["income"] + 0.05 * frame["years"] + (frame["region"] == "east") + 0.3 * frame["member"]
    return frame, score + rng.normal(0, 0.3, 240)


@pytest.fixture(scope="session")
def regressor_folder(tmp_path_factory):
    frame, score = table()
    folder = tmp_path_factory.mktemp("served") / "regressor"
    model = SmileRegressor(increasing=["income"], config=Config(epochs=8), network=ONE, random_state=0).fit(
        frame, score
    )
    model.save(folder)
    return folder


@pytest.fixture(scope="session")
def classifier_folder(tmp_path_factory):
    frame, score = table()
    folder = tmp_path_factory.mktemp("served") / "classifier"
    rules = [Monotone(increasing=["income"]), Fair(["race"], eps=0.5)]
    labels = np.where(score > score.median(), "yes", "no")
    model = SmileClassifier(properties=rules, missing="fill", config=Config(epochs=8), network=ONE, random_state=0)
    model.fit(frame, labels).save(folder)
    return folder
