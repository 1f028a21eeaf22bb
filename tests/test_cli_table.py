"""Tables as newcomers have them: odd separators, compressed files, identifiers, index columns, missing cells."""

import gzip
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Network, SmileClassifier, SmileRegressor
from smilenn.cli import app
from smilenn.cli.fitting import Request
from smilenn.cli.rows import read_data
from smilenn.cli.source import Source, separator_of
from smilenn.cli.table import OF_FIT, OF_REPORT, read_table
from smilenn.errors import SmileError
from smilenn.model.folder import read_folder

FIT = ("--epochs", "5", "--certify-limit", "5", "--quiet")
QUICK = Config(pretrain_epochs=20, epochs=3, learning_rate=1e-2, batch_size=16, posttrain_rounds=5)
pytestmark = pytest.mark.usefixtures("quick_module")
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def smile(*arguments):
    """Run a command in this process: exit code, standard output, standard error."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def fit(data, *options, quick=FIT):
    """`smile fit` with y as the target, in which 'None' is a category; the model is written beside the data."""
    targets = () if "--target" in options else ("--target", "y")
    rules = () if "--spec" in options else ("--increasing", "x")
    out = data.parent / "m"
    return smile("fit", data, *targets, *rules, "--keep-na", "None", "--out", out, *options, *quick)


def one_sentence(stderr: str) -> str:
    """The single line on the standard error stream, but for progress, which a busy machine has time to show."""
    (line,) = [line for line in stderr.strip().splitlines() if not line.startswith("predict · ")]
    assert line.startswith("smile: ")
    return line


def table(n=60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n).round(3), "g": rng.choice(["None", "u", "v"], n)})
    return frame.assign(y=(3 * frame["x"] + rng.normal(0, 1, n)).round(3))


@pytest.fixture
def write(tmp_path):
    """Write a text as data.csv."""

    def written(text: str):
        (tmp_path / "data.csv").write_text(text)
        return tmp_path / "data.csv"

    return written


@pytest.fixture(scope="module")
def regressor():
    frame = table()
    return SmileRegressor(increasing=["x"], **SMALL).fit(frame.drop(columns="y"), frame["y"])


@pytest.fixture
def model(regressor, tmp_path):
    regressor.save(tmp_path / "model")
    return tmp_path / "model"


def features(path, **options):
    request = Request(path, ("y",), path.with_name("m"), **options)
    frame, _ = read_data(request, Source.find(path, na=request.na, keep_na=request.keep_na))
    return frame


# ---- columns that are left out --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["drop", "ids"])
@pytest.mark.parametrize("cells", [("1", "much"), ("", ""), ("inf", "2"), ("?", "4"), ("A-1", "A-2")])
def test_what_is_dropped_may_be_anything(write, option, cells):
    path = write(f"x,junk,y\n1,{cells[0]},2\n2,{cells[1]},3\n")
    assert features(path, **{option: ("junk",)}).columns.tolist() == ["x"]


def test_a_dropped_column_may_be_there_twice(write):
    assert features(write("x,junk,junk,y\n1,a,b,2\n"), drop=("junk",)).columns.tolist() == ["x"]


def test_a_row_that_is_too_long_is_noticed_behind_dropped_columns(write):
    with pytest.raises(SmileError, match="line 3"):
        features(write("x,junk,y\n1,2,3\n1,2,3,4\n"), drop=("junk",))
    with pytest.raises(SmileError, match="more cells than the header"):
        features(write("x,junk,y\n1,2,3,4\n1,2,3,4\n"), drop=("junk",))


def test_an_empty_column_is_named_with_its_remedy(write):
    with pytest.raises(SmileError, match="every cell of column 'e' is missing; leave it out: --drop e"):
        features(write("x,e,y\n1,,3\n1,?,3\n"), missing="raise")
    assert features(write("x,e,y\n1,,3\n1,?,3\n"))["e"].isna().all()  # left out with a warning when it is learned from


@pytest.mark.parametrize("name", ["", "Unnamed: 0", '"Unnamed: 0.1"'])
def test_an_index_column_is_left_out(write, name):
    path = write(f"{name},x,y\n0,1,2\n1,2,3\n")
    assert features(path).columns.tolist() == ["x"]
    if name != '"Unnamed: 0.1"':  # an option may name it all the same
        assert features(path, increasing=("Unnamed: 0",)).columns.tolist() == ["Unnamed: 0", "x"]


def test_the_index_column_is_noted(tmp_path):
    table().to_csv(tmp_path / "data.csv")
    code, out, err = fit(tmp_path / "data.csv", quick=FIT[:4])
    assert code in (0, 3), err
    assert "Left out: 'Unnamed: 0', an unnamed column of row numbers." in out
    assert smilenn.load(tmp_path / "m").columns_ == ("x", "g")


# ---- separators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_are_recognised(write, separator):
    text = table().to_csv(index=False, sep=separator)
    found = read_table(Source.find(write(text), keep_na=["None"]))
    pd.testing.assert_frame_equal(found, pd.read_csv(io.StringIO(text), sep=separator, keep_default_na=False))


def test_the_separator_that_fits_the_rows_is_taken():
    assert separator_of(["name, first;b", "x;1", "y;2"]) == ";"
    assert separator_of(["a,b;c", "1,2", "3,4"]) == ","
    assert separator_of(["a,b", '"1;2",3', '"4;5",6']) == ","
    assert separator_of(["alone", "1", "2"]) == ","


def test_decimal_commas_beside_semicolons(write):
    found = read_table(Source.find(write("x;y\n1,5;-2,25\n0,125;3\n")))
    assert found.to_numpy().tolist() == [[1.5, -2.25], [0.125, 3.0]]


@pytest.mark.parametrize("cells", ["1,234;2", "1,5;2.5"])
def test_uncertain_decimal_commas_are_refused(write, cells):
    with pytest.raises(SmileError, match=r"may be a decimal comma or thousands; write all numbers with a decimal"):
        Source.find(write(f"x;y\n{cells}\n"))


# ---- files ----------------------------------------------------------------------------------------------------------


def predicted(model, data, tmp_path, *options) -> pd.DataFrame:
    code, _, err = smile("predict", model, data, "--out", tmp_path / "p.csv", *options)
    assert code == 0, err
    return pd.read_csv(tmp_path / "p.csv")


def test_compressed_files_and_parquet(model, regressor, tmp_path):
    polars = pytest.importorskip("polars")
    table().to_csv(tmp_path / "data.csv.gz", index=False)
    polars.DataFrame(table().to_dict(orient="list")).write_parquet(tmp_path / "data.parquet")
    for name in ("data.csv.gz", "data.parquet"):
        got = predicted(model, tmp_path / name, tmp_path, "--chunk", 7)
        np.testing.assert_allclose(got["prediction"], regressor.predict(table()), rtol=1e-12)
        code, _, err = smile("report", model, "--data", tmp_path / name, "--out", tmp_path / "r.html", "--quiet")
        assert code == 0, err
        code, _, err = smile(
            "fit",
            tmp_path / name,
            "--target",
            "y",
            "--increasing",
            "x",
            "--out",
            tmp_path / name[5:],
            "--keep-na",
            "None",
            *FIT,
        )
        assert code in (0, 3), err


def test_a_file_that_is_cut_off(tmp_path):
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(table().to_csv(index=False).encode())[:200])
    with pytest.raises(SmileError, match="cut off or not a gzip file"):
        read_table(Source.find(tmp_path / "data.csv.gz"))


def test_spreadsheets_are_named(tmp_path):
    (tmp_path / "data.xlsx").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(SmileError, match="is a spreadsheet or an archive; save its table as CSV"):
        Source.find(tmp_path / "data.xlsx")


def test_parquet_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "data.parquet").write_bytes(b"PAR1....PAR1")
    for name in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SmileError, match=r"is a Parquet file, which pyarrow reads; pip install pyarrow, or save it"):
        Source.find(tmp_path / "data.parquet")


def feed(monkeypatch, text: str):
    monkeypatch.setattr(
        "smilenn.cli.source.sys", type("Sys", (), {"stdin": io.TextIOWrapper(io.BytesIO(text.encode()))})
    )


def test_the_standard_input(model, regressor, tmp_path, monkeypatch):
    text = table().to_csv(index=False)
    feed(monkeypatch, text)
    np.testing.assert_allclose(predicted(model, "-", tmp_path)["prediction"], regressor.predict(table()), rtol=1e-12)
    feed(monkeypatch, text)
    assert smile("report", model, "--data", "-", "--out", tmp_path / "r.html", "--quiet")[0] == 0
    feed(monkeypatch, text)
    code, out, err = smile(
        "fit",
        "-",
        "--target",
        "y",
        "--increasing",
        "x",
        "--keep-na",
        "None",
        "--out",
        tmp_path / "m",
        "--epochs",
        "5",
        "--certify-limit",
        "5",
    )
    assert code in (0, 3), err
    assert "--data" not in out  # nobody can read it a second time
    feed(monkeypatch, "")
    code, _, err = smile("predict", model, "-", "--out", tmp_path / "q.csv")
    assert code == 2 and "'standard input' is empty" in one_sentence(err)
    feed(monkeypatch, text)
    source = Source.find(Path("-"))
    place = source.path
    assert place.exists()
    del source
    assert not place.exists()


# ---- missing cells --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["?", "NA", "N/A", "nan", "null", "None", "", " ", "  ", " ?", " NA "])
def test_texts_for_missing_cells(write, cell):
    found = read_table(Source.find(write(f"x,g\n1,u\n{cell},{cell}\n3,v\n")), may_lack=["x", "g"])
    assert found["x"].isna().tolist() == found["g"].isna().tolist() == [False, True, False]
    assert pd.api.types.is_numeric_dtype(found["x"])


def test_further_texts_for_missing_cells(write):
    path = write("x,g\n1,u\n-999,k.A.\n")
    assert not read_table(Source.find(path)).isna().any(axis=None)
    assert read_table(Source.find(path, na=["-999", "k.A."]), may_lack=["x", "g"]).iloc[1].isna().all()


def test_a_category_may_be_called_like_a_missing_cell(write):
    path = write("g,y\nNone,1\nu,2\n")
    with pytest.raises(SmileError, match=r"row 2, column 'g' is missing \('None'\); .* or --keep-na None if that is"):
        read_table(Source.find(path), options=OF_FIT)
    with pytest.raises(SmileError, match=r"--keep-na '\?' if"):
        read_table(Source.find(write("g,y\n?,1\nu,2\n")), options=OF_FIT)
    with pytest.raises(SmileError, match=r"row 2, column 'x' is missing; drop the row.* --missing fill\.$"):
        read_table(Source.find(write("x,y\n?,1\n3,2\n")), options=OF_FIT)
    path = write("g,y\nNone,1\nu,2\n")
    with pytest.raises(SmileError, match=r"drop the row or fill it in, or --keep-na None if that is a value\.$"):
        read_table(Source.find(path), options=OF_REPORT)
    with pytest.raises(SmileError, match=r"drop the row or fill it in\.$"):
        read_table(Source.find(path))
    assert read_table(Source.find(path, keep_na=["None"]))["g"].tolist() == ["None", "u"]
    with pytest.raises(SmileError, match="--keep-na good: that text is a value anyway"):
        Source.find(path, keep_na=["good"])
    with pytest.raises(SmileError, match="--na and --keep-na both name '\\?'"):
        Source.find(path, na=["?"], keep_na=["?"])


def test_predict_knows_the_categories_of_the_model(model, regressor, tmp_path):
    """'None' is a category of this model, so that it is not a missing cell."""
    table().to_csv(tmp_path / "data.csv", index=False)
    got = predicted(model, tmp_path / "data.csv", tmp_path)
    np.testing.assert_allclose(got["prediction"], regressor.predict(table()), rtol=1e-12)
    frame = table().astype({"x": object})
    frame.loc[3, "x"] = "None"  # elsewhere it is one
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = smile("predict", model, tmp_path / "data.csv", "--out", tmp_path / "q.csv")
    assert code == 2 and "Row 5, column 'x' is missing" in one_sentence(err)


def test_the_texts_that_fit_was_told_serve_predict(tmp_path):
    frame = table().astype({"x": object})
    frame.loc[3, "x"] = "-999"
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = fit(tmp_path / "data.csv", "--na", "-999", "--missing", "fill")
    assert code in (0, 3), err
    noted = json.loads(read_folder(tmp_path / "m")["training.json"])
    assert noted["na"] == ["-999"] and noted["keep_na"] == ["None"]
    fitted = smilenn.load(tmp_path / "m")
    assert fitted.domain_.feature("x").lo >= 0
    complete = fitted.predict(table().assign(x=frame["x"].replace("-999", np.nan).astype(float)))
    got = predicted(tmp_path / "m", tmp_path / "data.csv", tmp_path)
    np.testing.assert_allclose(got["prediction"], complete, rtol=1e-12)


# ---- identifiers ----------------------------------------------------------------------------------------------------


def test_identifiers_pass_through_predict(model, tmp_path):
    names = ["007", "NA", "", *map(str, range(57))]
    table().assign(client=names, batch=1).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = smile(
        "predict",
        model,
        tmp_path / "data.csv",
        "--out",
        tmp_path / "p.csv",
        "--id",
        "client",
        "--id",
        "batch",
        "--chunk",
        7,
    )
    assert code == 0, err
    got = pd.read_csv(tmp_path / "p.csv", dtype=str, keep_default_na=False)
    assert got.columns.tolist() == ["client", "batch", "prediction"]
    assert got["client"].tolist() == names and set(got["batch"]) == {"1"}


def test_identifiers_that_cannot_be_written(model, tmp_path):
    table().assign(prediction=1).to_csv(tmp_path / "data.csv", index=False)
    for options, said in (
        (["--id", "nobody"], "lacks the column 'nobody', which --id names"),
        (["--id", "prediction"], "has the name of a column of predictions"),
        (["--id", "g", "--id", "g"], "--id g was given twice"),
    ):
        code, _, err = smile("predict", model, tmp_path / "data.csv", "--out", tmp_path / "p.csv", *options)
        assert code == 2 and said in one_sentence(err)
        assert not (tmp_path / "p.csv").exists()


# ---- classes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "stored"), [(["balanced"], "balanced"), (["1:3", "0:0.5"], {1: 3.0, 0: 0.5})])
def test_class_weights(tmp_path, given, stored):
    frame = table()
    frame.assign(y=(frame["y"] > 20).astype(int)).to_csv(tmp_path / "data.csv", index=False)
    options = [part for text in given for part in ("--class-weight", text)]
    code, _, err = fit(tmp_path / "data.csv", *options)
    assert code in (0, 3), err
    fitted = smilenn.load(tmp_path / "m")
    assert isinstance(fitted, SmileClassifier) and fitted.class_weight == stored


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2:1", "neither balanced nor CLASS:WEIGHT with a class of '0', '1'"),
        ("1:much", "'much' is not a number"),
        ("1:-1", "not negative"),
    ],
)
def test_class_weights_that_cannot_be(tmp_path, text, said):
    frame = table()
    frame.assign(y=(frame["y"] > 20).astype(int)).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = fit(tmp_path / "data.csv", "--class-weight", text)
    assert code == 2 and said in one_sentence(err)


def test_two_weights_of_one_class_are_refused(tmp_path):
    frame = table()
    frame.assign(y=np.where(frame["y"] > 20, " high", " low")).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = fit(tmp_path / "data.csv", "--class-weight", "high:3", "--class-weight", " high:1")
    assert code == 2 and "two weights for the class ' high'" in one_sentence(err)


def test_class_weights_of_numbers(tmp_path):
    table().to_csv(tmp_path / "data.csv", index=False)
    code, _, err = fit(tmp_path / "data.csv", "--class-weight", "balanced")
    assert code == 2 and "--class-weight is for one target of classes" in one_sentence(err)


# ---- paths ----------------------------------------------------------------------------------------------------------


def test_paths_are_checked_before_anything_slow(model, tmp_path, monkeypatch):
    def slow(*arguments, **options):
        raise AssertionError("began to work")

    data, file = tmp_path / "data.csv", tmp_path / "file"
    table().to_csv(data, index=False)
    file.write_text("")
    monkeypatch.setattr("smilenn.cli.predicting.load", slow)
    monkeypatch.setattr("smilenn.cli.reporting.load", slow)
    monkeypatch.setattr("smilenn.cli.source.Source.find", slow)
    fit = ["fit", data, "--target", "y", "--increasing", "x"]
    for arguments, said in (
        ([*fit, "--out", file / "m"], "is a file, so"),
        ([*fit, "--out", tmp_path / "m", "--checkpoint", tmp_path], "--checkpoint: .* is a folder"),
        ([*fit, "--out", tmp_path / "m", "--from", tmp_path / "absent"], "no model folder"),
        ([*fit, "--out", tmp_path / "m", "--spec", tmp_path / "absent.toml"], "cannot be read: there is no such file"),
        (["predict", model, data, "--out", tmp_path], "is a folder"),
        (["predict", model, data, "--out", data], "is the file that is read"),
        (["predict", model, tmp_path / "absent.csv", "--out", file], "no file"),
        (["report", model, "--out", file / "r.html"], "is a file, so"),
        (["report", model, "--data", data, "--card", data], "is the file that is read"),
    ):
        code, _, err = smile(*arguments)
        assert code == 2, arguments
        assert re.search(said, one_sentence(err)), err


# ---- rows -----------------------------------------------------------------------------------------------------------


def test_every_command_counts_rows_alike(model, tmp_path):
    """Row 42 of a spreadsheet, whatever the command: held-out rows are not counted apart."""
    frame = table()
    frame.loc[40, "g"] = "w"
    frame.to_csv(tmp_path / "data.csv", index=False)
    for arguments in (
        ["predict", model, tmp_path / "data.csv", "--out", tmp_path / "p.csv"],
        ["report", model, "--data", tmp_path / "data.csv", "--out", tmp_path / "r.html"],
        ["fit", tmp_path / "data.csv", "--target", "y", "--from", model, "--out", tmp_path / "m", *FIT],
    ):
        code, _, err = smile(*arguments)
        assert code == 2 and "Row 42, column 'g' holds the unknown category 'w'" in one_sentence(err), err


def test_rows_outside_the_bounds_of_a_rule_that_clamping_does_not_carry(tmp_path):
    table().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "rules.toml").write_text('[[property]]\nkind = "convex"\nfeatures = ["x"]\n')
    top = int(table()["x"].argmax())
    code, _, err = fit(
        tmp_path / "data.csv", "--spec", tmp_path / "rules.toml", "--bounds", f"x:0:{table()['x'].max() - 0.001}"
    )
    assert code == 2 and f"Row {top + 2}, column 'x'" in one_sentence(err.splitlines()[-1]), err


def test_labels_are_counted_alike(tmp_path):
    table().assign(a=[0, 1, 2] * 20, b=[0, 1] * 30).to_csv(tmp_path / "data.csv", index=False)
    code, _, err = fit(tmp_path / "data.csv", "--target", "a", "--target", "b", "--task", "classification")
    assert code == 2 and "Row 4, column 'a' is 2; several targets of --task classification" in one_sentence(err)


# ---- rows outside the domain ----------------------------------------------------------------------------------------


def test_predict_counts_the_rows_it_moved(model, tmp_path):
    frame = table()
    frame.loc[[5, 30, 31], "x"] = 1000.0
    frame.to_csv(tmp_path / "data.csv", index=False)
    said = "3 of 60 rows were moved to the edge of the domain."
    call = ["predict", model, tmp_path / "data.csv", "--out", tmp_path / "p.csv", "--chunk", 7]
    code, _, err = smile(*call)
    assert code == 0 and said in one_sentence(err) and "Row 7, column 'x': 1000 lies outside" in err
    code, out, err = smile(*call, "--json")
    assert code == 0 and json.loads(out)["moved"] == 3
    assert smile(*call, "--quiet")[2] == ""
    assert said in one_sentence(smile(*call, "--quiet", "--out-of-bounds", "warn")[2])


# ---- blanks ---------------------------------------------------------------------------------------------------------


def test_blanks_around_names_are_left_out_with_a_note(write):
    data = write(table().to_csv(index=False).replace("x,g,y", 'x , g,"y "'))
    code, out, err = fit(data, quick=(*FIT[:-1],))
    assert code == 0, out + err
    assert "The column 'x ' is read as 'x', without the surrounding blanks." in out and "'y ' is read as 'y'" in out
    loaded = smilenn.load(data.parent / "m")
    assert loaded.domain_.columns == ("x", "g") and loaded.target_name_ == "y"
    assert smile("predict", data.parent / "m", data, "--out", data.parent / "p.csv")[0] == 0
    again = fit(write(table().to_csv(index=False)), "--out", data.parent / "n", quick=(*FIT[:-1],))
    assert "without the surrounding blanks" not in again[1]


def test_names_that_are_none_without_their_blanks(write):
    code, _, err = fit(write("x, x,y\n1,2,3\n4,5,6\n"))
    assert code == 2 and "has the column 'x' twice" in one_sentence(err)
    code, _, err = fit(write("x,  ,y\n1,2,3\n4,5,6\n"))
    assert code == 2 and "Column 2 of" in one_sentence(err) and "has no name" in err


def test_a_model_keeps_the_blanks_of_its_columns(tmp_path, write):
    frame = table().rename(columns={"x": " x", "y": "y "})
    SmileRegressor(increasing=[" x"], **SMALL).fit(frame.drop(columns="y "), frame["y "]).save(tmp_path / "model")
    data = write(frame.to_csv(index=False))
    code, _, err = smile("predict", tmp_path / "model", data, "--out", tmp_path / "p.csv", "--keep-na", "None")
    assert code == 0, err
    code, _, err = smile("report", tmp_path / "model", "--data", data, "--card", tmp_path / "c.md", "--keep-na", "None")
    assert code == 0 and "no column" not in err and "R²" in (tmp_path / "c.md").read_text(), err


BLANK = "\n x,g,y\n1,u,2\n\n   \n2,u,4\n{}\n"  # the header is row 2, the last row row 7


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("oops,u,6", "row 7, column 'x' holds the text 'oops'"),
        ("inf,u,6", "row 7, column 'x' is inf"),
        (",u,6", "row 7, column 'x' is missing"),
        ("3,N/A,6", "row 7, column 'g' is missing ('N/A')"),
    ],
)
def test_blank_lines_count_as_a_spreadsheet_counts_them(write, row, said):
    code, _, err = fit(write(BLANK.format(row)), "--missing", "raise")
    assert code == 2 and said in one_sentence(err)


def test_blank_lines_count_in_labels(write):
    text = "a,b,x\n\n0,1,1\n1,0,2\n\n1,2,3\n"
    code, _, err = fit(write(text), "--target", "a", "--target", "b", "--task", "classification")
    assert code == 2 and "Row 6, column 'b' is 2; several targets" in one_sentence(err)


def test_blank_lines_count_in_predictions(model, write, tmp_path):
    """In the message of an error, in that of rows that are moved, whatever the chunks, and in a report."""
    rows = "x,g,y\n\n1,u,3\n2,u,6\n\n{},u,9\n"
    for chunk in ("1", "50"):
        options = ("--out", tmp_path / f"{chunk}.csv", "--chunk", chunk)
        code, _, err = smile("predict", model, write(rows.format("99")), *options)
        assert code == 0 and "Row 6, column 'x': 99 lies outside" in err
        code, _, err = smile(
            "predict",
            model,
            write(rows.format("99")),
            *options[:-2],
            *options[-2:],
            "--out-of-bounds",
            "raise",
            "--out",
            tmp_path / "r.csv",
        )
        assert code == 2 and "Row 6, column 'x': 99 lies outside" in one_sentence(err)
    assert len(pd.read_csv(tmp_path / "1.csv")) == 3
    code, _, err = smile(
        "report", model, "--data", write(rows.format("3").replace("6\n\n3,u", "6\n\n3,q")), "--card", tmp_path / "c.md"
    )
    assert code == 2 and "Row 6, column 'g' holds the unknown category 'q'" in one_sentence(err)


def test_a_folder_that_says_nothing_of_tables_is_refused(tmp_path, monkeypatch):
    """One that loads all the same; any other gets the sentence of loading it."""
    from smilenn.cli.expecting import Expected

    monkeypatch.setattr("smilenn.cli.expecting.read_model", lambda folder: {"table": {}, "net": {}})
    with pytest.raises(SmileError, match="There is no model folder"):
        Expected.read(tmp_path / "absent")
    monkeypatch.setattr("smilenn.estimators.store.load", lambda folder: None)
    with pytest.raises(SmileError, match="does not say what a table needs; save it again"):
        Expected.read(tmp_path)
