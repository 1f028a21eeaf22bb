"""What newcomers try in a notebook: counterexamples as tables, targets, numbers of numpy, backbones."""

import numpy as np
import pandas as pd
import pytest
import torch

import smilenn
from smilenn import (
    Config,
    Custom,
    Fair,
    Lipschitz,
    Monotone,
    Network,
    Robust,
    SmileClassifier,
    SmileError,
    SmileRegressor,
)
from smilenn.properties import Bounded
from smilenn.properties.rational import exact

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=5, epochs=1, posttrain_rounds=0, least_quality=0.0, learning_rate=1e-2)
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def table(n=60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"x": rng.uniform(0, 10, n).round(2), "n": rng.integers(0, 9, n), "g": rng.choice(list("uvw"), n)}
    )


@pytest.fixture(scope="module")
def model():
    X = table()
    return SmileRegressor(increasing=["x"], **SMALL).fit(X, pd.Series(3 * X["x"], name="y"))


@pytest.fixture(scope="module")
def encoded():
    X = table()
    return SmileRegressor(increasing=["x"], config=QUICK, random_state=0).fit(X, pd.Series(3 * X["x"], name="y"))


# ---- counterexamples ------------------------------------------------------------------------------------------------


def test_a_counterexample_is_a_table_in_the_users_columns(model):
    assert model.counterexample() is None  # certified
    verdict = smilenn.prove(model, [Monotone(decreasing=["x"])])
    frame = model.counterexample(verdict)
    assert frame.columns.tolist() == ["x", "n", "g", "the predicted 'y'"]
    assert frame.index.tolist() == ["a", "b"]
    assert frame.loc["a", "x"] > frame.loc["b", "x"] and set(frame["g"]) <= set("uvw")
    np.testing.assert_allclose(model.predict(frame), frame["the predicted 'y'"], rtol=1e-9)


def test_a_notebook_shows_the_counterexample(model):
    wrong = SmileRegressor(**model.get_params(deep=False) | {"increasing": (), "decreasing": ["x"]})
    wrong.__dict__.update({name: value for name, value in vars(model).items() if name.endswith("_")})
    wrong.claims_ = wrong.lower(wrong.all_properties())
    wrong.verdict_ = smilenn.prove(wrong)
    assert wrong.verdict_.status == "violated"
    shown = wrong._repr_html_().rsplit("<div style", 1)[1]
    assert "<th>a</th>" in shown and "<th>g</th>" in shown and "the predicted 'y'" in shown
    assert "<table" not in model._repr_html_().rsplit("<div style", 1)[1]


def test_wide_counterexamples_show_what_differs():
    from smilenn.estimators.example import example_html

    frame = pd.DataFrame({f"x{i}": [i, i] for i in range(30)}, index=["a", "b"]).assign(x7=[1, 2], out=[3, 3])
    shown = example_html(frame, 30)
    assert "x7" in shown and "out" in shown and "x8" not in shown
    assert "x8" in example_html(frame.iloc[:, :20], 19)


# ---- targets --------------------------------------------------------------------------------------------------------


def test_a_target_may_share_the_name_of_a_feature():
    X = table()
    fitted = SmileRegressor(increasing=["x"], **SMALL).fit(X, 2 * X["x"])  # a series called x
    assert fitted.target_name_ == "" and fitted.columns_ == ("x", "n", "g")
    with pytest.raises(SmileError, match="target 'x' is among the features; drop that column"):
        SmileRegressor(increasing=["n"], **SMALL).fit(X, X["x"])
    with pytest.raises(SmileError, match="target 'x' is among the features; drop that column"):
        SmileRegressor(increasing=["n"], **SMALL).fit(X, pd.DataFrame({"x": 2 * X["x"], "z": X["n"]}))


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("five", [np.float64(5.0), np.float32(5), np.int64(5), np.array(5.0), np.float16(5)])
def test_numbers_of_numpy_are_numbers(five):
    assert exact(five) == 5
    assert Fair(["g"], eps=five) == Fair(["g"], eps=5)
    assert Robust(five, eps=five) == Robust(5, eps=5)
    assert Robust({"x": (-five, five)}, eps=1) == Robust({"x": (-5, 5)}, eps=1)
    assert Bounded(five, 2 * five) == Bounded(5, 10)
    assert Lipschitz(["x"], five) == Lipschitz(["x"], 5)


@pytest.mark.parametrize("value", [np.array([5.0]), np.bool_(True), np.array(True)])
def test_what_is_no_number_of_numpy(value):
    with pytest.raises(SmileError, match="is not a number"):
        exact(value)


def test_messages_show_numbers_not_their_types():
    with pytest.raises(SmileError, match="^nan is not a finite number"):
        exact(np.float64("nan"))
    with pytest.raises(SmileError, match="one class only, '1';"):
        SmileClassifier(increasing=["x"], **SMALL).fit(table(), np.ones(60, dtype=int))


# ---- backbones ------------------------------------------------------------------------------------------------------


def own(inputs, embedding):
    return torch.nn.Sequential(torch.nn.Linear(inputs, embedding), torch.nn.Tanh())


def test_load_takes_the_backbone_that_fit_took(tmp_path):
    X = table()
    fitted = SmileRegressor(increasing=["x"], **SMALL | {"network": SMALL["network"].changed(backbone=own)}).fit(
        X, 3 * X["n"]
    )
    fitted.save(tmp_path / "m")
    state = torch.random.get_rng_state()
    made = smilenn.load(tmp_path / "m", backbone=own)
    assert torch.equal(state, torch.random.get_rng_state())
    given = smilenn.load(tmp_path / "m", backbone=own(made.domain_.size, made.net_.embedding))
    for loaded in (made, given):
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    for wrong in (lambda inputs, embedding: 3, "mlp"):
        with pytest.raises(SmileError, match=r"a torch module, or a function \(inputs, embedding\) that returns one"):
            smilenn.load(tmp_path / "m", backbone=wrong)


# ---- encoders -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [Lipschitz(["x"], 1), Custom(then=["a.out >= a.x"])], ids=["slope", "claim"])
def test_what_an_encoder_hides_is_said_with_what_can_be_proved(encoded, rule):
    assert encoded.net_.encoder is not None
    instead = r"Rules that compare outputs alone.*network=Network\(encoder='none'\)"
    with pytest.raises(SmileError, match=r"encoder hides 'x'.* cannot be proved of it\. " + instead):
        smilenn.prove(encoded, [rule])
    assert smilenn.prove(encoded, [Monotone(increasing=["x"])]).status == "proved"


def test_a_rule_that_was_fitted_is_not_hidden(tmp_path):
    X = table()
    for encoder in ("auto", "none"):
        options = SMALL | {
            "properties": [Lipschitz(["x"], 10_000)],
            "network": SMALL["network"].changed(encoder=encoder),
        }
        SmileRegressor(**options).fit(X, 3 * X["n"]).save(tmp_path / encoder)
        again = smilenn.load(tmp_path / encoder)
        assert smilenn.prove(again, [Lipschitz(["x"], 20_000)], time_limit=2).status in ("proved", "unknown")
