"""Pixels as people have them: whole numbers in a data frame or a file, many of them always black or black and white."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import smilenn
from smilenn import Network
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.learned import as_pixels
from smilenn.estimators.options import Columns
from smilenn.properties import Robust
from smilenn.train.config import Config

SHORT = Config(patience=None, epochs=1, batch_size=64, train_learning_rate=0.02, margin=8.0)


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    pixels = pd.DataFrame(x[:300].astype(int), columns=[f"p{i}" for i in range(64)])
    pixels["p1"] = (pixels["p1"] > 0).astype(int)
    return pixels, y[:300]


@pytest.mark.parametrize("norm", ["inf", 2])
def test_a_data_frame_of_pixels_is_read_as_an_array_is(digits, norm):
    pixels, y = digits
    assert pixels.nunique().min() == 1 and pixels["p1"].nunique() == 2

    def fitted(x):
        rule = Robust(1, norm=norm)
        return SmileClassifier(
            properties=rule, network=Network(encoder="image"), config=SHORT, certify_limit=0, random_state=0
        ).fit(x, y)

    framed, plain = fitted(pixels), fitted(pixels.to_numpy())
    assert {feature.kind for feature in framed.domain_.features} == {"continuous"}
    assert framed.domain_.size == 64 and (framed.domain_.lo == plain.domain_.lo).all()
    assert (framed.outputs(pixels) == plain.outputs(pixels.to_numpy())).all()


def test_what_is_declared_stays_declared():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1], "c": ["x", "y"], "d": [True, False], "e": [2, 3]})
    options = as_pixels(frame, Columns(kinds={"a": "binary"}, bounds={"b": (0, 9)}, order={"e": ("2", "3")}))
    assert options.kinds == {"a": "binary", "b": "continuous", "d": "continuous"}
    assert options.bounds == {"b": (0, 9)}


def test_the_command_reads_pixels(digits, tmp_path):
    pixels, y = digits
    pixels.assign(digit=y).to_csv(tmp_path / "pixels.csv", index=False)
    fit = ("fit", tmp_path / "pixels.csv", "--target", "digit", "--out", tmp_path / "m", "--task", "classification")
    rule = ("--robust", "1", "--norm", "2", "--encoder", "image", "--epochs", "1")
    done = CliRunner().invoke(app, [str(word) for word in (*fit, *rule)])
    assert done.exit_code == 0, done.output
    model = smilenn.load(tmp_path / "m")
    assert isinstance(model, SmileClassifier) and model.domain_.size == 64
    assert model.network is not None and model.network.image
    assert {feature.kind for feature in model.domain_.features} == {"continuous"}


def test_one_network_keeps_one_norm(digits):
    pixels, y = digits
    model = SmileClassifier(properties=[Robust(1), Robust(1, norm=2)], network=Network(encoder="image"))
    with pytest.raises(SmileError, match="of one norm, and these are of both"):
        model.fit(pixels, y)


def test_images_of_three_dimensions_are_told_how_to_become_rows():
    with pytest.raises(SmileError, match=r"X\.reshape\(len\(X\), -1\)"):
        SmileClassifier(properties=Robust(1)).fit(np.zeros((4, 8, 8)), [0, 1, 0, 1])
