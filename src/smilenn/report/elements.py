"""Pieces of the page: tables, figures, numbers with their intervals. Cells and captions are escaped by the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smilenn.report.quality import Estimate
from smilenn.report.svg import number


def capital(sentence: str) -> str:
    """The sentence with a capital letter."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """A table whose cells are escaped already."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    lines = []
    for i, row in enumerate(rows):
        name = f' class="{classes[i]}"' if i < len(classes) and classes[i] else ""
        lines.append(f"<tr{name}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>")
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{body}</div>'


def bullets(items: Iterable[str]) -> str:
    """A list whose items are escaped already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def figure(plot: str, caption: str) -> str:
    """A plot with its caption; nothing where there is no plot."""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{plot}{words}</figure>" if plot else ""


def plot_grid(plots: Iterable[str]) -> str:
    """Figures beside each other where there is room."""
    content = "\n".join(plot for plot in plots if plot)
    return f'<div class="plots">{content}</div>' if content else ""


def key(name: str, words: str) -> str:
    """One entry of a legend."""
    return f' <span class="entry"><span class="key {name}"></span>{words}</span>'


def estimate_text(found: Estimate) -> str:
    """``0.888 (0.86 to 0.91)``, with spaces in the brackets that do not break."""
    if found.low is None or found.high is None:
        return number(found.value, 3)
    return f"{number(found.value, 3)} ({number(found.low, 3)}\u00a0to\u00a0{number(found.high, 3)})"


def change_text(change: float) -> str:
    """A change that was found; one as small as rounding is called that."""
    return "0, but for rounding" if 0 < change < 1e-9 else number(change, 3)
