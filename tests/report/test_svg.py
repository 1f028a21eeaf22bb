"""Scales, ticks and pictures."""

import base64
import re
import zlib

import numpy as np
import pytest

from smilenn.report.svg import LEFT, RIGHT, TOP, WIDTH, Axes, number, picture, spread, text, ticks


@pytest.mark.parametrize("lo, hi", [(0, 1), (-3.2, 7.9), (1e-6, 2e-6), (1e6, 1.7e6), (99.5, 99.51), (-1e-3, 0)])
def test_ticks_are_few_round_and_inside(lo, hi):
    found = ticks(lo, hi)
    assert 2 <= len(found) <= 6
    assert all(lo - 1e-9 * (hi - lo) <= t <= hi + 1e-9 * (hi - lo) for t in found)
    steps = np.diff(found)
    assert np.allclose(steps, steps[0], rtol=1e-6)
    lead = steps[0] / 10 ** np.floor(np.log10(steps[0]) + 1e-9)
    assert min(abs(lead - k) for k in (1, 2, 2.5, 5, 10)) < 1e-6


def test_pixels_follow_the_data():
    frame = Axes((0.0, 10.0), (0.0, 1.0), "x", "y")
    assert frame.px(0) == LEFT and frame.px(10) == WIDTH - RIGHT
    assert frame.py(1) == TOP and frame.py(0) > frame.py(0.5) > frame.py(1)
    assert frame.py(7) == TOP  # what lies outside stays on the edge
    logged = Axes((0.0, 1.0), (1e-4, 1.0), "", "", log_y=True)
    assert logged.py(1e-2) == pytest.approx((logged.py(1.0) + logged.py(1e-4)) / 2)
    assert logged.py(0.0) == logged.py(1e-4)


def test_ranges_are_never_empty():
    for values in ([], [3.0], [3.0, 3.0], [float("nan"), 2.0], [0.0]):
        lo, hi = spread(values)
        assert hi > lo


def test_texts_cannot_leave_their_place():
    assert text("a\n<b>&\"'\x00") == "a\\n&lt;b&gt;&amp;&quot;&#x27;\\x00"
    assert number(float("inf")) == "∞" and number(float("nan")) == "–" and number(1e-7) == "1.0e−07"
    drawn = Axes((0, 1), (0, 1), "<x>", "y", ("<a>", "b")).svg([], '"t"')
    assert "<x>" not in drawn and "<a>" not in drawn and "&quot;t&quot;" in drawn


def test_a_picture_is_a_png_with_the_given_shades():
    shades = np.array([[0.0, 1.0], [0.5, 2.0]])
    data = base64.b64decode(re.search(r"base64,([^\"]+)", picture(shades, "an image")).group(1))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert data[16:24] == (2).to_bytes(4, "big") * 2
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4], "big")
    assert zlib.decompress(data[start : start + length]) == bytes([0, 0, 255, 0, 128, 255])
    assert int.from_bytes(data[start + length : start + length + 4], "big") == zlib.crc32(
        data[start - 4 : start + length]
    )


def test_many_names_stand_below_each_other():
    from smilenn.report.dots import Dot, dots_plot
    from smilenn.report.figures import group_plot
    from smilenn.report.quality import Estimate, Group

    plot = dots_plot([Dot("<b>", 1.0, 0.5, 2.0), Dot("n" * 40, 3.0, others=(2.5,))], "value", "<t>", line=(1.5, "all"))
    assert "<b>" not in plot and "&lt;b&gt;" in plot and "n" * 40 in plot and plot.count("<circle") == 3
    groups = [Group("region", f"r{i}", 10, Estimate(float(i), i - 0.5, i + 0.5), 0.0, 0.0) for i in range(8)]
    assert "ours-whisker" in group_plot("region", groups, "accuracy", 3.0)
    across, below = (group_plot("region", groups[:n], "accuracy", 1.0) for n in (5, 8))
    assert "rotate(-90)" in across and "rotate(-90)" not in below and below.count("<circle") == 8
