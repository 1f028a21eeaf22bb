"""One bad cell in a column that is written one way: named with its row and remedy, never a reason for categories."""

import re

import pandas as pd
import pytest

from smilenn import SmileError
from smilenn.cli.fit_request import Request, checked
from smilenn.cli.preparing import prepare
from smilenn.cli.source import Source
from smilenn.cli.table import FIRST_ROW, OF_FIT, read_chunks, read_table
from smilenn.domain import Domain
from smilenn.domain.stray import stray_cell
from smilenn.estimators.learned import ColumnWarning, learned
from smilenn.estimators.options import Columns

ROWS, BAD = 60, 20
WRITTEN = {
    "0,25": (lambda i: f"{i % 29},25", "abc"),
    "1,100": (lambda i: f"{i % 40 + 1},{i + 100}", "-"),
    "$1": (lambda i: f"${i % 40 + 1}", "n/k"),
    "1%": (lambda i: f"{i % 40 + 1}%", "n/k"),
    "1% and a plain number": (lambda i: f"{i % 40 + 1}%", "21"),
    "1.000,5 and a point": (lambda i: f"{i % 9 + 1}.000,5", "1.5"),
    "2024-01-05": (lambda i: f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}", "soon"),
    "31/05/2024": (lambda i: f"{i % 28 + 1:02}/{i % 12 + 1:02}/2024", "12/28/2024"),
    "2024/1/5": (lambda i: f"2024/{i % 12 + 1}/{i % 28 + 1}", "2024/13/01"),
}


def cells(name):
    write, bad = WRITTEN[name]
    return [bad if i == BAD else None if i == 3 else write(i) for i in range(ROWS)]


def csv(tmp_path, name):
    """A file of this column and one of plain numbers."""
    pd.DataFrame({"z": cells(name), "x": range(ROWS)}).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_frame_with_one_bad_cell_is_refused_with_its_row(name):
    frame = pd.DataFrame({"x": range(ROWS), "z": cells(name)})
    with pytest.raises(SmileError, match=f"Row {BAD}, column 'z' holds '{WRITTEN[name][1]}' among cells such as"):
        learned(frame, Columns(), {"x"}, missing="indicator", unknown="other")
    with pytest.raises(SmileError, match=rf"Row {BAD}, .*kinds={{'z': 'category'}}"):
        Domain.from_data(frame, missing=True)
    assert Domain.from_data(frame, kinds={"z": "category"}, missing=True).feature("z").kind == "category"
    assert Domain.from_data(frame.drop(index=BAD), missing=True).feature("z").kind != "category"


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("target", ["x", "z"])
def test_a_file_with_one_bad_cell_is_refused_with_its_row_and_options(tmp_path, name, target):
    """As a feature and as the target."""
    source = Source.find(csv(tmp_path, name))
    may_lack = {"x", "z"} - {target}
    if target == "z":  # which may lack none
        path = source.path
        path.write_text(path.read_text().replace("\n,3\n", f'\n"{WRITTEN[name][0](3)}",3\n'))
    said = (
        f"row {BAD + 2}, column 'z' holds '{WRITTEN[name][1]}' among cells such as .*; correct the cell, or use --cat"
    )
    with pytest.raises(SmileError, match=said) as error:
        read_table(source, may_lack=may_lack, options=OF_FIT)
    assert ("--drop" in str(error.value)) == (target != "z")
    assert read_table(source, {"z": ()}, may_lack=may_lack)["z"][BAD] == WRITTEN[name][1]


def test_what_is_no_slip_is_left_alone():
    assert stray_cell(pd.Series(["10%", "20%", "more"] * 20)) is None  # bands
    assert stray_cell(pd.Series(["1,200", "7", "1.5"] * 20)) is None
    assert stray_cell(pd.Series(["north", "south 12"] * 30)) is None
    assert stray_cell(pd.Series(["5", "7"] * 30 + ["abc"])) is None  # which is refused among plain numbers
    assert stray_cell(pd.Series(["2024-01-05"] * 30 + ["2024-1-5"])) is None  # one way of writing has both
    assert stray_cell(pd.Series(["$1"] * 30 + [None, "?", " NA "])) is None
    assert stray_cell(pd.Series(["$1"] * 30 + [7])) is None and stray_cell(pd.Series([1.5, 2.5])) is None


def test_signs_alone_are_strays_however_many_there_are():
    assert stray_cell(pd.Series(["-", "0,5"] * 10)) == (0, "holds '-' among cells such as '0,5'")


def test_rows_keep_their_numbers_behind_missing_cells():
    frame = pd.DataFrame({"x": [None, "?", 1, 2, "abc", 3]})
    with pytest.raises(SmileError, match="Row 4, column 'x' holds the text 'abc'"):
        Domain.from_data(frame, missing=True)
    frame = pd.DataFrame({"x": [None, None, 1.0, 2.5]})
    with pytest.raises(SmileError, match="Row 3, column 'x' holds 2.5 but"):
        Domain.from_data(frame, missing=True, kinds={"x": "integer"})


# ---- rows of a file, where the domain refuses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("9007199254740993", "Row 4, column 'b' holds 9007199254740993, which float64 rounds"),
        ("2024-02-30", "Row 4, column 'b' holds '2024-02-30', which is no date of the calendar; .* --na 2024-02-30.$"),
        ("0000-00-00", "Row 4, column 'b' holds '0000-00-00', .*; correct the cell, or use --na 0000-00-00.$"),
    ],
)
def test_fit_names_the_file_and_its_row(tmp_path, cell, said):
    data = tmp_path / "data.csv"
    good = (lambda i: f"2024-01-{i % 28 + 1:02}") if "-" in cell else (lambda i: 9007199254740992 + 2 * i)
    rows = [f"{i},{cell if i == 1 else good(i)},{i * 0.5}" for i in range(40)]
    data.write_text("\n".join(["x,b,y", "", *rows]) + "\n")  # a blank line counts
    request = Request(data, ("y",), tmp_path / "model", increasing=("x",))
    source = checked(request)
    with pytest.raises(SmileError, match=said) as error:
        prepare(request, source)
    assert str(error.value).startswith(f"{str(data)!r}: ") and "\n" not in str(error.value)


# ---- later rows -----------------------------------------------------------------------------------------------------


def test_the_bad_cell_of_a_later_file_is_named_beside_decimal_commas(tmp_path):
    (tmp_path / "later.csv").write_text("x;z\n3,5;a\n;a\n-1,5;a\nabc;a\n4,5;b\n")
    source = Source.find(tmp_path / "later.csv")
    with pytest.raises(SmileError, match="row 5, column 'x' holds the text 'abc' among numbers; correct the cell, or"):
        list(read_chunks(source, 10, numbers={"x"}))
    (tmp_path / "later.csv").write_text("x;z\n3,5;a\n;a\n-1,5;a\n4,5;b\n")
    ((first, frame),) = read_chunks(Source.find(tmp_path / "later.csv"), 10, numbers={"x"})
    assert first == FIRST_ROW and frame["x"].dropna().tolist() == [3.5, -1.5, 4.5]


@pytest.mark.parametrize(
    ("learned_from", "later", "said"),
    [
        (
            ["2024-01-05", "2024-01-09"],
            ["2024-01-06", "05.05.2024"],
            "'05.05.2024', which is no date written as 2024-05-31",
        ),
        (["31/05/2024", "09/05/2024"], ["09/05/2024", "soon"], "'soon', which is no date written as 31/05/2024"),
        (["2024/5/31", "2024/5/9"], ["2024/5/9", "2024-02-30"], "'2024-02-30', which is no date of the calendar"),
    ],
)
def test_the_bad_date_of_later_rows_is_named(learned_from, later, said):
    domain = Domain.from_data(pd.DataFrame({"d": learned_from}))
    with pytest.raises(SmileError, match=f"Row 8, column 'd' holds {said}"):
        domain.read(pd.DataFrame({"d": later}), first_row=7)


# ---- files that are written otherwise -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "x|c|y\n1|a|2\n2|b|3\n",
            "it has 'x.c.y'; its cells seem to be separated by '.': use commas, semicolons or tabs",
        ),
        ("x c y\n1 a 2\n2 b 3\n", "seem to be separated by blanks: use commas, semicolons or tabs"),
        ("# made by me\nx,c,y\n1,a,2\n2,b,3\n", "it has '# made by me'; remove the line above the header"),
        ("x,c\n1,a\n2,b\n", "it has 'x', 'c'\\.$"),
        ("39,State-gov,77516\n50,Private,83311\n", "'77516'; the file seems to have no header line: write the names"),
        ("39;State-gov;1,5\n50;Private;2,5\n", "'1,5'; the file seems to have no header line: write the names"),
        ("0,1,2\n1,a,3\n2,b,3\n", "it has '0', '1', '2'\\.$"),
    ],
)
def test_a_table_of_one_column_gets_a_hint(tmp_path, text, said):
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(SmileError, match=said):
        checked(Request(tmp_path / "data.csv", ("y",), tmp_path / "model", increasing=("x",)))


def test_a_row_that_is_too_long_gets_its_remedy(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,2\n1,2,3\n")
    said = r"line 3 has 3 cells, and the header 2; put a cell that holds a separator in quotes, or remove what is too"
    with pytest.raises(SmileError, match=said):
        read_table(Source.find(tmp_path / "data.csv"))


@pytest.mark.parametrize("scaling", ["unit", "standard"])
def test_a_span_that_float64_cannot_scale_gets_its_remedy(scaling):
    frame = pd.DataFrame({"b": [1e-320 * (i % 9) for i in range(ROWS)]})
    with pytest.raises(
        SmileError, match="Column 'b' has values that differ by .* at most, too little for float64 .* drop"
    ):
        Domain.from_data(frame, scaling=scaling)


# ---- few values -----------------------------------------------------------------------------------------------------

FEW = {
    "0, 1, 2, 3+": ["0", "1", "2", "3+"],
    "numbers and texts": [4, 5, 6.5, "rotary"],
    "texts that look like numbers": ["1", "2.5", "other"],
}
MANY = {
    "more than twenty": [*map(str, range(20)), "unknown"],
    "a mere sign": ["0", "1", "-"],
    "another way of writing": ["11", "12", "$12"],
}


@pytest.mark.parametrize("name", FEW)
def test_names_among_few_numbers_make_a_category_with_a_word(name):
    frame = pd.DataFrame({"z": pd.Series(FEW[name] * 12, dtype=object), "x": range(12 * len(FEW[name]))})
    with pytest.warns(ColumnWarning, match="'z' holds .* among few numbers; it is read as a category of . values"):
        domain = learned(frame, Columns(), (), missing="indicator", unknown="other")
    assert domain.feature("z").categories == tuple(sorted(str(value) for value in FEW[name]))
    assert domain.encode(frame).shape == (len(frame), len(FEW[name]) + 1)
    numbers = frame[frame["z"].map(lambda cell: str(cell)[0].isdigit() and "+" not in str(cell))].head(3)
    assert (domain.encode(numbers.assign(z=pd.to_numeric(numbers["z"]))) == domain.encode(numbers)).all()
    ordered = Columns(order={"z": [str(value) for value in FEW[name]]})
    assert learned(frame, ordered, (), missing="indicator", unknown="other").feature("z").kind == "integer"


@pytest.mark.parametrize("name", MANY)
def test_other_texts_among_numbers_stay_errors(name):
    frame = pd.DataFrame({"z": MANY[name] * 12, "x": [i % 9 for i in range(12 * len(MANY[name]))]})
    with pytest.raises(SmileError, match=f"column 'z' holds the text {re.escape(repr(MANY[name][-1]))} among numbers"):
        learned(frame, Columns(), (), missing="indicator", unknown="other")
    with pytest.raises(SmileError, match="among numbers"):  # too few rows to tell
        learned(
            frame.assign(z=["0", "1", *["3+"] * (len(frame) - 2)])[:29], Columns(), (), missing="raise", unknown="other"
        )


def test_the_command_reads_few_values_alike(tmp_path):
    data = tmp_path / "data.csv"
    frame = pd.DataFrame({"z": ["0", "1", "2", "3+"] * 12, "x": range(48), "y": [i * 0.5 for i in range(48)]})
    frame.to_csv(data, index=False)
    request = Request(data, ("y",), tmp_path / "model", increasing=("x",))
    with pytest.warns(ColumnWarning, match="among few numbers"):
        domain = prepare(request, checked(request)).domain
    assert domain.feature("z").categories == ("0", "1", "2", "3+")
