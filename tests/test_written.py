"""Columns as people write them: thousands, decimal commas, currencies, dates with the day or the month first."""

import warnings

import numpy as np
import pandas as pd
import pytest

from smilenn import Fair, Monotone, SmileClassifier, SmileError, SmileRegressor
from smilenn.cli.rows import category_names
from smilenn.cli.source import Source
from smilenn.cli.table import read_chunks, read_table
from smilenn.domain import Domain, Feature
from smilenn.domain.cells import origin_of, read_cells
from smilenn.domain.idle import idle_columns
from smilenn.domain.written import date_style, doubt, number_style, plain, style_in, words_of
from smilenn.estimators.learned import ColumnWarning, learned
from smilenn.estimators.options import Columns
from smilenn.estimators.store import load

ROWS = 60


def column(write, seed=0):
    """Numbers written in some way, and the numbers."""
    values = np.random.default_rng(seed).integers(100, 99_999, ROWS)
    return pd.Series([write(int(v)) for v in values]), values.astype(float)


NUMBERS = {
    "88,049": (lambda v: f"{v:,}", "written 1,000", 1),
    "$1,200": (lambda v: f"${v:,}", "$, written 1,000", 1),
    "€12": (lambda v: f"€{v}", "€, written 1,000", 1),
    "12 €": (lambda v: f"{v} €", "€, written 1,000", 1),
    "-£5": (lambda v: f"-£{v:,}", "£, written 1,000", -1),
    "1,200.5": (lambda v: f"{v:,}.5", "written 1,000", None),
    "12,5": (lambda v: f"{v / 100:.2f}".replace(".", ","), "written 0,5", 0.01),
    "1.200,50 €": (lambda v: f"{v:,}".replace(",", ".") + ",00 €", "€, written 0,5", 1),
    "12,5%": (lambda v: f"{v / 100:.2f}%".replace(".", ","), "%, written 0,5", 0.01),
    "12%": (lambda v: f"{v}%", "%", 1),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_read_as_they_are_written(name):
    write, unit, scale = NUMBERS[name]
    cells, values = column(write)
    wanted = values + 0.5 if scale is None else values * scale
    domain = Domain.from_data(pd.DataFrame({"a": cells}))
    assert domain.features[0].unit == unit and domain.features[0].kind == "continuous"
    assert np.allclose(domain.read(pd.DataFrame({"a": cells}))[:, 0], wanted, rtol=1e-15)
    # each cell by itself, plain numbers too, in any company
    assert np.allclose(domain.read(pd.DataFrame({"a": cells[3:4]}))[:, 0], wanted[3:4], rtol=1e-15)
    assert domain.read(pd.DataFrame({"a": [1234.5]}))[0, 0] == 1234.5
    assert Domain.from_json(domain.to_json()) == domain


DATES = {
    "31/01/2020": ("%d/%m/%Y", "dd/mm/yyyy"),
    "31.01.2020": ("%d.%m.%Y", "dd.mm.yyyy"),
    "01/31/2020": ("%m/%d/%Y", "mm/dd/yyyy"),
    "31-01-2020": ("%d-%m-%Y", "dd-mm-yyyy"),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_read_as_they_are_written(name):
    written, style = DATES[name]
    days = pd.date_range("2020-01-30", periods=ROWS)
    frame = pd.DataFrame({"a": days.strftime(written)})
    domain = Domain.from_data(frame)
    assert domain.features[0].unit == f"days since 2020-01-30, written {style}"
    assert domain.read(frame)[:, 0].tolist() == list(range(ROWS))
    # a date of an earlier day of the month alone, one in the other form, and a time of pandas
    for cells in (frame["a"][2:3], pd.Series(["2020-02-01"]), pd.Series([days[2]])):
        assert domain.read(pd.DataFrame({"a": cells}))[:, 0].tolist() == [2.0]


def test_a_date_that_does_not_exist_is_refused():
    with pytest.raises(
        SmileError, match=r"Row 0, column 'a' holds '2020-02-31', which is no date of the calendar; correct the cell\."
    ):
        Domain.from_data(pd.DataFrame({"a": ["31/02/2020", "01/02/2020"]}))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["01/02/2020", "03/04/2020"], "nothing tells day and month apart in '01/02/2020'; write them as 2020-01-31"),
        (["31/01/2020", "01/31/2020"], "look like dates in two orders of day and month"),
        (["1.200 €", "3.400 €"], "the point of '1.200 €' may stand between thousands or before decimals"),
        (["12 kg", "13 kg"], "numbers with 'kg' behind them; take it off"),
        (["$12", "13"], "such as '$12', are amounts that are not all written one way"),
    ],
)
def test_what_can_be_read_in_two_ways_is_not_read(cells, said):
    assert not number_style(cells) and not date_style(cells)
    assert said in doubt(cells)


@pytest.mark.parametrize("cells", [["red", "blue"], ["A12", "B13"], ["10-20", "20-30"], ["1,2,3"], ["0,123.4"], [""]])
def test_other_texts_stay_names_without_a_word(cells):
    assert not number_style(cells) and not date_style(cells) and not doubt(cells)


def test_units_that_only_look_like_it_read_nothing():
    """A unit is free text: nothing of a longer one is taken for a way to write, or repeated as a sentence."""
    for unit in (
        "$€, written 1,000",
        ", written 1,000",
        "written 1,000, proved",
        "x, written 0,5",
        "$, written 1,000 ",
    ):
        assert not style_in(unit) and not words_of(unit) and plain("1,000", unit) == "1,000"
    for unit in ("days since 2020-01-31, certified", "days since 2020-01-31, written by me", "days since 2020-01-31,"):
        assert origin_of(Feature("a", unit=unit)) is None


def test_a_cell_that_is_written_in_another_way_is_named():
    feature = Feature("a", lo=0, hi=9, unit="$, written 1,000")
    with pytest.raises(SmileError, match=r"Row 8, column 'a' holds the text '€5' among numbers"):
        read_cells(feature, pd.Series(["$4", "€5"]), first_row=7)
    with pytest.raises(SmileError, match="units names 'a', whose cells are 'written 1,000'; leave it out there"):
        Domain.from_data(pd.DataFrame({"a": ["1,000", "2,000"]}), units={"a": "euros"})


def test_the_warning_names_a_cell_and_its_number():
    cells, _ = column(lambda v: f"{v:,}")
    frame = pd.DataFrame({"a": cells, "price": [f"${i}" for i in range(ROWS)]})
    with pytest.warns(ColumnWarning) as caught:
        learned(frame, Columns(), (), missing="indicator", unknown="other")
    said = [str(one.message) for one in caught]
    assert any("which is read as the number" in one and "if its comma stands before decimals" in one for one in said)
    assert "Column 'price' holds '$10', which is read as the number 10 in $." in said


def test_columns_that_cannot_be_read_are_left_out_with_the_cause():
    cells = [f"{i % 12 + 1:02d}/{i // 12 + 1:02d}/2020" for i in range(ROWS)]
    (found,) = idle_columns(pd.DataFrame({"when": cells, "x": range(ROWS)}))
    assert found.sentence().startswith(
        "Column 'when' looks like an identifier; it is left out: its cells look like dates"
    )


def test_the_sentence_of_a_certificate_says_what_the_number_is(tmp_path):
    rng = np.random.default_rng(0)
    income = rng.integers(100, 90_000, 80)
    frame = pd.DataFrame({"income": [f"${v:,}" for v in income], "x": rng.normal(size=80)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SmileRegressor(increasing=["income"], time_limit=4, certify_limit=4, random_state=0)
        model.fit(frame, pd.Series(income / 1e4 + rng.normal(size=80), name="limit"))
    assert "'income' is in $, and '1,000' is read as 1000" in model.certificate_.statement
    assert "($, written 1,000)" in model.certificate_.statement
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    plain_frame = frame.assign(income=income)
    assert np.array_equal(again.predict(frame), again.predict(plain_frame))


# ---- rules and classes by the hundred -------------------------------------------------------------------------------


def test_a_rule_on_a_column_of_names_shows_a_few():
    domain = Domain((Feature("city", "category", categories=tuple(f"city {i}" for i in range(1500))),))
    with pytest.raises(SmileError, match=r"'city 5', …\]\}\) with all 1500 values, lowest first\.$") as error:
        Monotone("city").lower(domain)
    assert len(str(error.value)) < 250
    small = Domain((Feature("size", "category", categories=("L", "M", "S")),))
    with pytest.raises(SmileError, match=r"order=\{'size': \['L', 'M', 'S'\]\}\), lowest first"):
        Monotone("size").lower(small)


def test_classes_that_are_nearly_as_many_as_rows_are_refused_at_once():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500), "group": rng.choice(["a", "b"], 500)})
    with pytest.raises(SmileError, match=r"different values in 500 rows.*if it is a number, use SmileRegressor"):
        SmileClassifier(properties=[Fair(["group"], eps=0.5)]).fit(frame, rng.integers(0, 1000, 500))
    with pytest.raises(SmileError, match="too many to be classes; merge rare values, or predict another column"):
        SmileClassifier().fit(frame, [f"name {i}" for i in range(500)])


def test_rules_on_every_margin_of_very_many_classes_are_refused_at_once():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "group": rng.choice(["a", "b"], 2000)})
    with pytest.raises(SmileError, match=r"Fair is about every margin between two of 400 classes, .* 79,800; merge"):
        SmileClassifier(properties=[Fair(["group"], eps=0.5)]).fit(frame, np.arange(2000) % 400)


# ---- files of the command line (a nineteenth stranger) ---------------------------------------------------------------


def german(rows=60):
    values = np.random.default_rng(0).integers(100_000, 999_999, rows) / 100
    cells = [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in values]
    return pd.DataFrame({"price": cells, "y": values})


def test_a_point_between_thousands_is_one_in_every_file(tmp_path):
    """1.200 was 1200 beside 1.200,50, and 1.2 in a file or chunk of such cells alone."""
    domain = Domain.from_data(german()[["price"]])
    together, alone = tmp_path / "together.csv", tmp_path / "alone.csv"
    pd.DataFrame({"price": ["1.200", "7.000", "1.200,50"]}).to_csv(together, index=False)
    pd.DataFrame({"price": ["1.200", "7.000"]}).to_csv(alone, index=False)
    for path, chunk in ((together, 3), (together, 2), (alone, 1)):
        parts = read_chunks(Source.find(path), chunk, category_names(domain))
        read = np.concatenate([domain.read(frame)[:, 0] for _, frame in parts])
        assert read[:2].tolist() == [1200, 7000]


def test_a_decimal_point_among_decimal_commas_is_refused():
    """1.5 was 1.5 and 1.500 was 1500."""
    domain = Domain.from_data(german()[["price"]])
    assert domain.read(pd.DataFrame({"price": ["1.500", "7,5", "12"]}))[:, 0].tolist() == [1500, 7.5, 12]
    with pytest.raises(SmileError, match=r"Row 1, column 'price' holds the text '1.5', but .* decimal comma"):
        domain.read(pd.DataFrame({"price": ["7,5", "1.5"]}))


@pytest.mark.parametrize("write", [lambda v: f"{v:,}", lambda v: f"{v:,}".replace(",", ".") + ",5" * (v % 2)])
def test_thousands_beside_small_numbers_are_read_from_a_file(tmp_path, write):
    """118 beside 88,049 was taken for a number among texts."""
    cells, _ = column(write)
    path = tmp_path / "a.csv"
    pd.DataFrame({"a": [*cells, write(118)]}).to_csv(path, index=False)
    assert read_table(Source.find(path))["a"].tolist() == [*cells, write(118)]


def test_the_note_of_a_column_shows_a_text():
    frame = pd.DataFrame({"a": ["1.200,5", 1.234, 4, "7,5"] * 5})
    with pytest.warns(ColumnWarning, match=r"holds '1.200,5', which is read as the number 1200.5"):
        learned(frame, Columns(), ("a",), missing="raise", unknown="refuse")


# ---- names that look like something else ----------------------------------------------------------------------------

LOOKALIKES = {
    "kg": (lambda i: f"{i % 9} kg", "its cells are numbers with 'kg' behind them"),
    "points": (lambda i: f"{i % 5 + 1}.200 €", "may stand between thousands or before decimals"),
    "two signs": (lambda i: f"{'$€'[i % 2]}{i % 5 + 1}", "are amounts that are not all written one way"),
    "one of two": (lambda i: f"0{i % 2 + 1}/04/2024", "nothing tells day and month apart in '01/04/2024'"),
    "names of months": (lambda i: f"{i % 4 + 1} May 2024", "look like dates with names of months; write them as 2020"),
    "short": (lambda i: f"Jan {i % 4 + 1}, 2024", "look like dates with names of months"),
    "two digits": (lambda i: f"0{i % 4 + 1}.05.24", "look like dates with two digits for the year"),
    "clock": (lambda i: f"{i % 4 + 9}:30", "look like times of day; write them as hours, such as 12.5"),
    "twelve hours": (lambda i: f"31/05/2024 {i % 4 + 1}:30 PM", "dates with a time of twelve hours"),
    "months": (lambda i: f"2024-0{i % 4 + 1}", "look like months or quarters; write them as their first day"),
    "quarters": (lambda i: f"2024Q{i % 4 + 1}", "look like months or quarters"),
}


def told(frame, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        domain = learned(frame, options, (), missing="indicator", unknown="other")
    assert domain.feature("a").categories
    return [str(one.message) for one in caught if one.category is ColumnWarning]


@pytest.mark.parametrize("name", LOOKALIKES)
def test_every_column_of_names_that_look_like_something_else_gets_a_word(name):
    """However few values it has; but not where it was declared to hold names."""
    write, said = LOOKALIKES[name]
    frame = pd.DataFrame({"x": range(ROWS), "a": [write(i) for i in range(ROWS)]})
    (only,) = told(frame, Columns())
    assert only.startswith("Column 'a' is read as names; ") and said in only
    assert told(frame, Columns(kinds={"a": "category"})) == []


def test_plain_names_get_no_word():
    for names in (["north", "south"], ["May", "June"], ["A1", "B2"], ["10-19", "20-29"], ["1 of 3", "2 of 3"]):
        assert told(pd.DataFrame({"x": range(ROWS), "a": names * (ROWS // 2)}), Columns()) == []


# ---- more dates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "style"),
    [
        ("%Y/%m/%d", "yyyy/mm/dd"),
        ("%Y.%m.%d %H:%M", "yyyy.mm.dd"),
        ("%d/%m/%Y %H:%M", "dd/mm/yyyy"),
        ("%m/%d/%Y %H:%M:%S.%f", "mm/dd/yyyy"),
    ],
)
def test_dates_with_the_year_first_and_with_times_are_read(written, style):
    times = pd.date_range("2020-01-30", periods=ROWS, freq="25h" if "H" in written else "D")
    frame = pd.DataFrame({"a": times.strftime(written)})
    domain = Domain.from_data(frame)
    assert domain.features[0].unit == f"days since 2020-01-30, written {style}"
    wanted = (times - pd.Timestamp("2020-01-30")).total_seconds() / 86400
    assert np.allclose(domain.read(frame)[:, 0], wanted, rtol=0, atol=1e-9)
    assert np.allclose(domain.read(frame[3:4])[:, 0], wanted[3:4], rtol=0, atol=1e-9)  # each cell by itself
    assert Domain.from_json(domain.to_json()) == domain and origin_of(domain.features[0]) is not None


def test_dates_without_zeros_are_read():
    cells = [f"2024-{i % 12 + 1}-{i % 28 + 1}" for i in range(ROWS)]
    domain = Domain.from_data(pd.DataFrame({"a": cells}))
    assert domain.read(pd.DataFrame({"a": ["2024-1-2", "2024-01-03"]}))[:, 0].tolist() == [1.0, 2.0]
