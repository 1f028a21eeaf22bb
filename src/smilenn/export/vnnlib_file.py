"""The rules of a model for other verifiers: a VNN-LIB 2.0 query, and the ONNX network that it is about.

    copies a, b, …      networks equal to each other, inputs X [1, m] in raw units, outputs Y [1, o]
    asserted            every X in the domain, and one of the rules broken: its premise, and  Σ terms > rhs  of a row

So *unsat* says that the rules hold and *sat* brings a counterexample. Texts have no place in the language: the network
begins behind the table, at numbers, with a category as one coordinate for each of its values. What the language says
of numbers is said exactly: coefficients are scaled until they are decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from smilenn._version import __version__
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.export import margin, network
from smilenn.export.graph import Graph
from smilenn.export.onnx_file import Estimator, facts
from smilenn.export.verify import session
from smilenn.properties.claim import COPIES, Claim, Inequality
from smilenn.properties.premise import pins
from smilenn.report.write import replaced

MOST_WHOLE = 512  # values of a whole number that are written one by one
COMPARED = 1000  # inputs on which network file and model are compared


@dataclass(frozen=True)
class Query:
    """What was written: the query, the network it is about, how many rules."""

    path: Path
    network: Path
    rules: int


def export_vnnlib(model: Estimator, path: Path | str, *, rule: int | None = None) -> Query:
    """Write the rules of a fitted model, or one of them counted from 1, and beside it the network with ``.onnx``."""
    path = Path(path)
    claims = _chosen(model.claims_, rule)
    text = query(model, claims, path.with_suffix(".onnx").name)
    data = _network(model)
    with replaced(path.with_suffix(".onnx")) as temporary, replaced(path) as second:
        temporary.write_bytes(data)
        second.write_text(text, encoding="utf-8")
    return Query(path, path.with_suffix(".onnx"), len(claims))


def _chosen(claims: Sequence[Claim], rule: int | None) -> list[Claim]:
    if not claims:
        raise SmileError("The model has no rules, so there is no query to write; use --onnx for the model alone.")
    if rule is None:
        return list(claims)
    if not 1 <= rule <= len(claims):
        raise SmileError(f"There is no rule {rule}; the model has {len(claims)}, counted from 1.")
    return [claims[rule - 1]]


def _network(model: Estimator) -> bytes:
    """The network from numbers to outputs as ONNX, compared with the model in onnxruntime."""
    graph, domain = Graph(), model.domain_
    x = graph.input("X", "double", domain.size)
    results = [(graph.named(network.outputs(graph, model.net_, x), "Y"), "double", len(model.outputs_.names))]
    margins = margin.margins(model.net_)
    data = graph.model(results, facts(model) | {"margin": margin.noted(margins)}).SerializeToString()
    inputs = domain.sample(COMPARED, np.random.default_rng(0))
    (found,) = session(data).run(["Y"], {"X": inputs})
    off = float(np.abs(found - model.net_.predict(inputs)).max())
    if not off <= margin.largest_difference(margins):
        raise SmileError(f"onnxruntime differs from the model by {off:.2g}; nothing was written. Please report it.")
    return data


def query(model: Estimator, claims: Sequence[Claim], name: str) -> str:
    """The text of a query that is satisfiable if one of the claims is broken."""
    domain, outputs = model.domain_, model.outputs_.names
    copies = range(max(claim.copies for claim in claims))
    lines = [
        "(vnnlib-version <2.0>)",
        f"; smilenn {__version__}; the network is {_comment(name)}; unsat: the rules hold",
        *(f"; {_comment(claim.formula())}" for claim in claims),
        *(f"; X[0,{i}] is {_comment(text)}" for i, text in enumerate(domain.coordinates)),
        *(f"; Y[0,{k}] is {_comment(text or 'the output')}" for k, text in enumerate(outputs)),
        *(_declared(copy, domain.size, len(outputs)) for copy in copies),
    ]
    for copy in copies:
        lines += [f"(assert {part})" for feature in domain.features for part in _inside(domain, feature, copy)]
    return "\n".join([*lines, f"(assert {_any(_broken(claim, domain, outputs) for claim in claims)})", ""])


def _comment(text: str) -> str:
    """One line, with what cannot be printed named."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _declared(copy: int, inputs: int, outputs: int) -> str:
    own = COPIES[copy]
    same = f"\n  (equal-to {COPIES[0]})" if copy else ""
    return (
        f"(declare-network {own}{same}\n  (declare-input X{own} float64 [1,{inputs}])\n"
        f"  (declare-output Y{own} float64 [1,{outputs}])\n)"
    )


def _inside(domain: Domain, feature: Feature, copy: int) -> list[str]:
    """That a feature lies in the domain: ends of a number, values of a whole number, one of its categories."""
    span = domain.slices[feature.name]
    names = [_input(copy, i) for i in range(span.start, span.stop)]
    if feature.kind == "category":
        return [_any(_all(_is(name, float(i == k)) for i, name in enumerate(names)) for k in range(len(names)))]
    if feature.kind == "continuous":
        return [
            f"(>= {names[0]} {_decimal(Fraction(feature.lo))})",
            f"(<= {names[0]} {_decimal(Fraction(feature.hi))})",
        ]
    if feature.hi - feature.lo >= MOST_WHOLE:
        raise SmileError(
            f"VNN-LIB cannot say that {feature.name!r} is one of the whole numbers {feature.range_words}; it has more "
            f"than {MOST_WHOLE} values: declare it as continuous, or keep to smile check."
        )
    return [_any(_is(names[0], float(value)) for value in range(int(feature.lo), int(feature.hi) + 1))]


def _broken(claim: Claim, domain: Domain, outputs: Sequence[str]) -> str:
    """The premise, and a row of the conclusion that fails, or a clause all of whose rows fail."""
    parts = [
        f"(== {_input(0, int(i))} {_input(copy, int(i))})"
        for i in np.flatnonzero(pins(claim, domain))
        for copy in range(1, claim.copies)
    ]
    parts += [_row(row, "==" if row.op == "==" else "<=", domain, outputs) for row in claim.when]
    parts += [_ball(claim, domain)] if claim.ball else []
    failing = [_row(row, ">", domain, outputs) for row in claim.rows]
    failing += [_all(_row(row, ">", domain, outputs) for row in clause) for clause in claim.either]
    return _all([*parts, _any(failing)])


def _row(row: Inequality, op: str, domain: Domain, outputs: Sequence[str]) -> str:
    """A row, scaled until its numbers are decimals; a row without terms compares two numbers by an input times 0."""
    found: list[tuple[Fraction, str]] = []
    for term in row.terms:
        if term.kind == "out":
            found.append((term.coef, f"Y{COPIES[term.copy]}[0,{list(outputs).index(term.name)}]"))
        else:
            found += [(term.coef, _input(term.copy, i)) for i in domain.indices(term.name)]
    found = found or [(Fraction(0), _input(0, 0))]
    size = math.lcm(*(_odd(number) for number in (row.rhs, *(coef for coef, _ in found))))
    return f"({op} {_sum([(coef * size, name) for coef, name in found])} {_decimal(row.rhs * size)})"


def _sum(terms: Sequence[tuple[Fraction, str]]) -> str:
    parts = [name if coef == 1 else f"(* {_decimal(coef)} {name})" for coef, name in terms]
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _ball(claim: Claim, domain: Domain) -> str:
    """Σ w_i·(a_i − b_i)² ≤ s, w_i = s/δ_i² whole numbers."""
    weights = [(domain.indices(name)[0], 1 / delta**2) for name, delta in claim.ball]
    size = math.lcm(*(weight.denominator for _, weight in weights))
    parts = []
    for i, weight in weights:
        gap = f"(- {_input(0, i)} {_input(1, i)})"
        parts.append(f"(* {_decimal(weight * size)} {gap} {gap})")
    total = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    return f"(<= {total} {_decimal(Fraction(size))})"


def _input(copy: int, i: int) -> str:
    return f"X{COPIES[copy]}[0,{i}]"


def _is(name: str, value: float) -> str:
    return f"(== {name} {_decimal(Fraction(value))})"


def _all(parts: Iterable[str]) -> str:
    found = list(parts)
    return found[0] if len(found) == 1 else f"(and {' '.join(found)})"


def _any(parts: Iterable[str]) -> str:
    found = list(parts)
    return found[0] if len(found) == 1 else f"(or {' '.join(found)})"


def _odd(number: Fraction) -> int:
    """What a number has to be multiplied by to be a decimal: its denominator without the factors 2 and 5."""
    rest = number.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    return rest


def _decimal(number: Fraction) -> str:
    """A decimal, exactly, without an exponent; the language has none.

    >>> _decimal(Fraction(-3, 40)), _decimal(Fraction(7))
    ('-0.075', '7.0')
    """
    digits = 1
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole = abs(int(number * 10**digits))
    return f"{'-' if number < 0 else ''}{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
