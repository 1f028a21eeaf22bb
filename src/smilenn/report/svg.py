"""Small plots as SVG text: axes, lines, bands, dots, bars, limits. Colours come from classes of the page's CSS.

Everything that came from a user (names, texts) passes `text`, which escapes it. Marks with a tip can be focused and
carry it as `data-tip`, for the page's tooltip, and as a <title>, for everybody else.
"""

from __future__ import annotations

import html
import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 440, 280
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 14, 46
STRIP = 18  # pixels of the highest bar of a strip on the axis


def text(value: object) -> str:
    """Escaped for HTML and attributes; characters that cannot be printed are shown by their code.

    >>> text('<script>"x"')
    '&lt;script&gt;&quot;x&quot;'
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
    return html.escape(shown, quote=True)


def number(value: float, digits: int = 4) -> str:
    """A number as people read it: a few digits, no trailing zeros, a real minus sign.

    >>> number(0.12345678), number(-12), number(1234567.0), number(0.0)
    ('0.1235', '−12', '1234567', '0')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    shown = f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
    if "e-" in shown:
        shown = f"{value:.1e}"
    return shown.replace("-", "−") if float(value) != 0 else "0"


def ticks(lo: float, hi: float, most: int = 6) -> list[float]:
    """Round numbers in [lo, hi], at most `most`.

    >>> ticks(0, 1), ticks(3, 98)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0, 60.0, 80.0])
    """
    if not hi > lo:
        return [lo]
    raw = (hi - lo) / max(1, most - 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= raw * (1 - 1e-9))
    first = math.ceil(lo / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(hi / step + 1e-9) + 1)]


def spread(values: Iterable[float], pad: float = 0.06) -> tuple[float, float]:
    """The range of finite values, padded; never empty."""
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    lo, hi = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if hi - lo < 1e-12 * max(1.0, abs(hi)):
        lo, hi = lo - 0.5 * max(abs(lo), 1.0), hi + 0.5 * max(abs(hi), 1.0)
    room = pad * (hi - lo)
    return lo - room, hi + room


@dataclass(frozen=True)
class Axes:
    """The area of a plot: data ranges of x and y, labels, tick marks of a category axis, log scale of y."""

    x: tuple[float, float]
    y: tuple[float, float]
    xlabel: str
    ylabel: str
    names: tuple[str, ...] = ()
    log_y: bool = False
    height: int = HEIGHT

    def px(self, value: float) -> float:
        """Horizontal pixel of a value."""
        lo, hi = self.x
        return LEFT + (value - lo) / (hi - lo) * (WIDTH - LEFT - RIGHT)

    def py(self, value: float) -> float:
        """Vertical pixel of a value."""
        lo, hi = self.y
        if self.log_y:
            value, lo, hi = (math.log10(max(v, self.y[0])) for v in (value, lo, hi))
        share = (min(max(value, lo), hi) - lo) / (hi - lo)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def line(self, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, name: str) -> str:
        """A line through finite points."""
        pairs = [(a, b) for a, b in zip(x, y, strict=True) if b is not None and math.isfinite(b)]
        points = " ".join(f"{self.px(float(a)):.1f},{self.py(float(b)):.1f}" for a, b in pairs)
        return f'<polyline class="{name}" points="{points}"/>' if pairs else ""

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, name: str) -> str:
        """The area between two lines."""
        there = [f"{self.px(float(a)):.1f},{self.py(float(b)):.1f}" for a, b in zip(x, high, strict=True)]
        back = [f"{self.px(float(a)):.1f},{self.py(float(b)):.1f}" for a, b in zip(x, low, strict=True)]
        return f'<polygon class="{name}" points="{" ".join(there + back[::-1])}"/>'

    def dot(self, x: float, y: float, name: str, tip: str = "", size: float = 4.0) -> str:
        """A dot; with a tip it can be focused."""
        body = f'<circle class="{name}" cx="{self.px(x):.1f}" cy="{self.py(y):.1f}" r="{size:g}"'
        if not tip:
            return body + "/>"
        shown = text(tip)
        return f'{body} tabindex="0" role="img" aria-label="{shown}" data-tip="{shown}"><title>{shown}</title></circle>'

    def bar(self, x0: float, x1: float, y: float, name: str, tip: str) -> str:
        """A bar from the bottom to y over [x0, x1]."""
        left, right, top = self.px(x0), self.px(x1), self.py(y)
        tall = self.height - BOTTOM - top
        return (
            f'<rect class="{name}" x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(0.5, right - left - 1):.1f}" '
            f'height="{max(0.0, tall):.1f}" tabindex="0" role="img" aria-label="{text(tip)}" data-tip="{text(tip)}">'
            f"<title>{text(tip)}</title></rect>"
        )

    def strip(self, x0: float, x1: float, share: float, name: str) -> str:
        """A low bar on the axis over [x0, x1], `share` of `STRIP` pixels high; none for a share of 0."""
        left, right, tall = self.px(x0), self.px(x1), max(1.0, share * STRIP)
        top, wide = self.height - BOTTOM - tall, max(0.5, right - left)
        rect = f'x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
        return f'<rect class="{name}" {rect}/>' if share > 0 else ""

    def interval(self, x: float, low: float, high: float, name: str, wide: float = 0.0) -> str:
        """A vertical line from low to high, as a box where `wide` pixels are asked for."""
        at, top, bottom = self.px(x), self.py(high), self.py(low)
        if wide:
            tall = max(1.0, bottom - top)
            return f'<rect class="{name}" x="{at - wide / 2:.1f}" y="{top:.1f}" width="{wide:g}" height="{tall:.1f}"/>'
        return f'<line class="{name}" x1="{at:.1f}" x2="{at:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'

    def vertical(self, x: float, name: str, label: str = "", line: int = 0) -> str:
        """A vertical line over the whole height, with a word beside it, `line` lines below the top."""
        at, down = self.px(x), TOP + 11 + 15 * line
        side = "end" if at > WIDTH * 0.6 else "start"
        words = (
            f'<text class="{name}-text" x="{at + (-5 if side == "end" else 5):.1f}" y="{down}" text-anchor="{side}">'
        )
        return f'<line class="{name}" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{self.height - BOTTOM}"/>' + (
            f"{words}{text(label)}</text>" if label else ""
        )

    def horizontal(self, y: float, name: str, label: str = "") -> str:
        """A horizontal line over the whole width, with a word above it."""
        at = self.py(y)
        words = (
            f'<text class="{name}-text" x="{WIDTH - RIGHT - 4}" y="{at - 5:.1f}" text-anchor="end">{text(label)}</text>'
        )
        return f'<line class="{name}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>' + (
            words if label else ""
        )

    def svg(self, marks: Iterable[str], title: str) -> str:
        """The plot with axes and grid; `title` is what a person who does not see it is told."""
        floor = self.height - BOTTOM
        out = [f'<svg class="plot" viewBox="0 0 {WIDTH} {self.height}" role="group" aria-label="{text(title)}">']
        for value in self._y_ticks():
            at = self.py(value)
            out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
            label = f"{value:.0e}" if self.log_y and not 1e-3 <= value < 1e4 else number(value)
            out.append(f'<text class="tick" x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
        if self.names:
            room = max(3, int(58 / max(1, len(self.names))))
            for i, name in enumerate(self.names):
                short = name if len(name) <= room else name[: room - 1] + "…"
                tip = f"<title>{text(name)}</title>" if short != name else ""
                out.append(
                    f'<text class="tick" x="{self.px(i):.1f}" y="{floor + 16}" text-anchor="middle">'
                    f"{text(short)}{tip}</text>"
                )
        else:
            for value in ticks(*self.x):
                out.append(
                    f'<text class="tick" x="{self.px(value):.1f}" y="{floor + 16}" text-anchor="middle">'
                    f"{number(value)}</text>"
                )
        out.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        out.append(
            f'<text class="label" x="{middle:g}" y="{self.height - 8}" text-anchor="middle">'
            f"{text(_short(self.xlabel, 60))}</text>"
        )
        across = (TOP + floor) / 2
        out.append(
            f'<text class="label" transform="translate(13 {across:g}) rotate(-90)" text-anchor="middle">'
            f"{text(_short(self.ylabel, 34))}</text>"
        )
        return "\n".join([*out, *(mark for mark in marks if mark), "</svg>"])

    def _y_ticks(self) -> list[float]:
        lo, hi = self.y
        if not self.log_y:
            return ticks(lo, hi)
        first, last = math.ceil(math.log10(lo) - 1e-9), math.floor(math.log10(hi) + 1e-9)
        step = max(1, (last - first) // 5)
        return [10.0**e for e in range(first, last + 1, step)]


def _short(label: str, most: int) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def picture(values: np.ndarray, alt: str, name: str = "pixels") -> str:
    """A grey image [rows, columns] with values in [0, 1] as an <img> that holds a PNG."""
    shade = np.clip(np.rint(255 * values), 0, 255).astype(np.uint8)
    lines = b"".join(b"\0" + row.tobytes() for row in shade)
    head = struct.pack(">IIBBBBB", shade.shape[1], shade.shape[0], 8, 0, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return f'<img class="{name}" alt="{text(alt)}" src="data:image/png;base64,{b64encode(png).decode()}">'
