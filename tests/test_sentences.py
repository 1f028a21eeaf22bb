"""Errors by their words, part by part, where no other test comes across them; and that none is left out."""

import ast
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from torch import nn

from smilenn import Config, Domain, Exclusive, Feature, Network, SmileError, SmileRegressor, Unknown
from smilenn.baselines.lipschitz_residual import LipschitzResidual
from smilenn.baselines.monotone_weights import monotone_net
from smilenn.baselines.pgd import pgd_margin
from smilenn.baselines.symbolic import symbolic
from smilenn.datasets import DataError, Dataset, compas, crime, fetch_mnist, law, split
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.experiments.study import select
from smilenn.model import folder
from smilenn.model.backbones import MLP
from smilenn.model.bundle import rebuild_net, save_net
from smilenn.model.clamp import _values
from smilenn.model.encoders import Branch, Encoder, Kinks, Linear
from smilenn.model.encoders.pinned import Pinned
from smilenn.model.folder import dump_json, parse_json, read_folder, write_folder
from smilenn.model.net import SmileNet
from smilenn.properties.alternatives import OneOf
from smilenn.properties.forms import Outputs
from smilenn.properties.local import LocalRobust
from smilenn.properties.rational import exact
from smilenn.reason import told
from smilenn.report.model import rows_of

ROOT = Path(__file__).parents[1]
TWO = Domain.box([0.0, 0.0], [1.0, 1.0])


def net():
    return SmileNet(TWO, MLP(2, (3,), 2).double(), 2, hidden=2)


def negative():
    out = net()
    out.gap.const.data -= 1.0
    return out


def data(**columns):
    return pd.DataFrame({"x": [0.5, 1.5, 2.5], **columns})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LipschitzResidual([1], (3,), 1.0), "Units are sorted in pairs: give even sizes, not [3]."),
        (lambda: monotone_net([1, 2], (4,)), "Signs are −1 (falling), 0 (free) or 1 (rising), not [2]."),
        (lambda: pgd_margin(lambda x: x, np.zeros((1, 1)), np.zeros(1), -1.0), "steps ≥ 1, restarts ≥ 1 and delta ≥ 0"),
        (
            lambda: symbolic([nn.Tanh()], torch.zeros(1, 2), torch.ones(1, 2)),
            "Symbolic bounds know linear and ReLU layers, not Tanh.",
        ),
        (lambda: Domain.box([0], [1, 2]), "Got 1 lower bounds, 2 upper bounds and 1 names; match them."),
        (lambda: Domain.from_data(data(), scaling="log"), "scaling is 'log'; choose 'unit', 'standard' or 'none'."),
        (lambda: Domain.from_data(data(), bounds={"x": 3}), "bounds gives 3 for 'x'; give a pair (lo, hi)."),
        (
            lambda: Domain.from_data(data(), kinds={"x": "integer"}),
            "Row 0, column 'x' holds 0.5 but the column is declared integer.",
        ),
        (
            lambda: Domain.from_data(data(g=list("abc")), kinds={"g": "binary"}),
            "Column 'g' is declared binary but has 3 values; declare a category.",
        ),
        (
            lambda: Domain((Feature("day"),)).encode(data(day=pd.to_datetime(["2020-01-01"] * 3))),
            "Column 'day' holds dates or durations; turn it into numbers, such as days, first.",
        ),
        (lambda: Feature("x", "continuous", 2, 1), "Feature 'x' has lo = 2 above hi = 1; swap the two."),
        (lambda: Feature("x", "integer", 0, 1.5), "Integer feature 'x' needs whole bounds, not [0, 1.5]."),
        (
            lambda: Feature("x", "continuous", 0, 1, categories=("a",)),
            "Feature 'x' is continuous but lists categories; make it a category.",
        ),
        (lambda: Feature("g", "category"), "Category 'g' has no categories; list its values."),
        (lambda: Feature("g", "category", categories=("a", "a")), "Feature 'g' lists a category twice: 'a', 'a'."),
        (lambda: exact("1" * 401), "A number longer than 400 characters was given; shorten it."),
        (lambda: fetch_mnist("all"), "MNIST has no part 'all'; choose 'train' or 'test'."),
        (
            lambda: split(Dataset("two", data().iloc[:2], pd.Series([1.0, 2.0]), "regression"), seed=0),
            "Data set 'two' has 2 rows, too few to hold back a share of 0.2.",
        ),
        (
            lambda: Encoder(TWO, [Branch("a", [0], [Linear(1, 1)]), Branch("b", [1], [Linear(1, 1)])], groups=3),
            "An ensemble of 2 branches has no 3 equal groups.",
        ),
        (lambda: negative().snapshot(), "The gap has negative weights; call project_() after every optimiser step."),
        (lambda: Kinks(3, 4), "A layer of 3 units cannot have 4 convex ones."),
        (lambda: Pinned(nn.Linear(2, 3), 4)(torch.zeros(5, 2)), "encoder returned shape (5, 3); expected (5, 4)."),
        (lambda: net().set_profile("dyadic", 60), "Profile 'dyadic' does not go with the grid 2^-60."),
        (lambda: net().set_profile("f64-aux", 3), "Profile 'f64-aux' does not go with the grid 2^-3."),
        (
            lambda: SmileNet(TWO, nn.Linear(2, 3).double(), 2)(torch.zeros(5, 2)),
            "The backbone returned shape (5, 3); expected (5, 2).",
        ),
        (lambda: rebuild_net({"domain": {}}, where="model.json"), "describes a network by 'domain'; expected "),
        (
            lambda: _values(Domain((Feature("n", "integer", 0, 10**6),)), ["n"]),
            "combinations of values; protect fewer.",
        ),
        (lambda: exact(10**301), "A number beyond 1e300 was given; choose other units."),
        (lambda: Exclusive("a", "b", outputs=["a", "b"]), "give the labels themselves or outputs=[…], not both."),
        (
            lambda: OneOf(["a", "b"]).lower(TWO, Outputs(("a", "b"), ("a", "b"))),
            "OneOf names every class there is: nothing would be claimed.",
        ),
        (
            lambda: LocalRobust([{"x": 1}, 3], delta=0.5, eps=1),
            "LocalRobust: point 2 is 3; give a dictionary feature → value.",
        ),
        (lambda: Config().replace(epoch=3), "Config has no constant 'epoch'; it has "),
        (lambda: select([{"model": "a"}], ["model"]), "--only takes KEY=VALUE, such as model=default, not 'model'."),
        (
            lambda: SmileRegressor(network=Network(encoder="image")).fit(data(), [0, 1, 2]),
            "Network(encoder='image') is for classifiers whose only properties are Robust ones that move every pixel",
        ),
    ],
)
def test_sentences(make, message):
    with pytest.raises(SmileError) as caught:
        make()
    assert message in str(caught.value)


def test_targets_and_columns():
    with pytest.raises(TypeError, match=re.escape("Sparse targets are not supported; pass y.toarray().")):
        SmileRegressor().fit(data(), sparse.csr_matrix(np.eye(3)))
    quick = Config(pretrain_epochs=1, epochs=1, posttrain_rounds=0, least_quality=0.0)
    model = SmileRegressor(config=quick, network=Network(hidden=2, backbone_sizes=(2,)), random_state=0).fit(
        data(), [1.0, 2, 3]
    )
    with pytest.raises(SmileError, match="X has 3 features, but SmileRegressor is expecting 1 features as input"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(SmileError, match="The target has 2 columns; the model predicts 1"):
        rows_of(model, data(), np.ones((3, 2)))


def test_a_verdict_is_not_yes_or_no():
    with pytest.raises(TypeError, match="A verdict has more than two values; compare verdict.status or use isinstance"):
        bool(Unknown("none", 1.0, 0.0, told("too little time")))


def test_snapshots_have_the_shapes_they_say():
    import dataclasses

    snapshot = net().snapshot()
    with pytest.raises(SmileError, match=r"head_bias must be float64 of shape \(1,\), not float64 of \(2,\)"):
        dataclasses.replace(snapshot, head_bias=np.zeros(2))


def test_folders_that_hold_something_else(tmp_path):
    save_net(tmp_path / "m", net())
    with pytest.raises(SmileError, match="holds no ClampedRegressor; load what was saved as one"):
        ClampedRegressor.load(tmp_path / "m", None)
    from smilenn.model.bundle import load_net

    files = read_folder(tmp_path / "m")
    model = parse_json(files["model.json"], "model.json")
    model["net"]["backbone"]["inputs"] = 3
    newer = json.loads((tmp_path / "m" / "manifest.json").read_text()) | {"version": 99}
    newer["digest"] = folder._digest(newer)
    shutil.copytree(tmp_path / "m", tmp_path / "newer")
    (tmp_path / "newer" / "manifest.json").write_text(json.dumps(newer))
    with pytest.raises(SmileError, match="has format version 99; this smilenn .* reads versions 1 and 2: use the"):
        load_net(tmp_path / "newer")
    write_folder(tmp_path / "other", files | {"model.json": dump_json(model)})
    with pytest.raises(SmileError, match="describes a backbone for other inputs than its domain; save it again"):
        load_net(tmp_path / "other")


@pytest.mark.parametrize(
    ("module", "fetch", "file", "said"),
    [
        (compas, compas.fetch_compas, compas.FILE.path, "positives and 0 gaps instead of"),
        (law, lambda: law.fetch_law("bar"), law.BAR.path, "positives and 0 gaps instead of"),
        (crime, crime.fetch_crime, crime.FILE.path, "values instead of"),
    ],
)
def test_a_verified_file_that_reads_otherwise(module, fetch, file, said, need_data, monkeypatch):
    need_data(file)
    monkeypatch.setattr(module, "ROWS", 1)
    with pytest.raises(DataError, match=f"{said}.*; please report this"):
        fetch()


# ---- none is left out -----------------------------------------------------------------------------------------------


def sentences(node):
    """The constant parts of a message."""
    match node:
        case ast.Constant(value=str(words)):
            return [words]
        case ast.JoinedStr(values=values):
            return [part.value for part in values if isinstance(part, ast.Constant)]
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return sentences(left) + sentences(right)
        case ast.Call(args=arguments):
            return [words for argument in arguments for words in sentences(argument)]
    return []


def words_of(text):
    return re.sub(r"[^a-zA-Z0-9]+", " ", text).strip().lower()


@pytest.mark.slow
def test_every_error_is_tested_by_some_of_its_words():
    """Three words in a row of every message stand in a test; the checkers' refusals have a suite of their own."""
    told = words_of("\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")))
    left = []
    for path in sorted((ROOT / "src" / "smilenn").rglob("*.py")):
        if path.parent.name == "certify":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            kind = getattr(node.exc.func, "id", "")
            if kind in ("AttributeError", "AssertionError", "ValueError"):  # caught inside, or Python's own protocol
                continue
            said = [words for argument in node.exc.args for words in sentences(argument)]
            runs = [w[i : i + 3] for w in (words_of(part).split() for part in said) for i in range(len(w) - 2)]
            if runs and not any(" ".join(run) in told for run in runs):
                left.append(f"{path.name}:{node.lineno}: {' … '.join(said)}")
    assert not left, "\n".join(left)
