"""The meaning of claims on one input: bounds on its outputs, their order and sums, and the class it gets.

`equal`, `free` and `others` compare copies and mean nothing here; the premise is passed on as conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations

from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.dissect import Conclusion, conclusion_of, minus
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Apart, Chain, Decided, Limited, Linear, Meaning, Total, Unnamed


def on_one_copy(claim: Claim, rows: Sequence[Conclusion], outputs: Outputs | None) -> Meaning:
    """A statement on one input; `equal`, `free` and `others` compare copies and mean nothing here."""
    when = claim.when
    if any(row.inputs for row in rows):
        if len(rows) != 1:
            return Unnamed()
        return Total(*_sum(rows[0]), when)
    if outputs is not None and outputs.classes:
        found = _single_class(rows, outputs, when)
        if found is not None:
            return found
    return _apart(rows, when) or _chain(rows, outputs, when) or _limited(rows, when)


def _sum(row: Conclusion) -> tuple[Linear, Linear, Fraction]:
    """``Σ c·f ≤ constant + Σ k·x`` with the row's own scale."""
    weight = row.weights[0]
    form = tuple((weight * coef, name) for coef, name in row.form)
    return form, tuple((-coef, name) for (_, name), coef in row.inputs.items()), row.rhs


def _limited(rows: Sequence[Conclusion], when: tuple[Inequality, ...]) -> Meaning:
    bounds: dict[Linear, list[Fraction | None]] = {}
    by_terms: dict[frozenset[tuple[Fraction, str]], Linear] = {}  # whatever the order of their terms
    for row in rows:
        key, positive = _known_form(row, by_terms)
        by_terms.setdefault(frozenset(key), key)
        known = bounds.setdefault(key, [None, None])
        size = row.rhs / abs(row.weights[0])
        side, bound, worse = (1, size, min) if positive else (0, -size, max)
        known[side] = bound if known[side] is None else worse(bound, known[side])  # type: ignore[type-var]
    limits = {tuple(pair) for pair in bounds.values()}
    if len(limits) != 1:
        return Unnamed()
    low, high = limits.pop()
    return Limited(tuple(bounds), low, high, when)


def _known_form(row: Conclusion, known: Mapping[frozenset[tuple[Fraction, str]], Linear]) -> tuple[Linear, bool]:
    """The form that a row bounds, as it is known already if it is, and whether from above."""
    form = row.form if row.weights[0] > 0 else minus(row.form)
    positive = form[0][0] > 0
    key = form if positive else minus(form)
    same, turned = known.get(frozenset(key)), known.get(frozenset(minus(key)))
    if same is not None:
        return same, positive
    return (key, positive) if turned is None else (turned, not positive)


def _chain(rows: Sequence[Conclusion], outputs: Outputs | None, when: tuple[Inequality, ...]) -> Chain | None:
    if outputs is not None and outputs.classes:
        return None
    names: list[str] = []
    for row in rows:
        pair = _pair(row, -1)
        if pair is None or (names and names[-1] != pair[0]):
            return None
        names += [*([] if names else [pair[0]]), pair[1]]
    slack = _slack(rows)
    return None if slack is None or len(set(names)) < len(names) else Chain(tuple(names), when, slack)


def _slack(rows: Sequence[Conclusion]) -> Fraction | None:
    """The right side that all rows have for a coefficient of 1, if there is one and it is not negative."""
    found = {row.rhs / abs(row.weights[0]) for row in rows}
    return found.pop() if len(found) == 1 and min(found) >= 0 else None


def _pair(row: Conclusion, second: int) -> tuple[str, str] | None:
    """(i, j) of ``f_i + second·f_j`` up to a positive factor."""
    weight = row.weights[0]
    terms = [(coef if weight > 0 else -coef, name) for coef, name in row.form]
    terms.sort(key=lambda term: -term[0])
    if [coef for coef, _ in terms] != [1, second]:
        return None
    return terms[0][1], terms[1][1]


def _pairs(rows: Sequence[Conclusion], second: int) -> list[tuple[str, str]] | None:
    """The pairs of all rows; None where a row is no such pair."""
    found = [pair for row in rows if (pair := _pair(row, second)) is not None]
    return found if len(found) == len(rows) else None


def _lead(rows: Sequence[Conclusion]) -> Fraction | None:
    """m of rows ``f_i − f_j ≤ −m``, if all of them have the same."""
    found = {-row.rhs / abs(row.weights[0]) for row in rows}
    return found.pop() if len(found) == 1 else None


def _apart(rows: Sequence[Conclusion], when: tuple[Inequality, ...]) -> Apart | None:
    pairs, slack = _pairs(rows, 1), _slack(rows)
    if pairs is None or slack is None:
        return None
    names = tuple(dict.fromkeys(chain.from_iterable(pairs)))
    every = set(map(frozenset, combinations(names, 2)))
    return Apart(names, when, slack) if set(map(frozenset, pairs)) == every else None


def _single_class(rows: Sequence[Conclusion], outputs: Outputs, when: tuple[Inequality, ...]) -> Decided | None:
    """One class ahead of every other, or never far behind: the sign of the logit, or all its margins."""
    if len(outputs.names) == 1:
        return _sign(rows, outputs.classes, when)
    pairs, lead = _pairs(rows, -1), _lead(rows)
    winners = {winner for _, winner in pairs or ()}
    if pairs is None or lead is None or len(winners) != 1:
        return None
    every = set(chain.from_iterable(pairs)) == set(outputs.classes)
    return Decided(tuple(winners), lead, when) if every else None


def _sign(rows: Sequence[Conclusion], classes: Sequence[str], when: tuple[Inequality, ...]) -> Decided | None:
    """One of two classes, by the sign of the logit."""
    if len(rows) != 1 or rows[0].rhs >= 0:
        return None
    row = rows[0]
    falls = (row.weights[0] > 0) == (row.form[0][0] > 0)
    return Decided((classes[0 if falls else 1],), -row.rhs / abs(row.weights[0]), when)


def with_alternatives(claim: Claim, outputs: Outputs | None) -> Meaning:
    """Every class that is not allowed is behind one of the allowed ones."""
    if claim.copies != 1 or claim.then or outputs is None or len(outputs.names) != len(outputs.classes):
        return Unnamed()
    found = [behind for clause in claim.either if (behind := _behind(clause)) is not None]
    if len(found) < len(claim.either):
        return Unnamed()
    return _one_of(found, outputs.classes, claim.when) or Unnamed()


Behind = tuple[str, tuple[str, ...], Fraction]  # (j, classes, lead): class j is behind one of these, by the lead


def _one_of(clauses: Sequence[Behind], classes: Sequence[str], when: tuple[Inequality, ...]) -> Decided | None:
    """One of the classes that all clauses allow, if these and those behind are all there are."""
    losers, allowed, leads = map(set, zip(*clauses, strict=True))
    if len(allowed) != 1 or len(leads) != 1 or min(leads) <= 0:
        return None
    names = allowed.pop()
    complete = losers.union(names) == set(classes) and losers.isdisjoint(names)
    return Decided(names, leads.pop(), when) if complete else None


def _behind(clause: Sequence[Inequality]) -> Behind | None:
    """What a clause says if it puts one class behind others."""
    rows = [row for row in (conclusion_of(row, 1) for row in clause) if row is not None and not row.inputs]
    pairs, lead = _pairs(rows, -1), _lead(rows)
    losers = {loser for loser, _ in pairs or ()}
    if pairs is None or lead is None or len(rows) < len(clause) or len(losers) != 1:
        return None
    return losers.pop(), tuple(winner for _, winner in pairs), lead
