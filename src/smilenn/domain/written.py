"""Numbers and dates as people write them, in columns of which every cell is written one way.

    1,234,567.8              commas between thousands
    1.234,5                  a decimal comma, points between thousands
    $12   €1,200   12,50 €   one sign of currency, before the number or behind it
    31/01/2020   31.01.2020  the day first; 01/31/2020 the month first: some cell decides

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
DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
DAY, MONTH = "dd{0}mm{0}yyyy", "mm{0}dd{0}yyyy"
DATE_STYLES = tuple(order.format(mark) for order in (DAY, MONTH) for mark in "./-")
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
    >>> date_style(["01/02/2020"]), date_style(["2020-01-31"])
    ('', '')
    """
    found = _dates(cells)
    if found is None:
        return ""
    mark, first, second = found
    if (mark == "." or first > 12) and second <= 12 and first <= 31:
        return DAY.format(mark)
    return MONTH.format(mark) if first <= 12 < second <= 31 else ""


def _dates(cells: Iterable[Any]) -> tuple[str, int, int] | None:
    """The mark between numbers of dates, and the largest first and second number; None where a cell is no date."""
    mark, first, second = "", 0, 0
    for cell in cells:
        match = DATE.fullmatch(cell.strip()) if isinstance(cell, str) else None
        if match is None or (mark and match[2] != mark):
            return None
        mark, first, second = match[2], max(first, int(match[1])), max(second, int(match[3]))
    return (mark, first, second) if mark else None


def iso(cell: Any, style: str) -> Any:
    """A date that is written so, as 2020-01-31; other cells stay as they are.

    >>> iso("31/1/2020", "dd/mm/yyyy"), iso("2020-01-31", "dd/mm/yyyy")
    ('2020-01-31', '2020-01-31')
    """
    match = DATE.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None or style not in (DAY.format(match[2]), MONTH.format(match[2])):
        return cell
    day, month = (match[1], match[3]) if style.startswith("dd") else (match[3], match[1])
    return f"{match[4]}-{int(month):02d}-{int(day):02d}"


# ---- what is not read -----------------------------------------------------------------------------------------------


def doubt(cells: Iterable[Any]) -> str:
    """Why texts that look like numbers or dates are read as names, and what to write instead; empty for other texts.

    >>> doubt(["01/02/2020", "03/04/2021"]).partition(";")[0]
    "its cells look like dates, but nothing tells day and month apart in '01/02/2020'"
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return ""
    if (found := _dates(texts)) is not None:
        return _date_doubt(texts[0], *found)
    bare = _bare(texts)
    if bare is not None and _either(*bare):
        return (
            f"its cells are amounts, but the point of {texts[0]!r} may stand between thousands or before decimals; "
            "write them as plain numbers"
        )
    return _measured_doubt(texts)


def _date_doubt(cell: str, mark: str, first: int, second: int) -> str:
    if first > 12 and second > 12:
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
