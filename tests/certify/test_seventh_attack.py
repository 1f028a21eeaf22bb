"""What a seventh stranger tried: gains that were called proved, exported graphs, and a service whose model changes."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import SGDRegressor

import smilenn
from smilenn import Config, Custom, Network, SmileClassifier, SmileRegressor
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.clamped import ClampedRegressor

QUICK = {"config": Config(epochs=4), "network": Network(members=1), "random_state": 0}


def hill(n=300):
    """A target that rises up to the middle of the incomes and falls after it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 10, n), "age": rng.uniform(0, 1, n)})
    return frame, np.minimum(frame.income, 12 - frame.income) + 3 * frame.age


# ---- clamps ---------------------------------------------------------------------------------------------------------


def test_a_clamp_does_not_answer_for_what_its_model_was():
    """Whoever asked for the box alone left the model's answers behind. The next prediction of the same rows used them,
    even if the model had learned since: a clamp certified at 1 was 38 apart.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 9, 80), "sex": rng.integers(0, 2, 80)})
    model = ClampedRegressor(SGDRegressor(eta0=1e-4, tol=None, max_iter=20, random_state=0), ["sex"], 1.0).fit(
        frame, frame.a + 30 * frame.sex
    )
    model.net_.box(model.net_.encode(torch.tensor(model.net_.domain.encode(frame))))
    for _ in range(20):
        model.model_.partial_fit(frame, -50 * frame.a)
    apart = np.abs(model.predict(frame) - model.predict(frame.assign(sex=1 - frame.sex)))
    assert model.certificate_.accepted and apart.max() <= 1.0


# ---- reasons --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lenient():
    """A model under a rule that allows for a loss of 8."""
    rule = Custom(when=["a.income <= b.income"], then=["a.out <= b.out + 8"])
    return SmileRegressor(properties=[rule], config=Config(epochs=15), random_state=0).fit(*hill())


def test_a_rule_with_slack_does_not_make_the_furthest_value_the_best(lenient):
    model = lenient
    assert model.certificate_ is not None and model.certificate_.accepted
    row = pd.DataFrame({"income": [1.0], "age": [0.5]})
    found = model.reasons(row, at_least=4.0).set_index("feature")
    grid = pd.DataFrame({"income": np.linspace(0, 10, 201), "age": 0.5})
    most = float((model.predict(grid) - model.predict(row)).max())
    assert not found.loc["income", "proved"] and found.loc["income", "gain"] > 0.9 * most > 0


def test_a_change_is_called_hopeless_only_where_that_is_proved(lenient):
    """A rule with slack of 8: 'no such change is enough', said of a goal that every change reached."""
    model = lenient
    row = pd.DataFrame({"income": [1.0], "age": [0.5]})
    grid = pd.DataFrame({"income": np.linspace(1, model.domain_.feature("income").hi, 201), "age": 0.5})
    path = model.predict(grid)
    change = {"income": "up"}
    easy = model.recourse(row, at_least=float((path[0] + path[-1]) / 2), change=change)
    assert easy.reached and "Nothing is certified of a larger change" in easy.sentence
    between = model.recourse(row, at_least=float((path.max() + path[-1]) / 2), change=change)
    assert not between.reached and between.sentence.startswith("It is not certified that such a change is enough")
    never = model.recourse(row, at_least=float(path[-1] + 9), change=change)
    assert not never.reached and never.sentence.startswith("No such change is enough")


# ---- exported graphs ------------------------------------------------------------------------------------------------


def exported(model, path):
    from smilenn.export.onnx_file import export_onnx
    from smilenn.export.verify import feed, session

    export_onnx(model, path, rows=300)
    opened = session(path.read_bytes())
    return lambda frame: opened.run(None, feed(opened, frame))[0].ravel()


@pytest.mark.parametrize("names", [("_1", "_2"), ("_5", "_15"), ("income", "logit")])
def test_columns_with_names_of_a_graph_s_own_values(names, tmp_path):
    frame, y = hill()
    frame.columns = list(names)
    model = SmileRegressor(increasing=[names[1]], **QUICK).fit(frame, y)
    assert (exported(model, tmp_path / "m.onnx")(frame) == model.predict(frame)).all()


def test_a_column_with_the_name_of_a_graph_s_output_is_refused(tmp_path):
    frame, y = hill()
    frame.columns = ["prediction", "age"]
    model = SmileRegressor(increasing=["age"], **QUICK).fit(frame, y)
    with pytest.raises(SmileError, match="'prediction', as a column of the model is"):
        exported(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_an_empty_category_is_not_a_missing_cell(tmp_path):
    """A missing cell was predicted as the category '' instead of the value that fills it."""
    frame, y = hill()
    frame["kind"] = np.where(frame.age > 0.5, "", "x").astype(object)
    frame.loc[3, "kind"] = None
    with pytest.warns(UserWarning, match="holds '' in .* cells, which is a value"):
        model = SmileRegressor(increasing=["age"], missing="fill", **QUICK).fit(frame, y)
    with pytest.raises(SmileError, match="'kind' has the empty text as a category"):
        exported(model, tmp_path / "m.onnx")


@pytest.mark.parametrize("labels", [("", "x"), (-(2**63), 5)])
def test_a_class_is_not_the_mark_of_refused_rows(labels, tmp_path):
    frame, y = hill()
    model = SmileClassifier(increasing=["age"], **QUICK).fit(frame, np.array(labels)[(y > 3).astype(int)])
    with pytest.raises(SmileError, match="as a graph calls rows that it refuses"):
        exported(model, tmp_path / "m.onnx")


def test_a_graph_that_predicts_nothing_does_not_agree(tmp_path, monkeypatch):
    """NaN exceeds no difference, so a graph of nothing but NaN had 'the same bits'."""
    from smilenn.export import cells

    frame, y = hill()
    frame["kind"] = np.where(frame.age > 0.5, "a", "b")
    model = SmileRegressor(increasing=["age"], **QUICK).fit(frame, y)
    texts = cells._texts

    def forgetful(graph, feature, fill):
        from dataclasses import replace

        return texts(graph, replace(feature, categories=tuple(name + "?" for name in feature.categories)), fill)

    monkeypatch.setattr(cells, "_texts", forgetful)
    with pytest.raises(SmileError, match="refuse different rows, [0-9]+ of them"):
        exported(model, tmp_path / "m.onnx")


def test_classes_that_are_floats_are_decided_alike(tmp_path):
    from smilenn.export.onnx_file import export_onnx

    frame, y = hill()
    model = SmileClassifier(increasing=["age"], **QUICK).fit(frame, (y > 3).astype(float))
    assert export_onnx(model, tmp_path / "m.onnx", rows=300).agreement.decisions == 0


# ---- the service ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two models with the same columns, in another order."""
    place = tmp_path_factory.mktemp("served")
    frame, y = hill()
    SmileRegressor(increasing=["age"], **QUICK).fit(frame, y).save(place / "one")
    SmileRegressor(increasing=["age"], **QUICK).fit(frame[["age", "income"]], 100 + y).save(place / "two")
    return place


@pytest.fixture(scope="module")
def two(folders):
    from smilenn.service.served import Served

    return Served.load(folders / "one"), Served.load(folders / "two")


def test_a_row_is_read_and_predicted_by_one_model(two):
    """Model and batcher were exchanged one after the other: one model read a row that the other one predicted."""
    from smilenn.service.app import Limits, Service

    class Watched(Service):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if {"_now"} <= vars(self).keys() or {"served", "batcher"} <= vars(self).keys():
                assert self.batcher._predict.__self__ is self.served  # whenever another thread might look

    service = Watched(two[0], Limits())
    service.replace(two[1])
    assert service.served is two[1]


def test_a_page_that_outlives_its_model_states_no_verdict(two):
    from fastapi.testclient import TestClient

    from smilenn.service.app import Limits, Service, application

    with TestClient(application(Service(two[0], Limits()))) as client:
        assert client.get("/certificate").json()["certified"] is True
        assert "certified, checked" not in client.get("/openapi.json").text


def test_a_folder_exchanged_while_it_is_loaded_is_not_served_under_its_old_name(folders, tmp_path, monkeypatch):
    import shutil

    from smilenn.service import served

    shutil.copytree(folders / "one", tmp_path / "m")

    def slow(folder):
        shutil.rmtree(folder)
        shutil.copytree(folders / "two", folder)
        return smilenn.load(folder)

    monkeypatch.setattr(served, "load", slow)
    with pytest.raises(AlteredError, match="changed while it was read"):
        served.Served.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/predict", '{"rows": [{"income": 1, "age": 0.1, "age": 0.9}]}', "'age' stands twice"),
        ("/predict", '{"rows": [], "rows": [{"income": 1, "age": 0.1}]}', "'rows' stands twice"),
        ("/predict", '{"rows": [{"income": 1, "age": "\\ud800"}]}', "no Unicode"),
        ("/near", '{"row": {"income": 1, "age": 0.1}, "number": "0"}', "no rule '0'"),
        ("/near", '{"row": {"income": 1, "age": 0.1}, "number": 0.0}', "no rule 0.0"),
        ("/near", '{"row": {"income": 1, "age": 0.1}, "number": null}', "no rule None"),
    ],
)
def test_ambiguous_and_broken_requests_get_one_sentence(two, path, body, says):
    from fastapi.testclient import TestClient

    from smilenn.service.app import Limits, Service, application

    with TestClient(application(Service(two[0], Limits()))) as client:
        found = client.post(path, content=body)
    assert found.status_code == 422 and says in found.json()["detail"]
