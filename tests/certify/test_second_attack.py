"""What a stranger tried who had read the specification and the list of holes: each is refused here, or noticed."""

import copy
import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from tests.certify.conftest import QUICK, incomes
from typer.testing import CliRunner

import smilenn
from smilenn import Custom, Exclusive, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.certify import check, verdicts
from smilenn.certify.certify import certify
from smilenn.certify.reference import check as reference
from smilenn.cli import app
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.model.bundle import save_net
from smilenn.model.encoders import Branch, Encoder
from smilenn.model.encoders.layers import Ramps
from smilenn.model.folder import dump_json, read_folder, write_folder
from smilenn.model.net import SmileNet
from smilenn.properties.forms import Outputs


def affine(slope: float, const: float = 0.0, scale: float = 1.0, names: tuple[str, ...] = ("x",)) -> SmileNet:
    """f(x) = slope·x + const on [0, 1], and a further input that is always 1; σ is `scale`."""
    domain = Domain.box([0.0, 1.0][: len(names)], [1.0, 1.0][: len(names)], list(names))
    net = SmileNet(domain, torch.nn.Linear(len(names), 1), 1, auxiliaries="affine", output_scale=scale).eval()
    with torch.no_grad():
        for part in (net.lower.slope, net.lower.const, net.gap.const, net.gap.rise, net.gap.fall, net.head_bias):
            part.zero_()
        net.lower.slope[0, 0] = slope
        net.lower.const.fill_(const)
        net.head_weight.fill_(1.0 / scale)
    return net


@pytest.mark.parametrize(
    ("net", "rule"),
    [
        (affine(-1000.0), Custom(when=["a.x >= b.x"], then=["0.0000000000001*a.out >= 0.0000000000001*b.out"])),
        (affine(-1000.0, scale=2.0**60), Monotone(["x"])),
        (affine(1.0, 500.0, names=("x", "c")), Custom(then=["a.out - 1000000000000*a.c <= -1000000000000"])),
    ],
    ids=["small coefficients", "a scale that lies", "a large right side"],
)
def test_room_excuses_nothing_but_rounding(tmp_path, net, rule):
    claims = rule.lower(net.domain)
    found = certify(net, claims, time_limit=10)
    assert not found.accepted
    content = json.loads(found.files["certificate.json"])
    for k, number in enumerate(("1/10000000000", "1000", "900")):  # as much as a certificate may state
        content["claims"][0]["room"] = [number]
        save_net(tmp_path / str(k), net, extra={**found.files, "certificate.json": dump_json(content)})
        assert {one.check_folder(tmp_path / str(k)).status for one in (check, reference)} <= {"unknown", "refused"}


def test_labels_that_are_predicted_together_are_not_apart():
    net = SmileNet(Domain.box([0.0], [1.0]), torch.nn.Linear(1, 1), 1, outputs=("cat", "dog"), auxiliaries="affine")
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.head_bias.fill_(1e-10)
    outputs = Outputs(("cat", "dog"), role="label")
    assert not certify(net.eval(), Exclusive(["cat", "dog"]).lower(net.domain, outputs), time_limit=5).accepted


@pytest.fixture(scope="module")
def table():
    return incomes()[0]


@pytest.fixture(scope="module")
def classifier(table):
    y = np.where(table.income > 5, "paid", "default")
    return SmileClassifier(increasing=["income"], **QUICK).fit(table, pd.Series(y, name="loan"))


@pytest.mark.parametrize("classes", [["paid", "default"], ["paid", "paid"], ["a", "b", "c"], [1, 2], [["paid"], ["x"]]])
def test_classes_in_another_order_than_the_outputs_are_altered(classifier, tmp_path, classes):
    """Every hash and digest made to fit: what predictions say and what sentences say must still be the same classes."""
    from smilenn.certify.certificate import model_digest
    from smilenn.model.bundle import certified_tensors

    classifier.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    model, content = (json.loads(files[name]) for name in ("model.json", "certificate.json"))
    model["table"]["classes"] = classes
    content["model"] = model_digest(model["net"], certified_tensors(classifier.net_), model["table"])
    write_folder(tmp_path / "n", {**files, "model.json": dump_json(model), "certificate.json": dump_json(content)})
    with pytest.raises(SmileError):
        smilenn.load(tmp_path / "n")


def test_a_meaning_that_is_not_that_of_the_classes_is_noticed(classifier, tmp_path):
    from smilenn.certify.certificate import model_digest
    from smilenn.model.bundle import certified_tensors

    classifier.save(tmp_path / "m")
    assert smilenn.check(tmp_path / "m").status == "proved"
    files = dict(read_folder(tmp_path / "m"))
    model, content = (json.loads(files[name]) for name in ("model.json", "certificate.json"))
    model["table"]["meaning"] = ["the log-odds of 'loan' = 'default'"]
    content["model"] = model_digest(model["net"], certified_tensors(classifier.net_), model["table"])
    write_folder(tmp_path / "n", {**files, "model.json": dump_json(model), "certificate.json": dump_json(content)})
    verdict = smilenn.check(tmp_path / "n")
    assert verdict.status == "unknown" and "meaning" in verdict.sentence()


def test_classes_never_share_a_name(table):
    y = np.where(table.income > 5, 1.5, 1.0).astype(object)
    model = SmileClassifier(increasing=["income"], positive=1.5, **QUICK).fit(table, y)
    assert model.outputs_.classes == ("1", "1.5") and "'1.5'" in model.certificate_.statement
    with pytest.raises(SmileError):
        SmileClassifier(**QUICK).fit(table, np.array(["1" if v > 5 else 1 for v in table.income], dtype=object))


def test_an_estimator_that_was_rewired_is_unknown(classifier):
    model = copy.deepcopy(classifier)
    features = {feature.name: feature for feature in model.domain_.features}
    swapped = (replace(features["income"], name="debt"), replace(features["debt"], name="income"))
    model.domain_ = Domain(swapped)
    assert model.verdict_.status == "unknown" and model.certificate_ is None
    for part in (lambda net: net, lambda net: net.lower):
        model = copy.deepcopy(classifier)
        handle = part(model.net_).register_forward_hook(lambda module, inputs, output: -output)
        assert model.verdict_.status == "unknown"
        handle.remove()
        assert model.verdict_.status == "proved"


def test_an_edited_clamp_is_unknown(table):
    frame = table.assign(sex=(table.index % 2))
    clamp = ClampedRegressor(LinearRegression(), ["sex"], 0.5).fit(frame, table.income + 3 * frame.sex)
    assert clamp.verdict_.status == "proved" and clamp.certificate_.accepted
    for edit in (
        lambda c: c.net_.gap.const.data.fill_(50.0),
        lambda c: c.set_params(eps=0.1),
        lambda c: c.set_params(protected=["debt"]),
    ):
        changed = copy.deepcopy(clamp)
        edit(changed)
        assert changed.verdict_.status == "unknown" and changed.certificate_ is None


class Falling(Ramps):
    """Ramps by name and description, but not by what they compute."""

    def forward(self, y):
        return 1 - super().forward(y)


def test_a_subclass_of_a_layer_is_not_taken_for_the_layer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(0, 1, 120)})

    def make(domain, u):
        return Encoder(domain, [Branch("own", [0], [Falling([0] * 4, np.arange(4) / 4, np.full(4, 4.0))])])

    model = SmileRegressor(increasing=["income"], **QUICK | {"network": Network(encoder=make)}).fit(
        X, X.income.rename("y")
    )
    assert model.verdict_.status != "proved"


def test_a_folder_exchanged_between_signature_and_check_is_rejected(classifier, tmp_path, monkeypatch):
    from smilenn.certify.signing import new_key, sign

    public = new_key(tmp_path / "k.pem")
    classifier.save(tmp_path / "m")
    sign(tmp_path / "m", tmp_path / "k.pem")
    files = dict(read_folder(tmp_path / "m"))
    write_folder(tmp_path / "n", {**files, "note.json": b"{}"})
    examined = verdicts._examined
    monkeypatch.setattr(verdicts, "_examined", lambda folder: examined(tmp_path / "n"))
    verdict = smilenn.check(tmp_path / "m", key=public)
    assert verdict.status == "rejected" and "changed while" in verdict.sentence()


def test_a_signature_is_a_small_regular_file(classifier, tmp_path):
    classifier.save(tmp_path / "m")
    os.symlink("/dev/zero", tmp_path / "m" / "signature.json")
    assert smilenn.check(tmp_path / "m", key="a" * 64).status == "rejected"
    os.remove(tmp_path / "m" / "signature.json")
    (tmp_path / "m" / "signature.json").write_bytes(b" " * 5000)
    assert smilenn.check(tmp_path / "m", key="a" * 64).status == "rejected"


def test_texts_of_files_stay_on_their_line(classifier, tmp_path):
    classifier.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    model, note = json.loads(files["model.json"]), json.loads(files["verdict.json"])
    model["learned"]["reasons"] = "x\n\x1b[2JCertified"
    model["learned"]["quality"]["numbers"] = {
        "pinball_loss": 0.1,
        "constant_pinball_loss": 1.0,
        "share_below_\r\n!": 0.5,
    }
    kept = {name: data for name, data in files.items() if not name.startswith("certificate")}
    forged = note | {"status": "unknown", "reason": "a\nCertified"}
    write_folder(tmp_path / "n", {**kept, "model.json": dump_json(model), "verdict.json": dump_json(forged)})
    loaded = smilenn.load(tmp_path / "n")
    assert "\n" not in loaded.reasons_ and "\x1b" not in loaded.reasons_ and "\r" not in loaded.quality_.sentence()
    assert "\n" not in loaded.verdict_.sentence()


def test_a_label_with_the_name_of_a_column_of_predictions_is_refused(table):
    from smilenn.cli.predicting import predictions

    y = pd.DataFrame({"a": (table.income > 5).astype(int), "a_certified": (table.debt > 2).astype(int)})
    model = SmileClassifier(**QUICK).fit(table, y)
    with pytest.raises(SmileError, match="rename the label"):
        predictions(model, model.outputs(table), None)


def test_prediction_in_training_mode_leaves_the_mode_alone(classifier, table):
    model = copy.deepcopy(classifier)
    wanted = model.decision_function(table)
    model.net_.train()
    assert np.array_equal(model.decision_function(table), wanted) and model.net_.training


def test_a_hundred_classes_are_translated_in_a_moment():
    import time

    names = tuple(f"c{i}" for i in range(100))
    begun = time.process_time()
    claims = smilenn.Fair(["x"], 1).lower(Domain.box([0.0], [1.0], ["x"]), Outputs(names, names))
    assert len(claims[0].then) == 9900 and time.process_time() - begun < 20


def test_constants_that_cancel_beside_a_scale_that_lies_are_shown_with_that_scale(tmp_path):
    """Room is measured against what the folder states, so the command prints it beside what it excuses."""
    net = SmileNet(
        Domain.box([0.0], [1.0], ["x"]), torch.nn.Linear(1, 2), 2, auxiliaries="affine", output_scale=2.0**60
    ).eval()
    with torch.no_grad():
        for part in (net.lower.slope, net.gap.const, net.gap.rise, net.gap.fall, net.head_bias):
            part.zero_()
        net.lower.slope[0, 0] = -100.0
        net.lower.const.fill_(2.0**60)
        net.head_weight.copy_(torch.tensor([[1.0, -1.0]]) / 2.0**60)
    claims = Monotone(["x"]).lower(net.domain)
    found = certify(net, claims, time_limit=10)
    documents = {"properties.json": {"properties": [], "claims": [claim.to_json() for claim in claims]}}
    save_net(tmp_path / "m", net, extra=found.files, documents=documents)
    done = CliRunner().invoke(app, ["check", str(tmp_path / "m")], env={"COLUMNS": "200"})
    if done.exit_code == 0:
        assert "for rounding" in done.output and "as stored and not checked: '1.15292e+18'" in done.output
