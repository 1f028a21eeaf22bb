"""What a twelfth attack found: copies of clamps, exchanged steps, several labels, deep folders without their rules."""

import copy
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smilenn import Bounded, Config, Fair, SmileRegressor, fit_deep, load, load_deep
from smilenn.cli.auditing import check
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.clamped import ClampedClassifier, ClampedRegressor


@pytest.fixture(autouse=True)
def quick(quick_fits):
    """Short self-tests."""


def people(n=20):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, n), "group": rng.integers(0, 2, n)})
    return frame, pd.Series(np.where(frame["income"] + frame["group"] > 5, "good", "bad"), name="risk")


class Restless(LinearRegression):
    def predict(self, X):
        return np.random.default_rng().normal(size=len(X)) * 100


def priced(model, frame):
    return ClampedRegressor(model, ["group"], 0.5).fit(frame, pd.Series(2 * frame["income"], name="price"))


def test_a_copy_keeps_its_model_when_the_original_is_fitted_again():
    frame, risk = people()
    first = ClampedClassifier(LogisticRegression(), ["group"], 0.5).fit(frame, risk)
    kept = copy.copy(first)
    before = kept.predict(frame)
    first.fit(frame, pd.Series(np.where(risk == "good", "a_bad", "z_good"), name="risk"))
    assert (kept.predict(frame) == before).all() and kept.verdict_.status == first.verdict_.status == "proved"


def test_a_clamp_that_asks_anothers_model_is_not_certified():
    frame, _ = people()
    first = priced(LinearRegression(), frame)
    other = type(first).__new__(type(first))
    other.__dict__.update(first.__dict__)  # as __setstate__(__getstate__()) does
    assert first.verdict_.status == "proved" and other.verdict_.status == "unknown"


@pytest.mark.parametrize("frozen", [False, True])
def test_a_step_that_is_exchanged_is_noticed(frozen):
    frame, _ = people()
    model = make_pipeline(StandardScaler(), LinearRegression())
    model = FrozenEstimator(model.fit(frame, 2 * frame["income"])) if frozen else model
    clamp = priced(model, frame)
    assert clamp.verdict_.status == "proved"
    if frozen:
        clamp.model_.estimator = Restless().fit(frame, frame["income"])
    else:
        clamp.model_.steps[-1] = ("linearregression", Restless().fit(frame, frame["income"]))
    assert clamp.verdict_.status == "unknown"


def test_a_pipeline_that_became_a_classifier_is_refused():
    frame, risk = people()
    clamp = priced(make_pipeline(LinearRegression()), frame)
    clamp.model_.set_params(linearregression=LogisticRegression()).fit(frame, (risk == "good").astype(int))
    with pytest.raises(SmileError, match="is a classifier"):
        clamp.predict(frame)


def test_probabilities_of_several_labels_are_refused():
    frame, risk = people()
    both = np.stack([risk == "good", frame["income"] > 2], axis=1).astype(int)
    model = OneVsRestClassifier(LogisticRegression()).fit(frame, both)
    with pytest.raises(SmileError, match="two that sum to one"):
        ClampedClassifier(FrozenEstimator(model), ["group"], 0.5).fit(frame, both[:, 0])


def test_a_target_that_is_not_one_number_a_row_is_refused():
    frame, _ = people()
    clamp = ClampedRegressor(FrozenEstimator(LinearRegression().fit(frame, frame["income"])), ["group"], 0.5)
    for target in (np.zeros(2 * len(frame)), np.zeros((len(frame), 2))):
        with pytest.raises(SmileError, match="one value for each row"):
            clamp.fit(frame, target)
    with pytest.raises(SmileError, match="row 3 is nan"):
        clamp.fit(frame, np.where(np.arange(len(frame)) == 3, np.nan, 1.0))


def test_the_quality_of_other_weights_does_not_stand_beside_a_new_certificate(tmp_path):
    frame, _ = people()
    model = SmileRegressor(properties=[Fair(["group"], 1.0)], config=Config(epochs=2)).fit(frame, 2 * frame["income"])
    assert model.quality_ is not None
    with torch.no_grad():
        model.net_.head_bias.add_(1000.0)
    assert model.certify(time_limit=5).status == "proved" and model.quality_ is None
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").quality_ is None and "R²" not in model.explain()


def test_a_deep_folder_without_some_of_its_rules_is_not_certified(tmp_path):
    frame, _ = people()
    rules = [Bounded(-50, 50), Fair(["group"], 1.0)]
    fit_deep(frame, 0.5 * frame["income"], rules, hidden=(3,), backbone=(4,), epochs=2, time_limit=10).save(
        tmp_path / "deep"
    )
    folder = tmp_path / "deep"
    assert check(folder, reference=False, quiet=True, json=False) == 0
    content, proofs = json.loads((folder / "audit.json").read_text()), (folder / "proofs.bin").read_bytes()
    rows, kept, at = [], b"", 0
    for row in content["rows"]:
        own, at = proofs[at : at + row["proof"]], at + row["proof"]
        if "group" not in row["text"]:
            rows, kept = [*rows, row], kept + own
    assert len(rows) < len(content["rows"])
    content |= {"rows": rows, "proofs_sha256": hashlib.sha256(kept).hexdigest()}
    (folder / "proofs.bin").write_bytes(kept)
    (folder / "audit.json").write_text(json.dumps(content))
    for read in (load_deep, lambda path: check(path, reference=False, quiet=True, json=False)):
        with pytest.raises(AlteredError, match="other rules"):
            read(folder)
