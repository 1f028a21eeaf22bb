"""What a verdict is bound to: the weights and the claims it was reached on, and the columns that properties meant."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

import smilenn
from smilenn import Columns, Monotone, Network, SmileRegressor
from smilenn.domain import Domain, Feature
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import _digest, dump_json
from smilenn.train.config import Config
from smilenn.verdict import Proved

pytestmark = pytest.mark.usefixtures("quick_module")

FAST = Config(pretrain_epochs=40, epochs=20)


def fitted(**options):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(80), "z": rng.random(80)})
    options = {
        "increasing": ["x"],
        "random_state": 0,
        "network": Network(hidden=4, embedding=2, members=2),
        "config": FAST,
    } | options
    return SmileRegressor(**options).fit(X, 2 * X["x"].to_numpy() + 0.1 * rng.normal(size=80)), X


@pytest.fixture(scope="module")
def model():
    reg, _ = fitted()
    assert isinstance(reg.verdict_, Proved)
    return reg


def edit(folder, name, change):
    """Change a JSON file of a model folder and make the manifest agree with it again."""
    document = json.loads((folder / name).read_text())
    change(document)
    data = dump_json(document)
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    del manifest["digest"]
    (folder / "manifest.json").write_bytes(dump_json({**manifest, "digest": _digest(manifest)}))


def test_a_verdict_survives_saving_with_what_it_is_about(model, tmp_path):
    model.save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    assert again.verdict_.weights == model.verdict_.weights == model.net_.snapshot().digest
    assert again.verdict_.claims == model.verdict_.claims and len(again.verdict_.claims) == 1


def test_claims_or_properties_changed_in_the_folder_do_not_keep_the_verdict(model, tmp_path):
    def reverse(document):
        for term in document["claims"][0]["when"][0]["terms"]:
            term[0] = str(-int(term[0]))

    def resay(document):
        document["claims"][0]["sentence"] = "The output is fair."

    def restate(document):
        document["properties"][0] |= {"increasing": [], "decreasing": ["x"]}

    def rename(document):
        document["params"] |= {"increasing": [], "decreasing": ["x"]}

    model.save(tmp_path / "m")
    for name, change in (
        ("properties.json", reverse),
        ("model.json", rename),
    ):
        shutil.copytree(tmp_path / "m", tmp_path / change.__name__)
        edit(tmp_path / change.__name__, name, change)
        with pytest.raises(AlteredError):
            smilenn.load(tmp_path / change.__name__)
    # a sentence proves nothing: it is kept as a comment, and what is certified is said from the rows
    shutil.copytree(tmp_path / "m", tmp_path / "resay")
    edit(tmp_path / "resay", "properties.json", resay)
    statement = smilenn.load(tmp_path / "resay").certificate_.statement
    assert '  comment (not checked): "The output is fair."' in statement.splitlines()
    before = smilenn.load(tmp_path / "m").certificate_.statement
    assert [line for line in statement.splitlines() if "is fair" not in line] == before.splitlines()
    listed, _ = fitted(increasing=(), properties=[Monotone(increasing=["x"])])
    listed.save(tmp_path / "listed")
    edit(tmp_path / "listed", "properties.json", restate)
    with pytest.raises(AlteredError, match="not its claims"):
        smilenn.load(tmp_path / "listed")


def test_weights_changed_after_the_proof_are_not_saved_as_proved(tmp_path):
    reg, _ = fitted()
    with torch.no_grad():
        reg.net_.head_weight.mul_(-1)
    with pytest.raises(SmileError, match="changed after its verdict"):
        reg.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    reg.verdict_ = smilenn.prove(reg)
    assert reg.verdict_.status == "violated"
    reg.save(tmp_path / "m")
    assert smilenn.load(tmp_path / "m").verdict_.status == "violated"


def test_a_verdict_on_other_claims_is_not_saved_as_theirs(model, tmp_path):
    reg, _ = fitted()
    reg.verdict_ = smilenn.prove(reg, [Monotone(increasing=["x"]), Monotone(increasing=["x"])])
    with pytest.raises(SmileError, match="other claims"):
        reg.save(tmp_path / "m")
    reg.verdict_ = Proved("by decree", 0.0, 0.0, 1e-9)
    with pytest.raises(SmileError, match="changed after its verdict"):
        reg.save(tmp_path / "m")


# ---- positions ------------------------------------------------------------------------------------------------------


def scattered():
    """Columns p, x, z, q, where p and q are one group: the domain keeps them together, the data does not."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 80)
    return np.stack([group == 0, rng.random(80), rng.random(80), group == 1], axis=1).astype(float)


def test_positions_are_those_of_the_data(tmp_path):
    A = scattered()
    frame = pd.DataFrame(A, columns=["p", "x", "z", "q"])
    y = A[:, 2] * 2 + A[:, 0]
    options = {
        "random_state": 0,
        "network": Network(hidden=4, embedding=2, members=2),
        "config": FAST,
        "increasing": [2],
    }
    by_name = SmileRegressor(domain=Columns(groups={"g": ["p", "q"]}), **options).fit(frame, y)
    assert by_name.domain_.columns == ("p", "q", "x", "z")
    assert by_name.claims_[0].named == {"z"}
    assert by_name.predict(A) == pytest.approx(by_name.predict(frame), abs=0)
    by_place = SmileRegressor(domain=Columns(groups={"g": ["x3", "x0"]}), **options).fit(A, y)
    assert by_place.claims_[0].named == {"x2"}
    assert by_place.lower([Monotone(decreasing=[1])])[0].named == {"x1"}
    by_place.save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    assert again.predict(A) == pytest.approx(by_place.predict(A), abs=0)
    named = pd.DataFrame(A, columns=["x0", "x1", "x2", "x3"])
    assert again.predict(named[["x3", "x2", "x1", "x0"]]) == pytest.approx(by_place.predict(A), abs=0)


def test_with_a_domain_of_the_users_own_arrays_follow_the_domain():
    domain = Domain((Feature("z"), Feature("x")))
    A = np.random.default_rng(0).random((80, 2))
    options = {
        "random_state": 0,
        "network": Network(hidden=4, embedding=2, members=2),
        "config": FAST,
        "increasing": [1],
        "domain": domain,
    }
    reg = SmileRegressor(**options).fit(A, A[:, 1])
    assert reg.claims_[0].named == {"x"} and reg.columns_ == ("z", "x")
    frame = pd.DataFrame(A, columns=["z", "x"])
    assert reg.predict(frame[["x", "z"]]) == pytest.approx(reg.predict(A), abs=0)
    swapped = SmileRegressor(**options).fit(frame[["x", "z"]], A[:, 1])
    assert swapped.claims_[0].named == {"z"}  # position 1 of this frame
