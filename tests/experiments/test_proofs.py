"""The proof benchmark: instances, records and the command, on cases that take a moment."""

import json

import pytest
from typer.testing import CliRunner

from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.experiments import proofs
from smilenn.experiments.proof_cases import Case
from smilenn.experiments.proofs import TOLD, instance, peers, records, summary
from smilenn.problem import build
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import installed


def test_records_follow_the_contract():
    rows = list(records([Case("robust", 3, 2)], seeds=1, limit=10.0, against=["paper-highs", "reduced-highs"]))
    assert {r["case"] for r in rows} <= {"robust-3x2/opt", "robust-3x2/prove", "robust-3x2/find"}
    assert {r["peer"] for r in rows} == {"paper-highs", "reduced-highs"}
    for r in rows:
        assert {"case", "peer", "ours_s", "peer_s", "ratio"} <= set(r)
        assert r["ours_done"] and r["peer_done"] and r["ratio"] == r["peer_s"] / r["ours_s"]
        told = {"paper-highs": "bound", "reduced-highs": "row"}[r["peer"]]  # how the peer knows ε, where there is one
        assert r["told"] == (told if r["case"].endswith("prove") else None)
    means = summary(rows)
    assert len(means) == len(rows) and all(m["ratio"] == pytest.approx(m["least"]) for m in means)


def test_match_proves_what_the_peer_has_proved():
    case = Case("robust", 3, 2)
    (done,) = records([case], seeds=1, limit=10.0, against=["reduced-highs"], jobs=["match"])
    assert done["case"] == "robust-3x2/match" and done["ours_done"] and done["peer_done"]
    assert done["ratio"] == done["peer_s"] / done["ours_s"]
    early = list(records([case], seeds=1, limit=0.0, against=["reduced-highs"], jobs=["match"]))
    # within no time a peer has proved a weaker bound, or none: then there is nothing to match
    assert all(r["peer_optimum"] >= done["peer_optimum"] - 1e-9 for r in early)


@pytest.mark.parametrize("peer", sorted(TOLD))
@pytest.mark.parametrize("case", [Case("robust", 3, 2), Case("robust", 5, 0)])
def test_a_peer_that_is_told_proves_what_holds_and_nothing_else(peer, case):
    """ε just above the maximum must be found infeasible, ε just below must not; affine nets make the MIP an LP."""
    if peer.split("-")[1] not in installed():
        pytest.skip(f"{peer} needs its solver")
    snapshot, claim = instance(case, 0)
    problem = build(claim, snapshot)
    row = problem.rows[0]
    best = ReducedMip().maximise(problem, row).upper + row.rhs
    step = 1e-3 * max(abs(best), 0.1 * row.scale)  # what "prove" adds
    for shift, holds in ((0.0, True), (-2.0 * step, False)):
        seconds, done, bound = proofs._peer(problem, row, peer, "prove", best + shift, 10.0)
        assert done is holds and seconds > 0 and bound is None


def test_an_instance_depends_on_its_seed_alone():
    first, again, other = (instance(Case("fair", 8, 2), seed)[0].digest for seed in (0, 0, 1))
    assert first == again != other


def test_unknown_names_are_errors():
    with pytest.raises(SmileError, match="no peer 'cplex'"):
        peers(["cplex"])
    assert CliRunner().invoke(app, ["bench", "proof", "--case", "fair-1x1"]).exit_code == 2
    assert CliRunner().invoke(app, ["bench", "speed"]).exit_code == 2


def test_the_command_prints_json_lines():
    options = ["--json", "--case", "monotone-1x32", "--job", "opt", "--peer", "reduced-highs", "--seeds", "1"]
    result = CliRunner().invoke(app, ["bench", "proof", *options])
    assert result.exit_code == 0
    lines = [json.loads(text) for text in result.stdout.splitlines()]
    assert [r["case"] for r in lines] == ["monotone-1x32/opt"] and lines[0]["method"] == "sweep"
