"""What an eleventh stranger tried: clamps of the wrong kind of model, classes that changed their names, deep folders.

Files of deep models are in tests/deep, the service's curve in tests/service.
"""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smilenn import ClampedClassifier, ClampedRegressor, SmileError, check
from smilenn.certify.certificate import JSON_NAME
from smilenn.certify.certify import certify
from smilenn.certify.verdicts import inspect
from smilenn.model.folder import dump_json, read_folder, write_folder
from smilenn.verdict import Unknown


def people(n=24):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, n), "group": np.arange(n) % 2})
    return frame, np.where(frame.income + frame.group + rng.normal(size=n) > 5, "good", "bad")


@pytest.fixture(scope="module")
def fair():
    frame, label = people()
    return ClampedClassifier(LogisticRegression(), ["group"], 0.5).fit(frame, pd.Series(label, name="risk"))


# ---- which output ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [FrozenEstimator, lambda model: make_pipeline(StandardScaler(), model)])
def test_a_regressor_does_not_clamp_the_labels_of_a_classifier(wrapped):
    """ "Changes the log-odds of 'outcome' = '1' by at most 0.5" was certified of labels 0 and 1 that were cut."""
    frame, label = people()
    number = (label == "good").astype(int)
    model = wrapped(LogisticRegression().fit(frame, number))
    with pytest.raises(SmileError, match=r"The model is a classifier; ClampedClassifier clamps its log-odds\."):
        ClampedRegressor(model, ["group"], 0.5).fit(frame, pd.Series(number, name="outcome"))


def test_a_classifier_does_not_clamp_a_number():
    frame, label = people()
    with pytest.raises(SmileError, match="The model has no classes; ClampedRegressor clamps the number"):
        ClampedClassifier(LinearRegression(), ["group"], 0.5).fit(frame, (label == "good").astype(float))


def test_a_table_of_numbers_has_no_classes(tmp_path):
    """The same false sentence from a folder: the words of classes in the table of a regression."""
    frame, _ = people()
    clamp = ClampedRegressor(LinearRegression(), ["group"], 0.5).fit(frame, pd.Series(frame.income, name="outcome"))
    clamp.save(tmp_path / "good")
    files = dict(read_folder(tmp_path / "good"))
    model = json.loads(files["model.json"])
    model["table"] |= {"classes": ["0", "1"], "meaning": ["the log-odds of 'outcome' = '1'"]}
    forged = certify(clamp.net_, clamp.claims_, table=model["table"])
    assert forged.accepted
    write_folder(tmp_path / "forged", files | {"model.json": dump_json(model)} | forged.files)
    assert JSON_NAME in forged.files
    found = inspect(tmp_path / "forged")
    assert isinstance(found.verdict, Unknown) and "do not go with its task" in found.verdict.sentence()
    assert not found.sentences
    assert check(tmp_path / "good").status == "proved"


# ---- which class ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("no", "yes"), ("Agood", "bad")])
def test_a_loaded_clamp_takes_no_model_of_other_classes(names, fair, tmp_path):
    """Its probabilities are the same, so the self-test passed: 'bad' was answered as 'good', certified."""
    frame, label = people()
    fair.save(tmp_path / "clamp")
    assert ClampedClassifier.load(tmp_path / "clamp", fair.model_).verdict_.status == "proved"
    other = LogisticRegression().fit(frame, np.where(label == "good", names[1], names[0]))
    assert (other.predict_proba(frame) == fair.model_.predict_proba(frame)).all()
    with pytest.raises(
        SmileError, match="The model decides between .*, and the one that was clamped between 'bad', 'good'"
    ):
        ClampedClassifier.load(tmp_path / "clamp", other)


def test_a_model_that_learns_other_classes_inside_its_clamp_does_not_answer(fair):
    frame, label = people()
    clamp = ClampedClassifier(LogisticRegression(), ["group"], 0.5).fit(frame, label)
    clamp.model_.fit(frame, np.where(label == "good", "bad", "Agood"))
    with pytest.raises(SmileError, match="decides between 'Agood', 'bad'"):
        clamp.predict(frame)
    clamp.model_.fit(frame, np.where(frame.income > 6, "new", label))
    with pytest.raises(SmileError, match="The model has 3 classes"):
        clamp.predict(frame)


def test_a_fitted_classifier_is_not_judged_by_labels_of_other_classes(fair):
    """Every row counted as the first class, and an accuracy of .41 stood beside a constant's of 1."""
    frame, label = people()
    with pytest.raises(SmileError, match="The target holds 0, which is none of the model's classes 'bad', 'good'"):
        ClampedClassifier(FrozenEstimator(fair.model_), ["group"], 0.5).fit(frame, np.where(label == "bad", 1, 0))
