"""The work of a row, node, case and equation (docs/certificate.md, section 6): both checkers count as the page says."""

import numpy as np
import pytest
from benchmarks import check_work as kinds
from trust import forge2

import smilenn
from smilenn.certify import check, process
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import reader


def refused(monkeypatch, folder, most):
    """Whether both checkers refuse a folder whose work may be so much; they agree."""
    for module, name in ((check, "WORK"), (check_reference, "MOST_WORK"), (reader, "MOST_WORK")):
        monkeypatch.setattr(module, name, most)
    found = {module.check_folder(folder).status == "refused" for module in (check, check_reference)}
    monkeypatch.undo()
    assert len(found) == 1
    return found.pop()


def row(k, n, o, m, units):
    return k * (n * (o + m + units) + 8 * (m + 8))


def nodes(k, count, units, m, extra=0, pairs=0):
    return k * count * (16 + (units + 1 + extra) * (m + 1 + pairs))


# two copies of a network with no hidden units and 3 inputs, a tree of 7 nodes
TREE = row(2, 1, 1, 3, 0) + nodes(2, 7, 0, 3)
CASES = {
    "a tree": (lambda: kinds.trees(3, 0, 2, 0, 1.0, 0), TREE),
    "long slopes": (lambda: kinds.trees(3, 0, 2, 0, kinds.TINY, 1000), 5 * TREE),  # σ = 2·1074 + 1
    "leaves that subtract rows of the premise": (
        lambda: kinds.extra_rows(3, 5, 2),
        row(2, 1, 1, 3, 0) + nodes(2, 7, 0, 3, extra=5),
    ),
    "a category": (  # of 20 values: ⌊400/64⌋ pairs; one phase split
        lambda: kinds.groups(20, 1, 1, 2),
        row(2, 1, 1, 20, 2) + nodes(2, 3, 2, 20, pairs=6),
    ),
    "signs": (lambda: kinds.signs(3, 2, 0, 0), row(2, 1, 1, 3, 4) + 4 * nodes(2, 2, 4, 3)),
    "rows for each case": (  # four cases read eight rows of one term anew, and a clause of two
        lambda: kinds.cases(8, 2, 2),
        4 * (64 * (8 * 2 + 2 * 2) + row(1, 1, 1, 1, 0) + nodes(1, 1, 0, 1)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_both_checkers_count_as_the_page_says(name, tmp_path, monkeypatch):
    files, work = CASES[name]
    folder = forge2.put(tmp_path / "m", files())
    assert check.check_folder(folder).status in ("certified", "unknown")
    assert not refused(monkeypatch, folder, work) and refused(monkeypatch, folder, work - 1)


def test_equations_of_long_numbers_count_by_the_square(tmp_path, monkeypatch):
    # eight equations (four a copy) between five inputs take pivots out of a form, each with numbers of 390 digits
    folder = forge2.put(tmp_path / "m", kinds.signs(5, 1, 4, 390))
    digits = 8 * (1295 + 1)  # every equation's largest coefficient has 1295 or 1296 digits, its denominator one
    assert {1 + (digits + more) // 2048 for more in (0, 8)} == {6}
    work = row(2, 1, 1, 5, 2) + 4 * 6**2 * nodes(2, 2 * 9, 2, 5)
    assert check.check_folder(folder).status == "unknown"
    assert not refused(monkeypatch, folder, work) and refused(monkeypatch, folder, work - 1)


def test_a_category_of_many_values_takes_no_squares():
    # the shift of a mask by every place: a category of 100,000 values took 0.2 s for each unit
    cell = object.__new__(check.Cell)
    cell.allowed = [[(1 << 100_000) - 1 - (1 << 7)]]
    cell.groups = [range(100_000)]
    found = cell.members(0, 0)
    assert found == [p for p in range(100_000) if p != 7]


def test_rows_of_one_premise_divide_once(tmp_path, monkeypatch):
    # every row divided a denominator of 2¹⁷ bits by that of every bound anew; rows whose tree is one leaf share a cell
    premises = []
    first = check.Premise.whole_numbers

    def remember(self, name):
        found = first(self, name)
        premises.append((name, id(found)))
        return found

    monkeypatch.setattr(check.Premise, "whole_numbers", remember)
    folder = forge2.put(tmp_path / "m", kinds.many_rows(2, 5, kinds.leaf(1)))
    assert check.check_folder(folder).status == "unknown"
    assert len(premises) == len(set(premises)) == 3
    monkeypatch.setattr(check.Premise, "cell", property(check.Premise.cell.func))  # as rows whose trees split: one each
    assert check.check_folder(folder).status == "unknown"
    assert len(premises) == 18 and len(set(premises)) == 6


def test_fit_keeps_no_proof_that_the_checker_would_refuse(tmp_path, monkeypatch):
    draw = np.random.default_rng(0)
    rows = draw.uniform(size=(60, 2))
    monkeypatch.setattr(process, "interpreter", lambda: "")  # the checker of this process, whose limit is lowered
    monkeypatch.setattr(check, "WORK", 50)
    model = smilenn.SmileRegressor(properties=[smilenn.Monotone(increasing=["x0"])], random_state=0)
    model.fit(rows, rows.sum(axis=1))
    assert model.verdict_.status == "unknown" and model.certificate_ is None
    assert "the checker refused the proof (the claims would take too long to check)" in model.verdict_.sentence()
    model.save(tmp_path / "m")
    assert not (tmp_path / "m" / "certificate.json").exists()
    assert smilenn.load(tmp_path / "m").verdict_.status == "unknown"
