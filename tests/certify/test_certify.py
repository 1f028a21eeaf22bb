"""From networks to accepted certificates: what is emitted is checked, what is false is never certified."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.certify.verdicts import check, examine, verdict
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import save_net
from smilenn.model.folder import read_folder, write_folder
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.properties.naming import amount
from smilenn.properties.spec import lower_all, properties_to_json
from smilenn.provers.mip.solvers import solver
from smilenn.provers.mip.solvers.base import Solver, Status
from smilenn.provers.prover import allowance
from smilenn.provers.rules import table
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.verdict import Rejected, Unknown


def network(domain, *, seed=0, hidden=4, embedding=2, boxes="gap", auxiliaries="relu", gap=0.1):
    torch.manual_seed(seed)
    net = SmileNet(
        domain, MLP(domain.size, (4,), embedding), embedding, hidden=hidden, boxes=boxes, auxiliaries=auxiliaries
    )
    net.centre_(torch.tensor(domain.sample(64, np.random.default_rng(seed))))
    if boxes == "gap":
        net.gap.scale_(gap)
    return net


def both(tmp_path, net, certificate):
    folder = tmp_path / "model"
    save_net(folder, net, overwrite=True)
    write_folder(folder, {**read_folder(folder), **certificate.files}, overwrite=True)
    fast, slow = check_folder(folder), check_reference(folder)
    assert fast.status == slow.status
    rows = [(r.bound, r.margin, r.rhs) for c in fast.claims for r in c.rows]
    assert rows == [(r.bound, r.margin, r.rhs) for c in slow.claims for r in c.rows]
    return fast


def people():
    return Domain(
        (
            Feature("age", "integer", 18, 90, shift=18.0, mult=1 / 72),
            Feature("income", "continuous", 0.0, 100.0, mult=0.01),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_a_fair_network_is_certified_and_both_checkers_agree(tmp_path, boxes):
    net = network(people(), boxes=boxes)
    with torch.no_grad():
        net.head_weight.mul_(0.2)
    certificate = certify(net, Fair(["race"], 2.0).lower(net.domain), time_limit=20)
    assert certificate.report.status == "certified" and not certificate.notes
    assert both(tmp_path, net, certificate).status == "certified"
    rules = [row.rule for claim in certificate.report.claims for row in claim.rows]
    assert rules == ["leaf", "mirror"]


def test_a_false_claim_gets_a_checked_bound_and_no_certificate(tmp_path):
    net = network(people(), gap=1.0)
    certificate = certify(net, Fair(["race"], 0.001).lower(net.domain), time_limit=5)
    assert certificate.report.status == "unknown" and certificate.notes
    assert certificate.report.excess is not None and certificate.report.excess > 0
    assert both(tmp_path, net, certificate).status == "unknown"


def test_signs_right_by_construction_need_one_leaf(tmp_path):
    domain = Domain.box([0.0] * 20, [1.0] * 20)
    net = network(domain, hidden=64, gap=0.0)
    with torch.no_grad():
        net.lower.weight[:, :3].abs_()
        net.lower.out.abs_()
        net.head_weight.abs_()
    certificate = certify(net, Monotone(["x0", "x1", "x2"]).lower(domain))
    assert certificate.report.status == "certified"
    (claim,) = certificate.report.claims
    assert [row.rule for row in claim.rows] == ["slope"] and claim.rows[0].bound == 0
    (row,) = claim.rows
    assert row.rhs == 0 < row.excess <= row.room < 1e-10 and row.holds
    assert "more than" not in claim.sentence
    line = certificate.statement.splitlines()[1]
    assert line.endswith("of room for rounding]") and f"by more than {amount(row.room)}. [" in line
    assert len(certificate.files["certificate.bin"]) == 1
    assert both(tmp_path, net, certificate).status == "certified"


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_one_input_needs_no_tree(tmp_path, boxes):
    net = network(Domain.box([-1.0], [1.0], ["x"]), hidden=16, boxes=boxes)
    certificate = certify(net, Robust(0.1, 5.0).lower(net.domain))
    assert certificate.report.status == "certified" and certificate.files["certificate.bin"] == b""
    assert both(tmp_path, net, certificate).status == "certified"


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_affine_images_are_certified(tmp_path, boxes):
    net = network(Domain.box([0.0] * 64, [1.0] * 64), auxiliaries="affine", boxes=boxes, gap=0.0)
    certificate = certify(net, Robust(0.01, 3.0).lower(net.domain), time_limit=20)
    assert certificate.report.status == "certified"
    assert both(tmp_path, net, certificate).status == "certified"


class Liar(Solver):
    """Calls everything optimal and returns noise as multipliers."""

    name = "liar"
    title = "a liar"

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        from dataclasses import replace

        honest = solver("highs").solve(model, time_limit=time_limit)
        noise = np.random.default_rng(0).normal(size=len(model.row_lo))
        return replace(honest, status=Status.OPTIMAL, multipliers=noise, dual_bound=-100.0)


def test_a_lying_solver_never_certifies_a_false_claim(tmp_path, monkeypatch):
    net = network(people(), gap=1.0)
    monkeypatch.setattr(table, "RULES", (*table.RULES[:-1], BranchAndBound(Liar())))
    false, true = Fair(["race"], 0.01).lower(net.domain), Fair(["race"], 200.0).lower(net.domain)
    assert certify(net, false, time_limit=2).report.status == "unknown"
    assert certify(net, true, time_limit=2).report.status == "certified"


def test_no_violation_on_a_certified_model_however_hard_one_looks(tmp_path):
    """Random pairs, their neighbours in float64, and a backbone that does its worst, through the saved network."""
    net = network(people())
    with torch.no_grad():
        net.head_weight.mul_(0.2)
    (claim,) = Fair(["race"], 1.0).lower(net.domain)
    report = certify(net, [claim], time_limit=20).report
    bound = max(float(row.bound + row.margin) for c in report.claims for row in c.rows)
    rng = np.random.default_rng(0)
    first = net.domain.sample(5000, rng)
    second = first.copy()
    second[:, 2:] = np.eye(3)[rng.integers(0, 3, 5000)]

    class Worst(torch.nn.Module):
        def __init__(self, sign):
            super().__init__()
            self.sign = sign

        def forward(self, u):
            return torch.full((len(u), 2), 1e300, dtype=torch.float64) * self.sign * torch.sign(net.head_weight[0])

    net.backbone = Worst(1.0)
    high = net.predict(first)[:, 0]
    net.backbone = Worst(-1.0)
    low = net.predict(second)[:, 0]
    assert (high - low).max() <= bound


def test_slopes_that_are_wrong_between_whole_numbers_only_are_certified(tmp_path):
    domain = Domain((Feature("x", "continuous", 0, 1), Feature("n", "integer", 0, 1)))
    net = network(domain, hidden=2, embedding=1, gap=0.0)
    with torch.no_grad():
        net.lower.weight.copy_(torch.tensor([[1.0, -8.0], [1.0, -8.0]]))
        net.lower.bias.copy_(torch.tensor([3.0, 1.0]))
        net.lower.out.copy_(torch.tensor([[-4.0, 4.0]]))
        net.head_weight.fill_(1.0)
    certificate = certify(net, Monotone(["x"]).lower(domain), time_limit=5)  # slope 0 at n = 0 and n = 1
    assert certificate.report.status == "certified"
    assert both(tmp_path, net, certificate).status == "certified"
    real = network(Domain.box([0.0, 0.0], [1.0, 1.0], ["x", "n"]), hidden=2, embedding=1, gap=0.0)
    real.load_state_dict(net.state_dict())
    assert certify(real, Monotone(["x"]).lower(real.domain), time_limit=5).report.status == "unknown"


def stating(folder, net, found, properties):
    """A folder whose properties.json states these properties beside a certificate of whatever."""
    claims = [claim.to_json() for claim in lower_all(properties, net.domain)]
    document = {"claims": claims, "properties": properties_to_json(properties)}
    save_net(folder, net, documents={"properties.json": document}, extra=found.files)


def test_a_certificate_of_a_weaker_claim_does_not_certify_the_stated_one(tmp_path, forge2):
    """Rows have room for rounding, not for comfort: ε = 5 beside a stated ε = 0.01 is refused, in version 1 a bound."""
    domain = Domain.box([0.0, 0.0], [1.0, 1.0])
    torch.manual_seed(0)
    net = SmileNet(domain, MLP(2, (4,), 2), 2, hidden=3)
    found = certify(net, Robust(0.1, 50.0).lower(domain), time_limit=5)
    assert found.accepted
    stating(tmp_path / "model", net, found, [Robust(0.1, 0.01)])
    seen = examine(tmp_path / "model")
    assert isinstance(seen, Rejected) and "other claims" in seen.reason
    first = forge2.put(tmp_path / "first", forge2.as_version_1(forge2.read(tmp_path / "model")))
    seen = examine(first)
    assert not seen.accepted and not any(seen.holds)
    said = verdict(seen)
    assert isinstance(said, Unknown) and said.violation_bound > 0.1


def test_what_training_allows_for_rounding_covers_the_exact_margin(folders, tmp_path):
    """Training aims at ε − allowance − slack; the checker adds its own margin, which must be the smaller one."""
    seen = 0
    for seed in range(20):
        made = folders.random_folder(tmp_path / "m", seed)
        for claim, report in zip(made.claims, check_folder(tmp_path / "m").claims, strict=True):
            problem = build(claim, made.net.snapshot())
            rows = {row.text: row for row in problem.rows}
            for inequality, checked in zip(claim.rows, report.rows, strict=True):
                if inequality.text() in rows:
                    seen += 1
                    assert 0 < checked.margin < allowance(problem, rows[inequality.text()])
    assert seen > 30


# ---- what may be called rounding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "stated", "weaker"), [(2.0**40, 0.5, 300.0), (2.0**40, 0.0, 30000.0), (1.0, 0.999, 1.001)]
)
def test_a_weaker_claim_is_not_the_stated_one_up_to_rounding_whatever_the_scale(
    tmp_path, forge2, scale, stated, weaker
):
    """Right sides are given in parts of what can be shown. Version 2 refuses; version 1 tells what is shown."""
    domain = Domain.box([0.0, 0.0], [1.0, 1.0])
    torch.manual_seed(0)
    net = SmileNet(domain, MLP(2, (4,), 2), 2, hidden=3, output_scale=scale)
    with torch.no_grad():
        net.head_weight.div_(scale)
    found = certify(net, Robust(0.1, 50.0).lower(domain), time_limit=5)
    shown = max(float(row.bound + row.margin) for claim in found.report.claims for row in claim.rows)
    found = certify(net, Robust(0.1, weaker * shown).lower(domain), time_limit=5)
    assert found.accepted
    stating(tmp_path / "model", net, found, [Robust(0.1, stated * shown)])
    said = check(tmp_path / "model")
    assert isinstance(said, Rejected) and "other claims" in said.reason
    first = forge2.put(tmp_path / "first", forge2.as_version_1(forge2.read(tmp_path / "model")))
    said = check(first)
    assert isinstance(said, Unknown) and said.bound >= 0.99 * (1 - stated) * shown


@pytest.mark.parametrize("eps", [0.1, 0.5, 0.125])
def test_a_bound_that_is_met_exactly_is_certified_up_to_its_margin(tmp_path, eps):
    """f(x) = x and δ = ε: bound + margin is above ε by the margin, and that is what is added."""
    domain = Domain.box([0.0], [1.0])
    net = SmileNet(domain, MLP(1, (2,), 1), 1, auxiliaries="affine")
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.lower.const.zero_()
        net.head_weight.fill_(1.0)
    found = certify(net, Robust(eps, eps).lower(domain), time_limit=5)
    assert found.accepted and 0 < found.rounding < 1e-9 * eps
    assert f"by at most {amount(Fraction(str(eps)) + found.rooms[0])}. [" in found.statement
    assert both(tmp_path, net, found).status == "certified"
