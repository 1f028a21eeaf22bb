"""Networks whose ranges one input makes: that input is halved, and both checkers find the same closed bracket."""

from fractions import Fraction
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest

from smilenn.auditing.attack import Attack
from smilenn.auditing.audit import GAP, prove_row
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.auditing.search import Search
from smilenn.certify import check_deep
from smilenn.certify.reference import deep


def steered(seed):
    """A network that reads a long input, a short one and the protected one, which moves between 0 and 1."""
    rng, sizes = np.random.default_rng(seed), (3, 24, 4, 1)
    weights = [rng.normal(size=(b, a)).astype(np.float32) for a, b in pairwise(sizes)]
    biases = [rng.normal(size=b).astype(np.float32) for b in sizes[1:]]
    biases[0] = (biases[0] * 20).astype(np.float32)
    return DeepNet(tuple(weights), tuple(biases))


def moved(whole=False):
    """a and b differ in the third input alone: 1 and 0."""
    none, one = Fraction(0), Fraction(1)
    lo, hi = ((Fraction(-60), -one), (Fraction(60), one))
    ends = [((*end, one), (*end, none)) for end in (lo, hi)]
    gap = (none, none, one)
    return Row("", ("x", "y", "z"), *ends, gap, gap, (whole, False, True), ((one,), (-one,)))


def splits(root):
    """All splits of a tree."""
    out, ahead = [], [root]
    while ahead:
        node = ahead.pop()
        out += [node.split] if node.split is not None else []
        ahead += node.children
    return out


@pytest.mark.parametrize(("whole", "seeds"), [(False, 4), (True, 1), pytest.param(True, 4, marks=pytest.mark.slow)])
def test_a_long_input_is_halved_and_the_bracket_closes(cases, tmp_path, whole, seeds):
    halved = lemmas = 0
    for seed in range(seeds):
        net, row = steered(seed), moved(whole)
        attack = Attack(net, row)
        attack.run()
        root = Search(net, row, attack, gap=GAP).run(perf_counter() + 60)
        halved += sum(len(split) == 2 for split in splits(root))
        assert all(split[0] == 0 for split in splits(root) if len(split) == 2)
        proved = prove_row(net, row, [""], perf_counter() + 60)
        lemmas += proved.proof.count(check_deep.LEMMAS)
        folder = cases.write(tmp_path / str(seed), net, [(row, proved.witness, proved.proof)])
        fast, slow = check_deep.check_folder(folder), deep.check_folder(folder)
        assert fast.status == slow.status == "certified", (fast.reason, slow.reason)
        (a,), (b,) = fast.rows, slow.rows
        assert (a.found, a.real, a.computed, a.leaves) == (b.found, b.real, b.computed, b.leaves)
        assert a.found <= a.real <= a.found + Fraction(GAP) * abs(a.found) and a.real <= a.computed
        rng = np.random.default_rng(seed)
        x = rng.uniform([-60, -1], [60, 1], (20_000, 2))
        x = np.where([whole, False], np.rint(x), x)
        pairs = np.stack([np.column_stack([x, np.full(len(x), z)]) for z in (1.0, 0.0)], axis=1)
        assert attack.value(pairs).max() <= float(a.real) + 1e-9
    assert halved > 2 * seeds and lemmas > 2 * seeds
