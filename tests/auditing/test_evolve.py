"""The pool that evolves: it stays in the premise, forgets nothing, and finds what gradients do not show."""

from fractions import Fraction

import numpy as np

from smilenn.auditing.attack import Attack
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row


def needle():
    """A network that is 0 but near one corner of six inputs: the gradient is 0 nearly everywhere."""
    one = np.concatenate([np.ones((1, 6)), np.zeros((1, 6))])
    one[1, 0] = 1.0
    return DeepNet((one, np.array([[1.0, 0.0]])), (np.array([-5.0, 0.0]), np.zeros(1)))


def row(whole=(False,) * 6, high=0):
    low, top, gap = (Fraction(0),) * 6, (Fraction(1),) * 6, (Fraction(0),) * 5
    return Row(
        "",
        tuple("abcdef"),
        (low, low),
        (top, top),
        (Fraction(-1), *gap),
        (Fraction(high), *gap),
        whole,
        ((Fraction(1),), (Fraction(-1),)),
    )


def test_a_needle_is_found():
    attack = Attack(needle(), row(high=1), 0)
    start = np.full((4, 6), 0.9)
    attack.evolve(attack.into_premise(start, np.zeros((4, 6))), 0.2)
    assert attack.best is not None and float(attack.best.value) > 0.95  # 1 at (1, …, 1) and (0, 1, …, 1)


def test_pairs_satisfy_the_premise_and_the_best_one_stays():
    whole = (True, False, True, False, False, False)
    attack = Attack(needle(), row(whole), 3)
    seen = []
    keep, attack.offer = attack.offer, lambda pairs: (seen.append(pairs), keep(pairs))[1]
    attack.run()
    first = attack.best.value
    attack.evolve(attack.best.x[None], 0.1)
    assert attack.best.value >= first
    assert seen and attack.row.exact_value(attack.net, attack.best.x) == attack.best.value
    for pairs in seen:
        for pair in pairs[:50]:
            assert attack.row.exact_value(attack.net, pair) is not None


def test_it_ends_once_enough_is_found():
    attack, calls = Attack(needle(), row(high=1), 0), []
    attack.enough, attack.value = Fraction(-1), lambda x, value=attack.value: (calls.append(1), value(x))[1]
    attack.evolve(attack.into_premise(np.zeros((4, 6)), np.zeros((4, 6))))
    assert len(calls) < 50
