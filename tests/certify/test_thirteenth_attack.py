"""What twelve attacks had left, and what a thirteenth found: quality of other weights, float classes, words."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load as read_tensors
from safetensors.torch import save as write_tensors
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from torch import nn
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Domain, Fair, Network, SmileRegressor, fit_deep, guard, load, load_deep
from smilenn.certify.certify import certify
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedClassifier, ClampedRegressor
from smilenn.model.encoders import Branch, Encoder, Linear, Pinned
from smilenn.model.folder import read_folder, write_folder

SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def quick(quick_fits):
    """Short self-tests."""


def people(n=20):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, n), "group": rng.integers(0, 2, n)})
    return frame, (frame["income"] + frame["group"] > 5).astype(int).to_numpy()


def checked(folder):
    """The record of ``smile check --json`` and its exit code."""
    found = CliRunner().invoke(app, ["check", "--json", str(folder)])
    return json.loads(found.stdout), found.exit_code


def classified(model, frame, target, eps=0.5):
    return ClampedClassifier(model, ["group"], eps).fit(frame, target)


# ---- classes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype",
    ["float32", "Int64", "boolean", *(pytest.param(n, marks=SLOW) for n in ("float64", "Float64", "bool", "uint8"))],
)
def test_a_clamp_of_any_classes_is_certified_at_fit_save_load_and_check(dtype, tmp_path):
    frame, risk = people()
    clamp = classified(LogisticRegression(), frame, pd.Series(risk).astype(dtype))
    assert clamp.verdict_.status == "proved"
    clamp.save(tmp_path / "clamp")
    assert ClampedClassifier.load(tmp_path / "clamp", clamp.model_).verdict_.status == "proved"
    record, code = checked(tmp_path / "clamp")
    assert (record["status"], code) == ("proved", 0) and smilenn.check(tmp_path / "clamp").status == "proved"


@pytest.mark.parametrize(
    "classes", [np.array([b"a", b"b"]), np.array([0, 1], "m8[ns]"), np.array([0, 1], "M8[ns]"), np.array([0, 1], "g")]
)
def test_classes_that_no_file_keeps_are_refused_in_one_sentence(classes):
    frame, risk = people()
    with pytest.raises(SmileError, match="give numbers, strings or truth values"):
        classified(LogisticRegression(), frame, classes[risk])
    given = LogisticRegression().fit(frame, risk)
    given.classes_ = classes
    with pytest.raises(SmileError, match="give numbers, strings or truth values"):
        classified(FrozenEstimator(given), frame, None)


class Framed(LogisticRegression):
    """Probabilities with the names of their classes, the last class first."""

    def predict_proba(self, X):
        return pd.DataFrame(super().predict_proba(X), columns=self.classes_).iloc[:, ::-1]


class Misnamed(LogisticRegression):
    def predict_proba(self, X):
        return pd.DataFrame(super().predict_proba(X), columns=["p", "q"])


class Spoken(LogisticRegression):
    def predict_proba(self, X):
        return np.full((len(X), 2), "likely")


def test_probabilities_in_a_data_frame_are_those_of_the_classes_it_names():
    frame, risk = people()
    named = np.where(risk, "good", "bad")
    plain, framed = (classified(model, frame, named) for model in (LogisticRegression(), Framed()))
    assert framed.verdict_.status == "proved" and (framed.outputs(frame) == plain.outputs(frame)).all()
    for model, says in ((Misnamed(), "name the columns after the classes"), (Spoken(), "are not numbers")):
        with pytest.raises(SmileError, match=says):
            classified(model, frame, named)


class Columned(LinearRegression):
    def predict(self, X):
        return pd.DataFrame({"price": super().predict(X)})


def test_predictions_in_a_data_frame_are_read():
    frame, _ = people()
    plain, framed = (
        ClampedRegressor(model, ["group"], 0.5).fit(frame, 2 * frame["income"])
        for model in (LinearRegression(), Columned())
    )
    assert (plain.predict(frame) == framed.predict(frame)).all()


def test_intervals_and_an_epsilon_that_overflows_are_refused_in_one_sentence():
    frame, risk = people()
    for band in (pd.cut(frame["income"], 3), pd.cut(frame["income"], 3).astype(object)):
        with pytest.raises(SmileError, match=r"'band' holds .*\(Interval\).*turn the column into strings or numbers"):
            classified(LogisticRegression(), frame.assign(band=band), risk)
    with pytest.raises(SmileError, match=r"eps is 1e\+300, and a clamp as wide as that limits nothing"):
        classified(LogisticRegression(), frame, risk, 1e300)
    with pytest.raises(SmileError, match=r"1e\+308 is beyond 1e300"):
        Fair(["group"], 1e308)


# ---- quality --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def priced():
    frame, _ = people()
    return SmileRegressor(properties=[Fair(["group"], 1.0)], config=Config(epochs=2)).fit(frame, 2 * frame["income"])


def test_the_quality_of_another_backbone_is_forgotten(priced):
    model = copy.deepcopy(priced)
    assert model.quality_ is not None and "R²" in model.explain()
    with torch.no_grad():
        next(model.net_.backbone.parameters()).add_(1.0)
    assert model.verdict_.status == "proved" and model.quality_ is None and "R²" not in model.explain()


def test_the_quality_of_another_backbone_in_the_folder_is_forgotten(priced, tmp_path):
    priced.save(tmp_path / "model")
    assert load(tmp_path / "model").quality_ == priced.quality_ and checked(tmp_path / "model")[0]["quality"]
    files = dict(read_folder(tmp_path / "model"))
    tensors = read_tensors(files["weights.safetensors"])
    name = next(name for name in tensors if name.startswith("backbone."))
    files["weights.safetensors"] = write_tensors(tensors | {name: tensors[name] + 1})
    write_folder(tmp_path / "other", files)  # with new hashes
    assert load(tmp_path / "other").verdict_.status == "proved" and load(tmp_path / "other").quality_ is None
    record, code = checked(tmp_path / "other")
    assert (record["status"], record["quality"], code) == ("proved", None, 0)


def test_the_quality_of_a_clamp_is_forgotten_once_its_model_has_learned_something_else(tmp_path):
    frame, _ = people()
    clamp = ClampedRegressor(LinearRegression(), ["group"], 0.5).fit(frame, 2 * frame["income"])
    clamp.save(tmp_path / "clamp")
    loaded = ClampedRegressor.load(tmp_path / "clamp", copy.deepcopy(clamp.model_))
    assert clamp.quality_ == loaded.quality_ is not None
    for one in (clamp, loaded):
        one.model_.fit(frame, -frame["income"])
        assert one.quality_ is None


def test_a_deep_model_has_its_quality_beside_its_verdict(tmp_path):
    frame, _ = people()
    model = fit_deep(frame, 2 * frame["income"], Fair(["group"], 1.0), hidden=(3,), backbone=(4,), epochs=2)
    assert "On 20 training rows: R²" in model.quality.sentence()
    model.save(tmp_path / "deep")
    loaded = load_deep(tmp_path / "deep")
    assert loaded.quality == model.quality and checked(tmp_path / "deep")[0]["quality"] == model.quality.to_json()
    said = CliRunner().invoke(app, ["check", str(tmp_path / "deep")]).stdout
    assert "Quality, measured after training and not checked here. On 20 training rows" in said
    with torch.no_grad():
        next(loaded.backbone.parameters()).add_(1.0)
    assert loaded.quality is None


def test_a_deep_model_without_a_step_of_training_is_said_to_be_so(tmp_path):
    frame, _ = people()
    with pytest.warns(UserWarning, match="No training step was completed"):
        model = fit_deep(frame, 2 * frame["income"], Fair(["group"], 1.0), hidden=(3,), backbone=(4,), epochs=0)
    model.save(tmp_path / "deep")
    found = CliRunner().invoke(app, ["check", str(tmp_path / "deep")])
    assert found.exit_code == 3 and "no training step was completed" in found.stdout


# ---- words ----------------------------------------------------------------------------------------------------------


def test_a_frozen_model_was_not_trained_on_the_rows_it_is_judged_by():
    frame, risk = people()
    frozen = classified(FrozenEstimator(LogisticRegression().fit(frame, 1 - risk)), frame, risk)
    said = frozen.quality_.sentence()
    assert said.startswith("On 20 rows: ") and "training" not in said and "epochs" not in said
    assert "give a better model" in said
    assert "On 20 training rows" in classified(LogisticRegression(), frame, risk).quality_.sentence()


@pytest.mark.parametrize("labels", [False, True])
def test_a_guard_of_several_classes_or_labels_speaks_of_no_predicted_number(labels, tmp_path):
    frame, risk = people()
    names = np.array(["a", "b", "c"])[risk + (frame["income"] > 7)]
    target = np.stack([risk, frame["income"] > 3], axis=1).astype(int) if labels else names
    network = MLPClassifier((3,), tol=9.0, n_iter_no_change=2, random_state=0).fit(frame, target)
    made = guard(network, Fair(["group"], 0.5), Domain.from_data(frame), out=tmp_path / "guard")
    for model in (made.model, load(tmp_path / "guard")):
        said = model.certificate_.statement
        assert model.verdict_.status == "proved" and "predict" not in said.split("assum")[0].lower()
        assert ("log-odds" if labels else "any output") in said
    assert checked(tmp_path / "guard")[0]["status"] == "proved"


# ---- what the attack found ------------------------------------------------------------------------------------------


def beside(dtype):
    """A rising branch over the income, and a module that is called row by row over the rest."""

    def make(domain, u):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(2, 33), nn.GELU(), nn.Linear(33, 9)).to(dtype)
        rising = Branch("up", [0], [Linear(1, 1, signs=np.ones((1, 1)))])
        return Encoder(domain, [rising, Branch("rest", [1, 2], [Pinned(module, 9)])])

    return make


def rising(dtype=torch.float32):
    frame, _ = people()
    frame["debt"] = frame["income"] - frame["group"]
    network = Network(encoder=beside(dtype))
    model = SmileRegressor(increasing=["income"], network=network, config=Config(epochs=1), random_state=0)
    return model.fit(frame, 2 * frame["income"]), frame


@pytest.fixture
def noted(monkeypatch):
    """A process in which no module was called yet."""
    monkeypatch.setattr("smilenn.model.options._noted", {})


@pytest.mark.parametrize("option", ["mkldnn", "dtype", "precision", "deterministic"])
def test_a_module_is_not_called_under_other_options_than_it_was_tested_under(noted, option):
    model, frame = rising()
    before, precision = model.predict(frame), torch.get_float32_matmul_precision()
    assert model.verdict_.status == "proved"
    try:
        if option == "mkldnn":
            torch.backends.mkldnn.enabled = False
        elif option == "dtype":
            torch.set_default_dtype(torch.float64)
        elif option == "precision":
            torch.set_float32_matmul_precision("medium")
        else:
            torch.use_deterministic_algorithms(True)
        with pytest.raises(SmileError, match="switch it back, or predict in a new process"):
            model.predict(frame.assign(income=frame["income"] + 1e-9))
    finally:
        torch.backends.mkldnn.enabled = True
        torch.set_default_dtype(torch.float32)
        torch.set_float32_matmul_precision(precision)
        torch.use_deterministic_algorithms(False)
    assert (model.predict(frame) == before).all()


def test_known_layers_and_guards_are_computed_under_any_options(noted):
    frame, risk = people()
    network = MLPClassifier((3,), tol=9.0, n_iter_no_change=2, random_state=0).fit(frame, risk)
    made = guard(network, Fair(["group"], 0.5), Domain.from_data(frame)).model
    before = made.predict_proba(frame)
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        assert (made.predict_proba(frame) == before).all()


def test_a_pinned_module_of_bfloat16_is_certified_too(noted):
    model, frame = rising(torch.bfloat16)
    assert model.verdict_.status == "proved"
    assert (model.predict(frame.assign(income=frame["income"] + 1e-9)) >= model.predict(frame)).all()


def test_signing_a_folder_writes_into_that_folder_alone(priced, tmp_path):
    pytest.importorskip("cryptography")
    from smilenn.certify.signing import new_key, sign, verify

    priced.save(tmp_path / "model")
    public = new_key(tmp_path / "key.pem")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "model" / "signature.part").symlink_to(tmp_path / "mine")
    sign(tmp_path / "model", tmp_path / "key.pem")
    assert (tmp_path / "mine").read_text() == "mine" and verify(tmp_path / "model", public)


@pytest.mark.parametrize("classes", [["a", "a"], [1, 1.0]])
def test_a_folder_whose_classes_have_one_name_is_not_certified(classes, tmp_path):
    frame, risk = people()
    clamp = classified(LogisticRegression(), frame, np.where(risk, "a", "b"))
    table = clamp.table() | {"classes": classes, "meaning": [f"the log-odds of {str(classes[0])!r}"]}
    clamp.save(tmp_path / "clamp")
    files = dict(read_folder(tmp_path / "clamp"))
    model = json.loads(files["model.json"]) | {"table": table}
    forged = certify(clamp.net_, clamp.claims_, table=table).files
    write_folder(tmp_path / "forged", {**files, "model.json": json.dumps(model).encode(), **forged})
    assert smilenn.check(tmp_path / "forged").status == "unknown"


def test_probabilities_are_named_by_classes_also_where_these_are_0_and_1():
    class Reversed(Framed):
        def fit(self, X, y):
            super().fit(X, y)
            self.own_, self.classes_ = self.classes_, self.classes_[::-1]
            return self

        def predict_proba(self, X):
            both = LogisticRegression.predict_proba(self, X)
            return pd.DataFrame(both, columns=self.own_)

    frame, risk = people()
    plain, reversed_ = (classified(model, frame, risk) for model in (LogisticRegression(), Reversed()))
    assert (reversed_.predict(frame) == plain.predict(frame)).all()
