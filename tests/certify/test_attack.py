"""The attack on what a certificate promises: deployed floats, hostile backbones, odd domains, weights and claims."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.certify import check
from smilenn.certify.certify import certify
from smilenn.certify.reference import check as check_reference
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net
from smilenn.model.encoders import Branch, Encoder
from smilenn.model.encoders.layers import Linear
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties import Fair, Monotone
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import holds_exactly


def promises(folder):
    """What both checkers say of the rows of every claim: bound + margin."""
    fast, slow = check.check_folder(folder), check_reference.check_folder(folder)
    assert fast.status == slow.status and fast.claims, (fast.reason, slow.reason)
    sums = [[[r.bound + r.margin for r in c.rows] for c in report.claims] for report in (fast, slow)]
    assert sums[0] == sums[1]
    return sums[0]


# ---- backbones as adversaries ----------------------------------------------------------------------------------------


class Hostile(nn.Module):
    """A backbone without weights that does what `act` (u [B, m], n → [B, n]) does."""

    def __init__(self, n, act):
        super().__init__()
        self.n, self.act = n, act

    def forward(self, u):
        return self.act(u, self.n)


class Oracle(nn.Module):
    """At the top or bottom of the box, per coordinate, as `signs` [n] says: it is told which copy it is asked for."""

    def __init__(self, n):
        super().__init__()
        self.signs = torch.ones(n)

    def forward(self, u):
        return (self.signs * torch.inf).expand(len(u), -1)


def in_place(u, n):
    u.mul_(-3.0).add_(0.7)
    return u.sum(dim=1, keepdim=True).expand(-1, n)


class Stateful:
    """Never the same answer twice."""

    def __init__(self):
        self.calls = 0

    def __call__(self, u, n):
        self.calls += 1
        return torch.full((len(u), n), 1e6 * (-1.0) ** self.calls)


def flips_flags(u, n):
    torch.set_flush_denormal(True)
    torch.set_autocast_enabled("cpu", True)
    torch.set_float32_matmul_precision("medium")
    torch.backends.cuda.matmul.allow_tf32 = True
    return u[:, :1].expand(-1, n) * 1e3


HOSTILE = {
    "nan": lambda u, n: torch.full((len(u), n), torch.nan),
    "inf": lambda u, n: torch.full((len(u), n), torch.inf),
    "minus-inf": lambda u, n: torch.full((len(u), n), -torch.inf),
    "half": lambda u, n: torch.full((len(u), n), 6e4, dtype=torch.float16),
    "random": lambda u, n: 10 * torch.randn(len(u), n),
    "mixed": lambda u, n: torch.where(torch.rand(len(u), n) < 0.5, torch.nan, torch.inf * torch.randn(len(u), n)),
    "in-place": in_place,
    "flags": flips_flags,
}


@pytest.fixture
def flags():
    """Global settings as they were before."""
    autocast = torch.is_autocast_enabled("cpu")
    tf32, precision = torch.backends.cuda.matmul.allow_tf32, torch.get_float32_matmul_precision()
    yield
    torch.set_flush_denormal(False)
    torch.set_autocast_enabled("cpu", autocast)
    torch.set_float32_matmul_precision(precision)
    torch.backends.cuda.matmul.allow_tf32 = tf32


@pytest.mark.parametrize("name", [*HOSTILE, "stateful"])
def test_no_backbone_breaks_a_promise(attack, folders, tmp_path, flags, name):
    torch.manual_seed(0)
    rows = 0
    for seed, profile in enumerate(("f64-aux", "f64-aux", "fixed-order", "dyadic")):
        made = folders.random_folder(tmp_path / "m", 40 + seed, copies=2, profile=profile, claims=1)
        net, _ = load_net(tmp_path / "m")
        net.backbone = Hostile(net.embedding, HOSTILE.get(name) or Stateful())
        limits = promises(tmp_path / "m")[0]
        if name == "flags" and profile == "fixed-order":  # bits are promised, so the setting must be one and stay
            with pytest.raises(SmileError, match="set_flush_denormal"):
                list(attack(net, made.claims[0], limits, count=160, single=20, seed=seed))
            torch.set_flush_denormal(False)
            rows += 1
            continue
        for found in attack(net, made.claims[0], limits, count=160, single=20, seed=seed):
            assert found.violations == 0, found
            rows += 1
    assert rows >= 4


class Switches(nn.Module):
    """Takes subnormal numbers for zero from where the last input is large, and no longer where it is small."""

    def forward(self, u):
        torch.set_flush_denormal(bool(u[:, -1].max() > 0.75))
        return u[:, :1].clone()


@pytest.mark.usefixtures("fresh_checker")
def test_subnormal_numbers_are_not_switched_off_between_two_copies(tmp_path, flags):
    """A head of 2^-1023 times a scale of 2^1023, or layers of 2^-1030 and 2^990: zero where the first is flushed.

    Both are certified, monotone bit for bit and fair up to 1e-9: so no two predictions may differ in the setting.
    """
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    torch.set_flush_denormal(False)
    line = Domain((Feature("x"),))
    ordered = SmileNet(line, Switches(), 1, auxiliaries="affine", output_scale=2.0**1023)
    plane = Domain((Feature("x"), Feature("g", "binary")))
    layers = [Linear(1, 1) for _ in range(3)]
    encoder = Encoder(plane, [Branch("b", [0], layers)])
    fair = SmileNet(plane, Switches(), 1, auxiliaries="affine", encoder=encoder)
    with torch.no_grad():
        for net in (ordered, fair):
            net.lower.const.zero_()
            net.lower.slope.fill_(1.0)
            net.gap.scale_(0.0)
            net.head_weight.fill_(1.0)
            net.head_bias.zero_()
        ordered.head_weight.fill_(2.0**-1023)
        for layer, weight in zip(layers, (2.0**-1030, 2.0**990, 2.0**40), strict=True):
            layer.weight.fill_(weight)
            layer.bias.zero_()
        encoder.lo.fill_(0.0)
        encoder.hi.fill_(1.0)
    ordered.set_profile("fixed-order")
    for net, rule, rows in (
        (ordered, Monotone(increasing=["x"]), [[0.5], [1.0]]),
        (fair, Fair("g", eps=1e-9), [[0.5, 0.0], [0.5, 1.0], [0.5, 0.0]]),
    ):
        assert certify(net, rule.lower(net.domain), time_limit=5).report.status == "certified"
        with pytest.raises(SmileError, match="set_flush_denormal"):
            for one in rows:
                net.predict(np.array([one]))
        torch.set_flush_denormal(False)


def test_a_tensor_that_redefines_operations_stays_in_the_box():
    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            out = super().__torch_function__(func, types, args, kwargs or {})
            return out * 1e6 if func is torch.where else out

    net = SmileNet(Domain.box([0.0], [1.0]), Hostile(1, lambda u, n: torch.ones(len(u), n).as_subclass(Own)), 1)
    x = torch.rand(50, 1, dtype=torch.float64)
    with torch.no_grad():
        ends = [net.head(z) for z in net.box(net.scale(x))]
        y = net(x)
    assert (torch.minimum(*ends) <= y).all() and (y <= torch.maximum(*ends)).all()


def test_a_backbone_that_works_in_place_does_not_move_the_box():
    """The box is evaluated at the inputs, not at what a first layer like ReLU(inplace=True) has left of them."""
    domain = Domain.box([-1.0, -1.0], [1.0, 1.0])
    torch.manual_seed(1)
    net = SmileNet(domain, MLP(2, (3,), 2).double(), 2, hidden=3)
    net.gap.scale_(0.0)
    x = domain.sample(50, np.random.default_rng(0))
    wanted = net.predict(x)
    for backbone in (Hostile(2, in_place), nn.Sequential(nn.ReLU(inplace=True), nn.Linear(2, 2).double())):
        net.backbone = backbone
        assert (net.predict(x) == wanted).all()


def test_the_worst_oracle_is_met_and_not_exceeded(attack, folders, tmp_path):
    """Up at x', down at x'' and per coordinate the other way round: the left side comes near the bound, never above."""
    close = rows = 0
    for seed in range(6):
        choices = {"boxes": ("gap", "paper")[seed % 2], "auxiliaries": "relu", "zero_gap": False, "claims": 1}
        made = folders.random_folder(tmp_path / "m", 70 + seed, copies=2, size=1, rule="sweep", **choices)
        net, _ = load_net(tmp_path / "m")
        net.backbone = oracle = Oracle(net.embedding)
        claim, limits = made.claims[0], promises(tmp_path / "m")[0]
        for inequality, limit in zip(claim.rows, limits, strict=True):
            a = np.zeros((2, len(net.outputs)))
            for t in inequality.terms:
                if t.kind == "out":
                    a[t.copy, net.outputs.index(t.name) if t.name in net.outputs else 0] += float(t.coef)
            signs = np.where(a @ net.effective_head()[0].detach().numpy() > 0, 1.0, -1.0)

            def worst(x, signs=signs, net=net, oracle=oracle):
                out = np.empty((len(x), len(net.outputs)))
                for copy in (0, 1):  # tuples are laid out copy by copy
                    oracle.signs = torch.tensor(signs[copy])
                    out[copy::2] = net.predict(x[copy::2])
                return out

            alone = Claim(2, claim.when, (inequality,), claim.others, claim.equal, claim.free)
            if not any(t.kind == "out" for t in inequality.terms):
                continue
            for found in attack(net, alone, [limit], count=1500, single=0, forward=worst, seed=seed):
                assert found.violations == 0, found
                spread = float(limit) - found.largest
                close += spread <= 1e-6 * (1 + abs(float(limit)))
                rows += 1
    assert rows >= 5 and close >= rows // 2, (close, rows)  # the sweep's bound is the maximum itself


# ---- numerics --------------------------------------------------------------------------------------------------------


def sequential(y, w, b):
    total = b
    for i in range(len(y)):
        total = total + w[i] * y[i]
    return total


def backwards(y, w, b):
    total = 0.0
    for i in reversed(range(len(y))):
        total = total + w[i] * y[i]
    return total + b


def pairwise(y, w, b):
    terms = [w[i] * y[i] for i in range(len(y))] + [b]
    while len(terms) > 1:
        terms = [sum(terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0]


def fused(y, w, b):
    """Multiply and add with one rounding."""
    total = F(b)
    for i in range(len(y)):
        total = F(float(total + F(w[i]) * F(y[i])))
    return float(total)


def exactly(y, w, b):
    """One rounding at the very end."""
    return float(F(b) + sum((F(w[i]) * F(y[i]) for i in range(len(y))), F(0)))


def shuffled(y, w, b):
    order = np.random.default_rng(len(y)).permutation(len(y))
    return sequential([y[i] for i in order], [w[i] for i in order], b)


SUMS = {
    "sequential": sequential,
    "backwards": backwards,
    "pairwise": pairwise,
    "fused": fused,
    "exactly": exactly,
    "shuffled": shuffled,
}


def by_hand(net, x, signs, add):
    """Outputs of one raw input x [m] if the backbone sits at the top (1) or bottom (−1) of its box, sums by `add`."""
    u = net.scale(torch.as_tensor(x)[None])[0].tolist()

    def part(aux):
        size = aux.const.shape[0]
        y, w = [], [[] for _ in range(size)]
        for name in ("slope", "rise", "fall"):
            if (weight := getattr(aux, name, None)) is not None:
                low, high = net.u_lo.tolist(), net.u_hi.tolist()
                inputs = {
                    "slope": u,
                    "rise": [a - b for a, b in zip(u, low, strict=True)],
                    "fall": [b - a for a, b in zip(u, high, strict=True)],
                }[name]
                y += inputs
                for i in range(size):
                    w[i] += weight[i].tolist()
        if aux.hidden:
            y += [max(0.0, add(u, row.tolist(), b)) for row, b in zip(aux.weight, aux.bias.tolist(), strict=True)]
            for i in range(size):
                w[i] += aux.out[i].tolist()
        return [add(y, w[i], c) for i, c in enumerate(aux.const.tolist())]

    lower, second = part(net.lower), part(net.second)
    upper = [a + b for a, b in zip(lower, second, strict=True)] if net.boxes == "gap" else second
    z = [max(a, b) if s > 0 else a for a, b, s in zip(lower, upper, signs, strict=True)]
    scale = net.output_scale.tolist()
    rows = zip(net.head_weight.tolist(), net.head_bias.tolist(), scale, strict=True)
    return [add(z, g, b) * s for g, b, s in rows]


@pytest.mark.parametrize("profile", ["f64-aux", "dyadic"])
def test_any_order_of_summation_keeps_the_promise(folders, tmp_path, profile):
    """Through the deployed weights, at the tuples that are worst for the network itself and their neighbours."""
    tried = 0
    for seed in range(5):
        made = folders.random_folder(tmp_path / "m", 200 + seed, copies=2, profile=profile, claims=1)
        net, _ = load_net(tmp_path / "m")
        claim, limits = made.claims[0], promises(tmp_path / "m")[0]
        problem, rng = build(claim, net.snapshot()), np.random.default_rng(seed)
        witness = np.array(json.loads((tmp_path / "m" / "certificate.json").read_text())["claims"][0]["witness"])
        corners = problem.region.argmax(rng.normal(size=(4, *problem.region.lo.shape)))
        found = np.where(problem.premise.pinned, (x := net.domain.unscale(corners))[:, :1], x)
        for x in (witness, *(t for t in found if holds_exactly(claim, net.domain, t))):
            for inequality, limit in zip(claim.rows, limits, strict=True):
                for signs in itertools.product((1, -1), repeat=2):
                    lefts = []
                    for add in SUMS.values():
                        y = [by_hand(net, x[c], [signs[c]] * net.embedding, add) for c in (0, 1)]
                        left = F(0)
                        for t in inequality.terms:
                            o = net.outputs.index(t.name) if t.kind == "out" and t.name in net.outputs else 0
                            i = net.domain.indices(t.name)[0] if t.kind == "in" else 0
                            left += t.coef * F(y[t.copy][o] if t.kind == "out" else float(x[t.copy, i]))
                        assert left <= limit, (seed, inequality.text())
                        lefts.append(left)
                        tried += 1
                    assert profile != "dyadic" or len(set(lefts)) == 1  # nothing rounds, so no order matters
    assert tried > 200


@pytest.mark.parametrize("profile", ["f64-aux", "fixed-order", "dyadic"])
def test_threads_and_batches_keep_the_promise(attack, folders, tmp_path, profile):
    made = folders.random_folder(tmp_path / "m", 7, copies=2, profile=profile, claims=1, hidden=3)
    net, _ = load_net(tmp_path / "m")
    limits = promises(tmp_path / "m")[0]
    before = torch.get_num_threads()
    x = net.domain.sample(513, np.random.default_rng(0))
    wanted = net.predict(x)
    try:
        for threads, batch in ((1, 4096), (2, 7), (1, 1)):
            torch.set_num_threads(threads)
            same = net.predict(x, batch=batch)
            assert np.allclose(same, wanted, rtol=1e-9, atol=1e-9)
            assert profile == "f64-aux" or (same == wanted).all()  # bit for bit, whatever the batch
            for found in attack(
                net,
                made.claims[0],
                limits,
                count=80,
                single=0,
                forward=lambda rows, b=batch: net.predict(rows, batch=b),
            ):
                assert found.violations == 0
    finally:
        torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
def test_a_compiled_network_keeps_the_promise(attack, folders, tmp_path):
    made = folders.random_folder(tmp_path / "m", 7, copies=2, claims=1)
    net, _ = load_net(tmp_path / "m")
    limits = promises(tmp_path / "m")[0]
    fast = torch.compile(net)
    try:
        with torch.no_grad():
            fast(torch.zeros(2, net.domain.size, dtype=torch.float64))
    except Exception as error:  # no compiler on this machine, or one that torch cannot use
        pytest.skip(f"torch.compile does not work here: {type(error).__name__}")

    def forward(rows):
        with torch.no_grad():
            return fast(torch.as_tensor(rows)).numpy()

    for found in attack(net, made.claims[0], limits, count=2000, single=0, forward=forward):
        assert found.violations == 0


def test_casting_the_certified_part_is_refused(folders, tmp_path):
    folders.random_folder(tmp_path / "m", 7)
    net, _ = load_net(tmp_path / "m")
    x = net.domain.sample(3, np.random.default_rng(0))
    net.backbone = Hostile(net.embedding, HOSTILE["inf"])
    wanted = net.predict(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (net.predict(x) == wanted).all()
    for dtype in (torch.float32, torch.float16):
        net, _ = load_net(tmp_path / "m")
        net.lower.const.data = net.lower.const.data.to(dtype)
        with pytest.raises(SmileError, match="float64"):
            net.predict(x)


# ---- weights, claims, domains ----------------------------------------------------------------------------------------


def test_a_scale_that_is_flushed_to_zero_is_refused(corpus, tmp_path):
    """f = 2^-41 everywhere, but a subnormal output scale is zero to a processor that flushes: no margin covers that."""
    net = corpus.plain(corpus.box("x"), [[1.0]], [0.0], [0.0], const=1.0)
    claim = Claim(1, (), (row([(-1, 0, "out", "")], -F(1, 2**42)),))  # f ≥ 2^-42
    files = corpus.made(net, claim, [[0.5]], corpus.EMPTY_TREE)
    files = corpus.forge.forged(files, net={"output_scale": [2.0**-1040]}, tensors={"head_weight": [2.0**-41]})
    corpus.put(tmp_path / "m", files)
    with pytest.raises(SmileError, match="powers of two"):  # the loader too
        load_net(tmp_path / "m")
    assert check_reference.check_folder(tmp_path / "m").status == "refused"
    assert check.check_folder(tmp_path / "m").status == "refused"


@pytest.mark.parametrize(
    "weights",
    [
        {"lower.weight": [-0.0]},
        {"lower.out": [5e-324]},
        {"lower.bias": [2.0**24], "lower.const": [-(2.0**24)]},
        {"lower.weight": [1e7], "lower.out": [1e-8]},
        {"head_weight": [0.0]},
        {"lower.weight": [1e38]},
        {"lower.weight": [1e-308], "lower.out": [1e300]},
    ],
    ids=["minus-zero", "subnormal", "cancelling", "far-apart", "zero-head", "large", "tiny-and-large"],
)
@pytest.mark.parametrize("flush", [False, True])
def test_weights_of_all_sizes_keep_the_promise(attack, corpus, tmp_path, flags, weights, flush):
    """Also on a processor that flushes subnormal numbers to zero."""
    net = corpus.plain(corpus.box("x"), [[1.0]], [-0.25], [1.0], [0.5])
    claim = Claim(2, (corpus.less("x", F(1, 10)), corpus.more("x", F(1, 10))), (corpus.difference(10**40),))
    files = corpus.forge.forged(corpus.made(net, claim, [[0.5]] * 2, corpus.c.SweepProof()), tensors=weights)
    corpus.put(tmp_path / "m", files)
    (limits,) = promises(tmp_path / "m")
    if flush and not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    loaded, _ = load_net(tmp_path / "m")
    for found in attack(loaded, claim, limits, count=400, single=20):
        assert found.violations == 0, found


def test_claims_at_their_limits(corpus, tmp_path):
    """ε < 0 and ε = 0, δ = 0, a box of one point, and equal inputs only: bounds that can be worked out by hand."""
    net = corpus.plain(corpus.box("x"), [[1.0]], [0.0], [1.0])  # f = x
    point = corpus.plain(Domain((Feature("x", lo=0.5, hi=0.5),)), [[1.0]], [0.0], [1.0])
    less, more, difference = corpus.less, corpus.more, corpus.difference
    for name, one, when, rhs, witness, bound in (
        ("negative", net, (less("x", F(-1, 4)),), F(-1, 4), [[0.25], [0.5]], F(-1, 4)),
        ("zero", net, (less("x"),), F(0), [[0.5], [0.5]], F(0)),
        ("no reach", net, (less("x"), more("x")), F(0), [[0.5], [0.5]], F(0)),
        ("one point", point, (), F(0), [[0.5], [0.5]], F(0)),
        ("one point below", point, (), F(-1, 100), [[0.5], [0.5]], F(0)),
    ):
        claim = Claim(2, when, (difference(rhs),), "free")
        corpus.put(tmp_path / name, corpus.made(one, claim, witness, corpus.c.SweepProof()))
        report = check.check_folder(tmp_path / name)
        (found,) = report.claims[0].rows
        assert found.bound == bound and found.margin > 0 and report.status == "unknown"
        assert promises(tmp_path / name) == [[bound + found.margin]]


def test_groups_of_one_value_and_conflicting_groups(corpus, tmp_path):
    lonely = Domain((Feature("x"), Feature("r", "category", categories=("only",))))
    net = corpus.plain(lonely, [[1.0, 2.0]], [0.0], [1.0])
    claim = Claim(2, (), (corpus.difference(1),), free=("r",))
    corpus.put(tmp_path / "m", corpus.made(net, claim, [[0.5, 1.0]] * 2, corpus.root(0, (0,), 1, -1)))
    (limits,) = promises(tmp_path / "m")
    assert limits[0] < F(1, 10**10)  # the protected feature has nowhere to go
    two = Domain((Feature("r", "category", categories=("u", "v")),))
    net = corpus.plain(two, [[1.0, 2.0]], [0.0], [1.0])
    both = (row([(-1, 0, "in", "r=u")], -1), row([(-1, 0, "in", "r=v")], -1))  # u and v at once
    for witness in ([[1.0, 0.0]], [[1.0, 1.0]], [[0.5, 0.5]]):
        files = corpus.made(net, Claim(1, both, (row([(1, 0, "out", "")], 9),)), witness, corpus.EMPTY_TREE)
        corpus.put(tmp_path / "e", files)
        assert check.check_folder(tmp_path / "e").status == check_reference.check_folder(tmp_path / "e").status
        assert check.check_folder(tmp_path / "e").status == "refused"  # never a vacuous pass


def test_inputs_outside_the_domain_are_those_of_its_edge(folders, tmp_path):
    made = folders.random_folder(tmp_path / "m", 11, size=1)
    net, _ = load_net(tmp_path / "m")
    lo, hi = made.net.domain.lo, made.net.domain.hi
    far = np.stack([lo - 1e6, lo - 1e-9, np.full_like(lo, -np.inf), hi + 1e6, hi + 1e-9, np.full_like(hi, np.inf)])
    y, edge = net.predict(far, batch=1), net.predict(np.stack([lo, hi]), batch=1)
    net.backbone = Hostile(net.embedding, HOSTILE["nan"])
    y, edge = net.predict(far, batch=1), net.predict(np.stack([lo, hi]), batch=1)
    assert (y[:3] == edge[0]).all() and (y[3:] == edge[1]).all()


def _attacked(attack, folder, claim, count, net=None):
    """Attack every row of a folder that both checkers have answered; how many rows."""
    net = load_net(folder)[0] if net is None else net  # one with modules of its own cannot be loaded without them
    (limits,) = promises(folder)
    rows = 0
    for found in attack(net, claim, limits, count=count, single=min(count, 2000) // 4):
        assert found.violations == 0, found
        rows += 1
    return rows


def _claim_of(folder):
    (entry,) = json.loads((folder / "certificate.json").read_text())["claims"]
    return Claim.from_json(entry["claim"])


def _encoded(encoders, folder, seed):
    """The first random network with an encoder, from `seed` on, whose folder is not refused."""
    for n in range(20):
        net = encoders.encoded_folder(folder, 100 * seed + n, copies=2, rules=0.0)
        if check.check_folder(folder).claims:
            return net
    raise AssertionError("all folders were refused")


@pytest.mark.parametrize("seed", range(6))
def test_no_inputs_of_an_encoded_network_break_a_promise(attack, encoders, tmp_path, seed):
    net = _encoded(encoders, tmp_path / "m", 50 + seed)
    assert _attacked(attack, tmp_path / "m", _claim_of(tmp_path / "m"), 400, net)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gap", "paper", "three", "fixed-order", "dyadic", "encoded"])
def test_a_hundred_thousand_tuples_stay_below_the_bound(attack, folders, encoders, tmp_path, kind):
    for seed in (900, 901):
        net = None
        if kind == "encoded":
            net = _encoded(encoders, tmp_path / "m", seed)
        else:
            choices = {"gap": {"boxes": "gap"}, "paper": {"boxes": "paper"}, "three": {"copies": 3}}.get(kind)
            folders.random_folder(tmp_path / "m", seed, claims=1, **(choices or {"profile": kind}))
        assert _attacked(attack, tmp_path / "m", _claim_of(tmp_path / "m"), 100_000, net)
