"""Rooms in the reference checker: how much a bound may exceed a right side for rounding; docs/certificate.md, 5.4."""

import random
from fractions import Fraction
from types import SimpleNamespace

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import claims
from smilenn.certify.reference.check import check_folder
from smilenn.certify.stated import most_room
from smilenn.properties.claim import Inequality, Term

F = Fraction


@pytest.fixture
def checked(put2):
    """Write files as a folder, with changes of its manifest, and check it."""
    return lambda files, changes=None: check_folder(put2(files, changes))


# ---- rooms ----------------------------------------------------------------------------------------------------------


def with_room(forge2, files, *rooms):
    return forge2.as_version_2(files, rooms=[rooms])


def test_a_room_covers_rounding_and_nothing_else(forge2, checked):
    """f(x) = x in [0, 1]: the bound is 1, and the margin a few roundings."""
    files = forge2.small_files(forge2.small_claim(([(1, 0, "y")], "<=", 1)))
    report = checked(with_room(forge2, files, "0"))
    (row,) = report.claims[0].rows
    assert report.status == "unknown" and row.bound == row.rhs == 1 and row.excess == row.margin > 0 == row.room
    exact = f"{row.margin.numerator}/{row.margin.denominator}"
    short = F(row.margin.numerator * 10**40 // row.margin.denominator, 10**40)  # just below
    for room, status in (("1/1000000000", "certified"), (f"{short.numerator}/{short.denominator}", "unknown")):
        report = checked(with_room(forge2, files, room))
        (row,) = report.claims[0].rows
        usable = min(F(room), 2 * row.margin)  # no more than twice what rounding may do counts
        assert report.status == status and row.room == usable and row.holds == (status == "certified")
        assert report.excess == row.excess == row.margin
    if len(exact) < 400:
        assert checked(with_room(forge2, files, exact)).status == "certified"
    text = "\n".join(check_reference._lines(checked(with_room(forge2, files, "1/1000000000"))))
    assert "certified up to" in text and "for rounding" in text and "room " in text


@pytest.mark.parametrize(
    ("rhs", "scale", "most"),
    [
        ("3", 1.0, F(3, 10**9)),
        ("-3", 1.0, F(3, 10**9)),
        ("2", 8.0, F(2, 10**9)),
        ("0", 0.5, F(1, 2 * 10**9)),
        ("0", 8.0, F(8, 10**9)),
        ("1/10000000000", 1.0, F(1, 10**19)),
        ("-1/1000000000", 1.0, F(1, 10**18)),
        ("2000000000", 1.0, F(2)),
    ],
)
def test_the_largest_room(forge2, put2, rhs, scale, most):
    """0 ≤ room ≤ 10⁻⁹·|rhs|, or 10⁻⁹·σ if rhs = 0; one part in 10³⁰⁰ more is refused, by both checkers."""
    files = forge2.small_files(forge2.small_claim(([(1, 0, "y")], "<=", rhs)), net={"output_scale": [scale]})
    more = most * (1 + F(1, 10**300))
    for checker in (check, check_reference):
        good = checker.check_folder(put2(with_room(forge2, files, str(most))))
        row = good.claims[0].rows[0]
        assert good.status in ("certified", "unknown") and row.room == min(most, 2 * row.margin)
        for bad in (str(more), "-" + str(most / 10**200), str(most * 2)):
            report = checker.check_folder(put2(with_room(forge2, files, bad)))
            assert report.status == "refused" and "room" in report.reason


def test_the_scale_of_a_room_is_that_of_the_outputs_in_the_row(forge2, checked):
    """Two outputs of scales 1 and 1024; one that cancels does not count, nor does an input."""
    tensors = {"head_weight": [[1.0], [1.0]], "head_bias": [0.0, 0.0]}
    net = {"outputs": ["y", "large"], "output_scale": [1.0, 1024.0]}
    large, none = "1024/1000000000", "1/100000000000"
    for terms, room, good in (
        ([(1, 0, "y")], large, False),
        ([(1, 0, "y"), (1, 0, "large")], large, True),
        ([(1, 0, "y"), (0, 0, "large")], large, False),
        ([(1, 0, "y"), (1, 0, "large"), (-1, 0, "large")], large, False),
        ([(1, 0, "y"), (1, 0, "large"), (-1, 1, "large")], large, True),
        ([(1, 0, "x")], none, False),
        ([(1, 0, "x")], "0", True),
    ):
        claim = forge2.small_claim((terms, "<=", 0), copies=2)
        report = checked(with_room(forge2, forge2.small_files(claim, net=net, tensors=tensors), room))
        assert (report.status != "refused") == good, (terms, report.reason)


@pytest.mark.parametrize(
    "room",
    [
        [],
        ["0", "0"],
        "0",
        None,
        {"0": "0"},
        [0],
        [0.0],
        [None],
        [["0"]],
        ["0.0"],
        ["1e-9"],
        ["1/0"],
        [" 0"],
        [""],
        ["+0"],
        ["1/-1"],
        ["0" * 401],
        ["-1/1000000000000"],
    ],
)
def test_malformed_rooms(forge2, checked, room):
    report = checked(
        forge2.edited(
            forge2.as_version_2(forge2.small_files()), "certificate.json", lambda c: c["claims"][0].update(room=room)
        )
    )
    assert report.status == "refused"


def test_rooms_of_equalities_and_clauses(forge2, checked):
    """Two for an == row, none for a clause, of which every case has the rooms of `then`."""
    equal = forge2.small_files(forge2.small_claim(([(1, 0, "y"), (-1, 0, "x")], "==", 0)))
    for rooms, good in ((("0",), False), (("1/1000000000",) * 2, True), (("0",) * 3, False)):
        report = checked(with_room(forge2, equal, *rooms))
        assert (report.status == "certified") == good, report.reason
    claim = forge2.small_claim(([(1, 0, "y")], "<=", 1), either=[[([(1, 0, "y")], "<=", 2), ([(-1, 0, "y")], "<=", 2)]])
    case = {"weights": [["1", "0"]], "rows": [forge2.SWEEP, forge2.SWEEP]}
    cases = {
        "copy": 0,
        "coordinate": 0,
        "at": 0.5,
        "below": case | {"witness": [[0.25]]},
        "above": case | {"witness": [[0.75]]},
    }
    files = forge2.small_files(claim, proofs=[{"cases": cases}])
    assert checked(with_room(forge2, files, "0")).status == "unknown"
    report = checked(with_room(forge2, files, "1/1000000000"))
    first, clause = report.claims[0].rows
    assert report.status == "certified" and (first.room, clause.room) == (min(F(1, 10**9), 2 * first.margin), 0)
    assert checked(with_room(forge2, files, "0", "0")).status == "refused"


def test_the_denominator_of_a_room_does_not_count(forge2, checked):
    """The claim's denominators have a limit of 10^1000; a room's do not join them."""
    p, q, room = 10**399 + 1, 10**399 + 3, f"1/{10**399 + 7}"
    claim = forge2.small_claim(([(f"1/{p}", 0, "y")], "<=", "2"), ([(f"1/{q}", 0, "y")], "<=", "2"))
    report = checked(with_room(forge2, forge2.small_files(claim), room, room))
    row = report.claims[0].rows[0]
    assert report.status == "certified" and row.room == min(F(room), 2 * row.margin)
    claim["then"][1]["rhs"] = f"2/{10**399 + 7}"
    assert "denominators" in checked(with_room(forge2, forge2.small_files(claim), "0", "0")).reason


def test_three_computations_of_the_largest_room_agree():
    """Also where an output's terms cancel, or the only one is called ''; as files may have it, nothing is merged."""
    rng, cancelled = random.Random(0), 0
    for _ in range(400):
        names = rng.choice([("y",), ("u", "v"), ("u", "v", "w")])
        scales = [2.0 ** rng.randint(-3, 20) for _ in names]
        called = [*names, ""] if len(names) == 1 else list(names)
        terms = [
            (F(rng.choice([-2, -1, 1, 2])), rng.randrange(2), "out", rng.choice(called))
            for _ in range(rng.randint(1, 4))
        ]
        rhs = F(rng.choice([0, 0, 0, 3, -2]))
        stated = most_room(Inequality(tuple(Term(*term) for term in terms), rhs), dict(zip(names, scales, strict=True)))
        fast = check.scale_of(SimpleNamespace(outputs=names, o=len(names), scales=list(map(F, scales))), terms)
        read = [
            SimpleNamespace(output=True, copy=copy, coef=coef, index=names.index(name or names[0]))
            for coef, copy, _, name in terms
        ]
        slow = claims.most_room(
            SimpleNamespace(terms=read, rhs=rhs), SimpleNamespace(output_scale=list(map(F, scales)))
        )
        assert stated == slow == (abs(rhs) or fast) / 10**9
        spoken_of = {name or names[0] for *_, name in terms}
        cancelled += not rhs and fast < max(
            map(F, (s for s, name in zip(scales, names, strict=True) if name in spoken_of))
        )
    assert cancelled > 10
