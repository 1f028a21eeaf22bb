"""What a ninth stranger tried: guards, audits of labels, queries, large files, and clamps of large numbers."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier
from torch import nn

from smilenn import Domain, Fair, Feature, SmileError, audit, audit_labels, guard
from smilenn.auditing.labels import LabelAudit
from smilenn.auditing.network import DeepNet
from smilenn.auditing.vnnlib import Reader
from smilenn.cli.guarding import _say
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.guarding.agreement import Agreement
from smilenn.report.audit_page import audit_page

# ---- clamps ---------------------------------------------------------------------------------------------------------


def priced(scale, n=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.integers(0, 2, n), "rooms": rng.normal(0, 10, n)})
    return frame, scale * (10 + frame.rooms / 10) + 0.01 * frame.sex


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e7])
def test_a_clamp_of_a_fair_model_is_that_model_whatever_its_size(scale):
    """The middle was cut to 2²⁰ before its range was taken: every price above a million became 1050624.5, certified."""
    frame, prices = priced(scale)
    model = ClampedRegressor(LinearRegression(), ["sex"], 1.0).fit(frame, prices)
    assert model.certificate_ is not None and model.certificate_.accepted
    assert np.abs(model.predict(frame) - model.model_.predict(frame)).max() <= 1e-9 * scale


def test_a_clamp_of_a_fair_model_is_that_model_where_its_data_did_not_reach():
    """The middle was cut to about the range that it has on the data, and 40 became 1.4 inside the domain."""
    rng = np.random.default_rng(0)
    a = rng.normal(0, 10, 120)
    frame = pd.DataFrame({"sex": rng.integers(0, 2, 120), "a": a, "b": -a + rng.normal(0, 0.1, 120)})
    model = ClampedRegressor(LinearRegression(), ["sex"], 1.0).fit(frame, frame.a + frame.b + 0.01 * frame.sex)
    rows = pd.DataFrame({"sex": [0, 1], "a": [20.0, 20.0], "b": [20.0, 20.0]})
    assert model.certificate_ is not None and model.certificate_.accepted
    np.testing.assert_allclose(model.predict(rows), model.model_.predict(rows), rtol=1e-12)


@pytest.mark.parametrize("kind", ["uint8", "int8", "UInt8"])
def test_a_clamp_asks_its_model_about_numbers_that_a_column_s_type_does_not_hold(kind):
    """The domain reaches a little beyond the data: 268 became 12 in a column of bytes, and 12 was the answer."""
    rng = np.random.default_rng(0)
    most = 127 if kind == "int8" else 255
    frame = pd.DataFrame({"sex": rng.integers(0, 2, 200), "k": pd.Series(rng.integers(0, most + 1, 200), dtype=kind)})
    model = ClampedRegressor(LinearRegression(), ["sex"], 1.0).fit(frame, frame.k.astype(float) + 0.01 * frame.sex)
    rows = pd.DataFrame({"sex": [0, 0], "k": [most - 1, int(model.domain_.feature("k").hi)]})
    assert rows.k[1] > most
    np.testing.assert_allclose(model.predict(rows), model.model_.predict(rows), rtol=1e-12)


def test_a_clamp_needs_a_model_that_answers():
    frame, prices = priced(1.0)

    class Silent(LinearRegression):
        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(SmileError, match="no finite number"):
        ClampedRegressor(Silent(), ["sex"], 1.0).fit(frame, prices)


# ---- guards ---------------------------------------------------------------------------------------------------------

PEOPLE = Domain((Feature("sex", "binary"), Feature("pay", "integer", 0, 99)))


def paid(n=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.integers(0, 2, n), "pay": rng.integers(0, 100, n)})
    return frame, np.where(frame.pay > 50, "yes", "no")


def test_a_guard_does_not_exchange_the_classes_of_its_model():
    """Classes given in the other order inverted every label, and 100.00% were said to keep theirs."""
    frame, labels = paid()
    model = MLPClassifier((4,), solver="lbfgs", max_iter=5000, random_state=0).fit(frame, labels)
    with pytest.raises(SmileError, match="own classes are 'no', 'yes'"):
        guard(model, Fair(["sex"], 0.5), PEOPLE, classes=["yes", "no"], rows=frame)
    made = guard(model, Fair(["sex"], 0.5), PEOPLE, classes=["no", "yes"], rows=frame)
    assert made.agreement.same_label == (made.model.predict(frame) == model.predict(frame)).mean()


def test_a_guard_is_compared_at_the_rows_that_were_given():
    """Rows outside the domain were moved to its edge for the network too, and counted as kept."""
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[0.0, 1.0]]))
        net[0].bias.fill_(-200.0)
        net[2].weight.fill_(1.0)
        net[2].bias.fill_(-1.0)
    made = guard(net, Fair(["sex"], 0.5), PEOPLE, rows=pd.DataFrame({"sex": [0, 1], "pay": [50, 300]}))
    assert made.agreement.same_label == made.agreement.unmoved == 0.5
    assert made.agreement.farthest == 100.0
    with pytest.raises(SmileError, match="no rows to compare"):
        guard(net, Fair(["sex"], 0.5), PEOPLE, rows=pd.DataFrame({"sex": [], "pay": []}))


def test_what_a_guard_says_of_itself_is_not_rounded_in_its_favour():
    words = Agreement(100_000, 0.99999, 0.99996, 0.99998, 1.2341).sentence()
    assert "100.00%" not in words and "more than 1.23." not in words
    (farthest,) = re.findall(r"more than ([\d.]+)\. ", words)
    assert float(farthest) >= 1.2341


def test_a_guard_names_the_values_at_which_its_network_is_fair():
    """At the pays 0 and 1 it is; at 50 it is not. The sentence had nothing of these values in it."""
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[0.0, 1.0]]))
        net[0].bias.fill_(-1.0)
        net[2].weight.fill_(1.0)
    made = guard(net, Fair(["pay"], 0.5), PEOPLE, values={"pay": (0, 1)})
    assert made.agreement.fair == 1.0
    assert made.agreement.sentence().endswith('fair at 100.00% of them between the values 0, 1 of "pay".')


def test_a_guard_was_not_trained_here(tmp_path):
    """The card said "in 0.0 s of training" of a network that somebody else had trained."""
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 3))
    made = guard(net, Fair(["sex"], 0.5), PEOPLE)
    made.model.report(None, card=tmp_path / "card.md")
    assert "without a step of training" in (tmp_path / "card.md").read_text()


def test_the_command_says_what_was_certified(capsys):
    """It said "the output" of three outputs, and of log-odds."""
    for net, classes, about in (
        (nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 3)), None, "any prediction"),
        (nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)), ["no", "yes"], "the log-odds of 'yes'"),
    ):
        _say(guard(net, Fair(["sex"], 0.5), PEOPLE, classes=classes), Path("model"), quiet=False, json=False)
        assert f"changing 'sex' alone changes {about} by at most 0.5" in capsys.readouterr().out


# ---- labels ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def aged():
    """An audit that compares two ages; the label changes beyond 70."""
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[1.0, 0.0]]))
        net[0].bias.fill_(-70.0)
        net[2].weight.fill_(1.0)
        net[2].bias.fill_(-0.5)
    domain = Domain((Feature("age", "integer", 18, 90), Feature("n", "integer", 0, 50)))
    return audit_labels(net, "age", domain, values={"age": (25, 60)}, time_limit=4)


def test_a_certified_share_names_the_values_that_it_is_about(aged):
    """It was "100 % of the domain keeps its label", and "no value of the protected column changes the label"."""
    assert aged.settled == aged.points == 51
    page = audit_page(aged, "net").replace("&quot;", '"')
    for said in (*aged.lines(), *re.findall(r"<p>((?:In|No pair) .*?)</p>", page)):
        assert 'between the values 25, 60 of "age"' in said
    assert "25, 60" in aged.to_json()["compared"]


def test_a_name_cannot_begin_a_line_of_an_audit_of_labels():
    """A separator of lines, which pandas prints as it is, parted the table of the changed label."""
    pair = pd.DataFrame({"x\u2028certified: 100 %": [0, 1]}, index=["a", "b"])
    said = LabelAudit(pair, {}, 0, 0, 0.0, 0.0).lines()
    assert not any(line.strip().startswith("certified") for line in said) and any("\\u2028" in line for line in said)


def test_bars_of_a_search_are_not_said_to_be_checked(aged):
    page = audit_page(aged, "net")
    assert "settled, by ranges of one input; not checked" in page
    assert "bounds and shares are those" not in page


def test_values_that_were_not_given_are_not_compared():
    """From six values on all were: a rule on the ages 20 to 25 was `violated` by 90 and 31."""
    domain = Domain((Feature("age", "integer", 18, 90), Feature("n", "integer", 0, 50)))
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 1))
    given = {"age": range(20, 26)}
    with pytest.raises(SmileError, match="more than 30 pairs"):
        audit(net, Fair(["age"], 0.5), domain, values=given, time_limit=1)
    with pytest.raises(SmileError, match="more than 30 pairs"):
        audit_labels(net, "age", domain, values=given, time_limit=1)


# ---- queries --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("never", ["(> 1.0 1.0)", "(< Y[0,0] Y[0])", "(not (<= 2 2))"])
def test_a_query_that_asserts_what_never_holds_is_refused(never):
    """Numbers that are equal passed for less than each other, and a query that nothing satisfies was `violated`."""
    net = DeepNet((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)), "float64")
    text = f"""(declare-network f (declare-input X real [1,2]) (declare-output Y real [1,1]))
    (assert (and (>= X[0,0] 0) (<= X[0,0] 1) (>= X[0,1] 0) (<= X[0,1] 1) (> Y[0,0] 0.5) {never}))"""
    with pytest.raises(SmileError, match="numbers alone"):
        Reader(net, "query").query(text)
    Reader(net, "query").query(text.replace(never, "(>= 1.0 1.0)"))
    for empty in ("(> X[0,0] 1)", "(< X[0,0] 0)", "(and (> X[0,0] 0.5) (<= X[0,0] 0.5))"):  # a strict bound is not met
        with pytest.raises(SmileError, match="leaves input 0 no value"):
            Reader(net, "query").query(text.replace(never, empty))
    with pytest.raises(SmileError, match=r"the number 1e999, which is too long or beyond 1e300"):
        Reader(net, "query").query(text.replace(never, "(<= X[0,0] 1e999)"))
