"""Rows of an audit as a query in VNN-LIB 2.0, for other verifiers: satisfiable where one of the rows is broken.

(assert (or (and premise_1  left_1 > rhs_1)  (and premise_2  left_2 > rhs_2)  …))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from smilenn.auditing.audit import output_names
from smilenn.auditing.cells import domain_as_read
from smilenn.auditing.importing import check_names, read_network
from smilenn.auditing.lowering import rows_of
from smilenn.auditing.rows import Row
from smilenn.auditing.vnnlib import shown
from smilenn.domain import Domain
from smilenn.errors import SmileError


def query(model: Any, claims: Sequence[Any], domain: Domain, values: Mapping[str, Sequence[Any]] | None = None) -> str:
    """The claims about a network as the text of a query; all parameters as those of `audit`."""
    net = read_network(model)
    check_names(model, domain)
    rows = rows_of(claims, domain_as_read(domain, net.dtype), net, output_names(net, None), values)
    return write_vnnlib(rows, net.sizes, net.source)


def write_vnnlib(rows: Sequence[Row], sizes: Sequence[int], source: str) -> str:
    """The text of a query that is satisfiable where one of the rows is broken; `read_vnnlib` reads it."""
    asked = [row for row in rows if row.rhs is not None]
    if not asked or len(asked) < len(rows):
        raise SmileError("A VNN-LIB query needs a limit to break; state ε, as in --fair age:0.5.")
    if any(any(row.whole) for row in rows):
        raise SmileError("VNN-LIB has no whole numbers; declare the inputs as continuous to write a query.")
    lines = ["(vnnlib-version <2.0>)", f"; the network is {shown(source)}; unsat: the rules hold"]
    lines += [f"; {shown(row.text)}" for row in rows]
    for name, same in (("a", ""), ("b", "(equal-to a) ")):
        shapes = f"(declare-input X_{name} real [{sizes[0]}]) (declare-output Y_{name} real [{sizes[-1]}])"
        lines.append(f"(declare-network {name} {same}{shapes})")
    broken = [f"(and {' '.join(_broken(row))})" for row in asked]
    return "\n".join([*lines, f"(assert {broken[0] if len(broken) == 1 else f'(or {chr(10).join(broken)})'})", ""])


def _broken(row: Row) -> Iterator[str]:
    for c, name in enumerate("ab"):
        for i, (low, high) in enumerate(zip(row.lo[c], row.hi[c], strict=True)):
            yield f"(>= X_{name}[{i}] {_decimal(low)}) (<= X_{name}[{i}] {_decimal(high)})"
    for i, (low, high) in enumerate(zip(row.low, row.high, strict=True)):
        gap = f"(- X_a[{i}] X_b[{i}])"
        yield (
            f"(== X_a[{i}] X_b[{i}])" if low == high == 0 else f"(>= {gap} {_decimal(low)}) (<= {gap} {_decimal(high)})"
        )
    assert row.rhs is not None
    terms = [(k, f"Y_{name}[{o}]") for name, w in zip("ab", row.weights, strict=True) for o, k in enumerate(w) if k]
    parts = [name if k == 1 else f"(* {_decimal(k)} {name})" for k, name in terms]
    total = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
    yield f"(> {total} {_decimal(row.rhs)})"


def _decimal(value: Fraction) -> str:
    """A decimal, exactly; other fractions are refused."""
    digits, rest = 1, value.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest != 1:
        raise SmileError(f"{value} has no end as a decimal, so VNN-LIB cannot say it; state another number.")
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = abs(int(value * 10**digits))
    return f"{'-' if value < 0 else ''}{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
