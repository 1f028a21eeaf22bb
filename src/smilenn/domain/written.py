"""Numbers and dates as people write them, in columns of which every cell is written one way.

    1,234,567.8              commas between thousands
    1.234,5                  a decimal comma, points between thousands
    $12   €1,200   12,50 €   one sign of currency, before the number or behind it
    31/01/2020   31.01.2020  the day first; 01/31/2020 the month first: some cell decides
    2020/1/31    2020-1-31   the year first; 31/01/2020 12:30 and the like have a time of day

How a column is written is said by the unit of its feature, such as ``$, written 1,000``: a cell's number depends on
that cell and the feature, never on other cells. Where points of amounts, or day and month, can be read in two ways
nothing is read, and `doubt` says what to write instead; one comma before three digits stands between thousands, and a
warning says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

SIGNS = "$€£¥₹%"
WRITTEN = "written "
THOUSANDS, DECIMAL = WRITTEN + "1,000", WRITTEN + "0,5"
COMMAS = re.compile(r"[-+]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?")
POINTS = re.compile(r"[-+]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?")
EITHER = re.compile(r"[-+]?([1-9]\d{0,2}\.\d{3}|\d+)")  # 1.200: a point between thousands, or before three decimals
CLOCK = r"(?:[ T]+(\d{1,2}):(\d{2}(?::\d{2}(?:\.\d+)?)?))?"
DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})" + CLOCK)
YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})" + CLOCK)
# dates of one reading that need no style
ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
DAY, MONTH, YEAR = "dd{0}mm{0}yyyy", "mm{0}dd{0}yyyy", "yyyy{0}mm{0}dd"
DATE_STYLES = tuple(order.format(mark) for order in (DAY, MONTH, YEAR) for mark in "./-")
NAMED = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# shapes of dates that are not read, what they are, and what is
UNREAD = (
    (
        re.compile(rf"(\d{{1,2}}[\s./-]*)?{NAMED}[\s./,-]*(\d{{1,2}},?[\s./-]+)?(\d{{4}}|\d{{2}})", re.I),
        "dates with names of months",
        "2020-01-31",
    ),
    (re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}"), "dates with two digits for the year", "2020-01-31"),
    (re.compile(r"(19|20)\d\d[./-]?(Q[1-4]|0[1-9]|1[0-2])", re.I), "months or quarters", "their first day, 2020-01-01"),
    (re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(\s*[ap]\.?m\.?)?", re.I), "times of day", "hours, such as 12.5"),
    (
        re.compile(r"(\d{4}|\d{1,2})([./-])\d{1,2}\2\d{1,4}[ T]+\d{1,2}(:\d{2}){0,2}\s*[ap]\.?m\.?", re.I),
        "dates with a time of twelve hours",
        "2020-01-31 18:30",
    ),
)
MEASURED = re.compile(r"[-+]?\d[\d.,]*\s*([^\W\d_][^\d]*)")


# ---- numbers --------------------------------------------------------------------------------------------------------


def number_style(cells: Iterable[Any]) -> str:
    """The unit that says how these cells are written; empty where they are plain numbers, or not all written one way.

    >>> number_style(["$1,200", "$7"]), number_style(["1,5", "2,25"]), number_style(["88,049", "118"])
    ('$, written 1,000', 'written 0,5', 'written 1,000')
    >>> number_style(["1.200 €"]), number_style(["a", "b"]), number_style(["1.5", "2"])
    ('', '', '')
    """
    found = _bare(cells)
    if found is None:
        return ""
    sign, bare = found
    commas = any("," in text for text in bare)
    if not (sign or commas) or _either(sign, bare):
        return ""
    if all(map(COMMAS.fullmatch, bare)):
        return f"{sign}, {THOUSANDS}" if sign else THOUSANDS
    if all(map(POINTS.fullmatch, bare)):
        return f"{sign}, {DECIMAL}" if sign else DECIMAL
    return ""


def _bare(cells: Iterable[Any]) -> tuple[str, list[str]] | None:
    """The sign that every cell has ('' for none), and the cells without it; None where one cell is no such number."""
    sign, out = None, []
    for cell in cells:
        text = cell.strip() if isinstance(cell, str) else str(cell)
        own = sign_of(text)
        if own is None or (sign is not None and own != sign) or not (text[-1:].isdigit() or text[-1:] == own):
            return None
        sign = own
        out.append(without(text, own))
    return None if sign is None else (sign, out)


def number_styles_of(text: str) -> frozenset[str]:
    """The units of all columns in which this one text would be a number; plain numbers fit some of them, too.

    >>> sorted(number_styles_of("$12")), sorted(number_styles_of("0,5")), sorted(number_styles_of("n/k"))
    (['$, written 0,5', '$, written 1,000'], ['written 0,5'], [])
    """
    found = _bare([text])
    if found is None:
        return frozenset()
    sign, (bare,) = found
    fits = ((THOUSANDS, COMMAS), (DECIMAL, POINTS))
    return frozenset(f"{sign}, {style}" if sign else style for style, shape in fits if shape.fullmatch(bare))


def sign_of(text: str) -> str | None:
    """The one sign of a text, '' where it has none; None where it has several."""
    found = [c for c in text if c in SIGNS]
    return None if len(found) > 1 else "".join(found)


def without(text: str, sign: str) -> str:
    """A text without its sign and the spaces beside it.

    >>> without("- $ 5", "$"), without("12 €", "€")
    ('-5', '12')
    """
    return re.sub(r"^([-+]?)\s+", r"\1", text.replace(sign, " ").strip() if sign else text)


def _either(sign: str, bare: list[str]) -> bool:
    """Whether points of amounts may stand between thousands or before decimals."""
    return bool(sign) and any("." in text for text in bare) and all(map(EITHER.fullmatch, bare))


def style_in(unit: str) -> str:
    """How a unit says that numbers are written: with commas between thousands, a decimal comma, or neither ('')."""
    said = unit.rpartition(", " + WRITTEN)
    style = WRITTEN + said[2] if said[1] else unit
    signed = not said[1] or (len(said[0]) == 1 and said[0] in SIGNS)
    return style if style in (THOUSANDS, DECIMAL) and signed else ""


def plain(cell: Any, unit: str) -> Any:
    """A cell as the text of a plain number; one that is not written as the unit says stays as it is.

    >>> plain("€1,200", "€, written 1,000"), plain("1.200,5", "written 0,5"), plain("x", "written 0,5"), plain(7, "")
    ('1200', '1200.5', 'x', 7)
    """
    style = style_in(unit)
    if not style or not isinstance(cell, str):
        return cell
    sign = unit.removesuffix(style).removesuffix(", ")
    bare = without(cell.strip(), sign)
    if style == THOUSANDS:
        return bare.replace(",", "") if COMMAS.fullmatch(bare) else cell
    return bare.replace(".", "").replace(",", ".") if POINTS.fullmatch(bare) else cell


def is_foreign(cell: Any, unit: str) -> bool:
    """Whether a text has a point that a column of decimal commas has no place for: beside 1.200, which is 1200, 1.5
    must not be read as 1.5.

    >>> is_foreign("1.5", "written 0,5"), is_foreign("1.200", "written 0,5"), is_foreign("1.5", "written 1,000")
    (True, False, False)
    """
    if style_in(unit) != DECIMAL or not isinstance(cell, str):
        return False
    return "." in cell and plain(cell, unit) is cell


def words_of(unit: str) -> str:
    """What a unit means, for a sentence about the column; empty for units that say nothing of how it is written.

    >>> words_of("$, written 1,000"), words_of("written 0,5"), words_of("days")
    ("is in $, and '1,000' is read as 1000", "is a number, and '0,5' is read as 0.5", '')
    """
    style = style_in(unit)
    if not style:
        return ""
    sign = unit.removesuffix(style).removesuffix(", ")
    read = "'1,000' is read as 1000" if style == THOUSANDS else "'0,5' is read as 0.5"
    return f"is {'in ' + sign if sign else 'a number'}, and {read}"


# ---- dates ----------------------------------------------------------------------------------------------------------


def date_style(cells: Iterable[Any]) -> str:
    """How dates are written; empty where cells are none, or the day and the month cannot be told apart.

    >>> date_style(["31/01/2020", "01/02/2020"]), date_style(["01/31/2020"]), date_style(["1.2.2020"])
    ('dd/mm/yyyy', 'mm/dd/yyyy', 'dd.mm.yyyy')
    >>> date_style(["01/02/2020"]), date_style(["2020-1-31", "2020-02-01"]), date_style(["31/01/2020 12:30"])
    ('', 'yyyy-mm-dd', 'dd/mm/yyyy')
    """
    fits: frozenset[str] | None = None
    for cell in cells:
        own = date_styles_of(cell)
        fits = own if fits is None else fits & own
        if not fits:
            return ""
    if not fits:
        return ""
    return next(iter(fits)) if len(fits) == 1 else next((style for style in fits if style == DAY.format(".")), "")


def date_styles_of(cell: Any) -> frozenset[str]:
    """The ways of writing dates that a cell fits: 01/02/2020 fits two.

    >>> sorted(date_styles_of("01/02/2020")), sorted(date_styles_of("31/01/2020")), sorted(date_styles_of("2020/13/1"))
    (['dd/mm/yyyy', 'mm/dd/yyyy'], ['dd/mm/yyyy'], [])
    """
    text = cell.strip() if isinstance(cell, str) else ""
    if found := DATE.fullmatch(text):
        first, second = int(found[1]), int(found[3])
        orders = [order for order, day, month in ((DAY, first, second), (MONTH, second, first)) if _in_year(day, month)]
    elif found := YEAR_FIRST.fullmatch(text):
        orders = [YEAR] if _in_year(int(found[4]), int(found[3])) else []
    else:
        return frozenset()
    return frozenset(order.format(found[2]) for order in orders)


def _in_year(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def iso(cell: Any, style: str) -> Any:
    """A date that is written so, as 2020-01-31; other cells stay as they are.

    >>> iso("31/1/2020", "dd/mm/yyyy"), iso("2020-01-31", "dd/mm/yyyy"), iso("2020/1/31 9:05", "yyyy/mm/dd")
    ('2020-01-31', '2020-01-31', '2020-01-31 09:05')
    """
    text = cell.strip() if isinstance(cell, str) else ""
    shape = YEAR_FIRST if style.startswith("yyyy") else DATE
    found = shape.fullmatch(text)
    if found is None or style not in (order.format(found[2]) for order in (DAY, MONTH, YEAR)):
        return cell
    first, _, second, third, hour, minutes = found.groups()
    year, month, day = {"y": (first, second, third), "d": (third, second, first), "m": (third, first, second)}[style[0]]
    clock = f" {int(hour):02d}:{minutes}" if hour else ""
    return f"{year}-{int(month):02d}-{int(day):02d}{clock}"


def date_example(style: str) -> str:
    """The last day of May 2024 in a style, or as 2024-05-31 without one.

    >>> date_example("dd/mm/yyyy"), date_example("")
    ('31/05/2024', '2024-05-31')
    """
    return (style or YEAR.format("-")).replace("dd", "31").replace("mm", "05").replace("yyyy", "2024")


# ---- what is not read -----------------------------------------------------------------------------------------------


def doubt(cells: Iterable[Any]) -> str:
    """Why texts that look like numbers or dates are read as names, and what to write instead; empty for other texts.

    >>> doubt(["01/02/2020", "03/04/2021"]).partition(";")[0]
    "its cells look like dates, but nothing tells day and month apart in '01/02/2020'"
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return ""
    if dates := _date_doubt(texts):
        return dates
    bare = _bare(texts)
    if bare is not None and _either(*bare):
        return (
            f"its cells are amounts, but the point of {texts[0]!r} may stand between thousands or before decimals; "
            "write them as plain numbers"
        )
    return _measured_doubt(texts)


def _date_doubt(texts: list[str]) -> str:
    """The same of dates and times of day; empty where a text is none."""
    cell = texts[0]
    if all(date_styles_of(text) for text in texts):
        return _order_doubt(texts)
    for shape, what, instead in UNREAD:
        if all(shape.fullmatch(text.strip()) for text in texts):
            return f"its cells, such as {cell!r}, look like {what}; write them as {instead}"
    return ""


def _order_doubt(texts: list[str]) -> str:
    """The same of dates that are written out in numbers."""
    cell, mark = texts[0], next((c for c in texts[0] if c in "./-"), "-")
    styles = set.union(*(set(date_styles_of(text)) for text in texts))
    if styles != {DAY.format(mark), MONTH.format(mark)}:
        return f"its cells, such as {cell!r}, look like dates that are not written one way; write them as 2020-01-31"
    if not all(len(date_styles_of(text)) == len(styles) for text in texts):
        return f"its cells, such as {cell!r}, look like dates in two orders of day and month; write them as 2020-01-31"
    format_ = f"%d{mark}%m{mark}%Y"
    return (
        f"its cells look like dates, but nothing tells day and month apart in {cell!r}; write them as 2020-01-31, or "
        f"read them with pandas.to_datetime(…, format={format_!r})"
    )


def _measured_doubt(texts: list[str]) -> str:
    found = [MEASURED.fullmatch(text.strip()) for text in texts]
    behind = {match[1].strip() for match in found if match is not None}
    if None not in found and len(behind) == 1:
        return f"its cells are numbers with {behind.pop()!r} behind them; take it off to have them read as numbers"
    signed = [text for text in texts if any(c in SIGNS for c in text) and any(c.isdigit() for c in text)]
    if signed and all(any(c.isdigit() for c in text) and not any(c.isalpha() for c in text) for text in texts):
        return f"its cells, such as {signed[0]!r}, are amounts that are not all written one way; write plain numbers"
    return ""
