"""What is wrong with a norm, a delta or a weight is said in one sentence, at once."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smilenn import Custom, Robust, SmileClassifier
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.properties.language import parse
from smilenn.train.config import Config


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    x = rng.normal(size=(90, 2)) + y[:, None]
    config = Config(patience=None, epochs=1, batch_size=64, train_learning_rate=0.003, margin=0.5)
    return SmileClassifier(properties=Robust(0.1, norm=2), config=config, random_state=0).fit(x, y), x


@pytest.mark.parametrize("norm", [3, "2", "l2", None, True, 1])
def test_norms_that_there_are_not(fitted, norm):
    model, x = fitted
    for ask in (model.certified_radius, model.predict_certified):
        with pytest.raises(SmileError, match=f"norm is {norm!r}; choose 'inf', each column by itself, or 2"):
            ask(x, norm=norm)


@pytest.mark.parametrize(
    ("delta", "options", "why"),
    [
        ({"a": (1, 2)}, {"norm": 2}, "in the Euclidean norm 'a' needs one number as its delta, not a pair"),
        ({"a": 0}, {}, "delta of 'a' is 0, so nothing may change; it must be more than 0"),
        ({"a": (0, 0), "b": "0%"}, {}, "delta of 'a' and 'b' is 0, so nothing may change"),
    ],
)
def test_deltas_are_refused_when_they_are_stated(delta, options, why):
    with pytest.raises(SmileError, match=why):
        Robust(delta, **options)


def test_a_column_may_stay_equal_beside_others():
    assert Robust({"a": 0, "b": 1}).delta == (("a", 0, 0), ("b", -1, 1))
    assert Robust({"a": (-1, 1)}, norm=2).norm == 2


def test_a_weight_of_zero():
    with pytest.raises(SmileError, match="This feature has the weight 0 in norm2; leave it out"):
        parse("norm2(0 * (a.x - b.x), a.y - b.y) <= 1")


@pytest.mark.parametrize(
    "rule",
    [
        Custom(when=["norm2(a.x - b.x, a.c - b.c) <= 1"], then=["a.out - b.out <= 1"]),
        Robust({"x": 1, "c": 1}, 1, norm=2),
    ],
)
def test_a_constant_column_in_a_norm_stays_equal_and_gets_a_word(rule):
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0] * 10, "c": [1.0] * 30})
    with pytest.warns(UserWarning, match="'c' holds one value only, '1.0', and a rule names it"):
        model = SmileClassifier(properties=[rule], config=Config(epochs=1)).fit(frame, [0, 1, 1] * 10)
    assert model.domain_.feature("c").lo == model.domain_.feature("c").hi and model.verdict_.status == "proved"


@pytest.mark.parametrize("text", ["0", "-0.1", "0%", "0:1"])
def test_the_command_names_its_option(tmp_path, text):
    pd.DataFrame({"x": [0.5, 1.5], "y": ["a", "b"]}).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--out", str(tmp_path / "m"), "--robust", text]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert f"--robust {text}: the change is {text.partition(':')[0]}; it must be more than 0." in said
