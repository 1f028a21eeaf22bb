"""MLflow keeps models as folders: loaded in a fresh process they predict the same, altered ones are refused."""

import io
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.forked import forked
from tests.service.conftest import table

import smilenn
from smilenn import Network, SmileRegressor
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import read_folder, write_folder

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mlflow = pytest.importorskip("mlflow")
    import smilenn.mlflow

pytestmark = pytest.mark.filterwarnings("default")  # MLflow's own are not ours to fix

ALONE = """
import sys, warnings
warnings.simplefilter("ignore")
import mlflow.pyfunc, pandas as pd
model = mlflow.pyfunc.load_model(sys.argv[1])
print(model.predict(pd.read_csv(sys.argv[2])).to_csv(index=False), end="")
"""


def alone(folder, rows):
    return forked(ALONE, folder, rows)


@pytest.fixture(scope="module")
def saved(regressor_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow") / "saved"
    smilenn.mlflow.save_model(smilenn.load(regressor_folder), folder)
    return folder


def test_a_fresh_process_predicts_the_same_and_refuses_what_was_altered(saved, regressor_folder, tmp_path):
    rows = tmp_path / "rows.csv"
    table()[0].iloc[:20].to_csv(rows, index=False)
    code, said, errors = alone(saved, rows)
    assert code == 0, errors
    found = pd.read_csv(io.StringIO(said))
    wanted = smilenn.load(regressor_folder).predict(pd.read_csv(rows))
    assert found["prediction"].tolist() == wanted.tolist()
    assert not list(saved.rglob("*.pkl")) and not list(saved.rglob("*.pickle"))
    weights = saved / "data" / "smilenn" / "model" / "weights.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    try:
        with pytest.raises(AlteredError):
            mlflow.pyfunc.load_model(str(saved))
    finally:
        weights.write_bytes(data)


def test_the_estimator_itself_comes_back_with_its_verdict(saved):
    again = smilenn.mlflow.load_model(str(saved))
    assert again.certificate_ is not None and again.certificate_.accepted
    described = mlflow.models.Model.load(str(saved))
    assert described.metadata["certified"] is True
    assert described.metadata["certificate"] == again.certificate_.sha256
    names = [column.name for column in described.signature.inputs.inputs]
    assert tuple(names) == again.domain_.columns
    assert "Certified" in (saved / "data" / "smilenn" / "card.md").read_text()


def _without_certificate(data, other):
    """The same weights, unproved, with hashes that fit."""
    files = read_folder(data / "model")
    kept = {name: files[name] for name in files if not name.startswith("certificate")}
    shutil.rmtree(data / "model")
    write_folder(data / "model", {n: d for n, d in kept.items() if n != "manifest.json"})


def _another(data, other):
    shutil.rmtree(data / "model")
    shutil.copytree(other, data / "model")


def _other_words(data, other):
    said = (data / "statement.txt").read_text()
    (data / "statement.txt").write_text(said.replace("income", "debt"))


def _fewer_words(data, other):
    _without_certificate(data, other)
    (data / "statement.txt").unlink()


def _other_card(data, other):
    said = (data / "card.md").read_text()
    (data / "card.md").write_text(said.replace("not guaranteed", "guaranteed"))


def _no_card(data, other):
    (data / "card.md").unlink()


@pytest.mark.parametrize("change", [_without_certificate, _another, _other_words, _fewer_words, _other_card, _no_card])
def test_a_model_is_not_served_under_the_words_of_another(saved, classifier_folder, tmp_path, change):
    """Hashes of the folder fit, but it is not what the statement and MLmodel call certified."""
    shutil.copytree(saved, tmp_path / "saved")
    change(tmp_path / "saved" / "data" / "smilenn", classifier_folder)
    for load in (mlflow.pyfunc.load_model, smilenn.mlflow.load_model):
        with pytest.raises(AlteredError, match="log"):
            load(str(tmp_path / "saved"))


def test_nobody_notes_a_certificate_that_the_model_has_not(regressor_folder, tmp_path):
    model = smilenn.load(regressor_folder)
    smilenn.mlflow.save_model(model, tmp_path / "saved", metadata={"certificate": "none", "team": "credit"})
    noted = mlflow.models.Model.load(str(tmp_path / "saved")).metadata
    assert noted["certificate"] == model.certificate_.sha256 and noted["team"] == "credit"


def test_a_run_keeps_a_model_of_classes(classifier_folder, tmp_path, monkeypatch):
    monkeypatch.setenv(
        "MLFLOW_ALLOW_FILE_STORE", "true"
    )  # the database that MLflow prefers needs more than mlflow-skinny
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    model = smilenn.load(classifier_folder)
    with mlflow.start_run():
        logged = smilenn.mlflow.log_model(model, name="classes")
    found = mlflow.pyfunc.load_model(logged.model_uri).predict(table()[0].iloc[:10])
    assert found["prediction"].tolist() == model.predict(table()[0].iloc[:10]).tolist()


def test_other_models_are_refused(tmp_path):
    with pytest.raises(SmileError, match="saves smilenn's estimators, not a dict"):
        smilenn.mlflow.save_model({}, tmp_path / "x")  # type: ignore[arg-type]
    assert not Path(tmp_path / "x").exists()


def test_missing_numbers_ordered_names_dates_and_shares_are_columns_like_others(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": np.where(rng.random(60) < 0.3, np.nan, rng.uniform(0, 9, 60)),
            "children": pd.array([None, 1, 2] * 20, dtype="Int64"),
            "rating": pd.Categorical(rng.choice(["low", "high"], 60), categories=["low", "high"], ordered=True),
            "since": pd.Timestamp("2020-01-10") + pd.to_timedelta(rng.uniform(0, 90, 60), unit="D"),
            "share": [f"{value:.1f}%" for value in rng.uniform(0, 100, 60)],
        }
    )
    plain = Network(encoder="none", auxiliaries="constant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SmileRegressor(network=plain, time_limit=1).fit(frame, rng.uniform(size=60))
    smilenn.mlflow.save_model(model, tmp_path / "saved")  # its example fits its signature
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert loaded.metadata.get_input_schema().input_names() == list(frame.columns)
    rows = frame.assign(rating=frame["rating"].astype(str), children=frame["children"].astype(float))
    assert loaded.predict(rows)["prediction"].tolist() == model.predict(frame).tolist()
