"""The one table of rules: what the docs print of it, which rule each use of it takes, and that uses agree."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Convex, Fair, Lipschitz, Monotone, Network, SmileRegressor
from smilenn.problem import build_all
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.rules.order import Order
from smilenn.provers.rules.rule import Rule
from smilenn.provers.rules.slopes import SlopeRule
from smilenn.provers.rules.table import NAMED, PROVERS, RULES, applicable, certifier, choose, decider
from smilenn.reason import Reason
from smilenn.verdict import Proved, Unknown, Violated

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "smilenn"


def functions(file):
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def printed():
    """The rows of the table in docs/rules.md, cells without back-quotes."""
    lines = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_docs_print_the_table():
    said = [[cell.replace("`", "") for cell in row[:5]] for row in printed()]
    files = [type(rule).__module__.removeprefix("smilenn.").replace(".", "/") + ".py" for rule in RULES]
    assert said == [
        [rule.name, rule.shows, rule.cost.value, file, rule.checked] for rule, file in zip(RULES, files, strict=True)
    ]


def test_both_checkers_know_every_rule_that_is_emitted_under_its_name():
    for rule, row in zip(RULES, printed(), strict=True):
        if not rule.checked:
            assert row[5] == ""
            continue
        what, fast, reference = (part.split("`")[1] for part in row[5].replace(" and ", " in ").split(" in "))
        assert what == f"{rule.checked}_rule" and fast == "certify/check.py"
        assert what in functions(fast) and what in functions(reference)


def test_every_rule_is_a_value_of_one_type():
    assert all(isinstance(rule, Rule) and rule == type(rule)() for rule in RULES)
    assert ("auto", *NAMED) == PROVERS and len(set(PROVERS)) == len(PROVERS)
    assert RULES[-1].checked and RULES[-1].decisive  # what every row ends with


@pytest.fixture
def rising(make):
    """A network without width whose signs make it rise in both inputs; `profile` and signs can be changed."""
    s = make.snapshot(make.box(2), np.random.default_rng(0), hidden=5)
    zero = {"second_const": 0 * s.second_const, "second_slope": 0 * s.second_slope, "second_out": 0 * s.second_out}
    positive = {name: np.abs(getattr(s, name)) for name in ("hidden_weight", "lower_out", "lower_slope", "head_weight")}
    return replace(s, **zero, **positive)


def test_monotone_networks_are_proved_by_order_or_slopes_as_their_certificates_are(make, rising):
    for profile, name in (("f64-aux", "slopes"), ("fixed-order", "order")):
        problem = make.problem(make.monotone(["x0", "x1"]), replace(rising, profile=profile))
        row = problem.rows[0]
        assert choose(problem, row).prover is certifier(problem, row) and choose(problem, row).prover.name == name
        verdict = prove_problem(problem)
        assert isinstance(verdict, Proved) and verdict.method == choose(problem, row).prover.title
        assert verdict.bound <= prove_problem(problem, prover="mip").bound + 1e-12
        emitted = certifier(problem, row).emit(problem, row, time_limit=5.0)
        assert emitted.why is None and type(emitted.proof).__name__.lower().startswith(name.rstrip("s"))


def test_one_wrong_sign_ends_the_order_rule_and_a_falling_unit_the_slope_rule(make, rising):
    flat, weight = 0 * rising.lower_slope, rising.hidden_weight.copy()
    falling = replace(rising, profile="fixed-order", hidden_weight=weight, lower_slope=flat)
    falling.hidden_weight[:, 0] *= -1.0
    problem = make.problem(make.monotone(["x0", "x1"]), falling)
    row = problem.rows[0]
    assert Order().refuses(problem, row) is not None and certifier(problem, row) == SlopeRule()
    assert isinstance(decider(problem, row), ReducedMip)
    verdict = prove_problem(problem)
    assert isinstance(verdict, Unknown) and verdict.because(Reason.BOX_UNTRIED) and verdict.bound > 1e-3
    assert verdict.bound <= prove_problem(problem, prover="mip").bound + 1e-6
    s = falling
    broken = prove_problem(problem, forward=lambda x: s.box(problem.domain.scale(x))[0] @ s.head_weight.T + s.head_bias)
    assert isinstance(broken, Violated)


def test_a_lying_linear_program_proves_no_slopes(make, rising, monkeypatch):
    """Cells that hold points are called empty: the multipliers that should show it are looked at without the solver."""
    from types import SimpleNamespace

    from smilenn.provers.rules import slopes

    def lie(problem, node):
        return SimpleNamespace(status=0, fun=1.0, x=None, ineqlin=SimpleNamespace(marginals=-np.ones(len(node.path))))

    weight = rising.hidden_weight.copy()
    weight[:, 0] *= -1.0
    problem = make.problem(
        make.monotone(["x0", "x1"]), replace(rising, hidden_weight=weight, lower_slope=0 * rising.lower_slope)
    )
    monkeypatch.setattr(slopes, "_deepest", lie)
    assert slopes.slope_tree(problem, problem.rows[0]).complete  # believed
    found = SlopeRule().maximise(problem, problem.rows[0])
    assert found.upper == np.inf and not found.complete
    assert isinstance(prove_problem(problem), Unknown)


def test_slopes_that_stop_leave_the_matter_to_the_next_rule(make, rising, monkeypatch):
    from smilenn.provers.rules import slopes
    from smilenn.reason import Why

    problem = make.problem(make.monotone(["x0", "x1"]), rising)
    root = slopes.slope_tree(problem, problem.rows[0]).root
    monkeypatch.setattr(slopes, "slope_tree", lambda *a, **o: slopes.SlopeTree(root, 1, 0.0, Why(Reason.TIME)))
    verdict = prove_problem(problem)
    assert isinstance(verdict, Proved) and verdict.method == ReducedMip().title
    emitted = certifier(problem, problem.rows[0]).emit(problem, problem.rows[0], time_limit=5.0)
    assert emitted.why is not None and str(emitted.why) == "the proof by slopes stopped, the time limit was reached"


def test_the_last_rule_shows_every_row(make):
    rng = np.random.default_rng(1)
    for claim in (make.monotone(["x0"]), make.convex("x0"), make.robust(["x0", "x1"], 0.5, 1)):
        for boxes in ("gap", "paper"):
            problem = make.problem(claim, make.snapshot(make.box(2), rng, hidden=3, boxes=boxes))
            for row in problem.rows:
                found = list(applicable(problem, row))
                assert found[-1] is RULES[-1] and decider(problem, row) in found and certifier(problem, row) in found


RNG = np.random.default_rng(0)
X = pd.DataFrame({"x": RNG.uniform(0, 4, 120), "y": RNG.uniform(0, 4, 120), "g": RNG.choice(["u", "v"], 120)})
Y = 0.5 * X["x"] + 0.3 * np.sin(3 * X["x"]) + 0.3 * X["y"] + 0.5 * (X["g"] == "u")
FITS = {
    "ensemble": {"properties": [Monotone(["x"])]},
    "slopes": {"properties": [Monotone(["x"])], "network": Network(encoder="none", hidden=4)},
    "curved": {"properties": [Convex(["x"]), Monotone(["y"])]},
    "tree": {"properties": [Fair(["g"], 0.4)], "network": Network(encoder="none", hidden=4)},
    "sweep": {"properties": [Lipschitz(["x"], 1.0)], "network": Network(encoder="none", hidden=4)},
}


@pytest.mark.parametrize("name", FITS)
def test_certificates_and_explanations_follow_the_table(name):
    frame = X[["x"]] if name == "sweep" else X
    config = Config(epochs=2, pretrain_epochs=5, batch_size=64, posttrain_rounds=2)
    model = SmileRegressor(**FITS[name], config=config, random_state=0).fit(frame, Y)
    problems = build_all(model.claims_, model.net_.snapshot())
    entries = json.loads(model.certificate_.files["certificate.json"])["claims"]
    for problem, entry in zip(problems, entries, strict=True):
        rows = {row.text: row for row in problem.rows}
        for stated, written in zip(problem.claim.rows, entry["rows"], strict=True):
            if written["rule"] != "mirror":
                assert written["rule"] == certifier(problem, rows[stated.text()]).checked
        for row in problem.rows:
            assert choose(problem, row).reason in model.explain()
    if name == "slopes":
        assert "the slopes of the network" in model.explain() and "HiGHS" not in model.explain()
