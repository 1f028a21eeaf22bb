"""Recourse: the smallest certified change, safe to overshoot; refused where nothing is certified."""

import math

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.errors import SmileError
from smilenn.recourse.levers import levers
from smilenn.recourse.recourse import _shown

pytestmark = pytest.mark.usefixtures("quick_module")

SMALL = {"config": Config(epochs=15), "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 100, 260),
            "debt": rng.uniform(0, 50, 260),
            "years": rng.integers(0, 30, 260),
            "age": rng.integers(20, 70, 260),
            "race": rng.choice(["a", "b"], 260),
        }
    )
    score = 0.05 * frame["income"] - 0.06 * frame["debt"] + 0.05 * frame["years"] + 0.01 * (frame["age"] - 40)
    return frame, score + rng.normal(0, 0.3, 260)


RULES = [Monotone(increasing=["income", "years"]), Monotone(decreasing=["debt"]), Fair(["race"], eps=0.5)]


@pytest.fixture(scope="module")
def regressor(table):
    frame, score = table
    return SmileRegressor(properties=RULES, **SMALL).fit(frame, score)


@pytest.fixture(scope="module")
def classifier(table):
    frame, score = table
    labels = np.where(score > score.median(), "yes", "no")
    return SmileClassifier(properties=RULES, **SMALL).fit(frame, labels)


def further(model, found, row, change, rng, count=20):
    """Rows with every changed feature at the found value or beyond, inside the domain."""
    rows = pd.concat([found.row] * count, ignore_index=True)
    for name, way in change.items():
        feature = model.domain_.feature(name)
        start = float(found.row[name].iloc[0])
        end = feature.hi if way == "up" else feature.lo
        values = start + rng.uniform(0, 1, count) * (end - start)
        values[0], values[1] = end, start
        rows[name] = np.rint(values).astype(int) if feature.kind == "integer" else values
    return rows


CHANGES = [{"income": "up"}, {"years": "up"}, {"debt": "down"}, {"income": "up", "debt": "down", "years": "up"}]


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
def test_what_is_found_reaches_and_so_does_more(regressor, table, change):
    assert regressor.certificate_.accepted
    rng = np.random.default_rng(1)
    goal = float(np.median(regressor.predict(table[0])))
    reached = 0
    for k in range(40):
        row = table[0].iloc[[k]]
        found = regressor.recourse(row, at_least=goal, change=change)
        before = float(regressor.predict(row)[0])
        assert found.before[0] == before
        if before >= goal:
            assert not found.change and found.reached
            continue
        assert float(regressor.predict(found.row)[0]) == found.after[0]
        if not found.reached:
            assert found.after[0] < goal and "No such change is enough" in found.sentence
            continue
        reached += 1
        assert found.after[0] >= goal
        assert (regressor.predict(further(regressor, found, row, change, rng)) >= goal).all()
        untouched = [name for name in table[0].columns if name not in change]
        assert (found.row[untouched].to_numpy() == row[untouched].to_numpy()).all()
        assert "certified" in found.sentence and "'score'" not in found.sentence
        if reached == 6:
            break
    assert reached >= 3


def test_one_float_less_is_not_enough(regressor, table):
    goal = float(np.median(regressor.predict(table[0])))
    tried = 0
    for k in range(40):
        found = regressor.recourse(table[0].iloc[[k]], at_least=goal, change={"income": "up"})
        if not found.reached or not found.change:
            continue
        less = found.row.assign(income=math.nextafter(float(found.row["income"].iloc[0]), -math.inf))
        assert float(regressor.predict(less)[0]) < goal
        tried += 1
        if tried == 6:
            break
    assert tried >= 3
    found = regressor.recourse(table[0].iloc[[0]], at_most=-100.0, change={"income": "down"})
    assert not found.reached


def test_whole_numbers_stay_whole_and_one_less_is_not_enough(regressor, table):
    goal = float(np.median(regressor.predict(table[0])))
    tried = 0
    for k in range(60):
        found = regressor.recourse(table[0].iloc[[k]], at_least=goal, change={"years": "up"})
        if not found.reached or not found.change:
            continue
        value = int(found.row["years"].iloc[0])
        assert float(regressor.predict(found.row.assign(years=value - 1))[0]) < goal
        tried += 1
        if tried == 6:
            break
    assert tried


@pytest.mark.parametrize("to", ["yes", "no"])
@pytest.mark.parametrize("at_least", [None, 0.3, 0.6])
def test_classes_and_probabilities(classifier, table, to, at_least):
    change = {"income": "up", "debt": "down"} if to == "yes" else {"income": "down", "debt": "up"}
    rng, tried = np.random.default_rng(2), 0
    place = list(classifier.classes_).index(to)
    for k in range(12):
        row = table[0].iloc[[k]]
        found = classifier.recourse(row, to=to, at_least=at_least, change=change)
        if not found.reached:
            continue
        tried += 1
        rows = further(classifier, found, row, change, rng)
        assert (classifier.predict(rows) == to).all() if at_least is None else True
        assert (classifier.predict_proba(rows)[:, place] >= (at_least or 0)).all()
        assert f"'y' = {to!r}" in found.sentence or repr(to) in found.sentence
    assert tried >= 3


def test_several_classes_and_labels(table):
    frame, score = table
    names = pd.cut(score, [-np.inf, *score.quantile([0.33, 0.66]), np.inf], labels=["low", "mid", "high"]).astype(str)
    rule = Monotone(increasing=["income"], decreasing=["debt"], output="high")
    model = SmileClassifier(properties=[rule], **SMALL).fit(frame, names)
    assert model.certificate_.accepted
    row = frame[names == "low"].iloc[[0]]
    change = {"income": "up", "debt": "down"}
    found = model.recourse(row, to="high", change=change)
    assert found.reached and model.predict(found.row)[0] == "high"
    assert (model.predict(further(model, found, row, change, np.random.default_rng(0))) == "high").all()
    with pytest.raises(SmileError, match="not certified that moving 'income' up"):
        model.recourse(row, to="mid", change={"income": "up"})
    with pytest.raises(SmileError, match="Say what is wanted"):
        model.recourse(row, change=change)
    with pytest.raises(SmileError, match="of several ask for the class alone"):
        model.recourse(row, to="high", at_least=0.5, change=change)
    labels = np.stack([score > 1, score > 2], axis=1).astype(int)
    several = SmileClassifier(properties=[Monotone(increasing=["income"], output="y1")], **SMALL).fit(frame, labels)
    found = several.recourse(row, to="y1", at_least=0.2, change={"income": "up"})
    if found.reached:
        assert several.predict_proba(found.row)[0, 1] >= 0.2
    with pytest.raises(SmileError, match="There is no label 'y7'"):
        several.recourse(row, to="y7", change={"income": "up"})


BAD = [
    ({"change": {"age": "up"}, "at_least": 1.0}, "not certified that moving 'age' up helps; certified are"),
    ({"change": {"income": "down"}, "at_least": 1.0}, "not certified that moving 'income' down"),
    ({"change": {"race": "up"}, "at_least": 1.0}, "is a category"),
    ({"change": {}, "at_least": 1.0}, "change says what may move"),
    ({"change": {"wage": "up"}, "at_least": 1.0}, "There is no feature 'wage'"),
    ({"change": {"income": "sideways"}, "at_least": 1.0}, "write 'up', 'down' or the furthest value"),
    ({"change": {"income": 1e9}, "at_least": 1.0}, "outside the domain"),
    ({"change": {"years": 3.5}, "at_least": 1.0}, "has whole numbers"),
    ({"change": {"income": "up"}}, "at_least=… or at_most=…"),
    ({"change": {"income": "up"}, "at_least": math.nan}, "give a finite number"),
    ({"change": {"income": "up"}, "at_least": 1.0, "output": "zz"}, "There is no output 'zz'"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_questions_get_one_sentence(regressor, table, options, words):
    with pytest.raises(SmileError, match=words):
        regressor.recourse(table[0].iloc[[0]], **options)


def test_rows_that_cannot_be_answered(regressor, classifier, table):
    row = table[0].iloc[[0]]
    ask = {"at_least": 1.0, "change": {"income": "up"}}
    with pytest.raises(SmileError, match="Give one row, not 2"):
        regressor.recourse(table[0].iloc[:2], **ask)
    with pytest.raises(SmileError, match="Column 'debt' is missing"):
        regressor.recourse(row.assign(debt=np.nan), **ask)
    with pytest.raises(SmileError, match="outside the domain"):
        regressor.recourse(row.assign(debt=1e6), **ask)
    assert str(regressor.recourse(row.iloc[0], **ask)) == str(regressor.recourse(dict(row.iloc[0]), **ask))
    with pytest.raises(SmileError, match="lies between 0 and 1"):
        classifier.recourse(row, at_least=1.0, change={"income": "up"})
    with pytest.raises(SmileError, match="There is no class 'maybe'"):
        classifier.recourse(row, to="maybe", change={"income": "up"})


def test_without_a_certificate_no_direction_is_certified(table):
    frame, score = table
    model = SmileRegressor(properties=RULES[:2], certify_limit=0, **SMALL).fit(frame, score)
    with pytest.raises(SmileError, match="no direction is certified"):
        model.recourse(frame.iloc[[0]], at_least=1e3, change={"income": "up"})


def test_a_changed_network_has_no_levers(table):
    frame, score = table
    model = SmileRegressor(properties=RULES[:1], network=Network(), **SMALL).fit(frame, score)
    assert levers(model.certificate_, model.outputs_, model.domain_)
    with __import__("torch").no_grad():
        model.net_.head_bias.add_(1.0)
    with pytest.raises(SmileError, match="no direction is certified"):
        model.recourse(frame.iloc[[0]], at_least=1e3, change={"income": "up"})


def test_reasons_are_ranked_and_say_what_is_proved(regressor, table):
    found = regressor.reasons(table[0].iloc[[0]], at_least=100.0)
    assert list(found["gain"]) == sorted(found["gain"], reverse=True) and (found["gain"] >= 0).all()
    proved = dict(zip(found["feature"], found["proved"], strict=True))
    assert proved == {"income": True, "debt": True, "years": True, "age": False, "race": False}
    best = dict(zip(found["feature"], found["best"], strict=True))
    assert best["debt"] in (regressor.domain_.feature("debt").lo, table[0]["debt"].iloc[0])


def test_numbers_in_sentences_are_rounded_the_way_that_helps():
    assert _shown(47.56072981790653, 40.0, 143.0) == "47.5608"
    assert _shown(19.395103195958633, 20.2, 0.0) == "19.3951"
    assert _shown(-1.23456789e-7, 1.0, -1.0) == "-0.000000123457"
    assert _shown(0.99999999, 0.0, 0.999999995) == "0.99999999"  # rounded it would leave the domain
