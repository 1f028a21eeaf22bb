"""Pixels as people have them: whole numbers in a data frame or a file, many of them always black or black and white."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import smilenn
from smilenn import Network
from smilenn.cli import app
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.learned import as_pixels
from smilenn.estimators.options import Columns
from smilenn.estimators.pixels import likeness, recognised
from smilenn.estimators.reading import read_table
from smilenn.estimators.regressor import SmileRegressor
from smilenn.properties import Monotone, Robust
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


def test_one_network_keeps_both_norms(digits):
    pixels, y = digits
    rules = [Robust(1), Robust(1.5, norm=2)]
    model = SmileClassifier(properties=rules, config=SHORT, random_state=0).fit(pixels, y)
    assert model.image_ and "distance net" in model.explain() and model.verdict_.status == "proved"
    assert len(model.claims_) == 4  # images have fine steps, in each norm
    for norm, delta in (("inf", 1.0), (2, 1.5)):
        _, certified = model.predict_certified(pixels, delta=delta, norm=norm)
        assert ((model.certified_radius(pixels, norm=norm) >= delta) == certified).all() and certified.any()


def named(x, name="p"):
    return pd.DataFrame(x, columns=[f"{name}{i}" for i in range(x.shape[1])])


@pytest.mark.parametrize("read", [lambda x: x, lambda x: named(x.astype("uint8")), lambda x: named(x / 16, "feature ")])
def test_pixels_look_like_images(read):
    found = likeness(pd.DataFrame(read(load_digits().data)))
    assert found is not None and found.side == 8 and found.near > found.far + 0.2
    assert "images of 8 × 8 pixels" in found.sentence()


RNG = np.random.default_rng(0)
OTHERS = {
    "other order": load_digits().data[:, RNG.permutation(64)],
    "independent": RNG.random((200, 64)),
    "random walks": RNG.normal(size=(200, 100)).cumsum(axis=1),
    "one factor": RNG.normal(size=(200, 1)) + RNG.normal(size=(200, 64)),
    "units of their own": load_digits().data * 10.0 ** RNG.integers(0, 4, 64),
    "not square": load_digits().data[:, :63],
    "few columns": load_digits().data[:, :49],
    "few rows": load_digits().data[:20],
    "gaps": np.where(RNG.random((200, 64)) < 0.01, np.nan, load_digits().data[:200]),
    "constant": np.ones((200, 64)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_do_not(name):
    assert likeness(pd.DataFrame(OTHERS[name])) is None


def test_texts_are_no_pixels():
    assert likeness(named(load_digits().data).astype({"p3": str})) is None


@pytest.mark.parametrize(
    ("rules", "network", "columns"),
    [
        ([], Network(), Columns()),
        ([Robust(1), Monotone(increasing=["p1"])], Network(), Columns()),
        ([Robust({"p1": 1})], Network(), Columns()),
        ([Robust(1, eps=0)], Network(), Columns()),
        ([Robust(1)], Network(encoder="none"), Columns()),
        ([Robust(1)], Network(boxes="paper"), Columns()),
        ([Robust(1)], Network(), Columns(kinds={"p1": "category"})),
        ([Robust(1)], Network(), Domain(tuple(Feature(f"p{i}", "integer", 0, 16) for i in range(64)))),
    ],
)
def test_what_the_user_decides_stays(rules, network, columns):
    pixels = named(load_digits().data)
    assert recognised(pixels, [Robust(1), Robust(2)], Network(), Columns()) is not None
    assert recognised(pixels, [Robust(1), Robust(1, norm=2)], Network(), Columns()) is not None
    assert recognised(pixels, rules, network, columns) is None


def test_images_are_recognised_saved_and_refitted(digits, tmp_path):
    pixels, y = digits
    model = SmileClassifier(properties=Robust(1), config=SHORT, random_state=0).fit(pixels, y)
    asked = SmileClassifier(properties=Robust(1), config=SHORT, network=Network(encoder="image"), random_state=0)
    assert (model.outputs(pixels) == asked.fit(pixels, y).outputs(pixels)).all()
    assert "look like images of 8 × 8 pixels" in model.explain() and "look like" not in asked.explain()
    assert model.network is None and model.images and len(model.claims_) == 2
    model.save(tmp_path / "model")
    again = smilenn.load(tmp_path / "model")
    assert isinstance(again, SmileClassifier) and again.images and again.claims_ == model.claims_
    assert (again.certified_radius(pixels) == model.certified_radius(pixels)).all()
    fewer = again.fit(pixels[:20], y[:20], start=model)  # too few to be recognised, but the start is of images
    assert fewer.images and fewer.claims_ == model.claims_


def test_a_regression_has_no_images(digits):
    pixels, y = digits
    model = SmileRegressor(properties=Robust(1, eps=5), config=SHORT, certify_limit=0)
    assert not read_table(model, pixels, y, None).image


def test_the_command_recognises_pixels(digits, tmp_path):
    pixels, y = digits
    pixels.assign(digit=y).to_csv(tmp_path / "pixels.csv", index=False)
    fit = ("fit", tmp_path / "pixels.csv", "--target", "digit", "--out", tmp_path / "m", "--task", "classification")
    done = CliRunner().invoke(app, [str(word) for word in (*fit, "--robust", "1", "--epochs", "1")])
    assert done.exit_code == 0, done.output
    assert "so the network is that of --encoder image" in done.output
    assert smilenn.load(tmp_path / "m").images


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda x: x.drop(columns="p1"), "is for square images, and 63 columns are no square; cut or pad"),
        (lambda x: x.assign(p1=np.where(x["p2"] > 0, "a", "b")), "is for pixels, and 'p1' holds categories; leave"),
        (lambda x: x.assign(p1=x["p1"].where(x["p2"] > 0)), "missing pixels, and 'p1' holds missing cells; fill them"),
    ],
)
def test_tables_that_are_no_images_are_refused(digits, change, why):
    pixels, y = digits
    model = SmileClassifier(properties=Robust(1), network=Network(encoder="image"))
    with pytest.raises(SmileError, match=why):
        model.fit(change(pixels), y)


def test_without_it_messages_name_the_network_of_images(digits):
    pixels, y = digits
    shuffled = pixels[list(np.random.default_rng(0).permutation(pixels.columns))]
    shuffled = shuffled.loc[:, shuffled.nunique() > 2]
    with pytest.raises(SmileError, match=r"If they are pixels, fit with Network\(encoder='image'\)"):
        SmileClassifier(properties=Robust(1, norm=2)).fit(shuffled, y)


@pytest.mark.parametrize("norm", ["inf", 2])
def test_pixels_of_true_and_false_are_told_of_the_network_of_images(digits, norm):
    pixels, y = digits
    black = pixels.to_numpy()[:300] > 7
    with pytest.raises(SmileError, match=r"all hold 0 and 1; if they are pixels, fit with Network\(encoder='image'\)"):
        SmileClassifier(properties=Robust(1, norm=norm)).fit(black, y[:300])
    few = Config(epochs=1, patience=None)
    model = SmileClassifier(properties=Robust(1, norm=norm), network=Network(encoder="image"), config=few)
    model.fit(black, y[:300])
    assert model.verdict_.status == "proved" and {f.kind for f in model.domain_.features} == {"continuous"}
    assert (model.predict(black) == model.predict(black.astype(float))).all()


def test_images_of_three_dimensions_are_told_how_to_become_rows():
    with pytest.raises(SmileError, match=r"X\.reshape\(len\(X\), -1\)"):
        SmileClassifier(properties=Robust(1)).fit(np.zeros((4, 8, 8)), [0, 1, 0, 1])
