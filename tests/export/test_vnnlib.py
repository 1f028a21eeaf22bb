"""Queries for other verifiers: every one parses, and says exactly what the claims say."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests.export.test_onnx import table
from typer.testing import CliRunner

from smilenn import Config, Custom, Domain, Fair, Feature, Monotone, Robust, Safe, SmileRegressor
from smilenn.cli import app
from smilenn.errors import SmileError
from smilenn.export.verify import session
from smilenn.export.vnnlib_file import export_vnnlib, query
from smilenn.properties.claim import Claim, row
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import holds_exactly, pins

pytestmark = pytest.mark.usefixtures("quick_module")

vnnlib = pytest.importorskip("vnnlib", reason="the package vnnlib, whose grammar these tests hold, is not installed")
DOMAIN = Domain(
    (
        Feature("x", lo=-0.1, hi=1 / 3),
        Feature("n", "integer", lo=0, hi=4),
        Feature("b", "binary"),
        Feature("g", "category", categories=("u", 'v "w"')),
        Feature("y", lo=1e-9, hi=12345.678),
    )
)
CASES = {
    "monotone": Monotone(increasing=["x"], decreasing=["n"]),
    "fair": Fair(["g"], eps=0.1),
    "robust": Robust(0.25, eps=1),
    "ball": Robust(0.3, eps=0.7, norm=2, features=["x", "y"]),
    "thirds": Custom(when=["a.x >= b.x + 1/90000 * b.y - 1/7", "a.n == b.n"], then=["1/7 * a.out - b.out <= 2/3"]),
    "one copy": Safe(when=["a.x >= 0.125"], then=["a.out <= 3", "a.out >= -3"]),
}


def model_of(domain, outputs=("",)):
    return SimpleNamespace(domain_=domain, outputs_=Outputs(outputs))


def number(node, values):
    """An arithmetic expression of a parsed query, exactly."""
    match type(node).__name__:
        case "Var":
            return values[node.name][node.indices[1]]
        case "Float" | "Int" | "IntExpr" | "Literal":
            return Fraction(node.lexeme)
        case "Negate":
            return -number(node.expr, values)
        case "Plus":
            return sum(number(one, values) for one in node.args)
        case "Minus":
            return number(node.head, values) - sum(number(one, values) for one in node.rest)
        case "Multiply":
            out = Fraction(1)
            for one in node.args:
                out *= number(one, values)
            return out
    raise AssertionError(type(node))


def holds(node, values):
    """A boolean expression of a parsed query."""
    match type(node).__name__:
        case "And":
            return all(holds(one, values) for one in node.args)
        case "Or":
            return any(holds(one, values) for one in node.args)
    left, right = number(node.lhs, values), number(node.rhs, values)
    return {
        "GreaterThan": left > right,
        "GreaterEqual": left >= right,
        "LessEqual": left <= right,
        "Equal": left == right,
    }[type(node).__name__]


def broken(claim, domain, x, out, names):
    """Whether inputs x [k, m] with outputs out [k, o] break a claim, from the claim itself."""
    if not holds_exactly(claim, domain, x[: claim.copies]):
        return False

    def left(inequality):
        total = Fraction(0)
        for term in inequality.terms:
            if term.kind == "out":
                total += term.coef * Fraction(float(out[term.copy, names.index(term.name)]))
            else:
                total += term.coef * sum(Fraction(float(x[term.copy, i])) for i in domain.indices(term.name))
        return total

    clauses = [all(left(r) > r.rhs for r in clause) for clause in claim.either]
    return any(left(r) > r.rhs for r in claim.rows) or any(clauses)


def tuples(claims, domain, names, rng, count=150):
    """Inputs and outputs in and around premises: pinned coordinates mostly equal, a few values outside."""
    k = max(claim.copies for claim in claims)
    for turn in range(count):
        x = domain.sample(k, rng)
        if turn % 3:
            x[:, pins(claims[turn % len(claims)], domain)] = x[0, pins(claims[turn % len(claims)], domain)]
        if turn % 4 == 1:
            x[1:] = x[0]
            x[1:, [0, -1]] += rng.choice([-0.2, -0.01, 0.0, 0.01, 0.2], (k - 1, 2))
        if turn % 17 == 0:
            x[0, int(rng.integers(domain.size))] = 1e6
        yield x, rng.normal(scale=3, size=(k, len(names))).round(3)


def agree(claims, domain, names=("",)):
    """Parse the query and compare it with the claims; how many tuples break one."""
    parsed = vnnlib.parse_query_string(query(model_of(domain, names), claims, "net.onnx"))
    assert len(parsed.networks) == max(claim.copies for claim in claims)
    assert all(net.equal_to == "a" for net in parsed.networks[1:])
    found = 0
    for x, out in tuples(claims, domain, names, np.random.default_rng(0)):
        values = {f"X{c}": [Fraction(float(v)) for v in row_] for c, row_ in zip("abcd", x, strict=False)}
        values |= {f"Y{c}": [Fraction(float(v)) for v in row_] for c, row_ in zip("abcd", out, strict=False)}
        said = all(holds(assertion.expr, values) for assertion in parsed.assertions)
        inside = bool(domain.contains(x).all())  # the query bounds every copy that it declares
        assert said == (inside and any(broken(claim, domain, x, out, list(names)) for claim in claims))
        found += said
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_query_says_what_the_claim_says(name):
    claims = CASES[name].lower(DOMAIN)
    assert agree(claims, DOMAIN) > 0


def test_several_rules_are_one_query_and_clauses_are_kept():
    claims = [claim for name in ("monotone", "one copy") for claim in CASES[name].lower(DOMAIN)]
    assert agree(claims, DOMAIN) > 0
    either = (row([(1, 0, "out", "p")], 1), row([(1, 0, "out", "q"), (1, 0, "in", "x")], "1/3"))
    clause = Claim(1, (), (), either=(either,))
    assert agree([clause], DOMAIN, ("p", "q")) > 0


def test_what_the_language_cannot_say():
    wide = Domain((Feature("x"), Feature("count", "integer", lo=0, hi=10**6)))
    claims = Monotone(increasing=["x"]).lower(wide)
    with pytest.raises(SmileError, match="VNN-LIB cannot say that 'count' is one of the whole numbers 0 to 1000000"):
        query(model_of(wide), claims, "net.onnx")


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


def test_the_command_writes_the_query_and_its_network(tmp_path):
    frame, y = table()
    rules = [Monotone(increasing=["income"], decreasing=["debt"]), Fair(["race"], eps=2)]
    found = SmileRegressor(properties=rules, config=Config(epochs=6), random_state=0).fit(frame, y)
    found.save(tmp_path / "m")
    code, out, err = smile("export", tmp_path / "m", "--vnnlib", tmp_path / "r.vnnlib")
    assert code == 0 and "Query in" in out, err
    parsed = vnnlib.parse_query_file(str(tmp_path / "r.vnnlib"))
    assert [net.name for net in parsed.networks] == ["a", "b"]
    x = found.domain_.sample(50, np.random.default_rng(3))
    (said,) = session((tmp_path / "r.onnx").read_bytes()).run(["Y"], {"X": x})
    assert (said[:, 0] == found.outputs_at(x)).all()
    one = export_vnnlib(found, tmp_path / "one.vnnlib", rule=2)
    assert one.rules == 1 and '"race" free' in one.path.read_text("utf-8") and "debt" in one.path.read_text("utf-8")

    before = sorted(tmp_path.iterdir())
    for options, words in (
        (("--vnnlib", tmp_path / "q.vnnlib", "--rule", "3"), "There is no rule 3; the model has 2"),
        (("--rule", "1", "--onnx", tmp_path / "w.onnx"), "--rule chooses what --vnnlib writes"),
        ((), "No file to write was named"),
        (("--vnnlib", tmp_path / "q.vnnlib", "--onnx", tmp_path / "q.onnx"), "choose another name"),
        (("--vnnlib", tmp_path / "q.onnx"), "choose another name"),
        (("--vnnlib", tmp_path), "is a folder; name a file"),
    ):
        code, _, err = smile("export", tmp_path / "m", *options)
        assert code == 2 and words in err and len(err.strip().splitlines()) == 1, (options, err)
    assert sorted(tmp_path.iterdir()) == before
