"""Boxes with several hidden layers: certified rules hold whatever the backbone is, and folders that lie are refused."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

from smilenn import Bounded, Domain, Fair, Monotone, Network, Robust, SmileError, fit_deep, load_deep
from smilenn.auditing.network import DeepNet
from smilenn.certify import check_deep
from smilenn.certify.reference import deep as reference
from smilenn.cli import app
from smilenn.deep.certificate import certified_box
from smilenn.deep.ends import boxed_row, claimed_rows, ends_of, order_row
from smilenn.errors import AlteredError

EPS = 0.2


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.uniform(-2, 3, n), "b": rng.uniform(0, 10, n), "group": rng.integers(0, 2, n)})
    return frame, np.sin(frame["a"]) + 0.1 * frame["b"] + 0.8 * frame["group"]


@pytest.fixture(scope="module")
def fair():
    frame, y = table()
    return fit_deep(frame, y, Fair(["group"], EPS), hidden=(5, 4), backbone=(8,), epochs=40, time_limit=4.0)


class Wild(torch.nn.Module):
    """As far out as numbers go, one way or the other by what the protected column is."""

    def forward(self, u):
        return 1e300 * torch.sign(u[:, 2:] - 0.5)


def flipped(frame):
    return frame.assign(group=1 - frame["group"])


def test_the_rule_holds_with_any_backbone(fair):
    frame, _ = table(4000, seed=1)
    assert fair.box.report.status == "certified"
    assert fair.ends.sizes == (3, 5, 4, 2)
    wild = replace(fair, backbone=Wild())
    for model in (fair, wild):
        assert np.abs(model.values(frame) - model.values(flipped(frame))).max() <= EPS
    assert np.abs(wild.values(frame) - wild.values(flipped(frame))).max() > 0.6 * EPS  # the box is used
    assert np.var(fair.values(frame)) > 0.05  # and is no constant


def test_what_is_no_number_becomes_the_lower_end(fair):
    frame, _ = table(5)
    lower = fair.ends(fair.domain.encode(frame))[:, 0]
    broken = replace(fair, backbone=lambda u: torch.full((len(u), 1), float("nan"), dtype=torch.float64))
    assert (broken.values(frame) == lower).all()


def test_both_checkers_accept_the_folder_and_it_predicts_the_same(fair, tmp_path):
    frame, _ = table()
    fair.save(tmp_path / "model")
    fast, slow = (checker.check_folder(tmp_path / "model") for checker in (check_deep, reference))
    assert fast.status == slow.status == "certified"
    assert [r.computed for r in fast.rows] == [r.computed for r in slow.rows]
    assert (load_deep(tmp_path / "model").values(frame) == fair.values(frame)).all()


def test_robust_and_bounded_rules(tmp_path):
    frame, y = table(200)
    rules = [Robust(delta={"a": 0.1}, eps=0.5), Bounded(-1, 3)]
    model = fit_deep(frame, y, rules, hidden=(4, 4), backbone=(8,), epochs=15, time_limit=8.0)
    wild = replace(model, backbone=Wild())
    x, _ = table(3000, seed=2)
    near = x.assign(a=x["a"] + 0.099)
    for one in (model, wild):
        found = one.values(x)
        assert found.min() >= -1.0 and found.max() <= 3.0
        assert np.abs(found - one.values(near)).max() <= 0.5
    model.save(tmp_path / "model")
    assert load_deep(tmp_path / "model").properties == model.properties


def test_binary_tasks_give_labels():
    frame, y = table(200)
    label = (y > 1).astype(int)
    model = fit_deep(frame, label, Fair(["group"], 1), hidden=(4, 4), backbone=(8,), task="binary", epochs=15)
    assert set(model.predict(frame)) <= {0, 1}
    assert (model.predict(frame) == label).mean() > 0.7


def test_rows_about_a_model_bound_rows_about_its_ends():
    """Brute force: for random ends, backbones at either end never exceed the row about the ends, and one reaches it."""
    domain = Domain.box([-1, 0], [1, 4], names=["p", "q"])
    rows = claimed_rows([Fair(["p"], 1), Bounded(-9, 9)], domain)
    assert len(rows) == 3
    for seed in range(20):
        rng = np.random.default_rng(seed)
        layers = [(rng.normal(size=(3, 2)), rng.normal(size=3)), (rng.normal(size=(1, 3)), rng.normal(size=1))]
        net = ends_of(layers, 0.5, domain)
        for one in rows:
            boxed = boxed_row(one)
            x = np.stack([domain.sample(1, rng)[0] for _ in range(2)])
            points = [[Fraction(float(v)) for v in copy] for copy in x]
            outputs = [net.exactly(copy) for copy in points]
            (a,), (b,) = one.weights
            reached = max(a * f + b * g for f in outputs[0] for g in outputs[1])
            assert reached == boxed.left(outputs)


def test_a_centre_that_changes_too_much_is_shrunk():
    domain = Domain.box([-1, 0], [1, 4], names=["p", "q"])
    rows = claimed_rows([Fair(["p"], 1)], domain)
    steep = [(np.array([[3.0, 0.1], [1.0, 1.0]]), np.zeros(2)), (np.array([[4.0, 1.0]]), np.zeros(1))]
    box = certified_box(steep, 0.0, rows, domain, 4.0)
    assert box.report.status == "certified"
    assert box.shrunk < 0.2 and box.width > 0.1
    x = domain.sample(2000, np.random.default_rng(0))
    ends = box.ends(np.stack([x, np.stack([-x[:, 0], x[:, 1]], axis=1)]))
    assert (ends[0, :, 1] - ends[1, :, 0]).max() <= 1


def test_ends_in_the_wrong_order_are_not_certified():
    domain = Domain.box([-1, 0], [1, 4], names=["p", "q"])
    layers = [(np.ones((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    order = order_row(domain)
    for width, holds in ((0.1, True), (-0.1, False)):
        net: DeepNet = ends_of(layers, width, domain)
        x = np.zeros((2, 2))
        assert (order.exact_value(net, x) <= 0) == holds


def test_folders_that_lie_are_refused(fair, tmp_path):
    good = tmp_path / "good"
    fair.save(good)

    def spoiled(name, change):
        folder = tmp_path / name
        shutil.copytree(good, folder)
        change(folder)
        return folder

    def edit(file, change):
        def apply(folder):
            content = json.loads((folder / file).read_text())
            change(content)
            (folder / file).write_text(json.dumps(content))

        return apply

    def weaker(content):
        for row in content["rows"]:
            row["rhs"] = "100"

    def smaller(content):
        for feature in content["domain"]["features"]:
            feature["hi"] = feature["hi"] + 1 if feature["name"] == "b" else feature["hi"]

    def flip(folder):
        data = bytearray((folder / "network.bin").read_bytes())
        data[5] ^= 1
        (folder / "network.bin").write_bytes(data)

    lies = {
        "rules": edit("deep.json", lambda c: c["properties"][0].update(eps=EPS / 2)),
        "limits": edit("audit.json", weaker),
        "fewer": edit("audit.json", lambda c: c["rows"].pop()),
        "domain": edit("deep.json", smaller),
        "names": edit("audit.json", lambda c: c.update(outputs=["upper", "lower"])),
        "weights": flip,
        "scaling": edit("audit.json", lambda c: c["network"]["scaling"].pop()),
    }
    for name, lie in lies.items():
        with pytest.raises(AlteredError, match="^The certificate of|^The checker does not accept"):
            load_deep(spoiled(name, lie))
    with pytest.raises(SmileError, match="not the folder"):
        load_deep(tmp_path / "nowhere")


def test_every_file_is_bound_to_the_certificate(fair, tmp_path):
    """deep.json had no digest: another task, mean or order of names was loaded beside the same certificate."""
    fair.save(tmp_path / "good")
    found = CliRunner().invoke(app, ["check", str(tmp_path / "good")])
    assert found.exit_code == 0 and "which this certificate was saved with" in found.output
    for name, change in {"task": "binary", "mean": 5.0, "scale": 2.0}.items():
        folder = tmp_path / name
        shutil.copytree(tmp_path / "good", folder)
        content = json.loads((folder / "deep.json").read_text())
        (folder / "deep.json").write_text(json.dumps(content | {name: change}))
        with pytest.raises(AlteredError, match="was not saved with the deep.json"):
            load_deep(folder)
        found = CliRunner().invoke(app, ["check", str(folder)])
        assert found.exit_code == 1 and "was not saved with the deep.json" in found.output
    data = bytearray((tmp_path / "good/backbone.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / "good/backbone.safetensors").write_bytes(data)
    with pytest.raises(AlteredError, match=r"backbone\.safetensors is not the file that was saved"):
        load_deep(tmp_path / "good")
    (tmp_path / "task/deep.json").unlink()
    (tmp_path / "task/deep.json").symlink_to(tmp_path / "mean/deep.json")
    with pytest.raises(SmileError, match="not a regular file"):
        load_deep(tmp_path / "task")


def test_a_folder_of_version_1_is_to_be_fitted_again(fair, tmp_path):
    fair.save(tmp_path / "model")
    content = json.loads((tmp_path / "model/deep.json").read_text())
    (tmp_path / "model/deep.json").write_text(json.dumps(content | {"version": 1}))
    with pytest.raises(SmileError, match="of version 2; fit it again"):
        load_deep(tmp_path / "model")


def test_the_order_of_names_is_bound_too(tmp_path):
    """'low < mid < high' could become 'low < high < mid': one allowed step was then two, under the same certificate."""
    frame, y = table(60)
    rating = pd.Categorical.from_codes(np.arange(60) % 3, categories=["low", "mid", "high"], ordered=True)
    rule = Robust({"rating": 1}, 1.5)
    model = fit_deep(frame.assign(rating=rating), y, rule, hidden=(3,), backbone=(3,), epochs=1, time_limit=2.0)
    model.save(tmp_path / "model")
    file = tmp_path / "model/deep.json"
    assert "low < mid < high" in file.read_text()
    file.write_text(file.read_text().replace("low < mid < high", "low < high < mid"))
    with pytest.raises(AlteredError, match="was not saved with the deep.json"):
        load_deep(tmp_path / "model")


def test_a_process_that_flushes_subnormal_numbers_does_not_predict(fair):
    frame, _ = table(5)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush")
    try:
        with pytest.raises(SmileError, match="takes subnormal numbers for zero"):
            fair.values(frame)
    finally:
        torch.set_flush_denormal(False)


def test_another_backbone_breaks_no_rule(fair, tmp_path):
    fair.save(tmp_path / "model")
    other = load_deep(tmp_path / "model")
    with torch.no_grad():
        for parameter in other.backbone.parameters():
            parameter.mul_(100.0)
    frame, _ = table(2000, seed=3)
    assert np.abs(other.values(frame) - other.values(flipped(frame))).max() <= EPS


def test_what_is_not_covered_is_said():
    frame, y = table(60)
    with pytest.raises(SmileError, match="allows no change at all"):
        fit_deep(frame, y, Monotone(["a"]))
    with pytest.raises(SmileError, match="does not hold for the constant"):
        fit_deep(frame, y, Bounded(50.0, 60.0))
    with pytest.raises(SmileError, match="0 or 1"):
        fit_deep(frame, y, Fair(["group"], 1), task="binary")
    with pytest.raises(SmileError, match="one layer or more"):
        fit_deep(frame, y, Fair(["group"], 1), hidden=())
    with pytest.raises(SmileError, match="fit_deep"):
        Network(hidden=(16, 16))


def test_a_folder_is_written_whole_or_not_at_all(fair, tmp_path, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("smilenn.model.folder._write", full)
    with pytest.raises(SmileError, match="cannot be written: No space left"):
        fair.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
