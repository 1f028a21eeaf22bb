"""Displays of progress: live, plain, off."""

import io

import pytest

from smilenn.progress import Pace, PlainLines, Progress, display, duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_plain_lines_are_few_and_show_what_is_known():
    stream = io.StringIO()
    show = PlainLines(stream, every=2.0)
    for step in range(100):
        show(Progress("train", step, 100, loss=0.5, bound=float("inf"), violation=0.25, seconds=step / 10))
    show(Progress("prove", 0, 0, seconds=10.0, message="looking closely"))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "train 0/100 · loss 0.5 · violation 0.25 · 0.0 s"
    assert lines[-1] == "prove · looking closely · 10 s"
    assert len(lines) == 6
    assert "up to 8 s left" in lines[1]
    show(Progress("certify", 0, 1, seconds=11.0))
    show(Progress("certify", 1, 1, seconds=12.0, message="the checker accepts"))
    assert stream.getvalue().splitlines()[-1] == "certify 1/1 · the checker accepts · 12 s"


def test_auto_is_plain_without_a_terminal_and_live_with_one():
    stream = io.StringIO()
    with display("auto", stream) as show:
        show(Progress("train", 1, 2))
    assert stream.getvalue().startswith("train 1/2")
    terminal = Terminal()
    with display("auto", terminal) as show:
        show(Progress("pretrain", 1, 2, loss=0.125, seconds=1.0))
        show(Progress("train", 1, 0, message="note", seconds=2.0))
    assert "\x1b[" in terminal.getvalue()  # redrawn in place


def test_off_is_silent(capsys):
    with display("off") as show:
        show(Progress("train", 1, 2))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_pace_starts_anew_with_every_phase():
    pace = Pace()
    assert pace.left(Progress("a", 0, 10, seconds=0.0)) is None
    assert pace.left(Progress("a", 5, 10, seconds=5.0)) == 5.0
    assert pace.left(Progress("b", 1, 10, seconds=6.0)) is None
    assert pace.left(Progress("b", 1, 10, seconds=7.0)) is None
    assert pace.left(Progress("b", 2, 0, seconds=8.0)) is None


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (59.6, "1 min 0 s"), (3599.4, "59 min 59 s")])
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_a_reader_that_has_gone_does_not_stop_the_work():
    import os

    inn, out = os.pipe()
    os.close(inn)
    with open(out, "w", buffering=1) as stream:
        lines = PlainLines(stream, every=0.0)
        for step in range(3):
            lines(Progress("train", step, 3, seconds=float(step)))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out)  # where closing the stream may flush to
        os.close(nowhere)
    assert lines.phase == "train" and lines.last == 2.0
