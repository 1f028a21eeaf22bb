"""A plot of dots in lines: many names on the left, one line each, values to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smilenn.report.svg import BOTTOM, RIGHT, TOP, WIDTH, number, spread, text, ticks

NAMES, STEP = 150, 24  # pixels for the names, and from one line to the next
LONGEST = 20  # characters of a name that is shown


@dataclass(frozen=True)
class Dot:
    """A name, its value, an interval or a box around it, further values, and words for a pointer."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    others: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Axis:
    """The horizontal axis: pixels of values."""

    lo: float
    hi: float

    def px(self, value: float) -> float:
        share = (min(max(value, self.lo), self.hi) - self.lo) / (self.hi - self.lo)
        return NAMES + share * (WIDTH - NAMES - RIGHT)


def dots_plot(
    dots: Sequence[Dot],
    label: str,
    title: str,
    *,
    line: tuple[float, str] | None = None,
    box: bool = False,
    zero: bool = False,
) -> str:
    """The plot as SVG; `line` is a value to compare with and its word, `box` draws intervals as boxes, `zero`
    starts the axis at 0.
    """
    values = [v for dot in dots for v in (dot.value, dot.low, dot.high, *dot.others) if v is not None]
    lo, hi = spread([*values, *([line[0]] if line else []), *([0.0] if zero else [])])
    axis = _Axis(0.0 if zero else lo, hi)
    height = TOP + STEP * len(dots) + BOTTOM + (14 if line else 0)
    floor = height - BOTTOM
    out = [f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="group" aria-label="{text(title)}">']
    for value in ticks(axis.lo, axis.hi, 5):
        at = axis.px(value)
        out.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor}"/>')
        out.append(f'<text class="tick" x="{at:.1f}" y="{floor + 16}" text-anchor="middle">{number(value)}</text>')
    if line is not None:
        out.append(_compared(axis, line, floor))
    first = TOP + STEP / 2 + (14 if line else 0)
    for i, dot in enumerate(dots):
        out += _line(axis, dot, first + STEP * i, box)
    middle = (NAMES + WIDTH - RIGHT) / 2
    words = label if len(label) <= 48 else label[:47] + "…"
    out.append(f'<text class="label" x="{middle:g}" y="{height - 8}" text-anchor="middle">{text(words)}</text>')
    return "\n".join([*out, "</svg>"])


def _compared(axis: _Axis, line: tuple[float, str], floor: float) -> str:
    """The vertical line to compare with, its word at the top."""
    at = axis.px(line[0])
    side = "end" if at > WIDTH * 0.7 else "start"
    return (
        f'<line class="idle" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor}"/>'
        f'<text class="idle-text" x="{at + (-5 if side == "end" else 5):.1f}" y="{TOP + 10}" text-anchor="{side}">'
        f"{text(line[1])}</text>"
    )


def _line(axis: _Axis, dot: Dot, at: float, box: bool) -> list[str]:
    """The marks of one name."""
    short = dot.name if len(dot.name) <= LONGEST else dot.name[: LONGEST - 1] + "…"
    whole = f"<title>{text(dot.name)}</title>" if short != dot.name else ""
    out = [f'<text class="tick" x="{NAMES - 8}" y="{at + 4:.1f}" text-anchor="end">{text(short)}{whole}</text>']
    if dot.low is not None and dot.high is not None:
        left, right = axis.px(dot.low), axis.px(dot.high)
        if box:
            wide = max(1.0, right - left)
            out.append(f'<rect class="box" x="{left:.1f}" y="{at - 8:.1f}" width="{wide:.1f}" height="16"/>')
        else:
            out.append(f'<line class="ours-whisker" x1="{left:.1f}" x2="{right:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>')
    out += [f'<circle class="other-dot" cx="{axis.px(v):.1f}" cy="{at:.1f}" r="2.5"/>' for v in dot.others]
    tip = text(dot.tip or f"{dot.name}: {number(dot.value)}")
    out.append(
        f'<circle class="ours-dot" cx="{axis.px(dot.value):.1f}" cy="{at:.1f}" r="4.5" tabindex="0" role="img" '
        f'aria-label="{tip}" data-tip="{tip}"><title>{tip}</title></circle>'
    )
    return out
