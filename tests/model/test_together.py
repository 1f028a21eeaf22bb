"""Members computed at once have the bits that each has alone."""

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.model.encoders import many_rows, together
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Kinks, Linear, Ramps
from smilenn.model.encoders.trees import Trees
from smilenn.model.profile import FEW, in_order

DOMAIN = Domain(tuple(Feature(name, lo=-2.0, hi=2.0) for name in "abc"))


def member(name, units, *, base=False, columns=(0, 1, 2), seed=0):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    source = [0, 0, 1, 2]
    ramps = Ramps(source, rng.normal(size=4), rng.uniform(0.5, 2, size=4))
    first = Linear(4, units)
    second = Linear(units, 2, base=4 if base else 0)
    return Branch(name, columns, [ramps, first, Kinks(units, units // 2), second])


def several():
    own = [member(f"m{k}", 5, seed=k) for k in range(4)] + [member(f"w{k}", 9, base=True, seed=9 + k) for k in range(3)]
    other = member("other", 5, columns=(2, 0, 1), seed=50)
    linear = [Branch(f"l{k}", [0, 2], [Linear(2, 1)]) for k in range(2)]
    kinks = [Branch(f"k{k}", [1], [Kinks(1, 1)]) for k in range(2)]
    return [*own, other, *linear, *kinks, Branch("", [0, 1, 2])]


@pytest.mark.parametrize("rows", [0, 1, 2, 63, 64, 300])
def test_the_same_bits_as_one_by_one(rows):
    branches = [branch.eval() for branch in several()]
    u = torch.tensor(np.random.default_rng(1).normal(size=(rows, 3)))
    with torch.no_grad():
        alone = [branch(u) for branch in branches]
        found = together.deployed(branches, u)
        assert [group for group in together.groups(branches) if len(group) > 1] == [
            [0, 1, 2, 3],
            [4, 5, 6],
            [8, 9],
            [10, 11],
        ]
        for one, other in zip(alone, found, strict=True):
            assert one.shape == other.shape and torch.equal(one, other)
    encoder = Encoder(DOMAIN, branches).eval()
    with torch.no_grad():
        assert torch.equal(encoder.uncut(u), torch.cat(alone, dim=1))


def test_a_module_with_a_hook_or_a_function_of_its_own_computes_alone():
    branches = [branch.eval() for branch in several()[:4]]
    called = []
    branches[1].layers[1].register_forward_hook(lambda *_: called.append("hook"))
    branches[2].layers[2].forward = lambda y: y * 2  # type: ignore[method-assign]
    assert together.groups(branches) == [[0, 3]]
    branches[0].layers[0].train()
    assert together.groups(branches) == [[3]]


class Doubled(Branch):
    def forward(self, u):
        return 2 * super().forward(u)


def test_a_branch_of_another_class_computes_alone():
    own = [member(f"m{k}", 5, seed=k).eval() for k in range(3)]
    other = Doubled("other", own[0].columns, list(own[0].layers)).eval()
    u = torch.tensor(np.random.default_rng(1).normal(size=(4, 3)))
    assert together.groups([*own, other]) == [[0, 1, 2]]
    with torch.no_grad():
        assert torch.equal(together.deployed([*own, other], u)[3], 2 * own[0](u))


def test_gradients_are_left_to_the_branches_alone():
    branches = [branch.eval() for branch in several()[:4]]
    u = torch.zeros((2, 3), dtype=torch.float64, requires_grad=True)
    torch.cat(together.deployed(branches, u), dim=1).sum().backward()
    assert u.grad is not None


@pytest.mark.parametrize(
    ("members", "rows", "units", "inputs"), [(1, 1, 1, 1), (3, 2, 4, 30), (4, 1, 64, 200), (2, 40, 64, 70)]
)
def test_sums_of_members_run_in_the_order_of_one(members, rows, units, inputs):
    rng = np.random.default_rng(0)
    y, w, b = (
        torch.tensor(rng.normal(size=s)) for s in ((members, rows, inputs), (members, units, inputs), (members, units))
    )
    with torch.no_grad():
        found = in_order(b, [(y, w)])
        for k in range(members):
            wanted = b[k].expand(rows, units).clone()
            for i in range(inputs):
                wanted = wanted + y[k, :, i, None] * w[k, :, i]
            assert torch.equal(found[k], wanted)
            assert torch.equal(in_order(b[k], [(y[k], w[k])]), wanted)
    assert torch.equal(in_order(b, [(y, w)]), found)  # with gradients torch computes
    assert units * rows * members <= FEW or rows == 40


def test_numbers_that_overflow_are_no_warning():
    y, w = torch.full((1, 2), 1e300, dtype=torch.float64), torch.full((3, 2), 1e300, dtype=torch.float64)
    with torch.no_grad():
        assert bool(in_order(torch.zeros(3, dtype=torch.float64), [(y, w)]).isinf().all())


@pytest.mark.parametrize("rows", [1, 400])
def test_a_term_without_columns_adds_nothing(rows):
    y, w = torch.ones((rows, 2), dtype=torch.float64), torch.full((8, 2), 0.1, dtype=torch.float64)
    none = torch.ones((rows, 0), dtype=torch.float64), torch.ones((8, 0), dtype=torch.float64)
    start = torch.zeros(8, dtype=torch.float64)
    with torch.no_grad():
        for terms in ([none, (y, w)], [(y, w), none]):
            assert torch.equal(in_order(start, terms), in_order(start, [(y, w)]))


def forests(rng, sets):
    """Branches of trees alone, each with sets of its own."""
    out = []
    for k, own in enumerate(sets):
        trees = []
        for _ in range(3 + k):
            first, second = rng.integers(0, 3 + len(own), 2)
            split = [float(first), float(second), -1.0, -1.0, -1.0]
            trees.append((split, rng.normal(size=5).tolist()))
        layer = Trees.of(3, [trees[:2], trees[2:]], rng.normal(size=2).tolist(), own)
        out.append(Branch(f"t{k}", [0, 1, 2], [layer]).eval())
    return out


@pytest.mark.parametrize("rows", [1, 5, 200])
def test_trees_of_members_are_walked_at_once(rows):
    branches = forests(np.random.default_rng(0), [[[0, 1]], [], [[1, 2], [0, 2], [0, 1, 2]]])
    assert together.groups(branches) == [[0, 1, 2]]
    u = torch.tensor(np.random.default_rng(1).normal(size=(rows, 3)))
    with torch.no_grad():
        for one, other in zip([branch(u) for branch in branches], together.deployed(branches, u), strict=True):
            assert one.shape == other.shape and torch.equal(one, other)


def test_what_is_kept_follows_every_change_of_the_layers():
    """Also one that torch does not count, such as a write through `data` or through numpy."""
    branches = [member(f"m{k}", 5, seed=k).eval() for k in range(3)] + forests(np.random.default_rng(0), [[[0, 1]], []])
    u = torch.tensor(np.random.default_rng(1).normal(size=(4, 3)))

    def changes():
        yield branches[1].layers[1].weight.data.mul_(1.5)
        branches[2].layers[1].bias.detach().numpy()[0] += 1.0
        yield None
        branches[3].layers[0].number.numpy()[2:5] += 1.0
        yield None
        yield branches[4].layers[0].bias.add_(1.0)
        branches[3].layers[0].sets[0].append(2)
        yield None
        yield branches[0].layers[3].weight.data[0, 0].mul_(-0.0)

    with torch.no_grad():
        before = together.deployed(branches, u)
        for _ in changes():
            now = together.deployed(branches, u)
            alone = [branch(u) for branch in branches]
            assert all(map(torch.equal, now, alone))
        assert not any(map(torch.equal, before, now))


def test_members_of_another_type_are_compared_too():
    branches = [member(f"m{k}", 5, seed=k).eval().to(torch.float32) for k in range(2)]
    u = torch.tensor(np.random.default_rng(1).normal(size=(4, 3)), dtype=torch.float32)
    with torch.no_grad():
        for _ in range(2):  # the second time with what was kept
            assert all(map(torch.equal, together.deployed(branches, u), [branch(u) for branch in branches]))


def wide(name, seed, *, ramps=0, units=(24, 20)):
    """A member over ramps of two numbers and of nine categories."""
    rng = np.random.default_rng(ramps)
    source = [0] * 6 + [1] * 5 + list(range(2, 11))
    start, rate = np.append(rng.normal(size=11), np.zeros(9)), np.append(rng.uniform(0.5, 4, 11), np.ones(9))
    torch.manual_seed(seed)
    layers, last = [Ramps(source, start, rate)], 20
    for k, n in enumerate(units):
        layers += [Linear(last, n, base=20 if k else 0), Kinks(n, n // 2)]
        last = n
    return Branch(name, list(range(11)), [*layers, Linear(last, 2, base=20)]).eval()


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    return torch.tensor(np.concatenate([rng.normal(size=(rows, 2)), np.eye(9)[rng.integers(0, 9, rows)]], axis=1))


@pytest.mark.parametrize("rows", [257, 512, 700, 5000])
@pytest.mark.parametrize("units", [(24,), (24, 20), (8, 64, 8)])
@torch.no_grad()
def test_many_rows_have_the_same_bits_side_by_side(rows, units, monkeypatch):
    monkeypatch.setattr(many_rows, "TILE", 2**14)  # several tiles, the last of them not full
    branches = [wide(f"w{k}", k, units=units) for k in range(3)]
    u = people(rows)
    alone = [branch(u) for branch in branches]
    found = together.deployed(branches, u)
    assert all(map(torch.equal, alone, found))
    together_ = many_rows.side_by_side(branches, u)
    assert together_ is not None and all(map(torch.equal, alone, together_))
    few = together.deployed(branches, u[:40])
    assert all(torch.equal(one[:40], other) for one, other in zip(alone, few, strict=True))


@torch.no_grad()
def test_a_weight_that_is_changed_behind_its_back_counts():
    branches, u = [wide(f"w{k}", k) for k in range(2)], people(600)
    before = together.deployed(branches, u)
    branches[1].layers[3].weight[2, 25] += 1.0
    found = together.deployed(branches, u)
    assert torch.equal(found[0], before[0]) and not torch.equal(found[1], before[1])
    assert torch.equal(found[1], branches[1](u))


@torch.no_grad()
def test_other_ramps_and_other_layers_are_left_to_the_branches():
    u = people(600)
    assert many_rows.side_by_side([wide("a", 0), wide("b", 1, ramps=5)], u) is None
    plain = [member(f"m{k}", 5, seed=0).eval() for k in range(2)]  # the last sum does not read the ramps
    assert many_rows.side_by_side(plain, u[:, :3]) is None
    assert all(map(torch.equal, together.deployed(plain, u[:, :3]), [branch(u[:, :3]) for branch in plain]))
