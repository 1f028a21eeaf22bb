"""Texts that hardly are names: ``?`` among those of a data frame, and names with blanks around them in files."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.test_cli_table import smile

from smilenn.cli.fit_request import Request, checked
from smilenn.cli.option_words import in_options
from smilenn.cli.preparing import prepare
from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.errors import SmileError
from smilenn.estimators.learned import ColumnWarning, learned
from smilenn.estimators.options import Columns
from smilenn.estimators.store import load

ROWS = 120
ROW = np.arange(ROWS)


def adult(blank=" "):
    """Rows as Adult's own file writes them."""
    lines = ["age,work,grade,income"]
    for i in ROW:
        cells = (
            20 + i % 31,
            ("?", "Private", "State-gov")[i % 3],
            ("low", "high")[i % 2],
            ("<=50K", ">50K")[int(i % 31 > 14)],
        )
        lines.append(f",{blank}".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def said(frame, options=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        domain = learned(frame, options or Columns(), (), missing="indicator", unknown="other")
    return domain, [str(one.message) for one in caught if one.category is ColumnWarning]


# ---- ? among names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["?", " ?", "", "  ", "nan", "NULL"])
@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_a_text_for_missing_cells_among_names_gets_a_word(text, dtype):
    cells = pd.Series([(text, "Private", "State-gov")[i % 3] for i in ROW]).astype(dtype)
    frame = pd.DataFrame({"work": cells, "x": ROW % 7})
    domain, words = said(frame)
    assert text in domain.feature("work").categories  # it stays a value
    assert words == [
        f"Column 'work' holds {text!r} in 40 cells, which is a value like every other here; if it means that the cell "
        f"is missing, write X['work'].replace({text!r}, None)."
    ]
    assert in_options(words[0]).endswith(f"is missing, use --na {text!r}.")
    assert said(frame, Columns(kinds={"work": "category"}))[1] == []
    filled = frame.assign(work=frame["work"].astype(object).replace(text, None))  # as the sentence says
    domain, words = said(filled)
    assert words == [] and domain.feature("work").categories == ("Private", "State-gov", "missing")


def test_names_that_are_codes_now_and_then_get_no_word():
    frame = pd.DataFrame({"land": [("NA", "DE", "None")[i % 3] for i in ROW], "x": ROW % 7})
    assert said(frame)[1] == []


def test_texts_of_a_parquet_file_are_missing_where_an_option_says_so(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"work": [("?", "a", "b")[i % 3] for i in ROW], "x": ROW}).to_parquet(path)
    assert read_table(Source.find(path))["work"].iloc[0] == "?"
    assert read_table(Source.find(path, na=["?"]), may_lack=["work"])["work"].isna().sum() == 40


# ---- blanks ----------------------------------------------------------------------------------------------------------


def request(tmp_path, **options):
    (tmp_path / "adult.csv").write_text(options.pop("text", adult()))
    return Request(tmp_path / "adult.csv", ("income",), tmp_path / "m", increasing=("age",), **options)


@pytest.mark.parametrize("blank", ["", " "])
def test_a_class_is_found_whatever_blanks_stand_around_it(tmp_path, blank):
    asked = request(tmp_path, text=adult(blank), positive=">50K", class_weight=(">50K:3",))
    found = prepare(asked, checked(asked))
    assert found.target.outputs.positive == f"{blank}>50K"
    assert found.class_weight == {f"{blank}>50K": 3.0}
    assert {getattr(item, "output", None) for _, item in found.stated} == {f"{blank}>50K"}
    for written in (f"{blank}<=50K", "<=50K "):
        asked = request(tmp_path, text=adult(blank), positive=written)
        assert prepare(asked, checked(asked)).target.outputs.positive == f"{blank}<=50K"


def test_a_name_that_two_classes_have_but_for_blanks_is_refused(tmp_path):
    text = adult().replace(" <=50K", ">50K ")
    asked = request(tmp_path, text=text, positive=">50K")
    with pytest.raises(SmileError, match="positive is '>50K', which is not a class"):
        prepare(asked, checked(asked))
    asked = request(tmp_path, positive="rich")
    with pytest.raises(SmileError, match="positive is 'rich', which is not a class"):
        prepare(asked, checked(asked))


def test_an_order_is_found_whatever_blanks_stand_around_its_names(tmp_path):
    asked = request(tmp_path, order=("grade=low,high",))
    domain = prepare(asked, checked(asked)).domain
    assert domain.feature("grade").unit == " low <  high"
    assert domain.encode(pd.read_csv(tmp_path / "adult.csv", na_values=" ?").head(2))[:, -1].tolist() == [0, 1]


def test_the_command_fits_and_predicts_adult_as_it_is_written(tmp_path):
    (tmp_path / "adult.csv").write_text(adult())
    quick = ("--time-limit", 2, "--certify-limit", 5, "--out", tmp_path / "m")
    asked = ("--target", "income", "--increasing", "age", "--positive", ">50K", "--order", "grade=low,high")
    code, out, err = smile("fit", tmp_path / "adult.csv", *asked, *quick)
    assert code in (0, 3), err
    assert "never lowers the log-odds of 'income' = ' >50K'" in out
    code, _, err = smile("predict", tmp_path / "m", tmp_path / "adult.csv", "--out", tmp_path / "p.csv")
    assert code == 0, err
    model = load(tmp_path / "m")
    frame = pd.read_csv(tmp_path / "adult.csv", na_values=" ?")
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == model.predict(frame).tolist()
    assert model.outputs_.positive == " >50K"
