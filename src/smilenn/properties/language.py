r"""The language of claims: one linear comparison a row, over the inputs and outputs of the copies a, b, c, d.

    row      := chain ("or" chain)*                        "or" in conclusions only: out.a <= 0 or out.b <= 0
              | "norm2" "(" ball ")" "<=" number           in premises of two copies only: norm2(a - b) <= 0.3
    ball     := "a" "-" "b" | sum ("," sum)*               each sum k·(a.x - b.x): norm2(a.x - b.x, (a.y - b.y)/2) <= 1
    chain    := sum (("<=" | ">=" | "==") sum)+            -0.1 <= a.x - b.x <= 0.1
    sum      := product (("+" | "-") product)*
    product  := factor (("*" | "/") factor)*               one side of a product is a number
    factor   := ("+" | "-")* (number | text | name | "(" sum ")")
    name     := copy "." NAME | copy "[" text "]"          a.income, a["annual income"]
              | copy ".out" ("." NAME | "[" text "]")?     a.out, a.out.price, a.out["net price"]
              | NAME                                       in claims over one copy: income, out

Numbers are exact rationals. A category is compared as a whole (``a.race == b.race``) or with a value
(``a.race == "black"``). In quotes ``\"``, ``\\``, ``\n``, ``\t``, ``\r`` and ``\u00e9`` stand for one character.
Errors quote the row and underline the token at fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NoReturn

from smilenn.errors import SmileError
from smilenn.properties.claim import COPIES, Inequality, row
from smilenn.properties.parsed import Ball, Member, Row, Where
from smilenn.properties.rational import LARGEST, exact
from smilenn.properties.tokens import ClaimSyntaxError, Span, Token, tokens, unquoted

MAX_LENGTH = 20_000
MAX_DEPTH = 50
MAX_BITS = 4_096  # of a denominator: products of long numbers stay cheap


def parse(text: str, copies: int = 2, where: Where = "when") -> Row:
    """Read one row; `Row.on(domain, outputs)` then gives its inequalities.

    >>> [r.text() for r in parse("-0.1 <= a.x - b.x <= 0.1").relations]
    ['-a["x"] + b["x"] <= 0.1', 'a["x"] - b["x"] <= 0.1']
    """
    if not isinstance(text, str):
        raise SmileError(f"A row of '{where}' is a text such as 'a.income >= b.income', not {text!r}.")
    if len(text) > MAX_LENGTH:
        raise SmileError(f"A row of '{where}' has {len(text)} characters; {MAX_LENGTH} are allowed: split it.")
    return _Parser(text, copies, where).row()


def parse_row(text: str, copies: int = 2, where: Where = "when") -> tuple[Inequality, ...]:
    """The inequalities of a row that needs no domain, one that compares with no text.

    >>> [r.text() for r in parse_row("2*b.dose == a.dose + c.dose", copies=3)]
    ['2 * b["dose"] - a["dose"] - c["dose"] == 0']
    """
    parsed = parse(text, copies, where)
    for relation in parsed.relations:
        if isinstance(relation, Member):
            raise ClaimSyntaxError("What this text means depends on the domain.", text, relation.value_span)
    return tuple(relation for relation in parsed.relations if isinstance(relation, Inequality))


# ---- the parser -----------------------------------------------------------------------------------------------------

_Key = tuple[int, Literal["in", "out"], str]


@dataclass(frozen=True)
class _Sum:
    """``Σ coef·name + constant`` and where it stands."""

    terms: dict[_Key, Fraction]
    constant: Fraction
    span: Span

    def plus(self, other: _Sum, sign: int) -> _Sum:
        terms = dict(self.terms)
        for key, coef in other.terms.items():
            terms[key] = terms.get(key, Fraction(0)) + sign * coef
        return _Sum(terms, self.constant + sign * other.constant, (self.span[0], other.span[1]))

    def times(self, factor: Fraction, span: Span) -> _Sum:
        return _Sum({key: factor * coef for key, coef in self.terms.items()}, factor * self.constant, span)


@dataclass(frozen=True)
class _Text:
    """A quoted value."""

    value: str
    span: Span


class _Parser:
    """Recursive descent over the tokens of one row."""

    def __init__(self, text: str, copies: int, where: Where) -> None:
        self.text, self.copies = text, copies
        self.where: Where = where
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.spans: dict[tuple[str, str], Span] = {}

    def fail(self, sentence: str, span: Span) -> NoReturn:
        raise ClaimSyntaxError(sentence, self.text, span)

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.token
        self.at += token.kind != "end"
        return token

    def skip(self, mark: str) -> Token | None:
        return self.take() if self.token.kind == "mark" and self.token.text == mark else None

    def row(self) -> Row:
        if self.token.text == "norm2" and self.tokens[self.at + 1].text == "(":
            return Row(self.text, self.where, (), self.spans, ball=self.norm())
        chains = [self.chain()]
        while self.token.kind == "name" and self.token.text == "or":
            joint = self.take()
            if self.where == "when":
                self.fail("A premise has no 'or'; state one property for each of the two.", joint.span)
            chains.append(self.chain())
        if self.token.kind != "end":
            self.unexpected()
        return Row(self.text, self.where, chains[0], self.spans, tuple(chains[1:]))

    def norm(self) -> Ball:
        """``norm2(a - b) <= r``, or of single differences, each perhaps times a number."""
        self.refuse_misplaced_norm(self.take())
        self.take()
        parts = self.differences()
        if self.skip(")") is None:
            self.fail("This norm is never closed: ')' or ',' was expected.", self.token.span)
        radius = self.radius()
        if self.token.kind != "end":
            self.unexpected()
        return Ball(tuple((name, radius / size) for name, size in parts), radius)

    def refuse_misplaced_norm(self, start: Token) -> None:
        if self.where == "then" or self.copies != 2:
            self.fail("norm2 measures how far two inputs lie apart; it stands in 'when' of a claim on two.", start.span)

    def differences(self) -> list[tuple[str, Fraction]]:
        """What a norm is over, up to its ")"; nothing for the whole ``a - b``."""
        if [token.text for token in self.tokens[self.at : self.at + 4]] == ["a", "-", "b", ")"]:
            self.at += 3
            return []
        if self.token.text in tuple(COPIES[:2]) and self.tokens[self.at + 1].text not in (".", "["):
            self.fail("Two inputs as a whole are compared in this order: norm2(a - b) <= 0.3.", self.token.span)
        parts = [self.difference(self.number_like(self.sum()))]
        while self.skip(",") is not None:
            parts.append(self.difference(self.number_like(self.sum())))
        return parts

    def radius(self) -> Fraction:
        """r of ``<= r``, the rest of a norm."""
        operator = self.take()
        if operator.text != "<=":
            self.fail("A norm is at most a number: norm2(a - b) <= 0.3.", operator.span)
        radius = self.number_like(self.sum())
        if radius.terms or radius.constant <= 0:
            self.fail("A norm is at most a number, which is more than 0.", radius.span)
        return radius.constant

    def difference(self, part: _Sum) -> tuple[str, Fraction]:
        """k·(a.x − b.x) as the name and |k|."""
        names = {name for (_, _, name) in part.terms}
        first, second = (part.terms.get((copy, "in", next(iter(names), "")), Fraction(0)) for copy in (0, 1))
        if len(names) == 1 and not any(part.terms.values()) and not part.constant:
            self.fail("This feature has the weight 0 in norm2; leave it out, or give it a weight.", part.span)
        if len(names) != 1 or part.constant or first + second or not first:
            self.fail("norm2 takes differences of one feature each, such as a.x - b.x.", part.span)
        return names.pop(), abs(first)

    def chain(self) -> tuple[Inequality | Member, ...]:
        sides, operators = [self.sum()], []
        while self.token.kind == "compare":
            operators.append(self.take())
            sides.append(self.sum())
        if not operators:
            if self.token.kind != "end" and self.token.text != "or":
                self.unexpected()
            self.fail("The row compares nothing; it needs <=, >= or ==.", (0, len(self.text)))
        pairs = zip(sides, operators, sides[1:], strict=False)
        return tuple(self.relation(left, op, right) for left, op, right in pairs)

    def unexpected(self) -> NoReturn:
        shown, hint = self.token.text, " (a product is written 2 * a.x)" if self.token.kind == "name" else ""
        hint = " ('and' is written as another row)" if shown == "and" else hint
        self.fail(f"{shown!r} was not expected; an operator or the end of the row was{hint}.", self.token.span)

    def relation(self, left: _Sum | _Text, op: Token, right: _Sum | _Text) -> Inequality | Member:
        if isinstance(left, _Text) or isinstance(right, _Text):
            return self.member(left, op, right)
        whole = (left.span[0], right.span[1])
        if op.text == ">=":
            left, right = right, left
        difference = left.plus(right, -1)
        terms = [(coef, *key) for key, coef in difference.terms.items()]
        built = row(terms, -difference.constant, "==" if op.text == "==" else "<=")
        if not built.terms:
            self.fail("Nothing is left to compare: no name remains on either side.", whole)
        if self.where == "then" and not any(term.kind == "out" for term in built.terms):
            self.fail("A row of 'then' must name an output, such as a.out; move conditions on inputs to 'when'.", whole)
        return built

    def member(self, left: _Sum | _Text, op: Token, right: _Sum | _Text) -> Member:
        name, text = (right, left) if isinstance(left, _Text) else (left, right)
        if isinstance(name, _Text) or not isinstance(text, _Text):
            self.fail("Two strings are compared; one side must be a category such as a.race.", name.span)
        if op.text != "==":
            self.fail(f"Texts have no order, so {op.text} cannot compare them; use ==.", op.span)
        if self.where == "then":
            self.fail("A row of 'then' is a comparison of numbers; move this condition to 'when'.", text.span)
        single = len(name.terms) == 1 and not name.constant
        if not single or next(iter(name.terms.values())) != 1:
            self.fail("A text can only be compared with a single category, such as a.race.", name.span)
        copy, _, feature = next(iter(name.terms))
        return Member(copy, feature, text.value, name.span, text.span)

    def sum(self) -> _Sum | _Text:
        total = self.product()
        while self.token.kind == "mark" and self.token.text in "+-":
            sign = 1 if self.take().text == "+" else -1
            total = self.number_like(total).plus(self.number_like(self.product()), sign)
        return total

    def product(self) -> _Sum | _Text:
        result = self.factor()
        while self.token.kind == "mark" and self.token.text in "*/":
            operator = self.take()
            left, right = self.number_like(result), self.number_like(self.factor())
            span = (left.span[0], right.span[1])
            result = (self.quotient if operator.text == "/" else self.multiplied)(left, right, span)
            for value in (*result.terms.values(), result.constant):
                if abs(value) > LARGEST or value.denominator.bit_length() > MAX_BITS:
                    self.fail("This product is beyond 1e300 or has too many digits; choose other units.", span)
        return result

    def quotient(self, left: _Sum, right: _Sum, span: tuple[int, int]) -> _Sum:
        if right.terms:
            self.fail("Dividing by a name is not linear; divide by a number.", right.span)
        if not right.constant:
            self.fail("This divides by zero.", right.span)
        return left.times(1 / right.constant, span)

    def multiplied(self, left: _Sum, right: _Sum, span: tuple[int, int]) -> _Sum:
        if left.terms and right.terms:
            self.fail("A product of two names is not linear; multiply a name by a number.", span)
        return left.times(right.constant, span) if left.terms else right.times(left.constant, span)

    def number_like(self, value: _Sum | _Text) -> _Sum:
        if isinstance(value, _Text):
            self.fail('A text cannot be calculated with; compare it, as in a.race == "black".', value.span)
        return value

    def factor(self) -> _Sum | _Text:
        start, sign, signed = self.token.span[0], 1, False
        while self.token.kind == "mark" and self.token.text in "+-":
            sign, signed = (-sign if self.take().text == "-" else sign), True
        value = self.atom()
        if not signed:
            return value
        value = self.number_like(value)
        return value.times(Fraction(sign), (start, value.span[1]))

    def atom(self) -> _Sum | _Text:
        token = self.take()
        if token.kind == "number":
            try:
                return _Sum({}, exact(token.text), token.span)
            except SmileError:
                self.fail("This number is too long or its exponent is beyond 300.", token.span)
        if token.kind == "text":
            return _Text(unquoted(token.text), token.span)
        if token.kind == "name":
            return self.name(token)
        if token.text == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"More than {MAX_DEPTH} parentheses are open; simplify the row.", token.span)
            inside = self.sum()
            closing = self.skip(")")
            if closing is None:
                self.fail("This parenthesis is never closed.", token.span)
            self.depth -= 1
            if isinstance(inside, _Text):
                return inside
            return _Sum(inside.terms, inside.constant, (token.span[0], closing.span[1]))
        what = repr(token.text) if token.text else "the end of the row"
        self.fail(f"A number or a name such as a.income was expected, not {what}.", token.span)

    def name(self, token: Token) -> _Sum:
        copy, name, end, plain = self.reference(token)
        kind: Literal["in", "out"] = "out" if plain and name == "out" else "in"
        if kind == "out":
            name = ""
            if self.accessed():
                name, end = self.access(token)
        span = (token.span[0], end)
        if kind == "out" and self.where == "when":
            self.fail("This is an output; 'when' is about inputs only, 'then' about outputs.", span)
        self.spans.setdefault((kind, name), span)
        return _Sum({(copy, kind, name): Fraction(1)}, Fraction(0), span)

    def accessed(self) -> bool:
        return self.token.kind == "mark" and self.token.text in ".["

    def reference(self, token: Token) -> tuple[int, str, int, bool]:
        """Copy, name, where it ends, and whether the name stands without quotes: only then ``out`` is an output."""
        if token.text == "norm2" and self.token.text == "(":
            self.refuse_misplaced_norm(token)
            self.fail("A norm stands first in a row of its own: norm2(a - b) <= 0.3.", token.span)
        known = COPIES[: self.copies]
        if self.accessed() and not (token.text == "out" and self.copies == 1):
            if token.text not in known:
                called = " and ".join(known)
                self.fail(f"There is no copy {token.text!r} here; the copies are called {called}.", token.span)
            plain = self.token.text == "."
            return COPIES.index(token.text), *self.access(token), plain
        if self.copies == 1:
            return 0, token.text, token.span[1], True
        if token.text in known:
            self.fail(
                f"'{token.text}' is a copy, not a number; name one of its features: {token.text}.NAME "
                f'or {token.text}["the name"].',
                token.span,
            )
        ways = " or ".join(f"{c}.{token.text}" for c in known)
        self.fail(f"{token.text!r} lacks its copy; write {ways}.", token.span)

    def access(self, owner: Token) -> tuple[str, int]:
        """``.NAME`` or ``["NAME"]`` after a copy or an output: the name and where it ends."""
        opening = self.take()
        inside = self.take()
        if opening.text == ".":
            if inside.kind != "name":
                self.fail(
                    f'A name was expected after the dot; unusual ones are written {owner.text}["the name"].',
                    inside.span,
                )
            return inside.text, inside.span[1]
        if inside.kind != "text":
            self.fail(f'A name in quotes was expected, as in {owner.text}["the name"].', inside.span)
        closing = self.skip("]")
        if closing is None:
            self.fail("This bracket is never closed.", opening.span)
        name = unquoted(inside.text)
        if not name:
            self.fail("The name is empty.", inside.span)
        return name, closing.span[1]
