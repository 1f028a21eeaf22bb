"""The docs' pictures: screenshots of reports, taken by headless Chromium from models fitted here, and a convex dose.

python docs/hooks/pictures.py           # all of them; a few minutes
python docs/hooks/pictures.py home      # the first screen on the front page, light and dark
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smilenn import Columns, Fair, Monotone, Robust, SmileClassifier, SmileRegressor
from smilenn.datasets import load_digits_zero, make_credit, split

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
TABS = IMAGES / "report-tabs.json"


def browser() -> Any:
    """The tests' browser, a context manager."""
    module = _module(ROOT / "tests" / "report" / "chromium.py")
    binary = module.found()
    if binary is None:
        raise SystemExit("Chromium is not installed; install the package chromium.")
    return module.Chromium(binary)


def home(folder: Path) -> None:
    """The first screen of the report of the front page's model."""
    train, test = split(make_credit(1500, seed=0), seed=0)
    rules = [Monotone(increasing=["income"], decreasing=["debt"]), Fair(["race"], eps=2)]
    model = SmileRegressor(properties=rules, random_state=0).fit(train.frame, train.target)
    model.report(folder / "home.html", test.frame, test.target, name="Credit score", held_out=True)
    for dark in (False, True):
        _take(folder / "home.html", "summary", f"report-{'dark' if dark else 'light'}", height=810, dark=dark)


def guarantee(folder: Path) -> None:
    """Accuracy and guarantee, beside references."""
    train, test = split(make_credit(1000, seed=0), seed=0)
    rules = [Monotone(increasing=["income", "employment_years"], decreasing=["debt"]), Fair(["race"], eps=1)]
    model = SmileRegressor(properties=rules, random_state=0).fit(train.frame, train.target)
    rows, seen = (test.frame, test.target), (train.frame, train.target)
    model.report(folder / "credit.html", *rows, name="Credit score", held_out=True, train=seen, seconds=120)
    _take(folder / "credit.html", "guarantee", "report-guarantee", height=1060)


def pairs(folder: Path) -> None:
    """The tightest pairs of digits."""
    train, test = load_digits_zero("train"), load_digits_zero("test")
    model = SmileClassifier(
        properties=[Robust(0.05, eps=1)],
        random_state=0,
        time_limit=20,
        domain=Columns(margin=0.0),
        class_weight="balanced",
    )
    model.fit(train.frame, train.target)
    model.report(folder / "digits.html", test.frame, test.target, name="Is it a zero?", held_out=True)
    _take(folder / "digits.html", "pairs", "report-pairs", height=780)


def dose(folder: Path) -> None:
    """The convex dose beside an ordinary network, drawn by its example."""
    _module(ROOT / "examples" / "dose.py").main(figure=IMAGES / "convex-dose.png")


def _module(path: Path) -> Any:
    """A file outside the package as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _take(page: Path, tab: str, name: str, *, height: int, dark: bool = False) -> None:
    with browser() as one:
        one.look(page, width=1120, height=height, dark=dark)
        one.click(f"#tab-{tab}")
        one.ask("(document.activeElement.blur(), scrollTo(0, 0))")
        (IMAGES / f"{name}.png").write_bytes(one.screenshot(whole=False))
        tabs = one.ask("[...document.querySelectorAll('.tabs button')].map((b) => b.textContent)")
    # what a test compares with the page of today: a picture with other tabs is an old one
    found = json.loads(TABS.read_text(encoding="utf-8")) if TABS.exists() else {}
    TABS.write_text(json.dumps(found | {name: tabs}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


PICTURES: dict[str, Callable[[Path], None]] = {
    "home": home,
    "guarantee": guarantee,
    "pairs": pairs,
    "dose": dose,
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for wanted in sys.argv[1:] or PICTURES:
            PICTURES[wanted](Path(place))
