"""What a claim says of numbers that may be missing (domain/absent.py): everything, in its own rows.

    the claim frees or pins the number           its indicator is free, or pinned, with it
    it only moves numbers (Robust, Convex, …)    indicator equal in all copies
    it names the number in any other way         indicator == 0, "known", in every copy that names it

So ``a["income"] >= 50`` is not met by a fill, one input or several, other features equal or free. A claim that names an
indicator itself is left as it is about that number; applied twice, nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality, Term, row
from smilenn.properties.premise import pins


def explicit(claim: Claim, domain: Domain, *, moves: bool = False) -> Claim:
    """The claim with what it says of missing numbers; `moves` tells that it only moves those that it names."""
    for name, indicator in domain.indicators.items():
        if not _mentions(claim, indicator):
            claim = _with(claim, domain, name, indicator, moves=moves)
    return claim


def _with(claim: Claim, domain: Domain, name: str, indicator: str, *, moves: bool) -> Claim:
    named = _copies(claim, name)
    if name in claim.free:
        return replace(claim, free=(*claim.free, indicator))
    if not named and name not in claim.equal:
        return claim
    if claim.copies > 1 and (moves or not named):
        return replace(claim, equal=(*claim.equal, indicator))
    if pins(claim, domain)[domain.indices(name)[0]]:  # known in one copy is known in all of them
        named = set(range(claim.copies))
    return replace(claim, when=(*claim.when, *(row([(1, c, "in", indicator)], 0, "==") for c in sorted(named))))


def _rows(claim: Claim) -> Iterator[Inequality]:
    return chain(claim.when, claim.then, *claim.either)


def _copies(claim: Claim, name: str) -> set[int]:
    """The copies whose value of a feature the rows name; a ball names it in both of its copies."""
    found = {term.copy for inequality in _rows(claim) for term in inequality.terms if _is_input(term, name)}
    return found | (set(range(claim.copies)) if name in dict(claim.ball) else set())


def _is_input(term: Term, name: str) -> bool:
    return term.kind == "in" and term.name == name


def _mentions(claim: Claim, name: str) -> bool:
    return name in claim.equal or name in claim.free or bool(_copies(claim, name))


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
