"""What a claim says of numbers that may be missing (domain/absent.py): everything, in its own rows.

    the claim frees or pins the number           its indicator is free, or pinned, with it
    it only moves numbers (Robust, Convex, …)    indicator equal in all copies
    it names the number in any other way         indicator == 0, "known", in every copy that names it

So ``a["income"] >= 50`` is not met by a fill, one input or several, other features equal or free. A claim that names an
indicator itself is left as it is about that number; applied twice, nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality, row
from smilenn.properties.premise import pins


def explicit(claim: Claim, domain: Domain, *, moves: bool = False) -> Claim:
    """The claim with what it says of missing numbers; `moves` tells that it only moves those that it names."""
    copies = _copies(claim)
    said = copies.keys() | {*claim.equal, *claim.free}
    added = _Added(claim, domain, moves)
    for name, indicator in domain.indicators.items():
        if indicator not in said and name in said:
            added.take(name, indicator, copies.get(name, set()))
    return added.claim()


class _Added:
    """What is said of missing numbers, gathered: a claim reads all of its rows again whenever it is made anew."""

    def __init__(self, claim: Claim, domain: Domain, moves: bool) -> None:
        self.of, self.domain, self.moves = claim, domain, moves
        self.free, self.equal, self.when = list[str](), list[str](), list[Inequality]()
        self.freed = frozenset(claim.free)

    @cached_property
    def pinned(self) -> np.ndarray:
        """[m] bool, as the claim has it: what is added names indicators alone."""
        return pins(self.of, self.domain)

    def take(self, name: str, indicator: str, named: set[int]) -> None:
        """Say what the claim means by a number that rows name in these copies, and `equal` or `free` otherwise."""
        if name in self.freed:
            self.free.append(indicator)
        elif self.of.copies > 1 and (self.moves or not named):
            self.equal.append(indicator)
        else:
            if self.pinned[self.domain.indices(name)[0]]:  # known in one copy is known in all of them
                named = set(range(self.of.copies))
            self.when += [row([(1, c, "in", indicator)], 0, "==") for c in sorted(named)]

    def claim(self) -> Claim:
        """The claim with all of it."""
        if not (self.free or self.equal or self.when):
            return self.of
        return replace(
            self.of,
            when=(*self.of.when, *self.when),
            equal=(*self.of.equal, *self.equal),
            free=(*self.of.free, *self.free),
        )


def _copies(claim: Claim) -> dict[str, set[int]]:
    """The copies whose value of a feature the rows name, by feature; a ball names it in both of its copies."""
    found: dict[str, set[int]] = {}
    for inequality in chain(claim.when, claim.then, *claim.either):
        for term in inequality.terms:
            if term.kind == "in":
                found.setdefault(term.name, set()).add(term.copy)
    for name, _ in claim.ball:
        found.setdefault(name, set()).update(range(claim.copies))
    return found


def unsaid(claim: Claim, domain: Domain | None) -> tuple[Claim, tuple[str, ...]]:
    """The claim without what `explicit` has added, and the numbers that it says are known.

    What the bare claim says holds wherever these are known. A claim that `explicit` would not give back is returned as
    it is, with no numbers.
    """
    if domain is None or not domain.indicators:
        return claim, ()
    of = {indicator: name for name, indicator in domain.indicators.items()}
    bare = _bare(claim, of)
    if not any(_same(explicit(bare, domain, moves=moves), claim) for moves in (False, True)):
        return claim, ()
    return bare, tuple(dict.fromkeys(of[name] for name in map(_known, claim.when) if name in of))


def _bare(claim: Claim, indicators: Collection[str]) -> Claim:
    """The claim without rows that say of an indicator that it is 0, and without pins of indicators."""
    when = tuple(inequality for inequality in claim.when if _known(inequality) not in indicators)
    return replace(claim, when=when, equal=tuple(name for name in claim.equal if name not in indicators))


def _known(inequality: Inequality) -> str:
    """The name z of a row ``z == 0``; empty for another one."""
    only = len(inequality.terms) == 1 and inequality.op == "==" and inequality.rhs == 0
    return inequality.terms[0].name if only else ""


def _same(one: Claim, other: Claim) -> bool:
    """Whether two claims say the same, whatever the order of their premises."""
    return _unordered(one) == _unordered(other)


def _unordered(claim: Claim) -> tuple[Claim, frozenset[Inequality], frozenset[str]]:
    return replace(claim, when=(), equal=()), frozenset(claim.when), frozenset(claim.equal)
