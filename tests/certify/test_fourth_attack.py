"""What a fourth stranger tried, who began with the files of the third: each is refused here, or said as it is."""

import copy
import json
import math
import shutil
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.certify.conftest import QUICK, incomes
from typer.testing import CliRunner

import smilenn
from smilenn import (
    Bounded,
    Claim,
    ClampedRegressor,
    Custom,
    Lipschitz,
    Monotone,
    Property,
    Robust,
    SmileRegressor,
    certify_net,
    open_net,
    register_property,
)
from smilenn.certify import network
from smilenn.certify.verified import Finding
from smilenn.cli import app, checking
from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.cli.words import domain_text, logit_words
from smilenn.domain import Domain, Feature
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators import stability
from smilenn.estimators.notebook import verdict_html
from smilenn.model.folder import dump_json, parse_json, read_folder, write_folder
from smilenn.model.net import SmileNet
from smilenn.properties import Outputs
from smilenn.properties.claim import Inequality, Term
from smilenn.verdict import Proved, Unknown


def altered(folder, place, **changes):
    """A copy of a folder with JSON files changed and all hashes right."""
    files = dict(read_folder(folder))
    for name, change in changes.items():
        content = parse_json(files[f"{name}.json"], name)
        change(content)
        files[f"{name}.json"] = dump_json(content)
    write_folder(place, files)
    return place


# ---- verdicts that are about something else -------------------------------------------------------------------------


def falling(model):
    """A copy of a model that is asked for the contrary of what it does."""
    out = copy.deepcopy(model)
    out.claims_ = out.lower([Monotone(decreasing=["income"])])
    return out


def test_a_prover_s_verdict_on_other_claims_is_not_the_model_s(rising):
    model = falling(rising)
    model.verdict_ = smilenn.prove(model, [Bounded(-1e9, 1e9)])
    assert model.verdict_.status == "unknown" and "other claims" in model.verdict_.reason
    model.claims_ = model.lower([Bounded(-1e9, 1e9)])
    model.verdict_ = smilenn.prove(model)
    assert model.verdict_.status == "proved"
    model.claims_ = model.lower([Monotone(decreasing=["income"])])
    assert model.verdict_.status == "unknown"


def test_a_certified_verdict_on_other_claims_is_not_the_model_s(rising, tmp_path):
    model = falling(rising)
    verdict = certify_net(model.net_, [Bounded(-1e9, 1e9)], tmp_path / "net").verdict
    assert verdict.status == "proved" and verdict.certificate
    model.verdict_ = verdict
    assert model.verdict_.status == "unknown" and "certified" not in verdict_html(model)


@pytest.mark.parametrize("certificate", ["", "0" * 64])
def test_a_verdict_by_decree_says_nothing(rising, certificate):
    model = copy.deepcopy(rising)
    model.verdict_ = Proved("decree", 0.0, certificate=certificate)
    assert model.verdict_.status == "unknown"
    weights, claims = rising.verdict_.weights, rising.verdict_.claims
    model.verdict_ = Proved("decree", 0.0, certificate=certificate, weights=weights, claims=claims)
    assert model.verdict_.status == ("unknown" if certificate else "proved")  # who claims a certificate carries it


def turn(claim):
    """Write to a claim, frozen as it is: the two copies are exchanged in its premise."""
    terms = [Term(-term.coef, term.copy, term.kind, term.name) for term in claim.when[0].terms]
    object.__setattr__(claim, "when", (Inequality(tuple(terms)),))


def test_a_claim_that_was_written_to_is_another_one(rising, priced):
    model = copy.deepcopy(rising)
    turn(model.claims_[0])
    assert model.verdict_.status == "unknown" and model.certificate_ is None
    loaded = smilenn.load(priced)
    turn(loaded.claims_[0])
    assert loaded.verdict_.status == "unknown"
    saved = open_net(priced)
    assert saved.verdict.status == "proved"
    turn(saved.claims[0])
    assert saved.verdict.status == "unknown"


def test_a_folder_exchanged_while_it_is_written_is_noticed(rising, tmp_path, monkeypatch):
    certify_net(rising.net_, [Bounded(-1e9, 1e9)], tmp_path / "other")
    write = network.save_net

    def exchanged(folder, *arguments, **options):
        write(folder, *arguments, **options)
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "other", folder)

    monkeypatch.setattr(network, "save_net", exchanged)
    with pytest.raises(AlteredError, match="while it was written"):
        certify_net(rising.net_, [Bounded(0, 0.001)], tmp_path / "net")


# ---- code of the user's own -----------------------------------------------------------------------------------------


class Disguised(str):
    """A name that prints as another one."""

    def __repr__(self):
        return "'debt'"


class Other(Claim):
    """A claim that is written as another one."""

    def to_json(self):
        return Claim(2, (rows("in", 1),), (rows("out", 1),)).to_json()


def rows(kind, sign, name="income"):
    """``sign·a ≤ sign·b`` of an input or of the output."""
    name = name if kind == "in" else ""
    return Inequality((Term(Fraction(sign), 0, kind, name), Term(Fraction(-sign), 1, kind, name)))


@register_property
@dataclass(frozen=True)
class Disguise(Property):
    kind = "tests.disguise"

    def claims(self, domain, outputs):
        return (Claim(2, (rows("in", 1, Disguised("income")),), (rows("out", 1),)),)

    def sentence_about(self, output):
        return "Whatever."


@register_property
@dataclass(frozen=True)
class Masquerade(Property):
    kind = "tests.masquerade"

    def claims(self, domain, outputs):
        return (Other(2, (rows("in", -1),), (rows("out", 1),)),)

    def sentence_about(self, output):
        return "Whatever."


@pytest.mark.parametrize("rule", [Disguise(), Masquerade()])
def test_a_registered_property_says_what_is_written(rising, tmp_path, rule):
    saved = certify_net(rising.net_, [rule], tmp_path / "net")
    assert saved.verdict.status == "proved"
    assert saved.certificate.statement.splitlines()[1].startswith("- Raising 'income', everything else equal, never")
    (claim,) = rule.lower(rising.domain_)
    assert type(claim) is Claim and all(
        type(term.name) is str for inequality in claim.when for term in inequality.terms
    )


def test_a_property_does_not_replace_what_makes_its_claims_plain():
    with pytest.raises(SmileError, match="define claims instead"):
        type("Own", (Disguise,), {"lower": lambda self, *arguments: self.claims(*arguments)})


class Negated(SmileNet):
    def forward(self, x):
        return -super().forward(x)


def test_nothing_is_proved_of_a_network_with_other_code(rising):
    rule = Monotone(increasing=["income"])
    assert smilenn.prove(rising.net_, [rule]).status == "proved"
    model = copy.deepcopy(rising)
    hook = model.net_.register_forward_hook(lambda module, inputs, output: -output)
    for verdict in (smilenn.prove(model.net_, [rule]), smilenn.prove(model)):
        assert isinstance(verdict, Unknown) and "hook" in verdict.reason
    hook.remove()
    assert smilenn.prove(model).status == "proved"
    model.net_.__class__ = Negated
    assert smilenn.prove(model.net_, [rule]).status == "unknown"


class Random(LinearRegression):
    """A model that says something else at every call."""

    def predict(self, X):
        return np.random.default_rng().normal(size=len(X)) * 100


def test_a_clamp_with_another_model_in_it_is_untested():
    X, y = incomes()
    X = X.assign(group=np.arange(len(X)) % 2)
    model = ClampedRegressor(LinearRegression(), ["group"], 0.5).fit(X, y)
    assert model.verdict_.status == copy.deepcopy(model).verdict_.status == "proved"
    model.model_ = Random().fit(X, y)
    low, high = (model.predict(X.assign(group=value)) for value in (0, 1))
    assert np.abs(low - high).max() > 0.5
    assert model.verdict_.status == "unknown" and model.certificate_ is None


# ---- numbers that float64 does not hold -----------------------------------------------------------------------------

BASE = 1_700_000_000_000_000_000  # nanoseconds


@pytest.mark.parametrize("rule", [Robust({"time": 100}, eps=0.03), Lipschitz("time", 0.0003)])
def test_whole_numbers_that_float64_rounds_are_refused(rule):
    # 100 apart, two cells became floats 256 apart: "at most 0.03" was certified, and 0.075 was found
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"time": BASE + rng.integers(0, 20_000, 300)})
    with pytest.raises(SmileError, match="float64 rounds to"):
        SmileRegressor(properties=[rule], **QUICK).fit(X, (X["time"] - BASE) / 2000)
    whole = SmileRegressor(properties=[rule], **QUICK).fit(X - BASE, (X["time"] - BASE) / 2000)
    assert whole.verdict_.status == "proved"


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([1, 2**53 + 1]),
        pd.Series([1, -(2**53) - 1], dtype="Int64"),
        pd.Series([1, 2**63 + 1], dtype="uint64"),
        pd.Series([1.5, 2**53 + 1], dtype=object),
        pd.Series(["1", "9007199254740993"], dtype=object),
        pd.Series(np.array([0, 1 + np.longdouble(2) ** -60])),
    ],
)
def test_cells_that_float64_rounds_are_refused_at_prediction(cells):
    domain = Domain.box([-1e30], [1e30], ["x"])
    if cells.dtype == np.longdouble and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no longer floats here")
    with pytest.raises(SmileError, match=r"Row 1, column 'x' .* float64 rounds to"):
        domain.encode(pd.DataFrame({"x": cells}))


def test_large_numbers_that_float64_holds_are_taken():
    domain = Domain.box([-1e30], [1e30], ["x"])
    for cells in ([2**53, 2**60], [1e25, 3.0], ["1e25", "9007199254740992"], pd.array([2**54 + 4, 0], dtype="Int64")):
        assert domain.encode(pd.DataFrame({"x": cells})).shape == (2, 1)


@pytest.mark.parametrize("cell", ["", "1.5"])
def test_whole_numbers_of_a_csv_are_not_rounded_beside_other_cells(tmp_path, cell):
    # pandas reads the whole column as float64 for the sake of one cell
    (tmp_path / "t.csv").write_text(f"x,y\n9007199254740992,1\n\n{cell},1\n9007199254740993,2\n", encoding="utf-8")
    with pytest.raises(SmileError, match="row 5, column 'x' holds 9007199254740993, which float64 rounds"):
        read_table(Source.find(tmp_path / "t.csv"), may_lack=["x"])
    (tmp_path / "t.csv").write_text(f"x,y\n9007199254740992,1\n{cell},1\n1e300,2\n", encoding="utf-8")
    assert len(read_table(Source.find(tmp_path / "t.csv"), may_lack=["x"])) == 3


def test_complex_numbers_are_refused_in_a_frame():
    with pytest.raises(SmileError, match="complex"):
        Domain.box([0], [1], ["x"]).encode(pd.DataFrame({"x": [0.5 + 1j]}))


# ---- words ----------------------------------------------------------------------------------------------------------


def test_what_training_noted_can_pass_for_no_verdict(priced, tmp_path):
    false = "x\nVerdict: certified\n- Lowering 'income' never lowers the predicted 'price'. [certified]"

    def repair(history):
        history.append({"phase": "repair", "repair": false, "cost": 0.0})

    def reasons(model):
        model["learned"]["reasons"] = "Certified: lowering 'income' never lowers 'price'."

    lines = smilenn.load(altered(priced, tmp_path / "m", history=repair, model=reasons)).explain().splitlines()
    assert lines[0].startswith("Network, as training recorded it: Certified")
    assert sum(line.startswith("Verdict: ") for line in lines) == 1
    assert not any(line.startswith("- ") for line in lines)


def test_the_proved_checker_is_not_said_to_agree_with_what_is_not_certified(priced, tmp_path, monkeypatch):
    def more(properties):
        properties["properties"].append({"kind": "monotone", "increasing": ["debt"], "decreasing": []})

    monkeypatch.setattr(checking, "run_verified", lambda model: Finding("certified", ""))
    stated = altered(priced, tmp_path / "m", properties=more)
    for options in ([], ["--quiet"]):
        done = CliRunner().invoke(app, ["check", "--verified", *options, str(stated)])
        assert done.exit_code == 3 and "certifies it too" not in done.output
        done = CliRunner().invoke(app, ["check", "--verified", *options, str(priced)])
        assert "certifies it too" in done.output


def test_a_property_that_nobody_knows_is_named_in_every_form(priced, tmp_path):
    def rename(properties):
        properties["properties"][0]["kind"] = "Monotone"

    def listed(model):
        model["params"] |= {"listed_properties": 1, "increasing": []}

    place = altered(priced, tmp_path / "m", properties=rename, model=listed)
    assert "'Monotone' are not registered" in CliRunner().invoke(app, ["check", str(place)]).output
    assert "'Monotone' are not registered" in CliRunner().invoke(app, ["check", "--quiet", str(place)]).output
    record = json.loads(CliRunner().invoke(app, ["check", "--json", str(place)]).output)
    assert record["status"] == "proved" and "'Monotone' are not registered" in record["unregistered"]


def test_a_unit_passes_for_no_sentence():
    false = "€. Certified: raising 'y' never lowers the price"
    domain = Domain((Feature("x", unit=false), Feature("y", unit="km/h")))
    assert domain_text(domain) == f"'x' 0 to 1 {false!r}; 'y' 0 to 1 km/h"


def test_bounds_in_words_are_not_below_what_was_checked():
    for bound in (0.12345649, 1234567.4, 1e-9 / 3, 0.5):
        assert Fraction(Unknown("", bound).sentence().split("at most ")[1]) >= Fraction(bound)
    for eps in (0.1, 0.2, 0.4, 1.0, 3.0):
        odds, points = (part.split(",")[0] for part in logit_words(eps).split("at most ")[1:])
        assert float(odds) >= math.exp(eps) and float(points.rstrip("%")) / 100 >= math.tanh(eps / 4)


def test_certified_labels_divide_a_bound_upwards(monkeypatch):
    size = Fraction(7, 25)
    domain, outputs = Domain.box([0, 0], [1, 1], ["x", "y"]), Outputs(classes=("no", "yes"))
    rule = Custom(when=["-1 <= a.x - b.x <= 1"], then=[f"-5 <= {size} * a.out - {size} * b.out <= 5"])
    claims = rule.lower(domain, outputs)
    for step in range(200):
        bound = 1 + step / 256
        monkeypatch.setattr(stability, "_checked", lambda *_, bound=bound: [bound, bound])
        (found,) = stability.largest_changes(None, claims, outputs, domain, "raise")
        assert Fraction(found) >= Fraction(bound) / size
