"""The page of an audit: the numbers of the audit, texts escaped, nothing fetched."""

import html
import re
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import smilenn
from smilenn import Domain, Fair, Feature
from smilenn.auditing.share import ShareSearch
from smilenn.certify.check_deep import decimal
from smilenn.report.audit_page import audit_page, write_audit_page

NAME = "<b>age</b>"


def network(seed=2):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 1))


@pytest.fixture(scope="module")
def brackets():
    domain = Domain.box([0, 0, 0], [1, 1, 1], names=[NAME, "sex", "pay"])
    return smilenn.audit(network(), [Fair(["sex"], 0.01), Fair([NAME], 5)], domain, time_limit=2)


def test_every_row_has_its_bracket_and_pair(brackets, tmp_path):
    write_audit_page(brackets, tmp_path / "page.html", "net <1>.onnx")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for row in brackets.rows:
        assert html.escape(row.row, quote=True) in page
        words = re.findall(r"reaches (\S+) at the pair below, and never more than ([^;]+);", page)
        assert any(Fraction(a) <= row.found and row.proved <= Fraction(b) for a, b in words)
        assert (decimal(row.found, ROUND_FLOOR), decimal(row.proved, ROUND_CEILING)) in words
    assert page.count("The worst pair found") == len(brackets.rows)
    assert "net &lt;1&gt;.onnx" in page and '<span class="badge bad">Violated</span>' in page
    assert page.count("Bracket over time") == sum(len(row.course) > 1 for row in brackets.rows)


def test_a_bracket_is_not_called_proved():
    domain = Domain.box([0, 0, 0], [1, 1, 1], names=["a", "b", "c"])
    page = audit_page(smilenn.audit(network(), smilenn.Bracket(Fair(["a"], 0)), domain, time_limit=2), "net")
    assert "Brackets closed</span>" in page and "Proved" not in page


def test_brackets_only_get_narrower(brackets):
    for row in brackets.rows:
        seconds, found, proved = (np.array(column) for column in zip(*row.course, strict=True))
        assert (np.diff(seconds) >= 0).all() and (np.diff(found) >= 0).all()
        assert (np.diff(proved) <= 1e-9).all() and abs(float(row.real) - proved[-1]) <= 1e-3 * abs(proved[-1]) + 1e-6


def test_nothing_of_a_name_is_code_and_nothing_is_fetched(brackets):
    page = audit_page(brackets, "<script>x</script>")
    assert NAME not in page and "<script" not in page
    assert not re.search(r"https?://|url\(", page)


def test_labels_show_where_they_can_change():
    domain = Domain((Feature("age", "integer", 0, 9), Feature("sex", "binary"), Feature(NAME, "integer", 0, 40)))
    net = network()
    x = torch.tensor(domain.sample(500, np.random.default_rng(0)), dtype=torch.float32)
    with torch.no_grad():
        net[-1].bias -= net(x).median() + 0.003
    found = smilenn.audit_labels(net, "sex", domain, time_limit=4)
    page = audit_page(found, "net")
    assert f"{found.settled} of {found.points} points" in page and NAME not in page
    assert "Settled share by age" in page and page.count("% settled") >= 20
    changing = "A changed label" in page and "Outputs, which decide by their sign" in page
    assert changing == (found.changed is not None)
    for edges, shares in found.where.values():
        assert len(edges) == len(shares) + 1 and (shares >= 0).all() and (shares <= 1 + 1e-9).all()
        assert abs(float((shares * np.diff(edges)).sum() / np.diff(edges).sum()) - found.settled / found.points) < 1e-2


def test_shares_along_an_input_are_those_of_the_leaves():
    """x0 > 1.5 alone decides: settled everywhere, and before the search nowhere."""
    from smilenn.auditing.network import DeepNet

    net = DeepNet((np.array([[1.0, 0.0]]), np.array([[1.0]])), (np.array([-1.5]), np.array([-0.25])))
    search = ShareSearch(net, np.array([0.0, 0.0]), np.array([3.0, 1.0]), 1, [(0, 1)])
    assert search.along(0, 4)[1].tolist() == [0, 0, 0, 0]
    search.run(np.inf)
    edges, shares = search.along(0, 4)
    assert edges.tolist() == [0, 1, 2, 3, 4] and shares.tolist() == [1, 1, 1, 1]
