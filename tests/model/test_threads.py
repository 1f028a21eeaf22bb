"""The calling thread alone computes what is certified, and it is the one that is looked at."""

import sys
import threading

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestRegressor
from tests.forked import forked
from threadpoolctl import threadpool_info, threadpool_limits
from torch import nn

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.model.net import SmileNet
from smilenn.model.threads import OneLibraryThread, OneThread

BASE = """
import sys
import numpy as np, torch
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.net import SmileNet

class Zero(torch.nn.Module):
    def forward(self, u):
        return torch.zeros(len(u), 16, dtype=torch.float64)
"""
FLUSHING = """
torch.set_num_threads(2)
if not torch.set_flush_denormal(True):
    sys.exit("no flushing")
t = torch.rand(1 << 20, dtype=torch.float64)
(t * t).sum()  # the worker is born here, and flushes as long as it lives
torch.set_flush_denormal(False)
many = torch.full((1 << 20,), 2.0**-1060, dtype=torch.float64)
assert ((many * 1.0) == 0).any(), "no worker took part"
net = SmileNet(Domain.box([0.0], [2.0**30], ["x"]), Zero(), 16, auxiliaries="affine")
with torch.no_grad():
    for tensor in (net.lower.slope, net.lower.const, net.gap.const, net.gap.rise, net.gap.fall, net.head_weight):
        tensor.zero_()
    net.lower.slope[0, 0], net.head_weight[0, 0] = 2.0**-1030, 2.0**990
net.set_profile("fixed-order")
low = net.predict(np.array([[2.0**29]]))[0, 0]
high = net.predict(np.full((4096, 1), 2.0**30))
assert low == 2.0**-11 and (high == 2.0**-10).all(), (low, np.unique(high))
assert torch.get_num_threads() == 2
"""
ROUNDING = """
import ctypes, ctypes.util
libm = ctypes.CDLL(ctypes.util.find_library("m"))
net = SmileNet(Domain.box([0.0], [1.0], ["x"]), Zero(), 16, auxiliaries="affine")
x = np.array([[0.5]])
for profile, grid in (("f64-aux", 0), ("fixed-order", 0), ("dyadic", 12)):
    net.set_profile(profile, grid)
    net.predict(x)
    for mode in (0x400, 0x800, 0xC00):  # down, up, towards zero
        assert libm.fesetround(mode) == 0
        try:
            net.predict(x)
            said = ""
        except SmileError as error:
            said = str(error)
        finally:
            libm.fesetround(0)
        assert "does not round to nearest" in said, (profile, hex(mode), said)
"""


def run(text):
    code, _, errors = forked(BASE + text)
    if "no flushing" in errors:
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    assert code == 0, errors


def test_workers_that_flush_take_no_part():
    run(FLUSHING)


@pytest.mark.skipif(sys.platform != "linux", reason="the constants of fesetround are those of Linux on x86")
def test_every_profile_counts_on_rounding_to_nearest():
    run(ROUNDING)


def network(seed=0):
    torch.manual_seed(seed)
    domain = Domain.box([0.0] * 4, [1.0] * 4)
    encoder = Encoder(domain, [Branch("core", range(4), [Pinned(MLP(4, (33,), 3), 3)])])
    return SmileNet(domain, MLP(4, (8,), 2), 2, encoder=encoder, hidden=5)


def test_the_number_of_threads_is_restored_whatever_happens(two_threads):
    seen = []
    with OneThread(1):
        with OneThread(1):
            seen.append(torch.get_num_threads())
        seen.append(torch.get_num_threads())
    assert seen == [1, 1] and torch.get_num_threads() == 2
    with pytest.raises(KeyError), OneThread(1):
        raise KeyError
    assert torch.get_num_threads() == 2


def test_the_certified_part_has_one_thread_and_the_backbone_all(two_threads, monkeypatch):
    seen = {}

    def noted(name, function):
        return lambda *given: seen.setdefault(name, torch.get_num_threads()) and function(*given)

    net = network()
    for name in ("scale", "encode", "box", "embed", "head"):
        monkeypatch.setattr(net, name, noted(name, getattr(net, name)))
    net.predict(np.zeros((3, 4)))
    assert seen == {"scale": 1, "encode": 1, "box": 1, "embed": 2, "head": 1}
    seen.clear()
    net.train()(torch.zeros(3, 4))
    assert set(seen.values()) == {2}


def test_a_backbone_that_switches_flushing_on_is_noticed_before_the_head():
    class Switch(nn.Module):
        def forward(self, u):
            torch.set_flush_denormal(True)
            return torch.zeros(len(u), 2, dtype=torch.float64)

    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    torch.set_flush_denormal(False)
    net = network()
    net.backbone = Switch()
    try:
        with pytest.raises(SmileError, match="set_flush_denormal"):
            net.predict(np.zeros((3, 4)))
    finally:
        torch.set_flush_denormal(False)


@pytest.mark.parametrize(("encoded", "refused"), [(False, False), (True, True)])
def test_subnormal_numbers_matter_where_bits_do(tmp_path, encoded, refused):
    net = network()
    if not encoded:
        net = SmileNet(net.domain, MLP(4, (8,), 2), 2, hidden=5)
    save_net(tmp_path / "model", net)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    try:
        if refused:
            with pytest.raises(SmileError, match="set_flush_denormal"):
                load_net(tmp_path / "model")
        else:
            load_net(tmp_path / "model")[0].predict(np.zeros((3, 4)))
    finally:
        torch.set_flush_denormal(False)


def test_python_threads_that_predict_together_get_the_same_bits_and_keep_their_threads():
    net = network()
    x = net.domain.sample(5000, np.random.default_rng(0))
    wanted, found, counts = net.predict(x), [], []

    def work(threads):
        torch.get_num_threads()  # its first use of torch gives a thread the number that was set last, by anybody
        torch.set_num_threads(threads)
        for _ in range(5):
            order = np.random.default_rng(threads).permutation(len(x))
            got = np.empty_like(wanted)
            got[order] = net(torch.as_tensor(x[order])).detach().numpy()
            found.append(np.array_equal(got, wanted))
        counts.append((threads, torch.get_num_threads()))

    net.eval()
    workers = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * 15 and sorted(counts) == [(1, 1), (2, 2), (3, 3)]


def test_other_libraries_have_one_thread_and_get_theirs_back():
    rng = np.random.default_rng(0)
    forest = RandomForestRegressor(20, n_jobs=2).fit(rng.normal(size=(60, 3)), rng.normal(size=60))
    with threadpool_limits(2):
        before = threadpool_info()
        with OneLibraryThread(), OneLibraryThread():
            assert {pool["num_threads"] for pool in threadpool_info()} == {1}
            count = threading.active_count()
            forest.predict(rng.normal(size=(5, 3)))
            assert threading.active_count() == count
        assert threadpool_info() == before
        with pytest.raises(KeyError), OneLibraryThread():
            raise KeyError
        assert threadpool_info() == before


def test_threads_that_somebody_else_holds_are_an_error():
    """OpenBLAS has one number of threads for all: where another thread set it, ours is not listened to."""
    held, done = threading.Event(), threading.Event()

    def hold():
        with threadpool_limits(2):
            held.set()
            done.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(20)
    try:
        if not any(pool["num_threads"] == 2 for pool in threadpool_info()):
            pytest.skip("the libraries of this machine keep a number of threads for each thread")
        with pytest.raises(SmileError, match="held by another thread"), OneLibraryThread():
            pass
    finally:
        done.set()
        other.join()
    with OneLibraryThread():
        pass
