"""The open cells of a proof on a cluster: the same tree, and a certificate that checks."""

import numpy as np
import pytest
import torch

import smilenn
from smilenn import Robust, SmileNet
from smilenn.certify.network import certify_net
from smilenn.clusters.dask_pool import DaskPool
from smilenn.clusters.pool import Here
from smilenn.clusters.task import ClusterError
from smilenn.model.backbones import MLP
from smilenn.problem import build
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.tree import branch, parallel
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.testing.problems import cube, snapshot

pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own start and end


@pytest.fixture(autouse=True)
def shared_early(monkeypatch):
    monkeypatch.setattr(branch, "SHARED_AT", 12)


@pytest.fixture(scope="module")
def hard():
    domain = cube(4)
    net = snapshot(domain, np.random.default_rng(3), hidden=6)
    problem = build(Robust(0.3, 0.1).lower(domain)[0], net)
    return problem, problem.rows[0], ReducedMip().maximise(problem, problem.rows[0], time_limit=60).upper + 1e-3


def splits(tree):
    stack, found = [tree.root], []
    while stack:
        node = stack.pop()
        found.append((node.split, node.bound))
        stack.extend(node.children)
    return found


def test_a_cluster_gives_the_same_tree(hard, workers, monkeypatch):
    problem, row, target = hard
    with smilenn.cluster(workers):
        found = BranchAndBound().search(problem, row, time_limit=120, target=target)
    monkeypatch.setattr(parallel, "current", Here)
    wanted = BranchAndBound(workers=2).search(problem, row, time_limit=120, target=target)
    assert found.complete and found.bound <= target and found.nodes == wanted.nodes > 12
    assert splits(found) == splits(wanted)


def test_where_the_cluster_is_lost_the_proof_goes_on_here(hard, workers, monkeypatch, caplog):
    problem, row, target = hard
    real = DaskPool.results

    def lost(self, function, tasks, shared=None):
        yield from real(self, function, tasks[:1], shared)
        raise ClusterError("The scheduler was lost.")

    monkeypatch.setattr(DaskPool, "results", lost)
    with smilenn.cluster(workers):
        found = BranchAndBound().search(problem, row, time_limit=120, target=target)
    assert "The proof goes on in one process: The scheduler was lost." in caplog.text
    assert found.complete and found.bound <= target


@pytest.fixture(scope="module")
def network():
    """Random auxiliaries, and the ε that they keep by a hair: the tree has to be grown."""
    domain = cube(4)
    torch.manual_seed(0)
    net = SmileNet(domain, MLP(4, (3,), 1), 1, hidden=18).eval()
    with torch.no_grad():
        for tensor in (net.lower.weight, net.lower.bias, net.lower.out):
            tensor.copy_(torch.from_numpy(np.random.default_rng(tensor.numel()).normal(size=tuple(tensor.shape))))
    problem = build(Robust(0.2, 0.0).lower(domain)[0], net.snapshot())
    most = ReducedMip().maximise(problem, problem.rows[0], time_limit=60).upper
    return net, Robust(0.2, round(most + 1e-4, 4))


def test_the_certificate_of_a_shared_proof_checks(network, workers, monkeypatch, tmp_path):
    net, rule = network
    shared = []
    monkeypatch.setattr(branch, "share", lambda *run: (shared.append(1), parallel.share(*run)))
    with smilenn.cluster(workers):
        certify_net(net, [rule], tmp_path / "cluster")
    assert shared  # the tree was large enough to be shared out
    certify_net(net, [rule], tmp_path / "alone")
    assert smilenn.check(tmp_path / "cluster").status == smilenn.check(tmp_path / "alone").status == "proved"
