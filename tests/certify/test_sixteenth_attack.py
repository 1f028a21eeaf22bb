"""What a sixteenth stranger found: nothing false, and small files that take long or fill the memory."""

import json
import random
import tracemalloc
from fractions import Fraction

import pytest
from tests.certify.test_fifteenth_attack import encoded_folder, least_of_both, stored
from trust import forge2

import smilenn
from smilenn.certify import check, stated
from smilenn.certify.reference.reader import read_folder
from smilenn.domain import Domain, Feature
from smilenn.domain.absent import indicator
from smilenn.properties.claim import Claim, row
from smilenn.properties.forms import Outputs
from smilenn.properties.known import explicit
from smilenn.properties.wording import say

# ---- cases ----------------------------------------------------------------------------------------------------------


def cases_folder(path, digits, cases, terms=40):
    """f(x) = x, said to be at most 2 or at most 3 by rows of many terms that cancel, so many digits each."""
    numbers = random.Random(0)

    def number():
        return numbers.randrange(10 ** (digits - 1), 10**digits)

    under = number()
    zeros = [(f"{sign}{v}/{under}", 0, "y") for v in (number() for _ in range(terms // 2)) for sign in ("", "-")]
    claim = forge2.small_claim(either=[[([(1, 0, "y"), *zeros], "<=", 2), ([(1, 0, "y")], "<=", 3)]])

    def tree(count):
        if count > 1:
            parts = {"below": tree(count // 2), "above": tree(count - count // 2)}
            return {"copy": 0, "coordinate": 0, "at": 0.5, **parts}
        of = number()
        part = numbers.randrange(1, of + 1)
        weights = [f"{part}/{of}", f"{of - part}/{of}"]
        return {"weights": [weights], "witness": [[0.5]], "rows": [forge2.SWEEP]}

    files = forge2.small_files(claim, proofs=[{"cases": tree(cases)}])
    return forge2.put(path, forge2.as_version_2(files))


def test_a_case_counts_every_number_that_it_reads_anew(tmp_path, monkeypatch):
    # 7 µs a number of one digit and 56 of 400 were counted as one: 12 MB took 16 hours
    numbers, cases = 40 + 2 + 2, 4
    short = least_of_both(monkeypatch, cases_folder(tmp_path / "short", 1, cases))
    long = least_of_both(monkeypatch, cases_folder(tmp_path / "long", 390, cases))
    assert 64 * numbers * cases <= short < 80 * numbers * cases
    assert 150 * numbers * cases <= long


def test_the_reference_does_not_keep_the_rows_of_all_cases(tmp_path):
    # 1 MB with 15,000 terms and 3,000 cases would have taken gigabytes
    folder = cases_folder(tmp_path / "m", 1, 64, terms=400)
    tracemalloc.start()
    try:
        (entry,) = read_folder(folder).entries
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(entry.cases) == 64 and all(case.claim.either is entry.claim.either for case in entry.cases)
    assert peak < 40 * sum(file.stat().st_size for file in folder.iterdir())


# ---- encoders -------------------------------------------------------------------------------------------------------


def test_sets_of_trees_compare_whole_numbers(tmp_path, monkeypatch):
    # 147 µs a place of a set were counted as 36 units where coordinates have 8,000 digits
    trees = {"kind": "trees", "inputs": 3, "trees": [1], "nodes": 3, "sets": [[0, 1], [0, 1, 2], [1, 2]]}
    layers = [{"kind": "linear", "inputs": 1, "outputs": 3, "base": 0}, trees]
    tensors = {"0.weight": [[0.3], [-0.7], [0.1]], "0.bias": [0.0, 0.5, 0.25]}
    tensors |= {"1.split": [4, -1, -1], "1.number": [0.5, 1.0, 2.0], "1.bias": [0.0]}
    folder = encoded_folder(tmp_path / "m", layers, tensors, 1)
    asked, kept = [], check.question
    monkeypatch.setattr(check, "question", lambda *given: asked.append(given) or kept(*given))
    assert check.check_folder(folder).status == "certified" and len(asked) == 3


def test_the_largest_of_rounded_ends_is_that_of_the_ends():
    numbers = random.Random(1)

    def spread():
        lo, low = (Fraction(numbers.randrange(-999, 999), numbers.randrange(1, 99)) for _ in range(2))
        return check.Spread(lo, lo + numbers.randrange(3), low, low + numbers.randrange(3), False, False)

    for _ in range(200):
        part, unit = [spread() for _ in range(numbers.randrange(1, 6))], 1 << numbers.randrange(5)
        ends = [max(s.lo for s in part), max(s.hi for s in part), min(s.low for s in part), max(s.high for s in part)]
        whole = check.Spread(*ends, False, False)
        assert check.largest([check.question(s, unit) for s in part]) == check.question(whole, unit)


class Unsearched(list):
    """A list in which nothing may be looked for one by one."""

    def index(self, *_):
        raise AssertionError("searched")

    def __contains__(self, _):
        raise AssertionError("searched")


def test_inputs_that_pass_are_looked_up(tmp_path):
    # every term of a conclusion was looked for among all coordinates, and every feature among those of a branch
    features = [{"name": f"x{i}", "kind": "continuous", "lo": 0.0, "hi": 1.0} for i in range(3)]
    features.append({"name": "c", "kind": "category", "lo": 0.0, "hi": 1.0, "categories": ["a", "b"]})
    given = check.Domain({"features": json.loads(json.dumps(features), parse_float=check.real)})
    branches = [{"name": "", "columns": Unsearched(columns), "layers": []} for columns in ([1, 2], [0, 3, 4])]
    box = stored({"encoder.lo": [0.0] * 5, "encoder.hi": [1.0] * 5})
    encoder = check.Encoder(given, branches, check.Weights(box))
    assert encoder.place == {1: 0, 2: 1, 0: 2, 3: 3, 4: 4} and encoder.groups == [range(3, 5)]
    for wrong in ([2, 1], [0, 3], [4], [3]):
        with pytest.raises(check.CheckError, match="parts of features"):
            check.Encoder(given, [{"name": "", "columns": wrong, "layers": []}], check.Weights(box))


def test_a_conclusion_looks_its_inputs_up(tmp_path, monkeypatch):
    claim = forge2.small_claim(([(1, 0, "y"), (1, 0, "x")], "<=", 3))
    leaf = {"witness": [[0.5]], "rows": [forge2.SWEEP]}
    net = {"encoder": [{"name": "", "columns": [0], "layers": []}]}
    tensors = {"encoder.lo": [0.0], "encoder.hi": [1.0]}
    files = forge2.small_files(claim, net=net, tensors=tensors, proofs=[leaf])
    plain = {name: values for name, values in (forge2.TENSORS | tensors).items() if name[7:] not in ("rise", "fall")}
    folder = forge2.put(tmp_path / "m", forge2.as_version_2(files | {forge2.WEIGHTS: stored(plain)}))
    made = check.Goal.__init__

    def unsearched(goal, premise, *rest):
        premise.net.encoder.source = Unsearched(premise.net.encoder.source)
        made(goal, premise, *rest)

    monkeypatch.setattr(check.Goal, "__init__", unsearched)
    assert check.check_folder(folder).status == "certified"


# ---- words ----------------------------------------------------------------------------------------------------------


class Counted(str):
    """A name that counts how often it is hashed."""

    hashes = 0

    def __hash__(self):
        Counted.hashes += 1
        return super().__hash__()


@pytest.mark.parametrize("copies", [1, 2])
def test_a_sentence_of_many_forms_takes_linear_time(copies):
    # every form was compared with every other: `smile check` of 5 MB took an hour, its checker seconds
    domain, outputs = Domain((Feature("x"), Feature("z"))), Outputs(("f", "g"), role="number")
    f, g = Counted("f"), Counted("g")

    def hashes(forms):
        rises = row([(1, 0, "in", "x"), (-1, 1, "in", "x")], 0)
        then = [
            row([(sign * a, c, "out", n) for c, sign in ((0, 1), (1, -1))[:copies] for a, n in ((1, f), (-k, g))], 0)
            for k in range(2, forms + 2)
        ]
        claim = Claim(copies, (rises,) if copies == 2 else (), tuple(then))
        Counted.hashes = 0
        assert "never lowers" in (said := say(claim, outputs, domain)) or "is at most 0" in said
        return Counted.hashes

    assert hashes(200) < 3 * hashes(100)


def test_what_is_known_is_said_in_one_step(monkeypatch):
    # a claim was made anew, all rows read again, for every number that may be missing
    features = [part for i in range(30) for part in (Feature(f"x{i}"), indicator(f"x{i}", 0.5))]
    domain = Domain(tuple(features))
    when = tuple(row([(1, 0, "in", f"x{i}"), (-1, 1, "in", f"x{i}")], 0) for i in range(30))
    claim = Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], 0),))
    made, kept = [], Claim.__post_init__
    monkeypatch.setattr(Claim, "__post_init__", lambda self: made.append(1) or kept(self))
    said = explicit(claim, domain)
    assert len(made) == 1 and len(said.when) == 30 + 2 * 30
    assert explicit(said, domain) == said


def test_many_claims_are_judged_once_each(tmp_path, monkeypatch):
    # all claims were judged again for every line, and each stated one was looked for among all proved ones
    claims = [forge2.small_claim(([(1, 0, "y")], "<=", 2 + i)) for i in range(30)]
    folder = forge2.put(tmp_path / "m", forge2.as_version_2(forge2.small_files(*claims), properties=True))
    compared, kept = [], check.RowReport.holds.fget
    monkeypatch.setattr(check.RowReport, "holds", property(lambda row: compared.append(1) or kept(row)))
    assert smilenn.check(folder).status == "proved"
    assert len(compared) < 10 * len(claims)


def test_stated_claims_are_looked_up(tmp_path, monkeypatch):
    proved = tuple(Claim(1, (), (row([(1, 0, "out", "")], i),)) for i in range(50))
    monkeypatch.setattr(stated, "stated_properties", lambda document: ())
    monkeypatch.setattr(stated, "lower_all", lambda *given: tuple(reversed(proved[1:])))
    files = forge2.small_files(forge2.small_claim(([(1, 0, "y")], "<=", 2)))
    files |= {"properties.json": b'{"claims": [], "properties": []}'}
    compared, kept = [], Claim.__eq__
    monkeypatch.setattr(Claim, "__eq__", lambda self, other: compared.append(1) or kept(self, other))
    assert stated.uncovered(files, proved) == "" and len(compared) < 2 * len(proved)
    assert "does not prove" in stated.uncovered(files, proved[:-1])
