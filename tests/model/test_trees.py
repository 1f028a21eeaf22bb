"""The layer of trees: what it computes, bit by bit in any company, and what `propagate` says of two inputs."""

import random
import threading

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.encoders import Branch, Encoder, Linear, Trees, rebuild_encoder
from smilenn.model.net import SmileNet
from smilenn.model.spread import Spread
from smilenn.testing import LayerContract

THRESHOLDS = np.array([-1.0, -0.5, 0.0, -0.0, 0.25, 0.5, 1.0, 5e-324, -5e-324])


def random_tree(rng, questions, depth):
    """Preorder; leaves at all depths."""
    if depth == 0 or rng.random() < 0.15:
        return [-1], [float(rng.normal())]
    left, right = (random_tree(rng, questions, depth - 1) for _ in range(2))
    theta = float(rng.choice(THRESHOLDS) if rng.random() < 0.5 else rng.normal())
    return [int(rng.integers(questions)), *left[0], *right[0]], [theta, *left[1], *right[1]]


def rising_tree(rng, depth, low=-1.0, high=1.0):
    """Asks for coordinate 0, that must rise, and coordinate 1; every split keeps the halves of the range apart."""
    if depth == 0:
        return [-1], [float(rng.uniform(low, high))]
    if rng.random() < 0.5:
        cut = float(rng.uniform(low, high))
        left, right, asks = rising_tree(rng, depth - 1, low, cut), rising_tree(rng, depth - 1, cut, high), 0
    else:
        left, right, asks = rising_tree(rng, depth - 1, low, high), rising_tree(rng, depth - 1, low, high), 1
    return [asks, *left[0], *right[0]], [float(rng.normal()), *left[1], *right[1]]


def random_layer(seed, inputs=4, trees=(7, 3), depth=5):
    rng = np.random.default_rng(seed)
    sets = [[0, 2], [1], [1, 2, 3]]
    forest = [[random_tree(rng, inputs + len(sets), depth) for _ in range(count)] for count in trees]
    return Trees.of(inputs, forest, rng.normal(size=len(trees)), sets)


def by_hand(layer, row):
    """The layer at one row in Python's floats, node by node."""
    split, number = layer.split.tolist(), layer.number.tolist()
    at, out = 0, []
    for count, total in zip(layer.trees, layer.bias.tolist(), strict=True):
        for _ in range(count):
            leaf, end = walk(split, number, at, row, layer)
            total, at = total + number[leaf], end
        out.append(total)
    return out


def walk(split, number, at, row, layer):
    """The leaf that a row reaches in the tree that starts at a node, and where the next tree starts."""

    def end(node):
        ahead = 1
        while ahead:
            ahead += 1 if split[node] >= 0 else -1
            node += 1
        return node

    stop = end(at)
    while split[at] >= 0:
        asks = int(split[at])
        z = row[asks] if asks < layer.inputs else max(row[i] for i in layer.sets[asks - layer.inputs])
        at = at + 1 if z <= number[at] else end(at + 1)
    return at, stop


class TestTrees(LayerContract):
    """The contract of layers, for trees at random."""

    inputs = 4

    def layer(self):
        return random_layer(3)


class TestRisingTrees(LayerContract):
    """The same for trees that rise in their first input."""

    inputs = 2

    def layer(self):
        rng = np.random.default_rng(1)
        return Trees.of(2, [[rising_tree(rng, 4) for _ in range(9)]])


def rows(rng, count, inputs=4):
    """Numbers, thresholds and their neighbours, zeros of both signs."""
    x = rng.normal(size=(count, inputs))
    at = rng.choice(THRESHOLDS, size=x.shape)
    near = np.nextafter(at, rng.choice([-9.0, 9.0], size=x.shape))
    return np.select([rng.random(x.shape) < 0.4, rng.random(x.shape) < 0.5], [x, at], near)


@pytest.mark.parametrize("seed", range(5))
def test_it_computes_its_formula_to_the_bit(seed):
    layer, x = random_layer(seed, depth=seed + 1), rows(np.random.default_rng(seed), 200)
    wanted = np.array([by_hand(layer, row) for row in x.tolist()])
    assert np.array_equal(layer.ordered(torch.tensor(x)).numpy(), wanted)
    assert np.array_equal(layer(torch.tensor(x)).numpy(), wanted)


def test_bits_depend_on_the_row_alone(monkeypatch):
    layer, x = random_layer(8, trees=(40, 1)), torch.tensor(rows(np.random.default_rng(8), 97))
    wanted = layer(x)
    for batch in (1, 2, 7, 64):
        assert torch.equal(torch.cat([layer(part) for part in x.split(batch)]), wanted)
    assert torch.equal(layer(x.flip(0)).flip(0), wanted)
    assert torch.equal(layer(x.T.contiguous().T), wanted)  # another layout in memory
    for name, size in (("TILE", 1), ("TILE", 300), ("ROWS", 10), ("ROWS", 1)):
        monkeypatch.setattr(f"smilenn.model.encoders.trees.{name}", size)
        assert torch.equal(layer(x), wanted)
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        assert torch.equal(layer(x), wanted)
    torch.set_num_threads(before)
    assert layer(x[:0]).shape == (0, 2)


def test_threads_may_share_a_layer():
    layer, x = random_layer(9), torch.tensor(rows(np.random.default_rng(9), 50))
    wanted, wrong = layer(x).clone(), []

    def ask():
        for _ in range(20):
            layer._plan = None
            if not torch.equal(layer(x), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_change_of_the_stored_nodes_is_seen():
    """Also one that torch does not count, through .data or NumPy: certificates are about the stored nodes."""
    layer = Trees.of(1, [[([0, -1, -1], [0.5, 0.0, 1.0])]])
    x = torch.tensor([[0.4], [0.6]])
    assert layer(x).T.tolist() == [[0.0, 1.0]]
    layer.number.numpy()[2] = 7.0
    assert layer(x).T.tolist() == [[0.0, 7.0]]
    layer.number.data[0] = 0.6000001
    assert layer(x).T.tolist() == [[0.0, 0.0]]
    layer.bias.data[0] = 3.0
    assert layer(x).T.tolist() == [[3.0, 3.0]]


def test_ties_and_zeros_of_both_signs_go_left():
    layer = Trees.of(1, [[([0, -1, -1], [-0.0, 1.0, 2.0])]])
    x = torch.tensor([[0.0], [-0.0], [5e-324], [-5e-324]], dtype=torch.float64)
    assert layer(x).T.tolist() == [[1.0, 1.0, 2.0, 1.0]]
    minus = Trees.of(1, [[([-1], [-0.0])]], bias=[-0.0])
    assert torch.signbit(minus(x)).sum() == 0


def test_leaves_are_numbered_from_left_to_right():
    layer = Trees.of(1, [[([-1], [9.0]), ([0, 0, -1, -1, -1], [0.0, -1.0, 1.0, 2.0, 3.0])]])
    assert layer.leaves(torch.tensor([[-2.0], [-0.5], [1.0]])).tolist() == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("split", "number", "trees", "word"),
    [
        ([0, -1], [0.0, 1.0], [1], "make up"),
        ([-1, -1], [0.0, 1.0], [1], "make up"),
        ([-1], [0.0], [2], "make up"),
        ([0, -1, -1], [np.inf, 1.0, 2.0], [1], "finite"),
        ([0, -1, -1], [0.0, np.nan, 2.0], [1], "finite"),
        ([2, -1, -1], [0.0, 1.0, 2.0], [1], "not there"),
        ([0.5, -1, -1], [0.0, 1.0, 2.0], [1], "not there"),
        ([-2], [0.0], [1], "not there"),
    ],
)
def test_malformed_nodes_are_refused(split, number, trees, word):
    layer = Trees(2, trees, len(split))
    layer.split.copy_(torch.tensor(split, dtype=torch.float64))
    layer.number.copy_(torch.tensor(number, dtype=torch.float64))
    with pytest.raises(SmileError, match=word):
        layer(torch.zeros(1, 2))


@pytest.mark.parametrize(("trees", "sets"), [([], []), ([0], []), ([1], [[]]), ([1], [[1, 0]]), ([1], [[0, 2]])])
def test_malformed_descriptions_are_refused(trees, sets):
    with pytest.raises(SmileError):
        Trees(2, trees, 1, sets)


def test_another_number_of_coordinates_is_refused():
    with pytest.raises(SmileError, match="4 coordinates, not 5"):
        random_layer(0)(torch.zeros(2, 5))


def test_pairs_show_what_nodes_do_not():
    """Rises with y_0 for either sign of y_1, which both copies share: 1 → 2 and 8 → 9, but 8 on the left, 2 right."""
    tree = ([0, 1, -1, -1, 1, -1, -1], [5.0, 0.0, 1.0, 8.0, 0.0, 2.0, 9.0])
    layer, free = Trees.of(2, [[tree]]), np.full(2, 10.0)

    def said(*same):
        rises, falls = np.array([True, same[1]]), np.array([same[0], same[1]])
        return layer.propagate(Spread(-free, free, np.where(rises, 0, -20.0), np.where(falls, 0, 20.0), rises, falls))

    assert said(False, True).rises[0] and not said(False, True).falls[0]
    assert said(True, True).same[0]
    assert not said(False, False).rises[0]


def test_what_it_says_is_what_a_brute_force_finds():
    """Order of random trees, by hand over a grid of all cells: whoever is said to rise never falls."""
    rng, risen = np.random.default_rng(0), 0
    for seed in range(60):
        trees = [rising_tree(rng, 3) if rng.random() < 0.7 else random_tree(rng, 2, 2) for _ in range(2)]
        layer = Trees.of(2, [trees])
        role = random.Random(seed).choice(["pinned", "strip", "free"])
        rises = np.array([True, role == "pinned"])
        low = np.array([0.0, {"pinned": 0.0, "strip": -0.2, "free": -9.0}[role]])
        high = np.array([9.0, abs(low[1])])
        said = layer.propagate(Spread(np.full(2, -3.0), np.full(2, 3.0), low, high, rises, np.array([False, rises[1]])))
        second = rng.uniform(-3, 3, size=(4000, 2))
        first = np.clip(second + rng.uniform(np.maximum(low, -6), np.minimum(high, 6), size=second.shape), -3, 3)
        apart = (layer(torch.tensor(first)) - layer(torch.tensor(second))).numpy()
        assert apart.min() >= said.low[0] and apart.max() <= said.high[0]
        risen += bool(said.rises[0])
    assert 10 < risen < 60


def domain():
    return Domain(
        (
            Feature("a", "continuous", -2.0, 2.0, shift=0.3, mult=1.7),
            Feature("b", "continuous", -2.0, 2.0),
            Feature("g", "category", categories=("x", "y", "z")),
        )
    )


def network():
    rng = np.random.default_rng(5)
    trees = Trees.of(5, [[random_tree(rng, 7, 4) for _ in range(5)]] * 2, sets=[[2, 3], [4]])
    encoder = Encoder(domain(), [Branch("sum", range(5), [trees, Linear(2, 1)])])
    return SmileNet(domain(), MLP(5, (2,), 1), 1, encoder=encoder, auxiliaries="affine").eval()


def test_it_survives_a_folder(tmp_path):
    net = network()
    save_net(tmp_path / "m", net)
    again, _ = load_net(tmp_path / "m")
    x = net.domain.sample(300, np.random.default_rng(0))
    assert np.array_equal(net.predict(x), again.predict(x, batch=7))
    assert net.snapshot().digest == again.snapshot().digest
    rebuilt = rebuild_encoder(net.domain, net.encoder.describe())
    assert rebuilt.describe() == net.encoder.describe()
    net.encoder.branches[0].layers[0].number[1] += 1.0
    assert net.snapshot().digest != again.snapshot().digest


def test_training_mode_changes_nothing():
    layer, x = random_layer(2), torch.tensor(rows(np.random.default_rng(2), 30))
    assert torch.equal(layer.train()(x), layer.eval()(x))
    assert not layer(x.clone().requires_grad_()).requires_grad and not list(layer.parameters())
