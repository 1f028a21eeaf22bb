"""Exported models of many kinds agree with `predict` in onnxruntime: bit for bit where that is promised."""

import json
from functools import cache

import numpy as np
import onnx
import pandas as pd
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import smilenn
from smilenn import Columns, Config, Convex, Fair, Lipschitz, Monotone, Network, Robust, SmileClassifier, SmileRegressor
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.export import onnx_file
from smilenn.export.graph import Graph
from smilenn.export.layers import _trees
from smilenn.export.margin import NONE, is_exact, margins
from smilenn.export.odd import odd_rows, wanted
from smilenn.export.onnx_file import export_onnx
from smilenn.export.verify import feed, sampled, session
from smilenn.model.encoders.trees import Trees

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = {"config": Config(epochs=6), "random_state": 0}


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 100, n),
            "debt": rng.uniform(0, 50, n),
            "years": rng.integers(0, 30, n),
            "member": rng.integers(0, 2, n),
            "region": rng.choice(["north", "south", "east"], n),
            "race": rng.choice(["a", "b"], n),
        }
    )
    score = 0.05 * frame["income"] - 0.04 * frame["debt"] + 0.05 * frame["years"] + (frame["region"] == "east")
    return frame, score + rng.normal(0, 0.3, n)


@cache
def ensemble():
    frame, y = table()
    return SmileRegressor(increasing=["income"], decreasing=["debt"], **QUICK).fit(frame, y), True


@cache
def classes():
    frame, y = table()
    rules = [Monotone(increasing=["income"]), Fair(["race"], eps=0.5)]
    labels = np.where(y > y.median(), "yes", "no")
    return SmileClassifier(properties=rules, missing="fill", **QUICK).fit(frame, labels), True


def several_classes():
    frame, y = table()
    codes = np.digitize(y, y.quantile([0.3, 0.7]))
    rule = Monotone(increasing=["income"], output="2")
    return SmileClassifier(properties=[rule], **QUICK).fit(frame, codes), None


def labels():
    frame, y = table()
    both = np.stack([y > 1, y > 2], axis=1).astype(int)
    return SmileClassifier(properties=[Monotone(increasing=["income"], output="y1")], **QUICK).fit(frame, both), None


def several_numbers():
    frame, y = table()
    both = pd.DataFrame({"first": y, "second": -2 * y + frame["debt"]})
    return SmileRegressor(properties=[Monotone(increasing=["income"], output="first")], **QUICK).fit(frame, both), None


def papers():
    frame, y = table()
    network = Network(encoder="none", hidden=6, backbone_sizes=(8,))
    return SmileRegressor(properties=[Fair(["race"], eps=1.0)], network=network, **QUICK).fit(frame, y), None


def curved():
    frame, y = table()
    rules = [Convex(["debt"]), Monotone(increasing=["income"])]
    return SmileRegressor(properties=rules, **QUICK).fit(frame[["income", "debt", "years"]], y), None


def lipschitz():
    frame, y = table()
    return SmileRegressor(properties=[Lipschitz("income", 0.5)], **QUICK).fit(frame[["income", "debt"]], y), None


def one_hot():
    frame, y = table()
    wide = pd.concat([frame[["income", "years"]], pd.get_dummies(frame["region"], dtype=int)], axis=1)
    domain = Columns(groups={"region": ["east", "north", "south"]})
    return SmileRegressor(increasing=["income"], domain=domain, **QUICK).fit(wide, y), True


def distances():
    from sklearn.datasets import load_digits

    data = load_digits()
    x, y = data.data[:300] / 16, data.target[:300]
    return SmileClassifier(properties=[Robust(0.05)], **QUICK).fit(x, y), None


def contractions():
    from sklearn.datasets import load_iris

    data = load_iris()
    # its recipe has constants of its own
    return SmileClassifier(properties=[Robust(0.1, norm=2)], random_state=0).fit(data.data, data.target), None


MODELS = [
    ensemble,
    classes,
    several_classes,
    labels,
    several_numbers,
    papers,
    curved,
    lipschitz,
    one_hot,
    distances,
    contractions,
]


@pytest.mark.parametrize("rows", [40, *(pytest.param(n, marks=pytest.mark.slow) for n in (120, 1500))])
@pytest.mark.parametrize("made", MODELS, ids=lambda made: made.__name__)
def test_both_agree(made, rows, tmp_path):
    model, exact = made()
    path = tmp_path / "model.onnx"
    rows = max(600, rows) if made is ensemble else rows
    found = export_onnx(model, path, rows=rows)
    assert exact is None or is_exact(model.net_) is exact
    assert found.agreement.outputs <= (0.0 if is_exact(model.net_) else 1e-4) and found.agreement.odd == min(200, rows)
    assert found.agreement.probability < 1e-6 and found.agreement.decisions == 0
    opened = session(path.read_bytes())
    assert [column.name for column in opened.get_inputs()] == list(model.domain_.columns)
    assert all(column.shape[1] == 1 for column in opened.get_inputs())
    assert opened.get_outputs()[0].name == "prediction"
    frame = model.domain_.decode(model.domain_.sample(30, np.random.default_rng(5)))
    answer, wanted = opened.run(None, feed(opened, frame))[0], model.predict(frame)
    if isinstance(model, SmileClassifier):
        assert answer.reshape(wanted.shape).astype(str).tolist() == wanted.astype(str).tolist()
    else:
        np.testing.assert_allclose(answer.reshape(wanted.shape), wanted, atol=1e-4)
    facts = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert facts["agreement"] == found.agreement.sentence() and facts["promise"]
    sure = model.certificate_ is not None and model.certificate_.accepted
    assert facts["rules"] == (" ".join(model.certificate_.sentences) if sure else "")
    assert ("not part of the promise" in facts["outputs"]) is isinstance(model, SmileClassifier)
    if not model.net_.collapsed:
        assert facts["margin"] == NONE
    else:
        assert all(0 <= e < 1e-8 for e in json.loads(facts["margin"])) and (facts["margin"] == "[0.0]") <= is_exact(
            model.net_
        )
        assert found.agreement.outputs <= 2 * max(json.loads(facts["margin"]))
    if model.certificate_ is not None and model.certificate_.accepted:
        assert facts["certificate"] == model.certificate_.sha256


@pytest.fixture(scope="module")
def filled():
    return classes()[0]


@pytest.fixture(scope="module")
def plain():
    return ensemble()[0]


def run(model, frame, tmp_path):
    path = tmp_path / "m.onnx"
    export_onnx(model, path, rows=50)
    opened = session(path.read_bytes())
    return opened.run(None, feed(opened, frame))


def test_missing_cells_are_filled_alike(filled, tmp_path):
    frame = table(20, seed=3)[0].astype({"years": float, "member": float})
    for k, name in enumerate(frame.columns):
        frame[name] = frame[name].astype(object)
        frame.loc[k, name] = np.nan
    frame = frame.infer_objects()
    label, sure, _ = run(filled, frame, tmp_path)
    assert label[:, 0].tolist() == filled.predict(frame).tolist()
    np.testing.assert_allclose(sure, filled.predict_proba(frame), atol=1e-12)


def test_rows_outside_the_domain_are_moved_alike_and_bad_ones_are_no_number(plain, tmp_path):
    frame = table(6, seed=4)[0]
    frame.loc[0, "income"] = 1e6
    frame.loc[1, "years"] = -40
    wanted = plain.predict(frame)
    frame.loc[2, "region"] = "west"
    frame.loc[3, "debt"] = np.nan
    frame.loc[4, "member"] = 7
    found = run(plain, frame, tmp_path)[0][:, 0]
    assert found[[0, 1, 5]].tolist() == wanted[[0, 1, 5]].tolist() and np.isnan(found[[2, 3, 4]]).all()


def test_a_model_that_moves_no_rows_predicts_nothing_outside(tmp_path):
    frame, y = table()
    model = SmileRegressor(increasing=["income"], out_of_bounds="raise", **QUICK).fit(frame[["income", "region"]], y)
    rows = frame[["income", "region"]].iloc[:2].copy()
    rows.iloc[0, 0] = 1e6
    found = run(model, rows, tmp_path)[0][:, 0]
    assert np.isnan(found[0]) and found[1] == model.predict(rows.iloc[1:])[0]


def test_trees_of_one_leaf_and_sets_are_walked_alike():
    leaf, stump = ([-1], [2.5]), ([0, -1, -1], [0.5, 1 / 3, -2.0])
    deep = ([1, 3, -1, -1, 0, -1, 2, -1, -1], [0.25, 0.5, 1.0, 2.0, 0.75, 3.0, 0.1, 4.0, 5.0])
    layer = Trees.of(3, [[leaf, stump], [deep]], bias=[0.1, -0.7], sets=[[0, 2]])
    graph = Graph()
    graph.inputs.append(graph.onnx.helper.make_tensor_value_info("y", 11, ["n", 3]))
    out = graph.named(_trees(graph, layer, "y"), "out")
    opened = session(graph.model([(out, "double", 2)], {}).SerializeToString())
    values = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
    grid = np.array(np.meshgrid(values, values, values)).reshape(3, -1).T
    for y in (grid, np.nextafter(grid, 9), np.nextafter(grid, -9)):
        assert opened.run(None, {"y": y})[0].tolist() == layer(torch.tensor(y)).tolist()


def test_what_cannot_be_exported_is_named_and_nothing_is_written(tmp_path):
    frame, y = table()
    numbers = frame[["income", "debt"]]
    network = Network(encoder="none", backbone=lambda m, n: nn.Sequential(nn.Linear(m, 4), nn.GELU(), nn.Linear(4, n)))
    model = SmileRegressor(properties=[Robust(1.0, eps=5.0)], network=network, **QUICK).fit(numbers, y)
    if model.net_.collapsed:
        pytest.skip("the backbone plays no part here")
    with pytest.raises(SmileError, match="a layer GELU, which cannot be exported"):
        export_onnx(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_runtime_that_differs_is_an_error(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_file, "compare", lambda *_: onnx_file.Agreement(1, 1e-12, 0.0, 0))
    with pytest.raises(SmileError, match="differs from the model by 1e-12"):
        export_onnx(plain, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_the_margin_is_the_checkers_and_is_the_limit(tmp_path, monkeypatch):
    model = lipschitz()[0]
    (margin,) = margins(model.net_)
    row = model.certificate_.report.claims[0].rows[0]
    assert 0 < margin <= float(row.margin) <= 4 * margin * (1 + 1e-9)  # of two outputs, the room of their weights
    monkeypatch.setattr(onnx_file, "compare", lambda *_: onnx_file.Agreement(1, 2.1 * margin, 0.0, 0))
    with pytest.raises(SmileError, match="differs from the model by"):
        export_onnx(model, tmp_path / "m.onnx")
    monkeypatch.setattr(onnx_file, "compare", lambda *_: onnx_file.Agreement(1, 1.9 * margin, 0.0, 0))
    export_onnx(model, tmp_path / "m.onnx")


def test_odd_rows_are_moved_filled_or_refused(filled, plain):
    for model, refused in ((filled, 0.4), (plain, 0.7)):
        found = wanted(model, odd_rows(model, 60, np.random.default_rng(0)))
        assert 0 < np.isnan(found).mean() < refused


def test_compared_rows_lie_at_thresholds(plain):
    x = sampled(plain, 3000, np.random.default_rng(0))
    assert plain.domain_.contains(x).all()
    income = x[:, plain.domain_.slices["income"].start]
    assert len(np.unique(income[1000:2000])) < 990 and len(np.unique(income[:1000])) == 1000


def test_the_command(plain, tmp_path):
    plain.save(tmp_path / "model")
    done = CliRunner().invoke(
        app, ["export", str(tmp_path / "model"), "--onnx", str(tmp_path / "m.onnx"), "--rows", "200"]
    )
    assert done.exit_code == 0 and "the same bits" in done.output and (tmp_path / "m.onnx").exists()
    before = (tmp_path / "m.onnx").read_bytes()
    again = ["export", str(tmp_path / "model"), "--onnx", str(tmp_path / "m.onnx"), "--rows", "100"]
    refused = CliRunner().invoke(app, again)
    assert refused.exit_code == 2 and "exists; choose another name, or add --overwrite" in refused.output
    assert (tmp_path / "m.onnx").read_bytes() == before
    assert CliRunner().invoke(app, [*again, "--overwrite"]).exit_code == 0
    assert (tmp_path / "m.onnx").read_bytes() != before
    bad = CliRunner().invoke(app, ["export", str(tmp_path / "none"), "--onnx", str(tmp_path / "n.onnx")])
    assert bad.exit_code == 2 and "There is no model folder" in bad.output
    assert smilenn.load(tmp_path / "model").certificate_ is not None
