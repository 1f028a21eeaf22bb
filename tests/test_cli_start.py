"""`smile fit --from MODEL`: refitting a saved model on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Monotone, Network, SmileRegressor
from smilenn.cli import app
from smilenn.cli.starting import unseen
from smilenn.model.folder import read_folder

pytestmark = pytest.mark.usefixtures("quick_module")


def smile(*arguments):
    """Exit code, standard output, standard error."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def table(n=90, seed=0, shift=0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": np.r_[0.0, 10.0, rng.uniform(0, 10, n - 2)].round(3), "zip": rng.choice([1, 2, 3], n)})
    return frame.assign(y=(3 * frame["x"] + shift + rng.normal(0, 1, n)).round(3))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with two tables and a model that `smile fit` made of the first."""
    folder = tmp_path_factory.mktemp("fitted")
    table().to_csv(folder / "old.csv", index=False)
    table(seed=1, shift=2.0).to_csv(folder / "new.csv", index=False)
    code, _, said = smile(
        "fit",
        folder / "old.csv",
        "--target",
        "y",
        "--increasing",
        "x",
        "--category",
        "zip",
        "--epochs",
        6,
        "--out",
        folder / "model",
        "-q",
    )
    assert code == 0, said
    return folder


def refit(place, out, *arguments, data="new.csv", start="model"):
    return smile("fit", place / data, "--target", "y", "--from", place / start, "--epochs", 3, "--out", out, *arguments)


def training(folder):
    return json.loads(read_folder(folder)["training.json"])


def test_refitting_takes_domain_categories_and_properties_from_the_model(place, tmp_path):
    code, out, err = refit(place, tmp_path / "again")
    assert code == 0, err
    assert "was fitted on another file: held-out rows that are in there too are not new to it." in out
    assert "Raising 'x', everything else equal, never lowers the predicted 'y'. [certified]" in out
    old, new = smilenn.load(place / "model"), smilenn.load(tmp_path / "again")
    assert new.domain_ == old.domain_ and new.domain_.feature("zip").kind == "category"
    assert new.reasons_.startswith("Started from ")
    noted = training(tmp_path / "again")
    assert noted["start"] == training(place / "model") and noted["data"] == "new.csv"
    assert unseen(noted) is None and unseen(noted["start"]) is True
    again = refit(place, tmp_path / "same", "--increasing", "x", "-q")
    assert again[0] == 0
    frame = table().drop(columns="y").astype({"zip": str})
    assert (smilenn.load(tmp_path / "same").predict(frame) == new.predict(frame)).all()  # the same seed


def test_rows_held_out_stay_unseen(place, tmp_path):
    code, out, err = refit(place, tmp_path / "again", data="old.csv")
    assert code == 0, err
    assert "which has not seen the held-out rows either." in out and unseen(training(tmp_path / "again")) is True
    code, _, err = refit(place, tmp_path / "other", "--seed", "1", data="old.csv")
    assert code == 2 and "held out other rows of this file; with --seed 0 --test 0.2 the rows to measure on" in err
    assert not (tmp_path / "other").exists()


def test_a_model_that_python_made(place, tmp_path):
    frame = table()
    quick = Config(pretrain_epochs=10, epochs=3, learning_rate=1e-2, posttrain_rounds=5)
    network = Network(encoder="none", hidden=3, backbone_sizes=(4,))
    made = SmileRegressor(properties=Monotone(increasing=["x"]), network=network, config=quick, random_state=0)
    made.fit(frame.drop(columns="y"), frame["y"]).save(tmp_path / "model")
    code, _, err = refit(place, tmp_path / "again", "-q", start=tmp_path / "model")
    assert code in (0, 3), err
    again = smilenn.load(tmp_path / "again")
    assert again.network == network and training(tmp_path / "again")["start"] == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bounds", "x:0:20"), "--from brings the domain of its model; leave --bounds, --category and --order out."),
        (("--decreasing", "x"), "keeps other properties (Raising 'x', everything else equal"),
        (
            ("--task", "classification"),
            "is a regression, but the options or the target ask for a classification; fit anew",
        ),
        (("--drop", "zip"), "was fitted on the columns 'x', 'zip'; the data has 'x', in this order."),
        (("--quantile", "0.1", "--quantile", "0.9"), "has the outputs ''; the data has 'q0.1', 'q0.9'; fit anew"),
    ],
)
def test_what_does_not_fit_the_model(place, tmp_path, arguments, message):
    code, _, err = refit(place, tmp_path / "again", *arguments)
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "again").exists()


def test_a_start_that_is_not_there(place, tmp_path):
    code, _, err = refit(place, tmp_path / "again", start="nowhere")
    assert code == 2 and "nowhere" in err and len(err.strip().splitlines()) == 1


def test_the_report_knows_what_was_seen(place, tmp_path):
    refit(place, tmp_path / "again", "-q")
    for model, data, word in (
        (place / "model", "old.csv", "held-out"),
        (tmp_path / "again", "new.csv", "does not know whether"),
    ):
        code, _, err = smile("report", model, "--data", place / data, "--card", tmp_path / "card.md", "-q")
        assert code == 0, err
        assert word in (tmp_path / "card.md").read_text()
