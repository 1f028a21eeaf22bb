"""What a fifth stranger tried, who looked at where a table becomes numbers and numbers become words."""

import copy
import math
import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from tests.certify.conftest import QUICK, incomes

from smilenn import (
    Custom,
    Fair,
    Safe,
    SmileClassifier,
    SmileRegressor,
    certify_net,
    load,
)
from smilenn.calibration import Calibration, temperature
from smilenn.certify.stated import uncovered
from smilenn.cli.words import domain_text
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.estimators.notebook import verdict_html
from smilenn.estimators.usual import UnseenWarning
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Encoder, Trees
from smilenn.model.folder import dump_json, parse_json, read_folder
from smilenn.model.net import SmileNet
from smilenn.properties import Outputs
from smilenn.properties.claim import Claim, row
from smilenn.properties.naming import output_words
from smilenn.properties.wording import say
from smilenn.report.card import card
from smilenn.report.findings import gather
from smilenn.report.sections import _temperature, training
from smilenn.report.summary import summary

BEYOND = 2**53 + 1


# ---- thresholds -----------------------------------------------------------------------------------------------------


def stepping(at=0.3):
    """100 up to a rate of `at`, that cell included, and 1 above it."""
    domain = Domain.box([0.0], [1.0], ["rate"])
    encoder = Encoder(domain, [Branch("steps", [0], [Trees.of(1, [[([0, -1, -1], [at, 100.0, 1.0])]])])])
    encoder.fit_box_(torch.tensor([[0.0], [at], [1.0]], dtype=torch.float64))
    net = SmileNet(domain, MLP(1, (2,), 1), 1, auxiliaries="affine", encoder=encoder, outputs=("",))
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.lower.const.zero_()
        net.gap.const.zero_()
        net.head_weight.fill_(1.0)
        net.head_bias.zero_()
    return net.eval()


@pytest.mark.parametrize("rule", [Safe(["rate >= 0.3"], ["out <= 2"]), Custom(["out <= 2"], ["2*rate >= 0.6"], 1)])
def test_a_cell_that_reads_as_the_threshold_is_one_the_rule_speaks_of(rule, tmp_path):
    # "whenever 'rate' is at least 0.3, the output is at most 2" was certified, and the cell 0.3 gives 100
    net = stepping()
    assert net.predict(np.array([[0.3]]))[0, 0] == 100.0
    saved = certify_net(net, [rule], tmp_path / "net")
    assert saved.verdict.status == "unknown"
    (claim,) = saved.claims
    assert say(claim, None, net.domain) == "Whenever 'rate' is at least 0.3, the output is at most 2."
    other = certify_net(stepping(math.nextafter(0.3, 0)), [rule], tmp_path / "other")
    assert other.verdict.status == "proved"


def test_thresholds_are_moved_outward_only():
    domain = Domain((Feature("x", "continuous", 0, 1), Feature("n", "integer", 0, 9)))
    for text in ("x >= 0.1", "x <= 0.3", "x >= 0.5", "n >= 0.3", "x + n <= 0.3"):  # the cell satisfies it as it is
        (claim,) = Safe([text], ["out <= 2"]).lower(domain)
        assert claim.when == Custom(["out <= 2"], [text], 1).claims(domain, Outputs())[0].when
    for text, sign, bound in (("x >= 0.3", -1, 0.3), ("x <= 0.1", 1, 0.1)):
        (claim,) = Safe([text], ["out <= 2"]).lower(domain)
        assert claim.when[0].rhs == sign * Fraction(bound) != sign * Fraction(str(bound))
    (claim,) = Safe(["x == 0.3"], ["out <= 2"]).lower(domain)
    assert claim.when[0].rhs == Fraction(0.3) and "'x' is 0.3," in say(claim, None, domain)


def test_a_claim_that_leaves_the_cell_out_says_so(tmp_path):
    domain, limit = Domain.box([0], [1], ["x"]), row([(1, 0, "out", "")], 2)
    low, high = row([(-1, 0, "in", "x")], Fraction(-3, 10)), row([(1, 0, "in", "x")], Fraction(1, 10))
    assert say(Claim(1, (low,), (limit,)), None, domain).startswith("Whenever 'x' is above 0.3,")
    assert say(Claim(1, (high,), (limit,)), None, domain).startswith("Whenever 'x' is below 0.1,")
    certify_net(stepping(), [Safe(["rate >= 0.3"], ["out <= 200"])], tmp_path / "net")
    files, proved = read_folder(tmp_path / "net"), (Claim(1, (row([(-1, 0, "in", "rate")], "-3/10"),), (limit,)),)
    assert uncovered(files, proved)  # as folders had it that were written before


# ---- cells ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([Decimal(1), Decimal(BEYOND)], dtype=object),
        pd.Series(pd.Categorical([Decimal(1), Decimal(BEYOND)])),
        pd.Series([b"1", str(BEYOND).encode()], dtype=object),
        pd.Series([1.5, np.longdouble(BEYOND)], dtype=object),
        pd.Series([1.5, 1 + np.longdouble(2) ** -60], dtype=object),
    ],
)
def test_cells_of_any_type_that_float64_rounds_are_refused(cells):
    if np.finfo(np.longdouble).nmant <= 52 and isinstance(cells.iloc[1], np.longdouble):
        pytest.skip("no longer floats here")
    with pytest.raises(SmileError, match=r"Row 1, column 'x' .* float64 rounds to"):
        Domain.box([-1e30], [1e30], ["x"]).encode(pd.DataFrame({"x": cells}))


def test_decimals_of_polars_are_not_rounded():
    pl = pytest.importorskip("polars")
    domain = Domain.box([-1e30], [1e30], ["x"])
    with pytest.raises(SmileError, match="float64 rounds to"):
        domain.encode(pl.DataFrame({"x": [Decimal(1), Decimal(BEYOND)]}))
    with pytest.raises(SmileError, match=r"missing|float64 rounds to"):
        domain.encode(pl.DataFrame({"x": [BEYOND, None]}))
    assert domain.encode(pl.DataFrame({"x": [Decimal("1.5"), Decimal(2)]})).tolist() == [[1.5], [2.0]]


def test_periods_and_hidden_complex_numbers_are_no_numbers():
    domain = Domain.box([-1e30], [1e30], ["x"])
    with pytest.raises(SmileError, match="dates or durations"):
        domain.encode(pd.DataFrame({"x": pd.period_range("2020-01-01", periods=3, freq="ns")}))
    with pytest.raises(SmileError, match="complex"):
        domain.encode(pd.DataFrame({"x": pd.Series([1 + 5j, 2.0], dtype=object)}))


def test_a_masked_cell_is_a_missing_one():
    X, y = incomes()
    rows = np.ma.masked_array(X.to_numpy(), mask=np.zeros(X.shape, dtype=bool))
    model = SmileRegressor(**QUICK).fit(rows, y.to_numpy())  # nothing is masked
    hidden = rows.copy()
    hidden[3, 1] = np.ma.masked
    with pytest.warns(UnseenWarning, match=r"Row 3, column 'x1' is missing"):
        assert np.isfinite(model.predict(hidden)).all()
    with pytest.raises(SmileError, match=r"Row 3, column 'x1' is missing"):
        SmileRegressor(**QUICK, missing="raise").fit(hidden, y)
    found = SmileRegressor(**QUICK).fit(hidden, y)
    assert found.domain_.indicators == {"x1": "x1 is missing"}
    target = np.ma.masked_array(y.to_numpy(), mask=np.arange(len(y)) == 7)
    with pytest.raises(SmileError, match="Row 7 of the target is missing"):
        SmileRegressor(**QUICK).fit(X, target)


# ---- names ----------------------------------------------------------------------------------------------------------


def test_one_of_several_outputs_is_not_called_the_prediction():
    X, y = incomes()
    with pytest.raises(SmileError, match="has no name"):
        SmileRegressor(**QUICK).fit(X, pd.DataFrame({"": y, "b": -y}))
    several = Outputs(("", "b"), role="number")
    assert output_words(several, "") == "the predicted ''"
    assert output_words(Outputs(("", "b")), "") == "output ''"
    assert output_words(Outputs(role="number"), "") == "the prediction"


def test_no_feature_has_the_name_of_another_one_s_column():
    # a rule on 'q' spoke of the columns s and t, and the table has a column q
    frame = pd.DataFrame({"q": [0, 1], "r": [1, 0], "s": [1, 0], "t": [0, 1]})
    with pytest.raises(SmileError, match="name of another one's column"):
        Domain.from_data(frame, groups={"p": ["q", "r"], "q": ["s", "t"]})
    assert Domain.from_data(frame, groups={"q": ["q", "r"], "v": ["s", "t"]}).size == 4


@pytest.mark.parametrize(
    "classes",
    [
        np.array([b"no", b"yes"]),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([Decimal(1), Decimal(2)], dtype=object),
        np.array([1, 2], dtype=np.longdouble),
    ],
)
def test_classes_that_no_file_keeps_are_refused_before_training(classes):
    X, y = incomes()
    with pytest.raises(SmileError, match="Unknown label type|dates or durations"):
        SmileClassifier(increasing=["income"], **QUICK).fit(X, classes[(y > 3).astype(int)])


def test_classes_in_numpy_s_boxes_are_kept(tmp_path):
    X, y = incomes()
    classes = np.array([np.bool_(False), np.int64(1)], dtype=object)
    model = SmileClassifier(increasing=["income"], **QUICK).fit(X, classes[(y > 3).astype(int)])
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").verdict_.status == model.verdict_.status == "proved"


# ---- words ----------------------------------------------------------------------------------------------------------


def test_a_domain_is_shown_no_larger_than_it_is(rising):
    feature = Feature("income", "continuous", 0.00012345678, 1234567.8912)
    assert feature.range_words == "0.00012345678 to 1234567.8912"
    assert feature.range_words in domain_text(Domain((feature,)))
    found = gather(rising)
    for one in rising.domain_.features:
        assert one.range_words in summary(found) and one.range_words in card(found)


def test_what_calibration_makes_of_a_bound_is_rounded_up():
    domain = Domain((Feature("group", "binary"), Feature("x")))
    rng = np.random.default_rng(0)
    for eps in (0.4, 1.2345, 3):
        claims = Fair("group", eps).lower(domain)
        model = SimpleNamespace(claims_=claims, outputs_=Outputs(("",), ("no", "yes")), domain_=domain)
        for _ in range(20):
            logit = rng.normal(size=50)
            y = (rng.uniform(size=50) < 1 / (1 + np.exp(-2 * logit))).astype(float)
            best = Calibration(temperature(logit, y))
            said = _temperature(SimpleNamespace(model=model), y, logit)
            become, most = map(float, re.search(r"would become ([\d.]+), .* at most ([\d.]+)%", said).groups())
            assert Fraction(str(become)) >= Fraction(str(eps)) / Fraction(best.temperature) * (1 - Fraction(1, 2**50))
            assert most >= 100 * math.tanh(float(eps) / best.temperature / 4)


def test_rules_that_are_not_certified_are_not_said_to_be_kept(rising, tmp_path):
    assert "Training did not search for counterexamples" in training(gather(rising))
    model = copy.deepcopy(rising)
    with torch.no_grad():
        model.net_.head_weight.mul_(-1.0)
    assert model.verdict_.status == "unknown"
    assert "Training did not search for counterexamples" not in training(gather(model))
    shown = verdict_html(model)
    assert shown.index("Rules that are not proved:") < shown.index("Raising ")
    assert "Rules that are not proved" not in verdict_html(rising)


def test_a_notebook_says_which_rules_are_certified(rising):
    model = copy.deepcopy(rising)
    model.claims_ = (*model.claims_, *model.lower([Fair("debt", 0.001)]))
    model.certify(time_limit=5)
    assert model.certificate_.holds == (True, False)
    assert " [certified]<br>" in verdict_html(model) and "[not certified: may fail, by at most" in verdict_html(model)


def test_folders_keep_moved_thresholds(tmp_path):
    X, y = incomes()
    model = SmileRegressor(properties=[Safe(["income <= 3.3"], ["out <= 1000"])], **QUICK).fit(X, y)
    assert model.verdict_.status == "proved"
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").verdict_.status == "proved"
    stated = parse_json(read_folder(tmp_path / "m")["properties.json"], "properties.json")
    assert "income <= 3.3" in dump_json(stated["properties"]).decode()
