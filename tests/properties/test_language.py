"""The claim language: what it reads, and that every error underlines the token at fault."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties import Custom, Fair, Monotone, Robust, Safe, ground, load_properties, read_toml
from smilenn.properties.claim import Inequality, Term, row
from smilenn.properties.language import parse, parse_row
from smilenn.properties.tokens import ClaimSyntaxError

DOMAIN = Domain(
    (
        Feature("x"),
        Feature("annual income", lo=0, hi=100),
        Feature("sex", "binary", categories=("f", "m")),
        Feature("race", "category", categories=("black", "white", "other")),
        Feature("town", "category", categories=("u", "v"), columns=("t_u", "t_v")),
    )
)


@pytest.mark.parametrize(
    ("text", "copies", "where", "rows"),
    [
        ("a.income >= b.income", 2, "when", ['b["income"] - a["income"] <= 0']),
        ("a.x <= 1", 1, "when", ['a["x"] <= 1']),
        (
            "a.out - b.out <= 0.1 * a.income - 0.1 * b.income",
            2,
            "then",
            ['a.out - b.out - 0.1 * a["income"] + 0.1 * b["income"] <= 0'],
        ),
        ("2*b.dose == a.dose + c.dose", 3, "when", ['2 * b["dose"] - a["dose"] - c["dose"] == 0']),
        ('a["annual income"] <= 3', 1, "when", ['a["annual income"] <= 3']),
        ("a['annual income'] <= 3", 1, "when", ['a["annual income"] <= 3']),
        ('a["say \\"hi\\""] <= 3', 1, "when", ['a["say \\"hi\\""] <= 3']),
        ('a["out"] <= 3', 1, "when", ['a["out"] <= 3']),
        ("a.out.price <= 3", 1, "then", ['a.out["price"] <= 3']),
        ('a.out["net price"] <= 3', 1, "then", ['a.out["net price"] <= 3']),
        ("-0.1 <= a.x - b.x <= 0.1", 2, "when", ['-a["x"] + b["x"] <= 0.1', 'a["x"] - b["x"] <= 0.1']),
        ("3 >= a.x >= b.x == 2", 2, "when", ['a["x"] <= 3', 'b["x"] - a["x"] <= 0', 'b["x"] == 2']),
        ("1/3 * a.x <= 2/3", 1, "when", ['1/3 * a["x"] <= 2/3']),
        ("a.x / 4 <= .5e1", 1, "when", ['0.25 * a["x"] <= 5']),
        ("-(2 * (a.x - 3) + 1.) <= +-+1", 1, "when", ['-2 * a["x"] <= -6']),
        ("3 * a.x + 1 - a.x <= 2 * a.x + b.x", 2, "when", ['-b["x"] <= -1']),
        ("größe <= 1e-2", 1, "when", ['a["größe"] <= 0.01']),
        ("out.price - 2 * out['a b'] <= x", 1, "then", ['a.out["price"] - 2 * a.out["a b"] - a["x"] <= 0']),
        ("a.x <= d.x", 4, "when", ['a["x"] - d["x"] <= 0']),
        ("  a . x<=b.x\t", 2, "when", ['a["x"] - b["x"] <= 0']),
    ],
)
def test_rows(text, copies, where, rows):
    assert [r.text() for r in parse_row(text, copies, where)] == rows


def test_numbers_are_exact():
    (found,) = parse_row("a.x <= 0.1000000000000000055511151231257827", 1)
    assert found.rhs == Fraction(1000000000000000055511151231257827, 10**34)


NAMES = st.sampled_from(
    ["x", "out", "größe", "annual income", 'q"uo\\te', "2nd", "a", "x.y", "race=b", "it's", "new\nline"]
)


@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6),
            st.integers(0, 3),
            st.sampled_from(["in", "out"]),
            NAMES,
        ),
        min_size=1,
        max_size=5,
    ),
    st.fractions(),
    st.sampled_from(["<=", "=="]),
)
def test_what_is_printed_is_read_back(terms, rhs, op):
    made = row(terms, rhs, op)
    if not any(t.kind == "out" for t in made.terms):
        made = Inequality((*made.terms, Term(Fraction(1), 0, "out", "")), made.rhs, made.op)
    assert parse_row(made.text(), 4, "then") == (made,)


@given(st.text(alphabet='ab.cx[]"\\()+-*/<>=!1e \n\té', max_size=40))
def test_any_text_is_read_or_refused_with_a_caret(text):
    try:
        parse(text, 2, "when")
    except ClaimSyntaxError as error:
        sentence, shown, carets = str(error).split("\n")
        assert sentence.endswith(".") and len(shown) == len(text) + 4
        start, end = error.span
        assert carets == " " * (4 + start) + "^" * max(1, end - start) and 0 <= start <= end <= len(text)


# the row, and the token that must be underlined
ERRORS = [
    ("c.x <= b.x", "c", "There is no copy 'c' here; the copies are called a and b."),
    ("x.y <= 1", "x", "There is no copy 'x' here; the copies are called a and b."),
    ("income <= 1", "income", "'income' lacks its copy; write a.income or b.income."),
    ("a <= 1", "a", "'a' is a copy, not a number; name one of its features: a.NAME or a[\"the name\"]."),
    ("a.2nd <= 1", "a", "'a' is a copy, not a number; name one of its features: a.NAME or a[\"the name\"]."),
    ("1 <= a.x * b.x", "a.x * b.x", "A product of two names is not linear; multiply a name by a number."),
    ("(a.x + 1) * (b.x + 1) <= 1", "(a.x + 1) * (b.x + 1)", "A product of two names is not linear; "),
    ("1 / a.x <= 1", "a.x", "Dividing by a name is not linear; divide by a number."),
    ("a.x / (1 - 1) <= 1", "(1 - 1)", "This divides by zero."),
    ("a.x < b.x", "<", "The operator '<' does not exist; use <=, >= or ==."),
    ("a.x > b.x", ">", "The operator '>' does not exist; use <=, >= or ==."),
    ("a.x = b.x", "=", "The operator '=' does not exist; use <=, >= or ==."),
    ("a.x != b.x", "!=", "The operator '!=' does not exist; use <=, >= or ==."),
    ("a.x =< b.x", "=<", "The operator '=<' does not exist; use <=, >= or ==."),
    ("a.x ≤ b.x", "≤", "The operator '≤' does not exist; use <=, >= or ==."),
    ("a.x <= 2 * b.out", "b.out", "This is an output; 'when' is about inputs only, 'then' about outputs."),
    ("a.out.price <= 2", "a.out.price", "This is an output; "),
    ("a.x <= ", "", "A number or a name such as a.income was expected, not the end of the row."),
    ("<= 3", "<=", "A number or a name such as a.income was expected, not '<='."),
    ("a.x + <= 3", "<=", "A number or a name such as a.income was expected, not '<='."),
    ("a.x <= )", ")", "A number or a name such as a.income was expected, not ')'."),
    ("", "", "A number or a name such as a.income was expected, not the end of the row."),
    ("a.x % 2 <= 1", "%", "The character '%' has no meaning here."),
    ("a.x <= 1; b.x <= 1", ";", "The character ';' has no meaning here."),
    ('a["x <= 1', '"x <= 1', "The quotation mark is never closed."),
    ('a["x" <= 1', "[", "This bracket is never closed."),
    ("a[x] <= 1", "x", 'A name in quotes was expected, as in a["the name"].'),
    ('a[""] <= 1', '""', "The name is empty."),
    ("a.<= 1", "<=", 'A name was expected after the dot; unusual ones are written a["the name"].'),
    ("(a.x <= 1", "(", "This parenthesis is never closed."),
    ("a.x) <= 1", ")", "')' was not expected; an operator or the end of the row was."),
    ("2 a.x <= 1", "a", "'a' was not expected; an operator or the end of the row was (a product is written 2 * a.x)."),
    ("a.x - b.x", "a.x - b.x", "The row compares nothing; it needs <=, >= or ==."),
    ("1 <= 2", "1 <= 2", "Nothing is left to compare: no name remains on either side."),
    ("a.x - 2 <= a.x", "a.x - 2 <= a.x", "Nothing is left to compare: no name remains on either side."),
    ("1e999999 * a.x <= 1", "1e999999", "This number is too long or its exponent is beyond 300."),
    ("a.x <= 1" + "0" * 401, "1" + "0" * 401, "This number is too long or its exponent is beyond 300."),
    ("1e200 * 1e200 * a.x <= 1", "1e200 * 1e200", "This product is beyond 1e300 or has too many digits; "),
    ('a.race <= "black"', "<=", "Texts have no order, so <= cannot compare them; use ==."),
    ('"black" == "black"', '"black"', "Two strings are compared; one side must be a category such as a.race."),
    ('2 * a.race == "black"', "2 * a.race", "A text can only be compared with a single category, such as a.race."),
    ('a.race + "black" <= 1', '"black"', 'A text cannot be calculated with; compare it, as in a.race == "black".'),
    ('-"black" <= 1', '"black"', "A text cannot be calculated with; "),
    ("(" * 60 + "a.x" + ")" * 60 + " <= 1", "(", "More than 50 parentheses are open; simplify the row."),
]


@pytest.mark.parametrize(("text", "token", "sentence"), ERRORS, ids=[t[:24] for t, _, _ in ERRORS])
def test_errors_underline_the_token(text, token, sentence):
    with pytest.raises(ClaimSyntaxError) as info:
        parse(text, 2, "when")
    first, shown, carets = str(info.value).split("\n")
    assert first.startswith(sentence) and first.endswith(".")
    assert shown == "    " + text
    start, end = info.value.span
    assert text[start:end] == token and carets == "    " + " " * start + "^" * max(1, len(token))


def test_errors_of_then():
    with pytest.raises(ClaimSyntaxError, match="A row of 'then' must name an output"):
        parse("a.x <= 1", 1, "then")
    with pytest.raises(ClaimSyntaxError, match="move this condition to 'when'"):
        parse('a.race == "black"', 1, "then")


def test_hostile_rows_are_refused_quickly():
    start = time.perf_counter()
    for text in ("*".join(["1e299"] * 2000) + " * a.x <= 1", "*".join(["1e-299"] * 2000) + " * a.x <= 1", "-" * 19_000):
        with pytest.raises(ClaimSyntaxError):
            parse(text)
    with pytest.raises(SmileError, match="30000 characters; 20000 are allowed"):
        parse(" " * 30_000)
    assert time.perf_counter() - start < 5


def test_a_text_needs_a_domain():
    with pytest.raises(ClaimSyntaxError, match="depends on the domain"):
        parse_row('a.race == "black"')


# ---- on a domain ----------------------------------------------------------------------------------------------------


def on(text, copies=2, where="when", outputs=("",)):
    return [r.text() for r in parse(text, copies, where).on(DOMAIN, outputs)]


def test_categories_by_value_and_whole():
    assert on('a.race == "black"') == ['a["race=black"] == 1']
    assert on("'v' == b.town") == ['b["t_v"] == 1']
    assert on('a.sex == "m"') == ['a["sex"] == 1'] and on('a.sex == "f"') == ['a["sex"] == 0']
    assert on('race == "other"', 1) == ['a["race=other"] == 1']
    assert on("b.town == a.town") == ['b["t_u"] - a["t_u"] == 0', 'b["t_v"] - a["t_v"] == 0']
    assert on('a["race=black"] <= b["race=black"]') == ['a["race=black"] - b["race=black"] <= 0']
    assert on('a.race == b.race == "black"')[-1] == 'b["race=black"] == 1'
    assert on("a.sex <= b.sex") == ['a["sex"] - b["sex"] <= 0']


def test_outputs_by_name():
    assert on("a.out <= 1", 1, "then", ("price",)) == ['a.out["price"] <= 1']
    assert on("a.out.lo <= a.out.hi", 1, "then", ("lo", "hi")) == ['a.out["lo"] - a.out["hi"] <= 0']


CATEGORY = (
    "'race' is a category, not a number; in 'when' compare it whole (a.NAME == b.NAME) "
    'or with a value (a.NAME == "black").'
)


@pytest.mark.parametrize(
    ("text", "where", "outputs", "token", "sentence"),
    [
        ("a.x <= b.foo", "when", ("",), "b.foo", "There is no feature 'foo'; the features are 'x', 'annual income', "),
        ('a.foo == "u"', "when", ("",), "a.foo", "There is no feature 'foo'; the features are 'x', "),
        ('a.race == "blue"', "when", ("",), '"blue"', "'race' has no value 'blue'; its values are 'black', 'white'"),
        ('a.x == "blue"', "when", ("",), '"blue"', "'x' holds numbers; compare it with a number."),
        ("a.race <= b.race", "when", ("",), "a.race", CATEGORY),
        ("a.race == 1", "when", ("",), "a.race", CATEGORY),
        ("a.race - b.race == 1", "when", ("",), "a.race", CATEGORY),
        ("a.race == 2 * b.race", "when", ("",), "a.race", CATEGORY),
        ("a.out <= b.out + a.race", "then", ("",), "a.race", CATEGORY),
        (
            "a.out.q <= 1",
            "then",
            ("",),
            "a.out.q",
            "There is no output 'q'; the outputs are none by name: write a.out.",
        ),
        ("a.out.q <= 1", "then", ("lo", "hi"), "a.out.q", "There is no output 'q'; the outputs are 'lo', 'hi'."),
        (
            "b.out <= 1",
            "then",
            ("lo", "hi"),
            "b.out",
            "The network has several outputs; name one of 'lo', 'hi', as in a.out.NAME.",
        ),
    ],
)
def test_errors_on_a_domain_underline_too(text, where, outputs, token, sentence):
    with pytest.raises(ClaimSyntaxError) as info:
        parse(text, 2, where).on(DOMAIN, outputs)
    assert info.value.sentence.startswith(sentence)
    start, end = info.value.span
    assert text[start:end] == token


def test_custom_and_safe_meet_the_domain():
    (claim,) = Custom(["a.out <= b.out"], ['a.race == "black"', 'b.race == "white"']).lower(DOMAIN)
    premise = ground(claim, DOMAIN)
    assert premise.lo[0].tolist() == [0, 0, 0, 1, 0, 0, 0, 0] and premise.lo[1].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    (safe,) = Safe(['sex == "m"'], ["out <= x"]).lower(DOMAIN)
    assert safe.formula() == '∀ a ∈ X: a["sex"] == 1 ⇒ a.out - a["x"] <= 0'
    with pytest.raises(ClaimSyntaxError, match="no feature 'foo'"):
        Safe(["foo <= 1"], ["out <= 1"]).lower(DOMAIN)


# ---- TOML -----------------------------------------------------------------------------------------------------------

SPEC = """
[[property]]
kind = "monotone"
increasing = ["income"]

[[property]]
kind = "robust"
delta = {income = 0.1, age = [-1, 2]}
eps = 0.30000000000000000001

[[property]]
kind = "fair"
protected = "race"
eps = "1/3"

[[property]]
kind = "safe"
then = ["out <= 1"]

[[property]]
kind = "claim"
copies = 2
when = ["a.income >= b.income", "a.debt <= b.debt"]
others = "equal"                      # features not named in `when`: equal | free
then = ["a.out >= b.out", "a.out - b.out <= 0.1 * a.income - 0.1 * b.income"]
"""


def test_toml(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(SPEC, encoding="utf-8")
    found = load_properties(path)
    assert found == read_toml(SPEC)
    assert found[0] == Monotone("income")
    assert found[1] == Robust({"income": 0.1, "age": (-1, 2)}, "0.30000000000000000001")
    assert found[2] == Fair("race", "1/3")
    assert found[3] == Safe(then=["out <= 1"])
    assert isinstance(found[4], Custom) and len(found[4].then) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the property file states no property; add a [[property]] table with a 'kind'."),
        ("property = 3", "the property file states no property; "),
        ("a = 1", "the property file has the key 'a'; it holds [[property]] tables only."),
        ("[[property]\n", "the property file is not valid TOML: "),
        (
            "[[property]]\nx = 1",
            "the property file, property 1: A property needs a key 'kind'; the kinds are 'monotone', ",
        ),
        ("[[property]]\nkind = 'smooth'", "the property file, property 1: There is no property of kind 'smooth'; "),
        (
            "[[property]]\nkind = 'one-of'",
            "the property file, property 1: There is no property of kind 'one-of'; write 'one_of'.",
        ),
        ("[[property]]\nkind = 3", "the property file, property 1: There is no property of kind 3; "),
        (
            SPEC + "[[property]]\nkind = 'convex'\nfeature = 'x'",
            "the property file, property 6: A property of kind 'convex' has no key 'feature'; its keys: 'features', "
            "'output'.",
        ),
        ("[[property]]\nkind = 'convex'", "the property file, property 1: A property of kind 'convex' needs the key "),
        (
            "[[property]]\nkind = 'robust'\ndelta = nan",
            "the property file cannot be read: 'nan' is not a finite number",
        ),
        ("[[property]]\nkind = 'robust'\ndelta = -1", "the property file, property 1: Robust: delta is -1; "),
        ("[[property]]\nkind = 'monotone'\nincreasing = [0.5]", "the property file, property 1: Monotone: increasing "),
        (
            "[[property]]\nkind = 'claim'\nthen = ['a.out < b.out']",
            "the property file, property 1: The operator '<' does not exist; use <=, >= or ==.\n    a.out < b.out\n"
            "          ^",
        ),
    ],
)
def test_toml_errors(text, message):
    with pytest.raises(SmileError) as info:
        read_toml(text)
    assert str(info.value).startswith(message)


def test_unreadable_files(tmp_path):
    with pytest.raises(SmileError, match=r"missing\.toml' cannot be read: No such file"):
        load_properties(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SmileError, match="not a text file in UTF-8"):
        load_properties(tmp_path / "binary.toml")
