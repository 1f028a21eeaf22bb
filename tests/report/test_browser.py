"""The report in a real browser: clicked through, light and dark, on a desktop and on a phone, without an error."""

import pytest

SECTIONS = ["summary", "quality", "guarantee", "pairs", "variation", "slices", "training"]
SHOWN = "[...document.querySelectorAll('main > section')].filter(s => s.offsetParent !== null).map(s => s.id)"


@pytest.fixture(scope="module")
def file(regressor, rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "a report with spaces.html"
    regressor.report(path, *rows, name="Trial", held_out=True)
    return path


def test_every_tab_opens_its_part(browser, file):
    browser.look(file)
    assert browser.ask(SHOWN) == ["summary"]
    assert browser.ask("[...document.querySelectorAll('.tabs button')].length") == len(SECTIONS)
    for section in SECTIONS[::-1]:
        browser.click(f"#tab-{section}")
        assert browser.ask(SHOWN) == [section]
        assert browser.ask("location.hash") == f"#{section}"
        assert browser.ask(f"document.getElementById('tab-{section}').getAttribute('aria-selected')") == "true"
    assert browser.errors == []
    assert browser.requests == [file.as_uri()]  # nothing but the file itself


def test_keys_move_between_tabs(browser, file):
    browser.look(file)
    browser.click("#tab-summary")
    for key, section in (
        ("ArrowRight", "quality"),
        ("ArrowLeft", "summary"),
        ("ArrowLeft", "training"),
        ("Home", "summary"),
        ("End", "training"),
    ):
        browser.press(key)
        assert browser.ask(SHOWN) == [section]
        assert browser.ask("document.activeElement.id") == f"tab-{section}"
    assert browser.errors == []


def test_an_address_opens_its_part(browser, file):
    browser.look(file)
    browser.ask("location.hash = '#slices'")
    assert browser.ask("new Promise(done => setTimeout(() => done(" + SHOWN + "), 50))") == ["slices"]


def test_tooltips_follow_mouse_and_keyboard(browser, file):
    browser.look(file)
    browser.click("#tab-variation")
    assert browser.ask("document.getElementById('tip').hidden")
    browser.hover("#variation .bar")
    shown = browser.ask("document.getElementById('tip').textContent")
    assert shown.endswith("rows") and not browser.ask("document.getElementById('tip').hidden")
    browser.press("Escape")
    assert browser.ask("document.getElementById('tip').hidden")
    browser.ask("document.querySelector('#variation .bar').focus()")
    assert not browser.ask("document.getElementById('tip').hidden")
    inside = "(() => { const r = document.getElementById('tip').getBoundingClientRect();"
    assert browser.ask(inside + " return r.left >= 0 && r.right <= innerWidth && r.top >= 0; })()")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height", "phone"), [(1200, 900, False), (360, 780, True)], ids=["desktop", "phone"])
def test_it_fits_every_screen(browser, file, tmp_path, width, height, phone, dark):
    browser.look(file, width=width, height=height, dark=dark, phone=phone)
    style = "getComputedStyle(document.body)"
    back, ink = browser.ask(f"[{style}.backgroundColor, {style}.color]")
    assert (sum(levels(back)) < sum(levels(ink))) is dark
    pictures = set()
    for section in SECTIONS:
        browser.click(f"#tab-{section}")
        assert browser.ask("document.documentElement.scrollWidth") <= width, section
        seen = browser.screenshot()
        assert seen[:8] == b"\x89PNG\r\n\x1a\n" and len(seen) > 10_000
        assert seen[16:20] == width.to_bytes(4, "big")
        (tmp_path / f"{section}.png").write_bytes(seen)
        pictures.add(seen)
    assert len(pictures) == len(SECTIONS)
    assert browser.errors == []


def test_texts_can_be_read_on_their_ground(browser, file):
    """Contrast of at least 4.5 : 1 for every text that stands on the page, in both colour schemes."""
    code = """[...document.querySelectorAll('main :is(p, li, td, th, h2, h3, figcaption, .badge), h1, .tabs button')]
      .map(e => { let g = e; while (getComputedStyle(g).backgroundColor === 'rgba(0, 0, 0, 0)') g = g.parentElement;
                  const words = e.textContent.slice(0, 40);
                  return [getComputedStyle(e).color, getComputedStyle(g).backgroundColor, words]; })"""
    for dark in (False, True):
        browser.look(file, dark=dark)
        for ink, ground, words in browser.ask(code):
            assert contrast(levels(ink), levels(ground)) >= 4.5, (dark, words, ink, ground)


def test_without_script_everything_is_there(browser, file, tmp_path):
    content = file.read_text(encoding="utf-8")
    plain = tmp_path / "plain.html"
    start = content.index("<script>")
    plain.write_text(content[:start] + content[content.index("</script>") + 9 :], encoding="utf-8")
    browser.look(plain)
    assert browser.ask(SHOWN) == SECTIONS and browser.errors == []


def test_hostile_names_run_nothing(browser, hostile, tmp_path):
    model, frame, y = hostile
    model.report(tmp_path / "r.html", frame, y, name='<img src=x onerror="window.hacked=1">')
    browser.look(tmp_path / "r.html", width=360, phone=True)
    for section in browser.ask("[...document.querySelectorAll('main > section')].map(s => s.id)"):
        browser.click(f"#tab-{section}")
        assert browser.ask("document.documentElement.scrollWidth") <= 360, section
    assert browser.ask("window.hacked") is None and browser.errors == []
    assert browser.ask("document.querySelectorAll('main img, header img').length") == 0


def test_images_appear(browser, classifier, tmp_path):
    model, x, y = classifier
    model.report(tmp_path / "r.html", x[:60], y[:60])
    browser.look(tmp_path / "r.html")
    browser.click("#tab-pairs")
    sizes = browser.ask("[...document.querySelectorAll('#pairs img')].map(i => [i.naturalWidth, i.naturalHeight])")
    assert sizes and all(size == [5, 5] for size in sizes)
    assert browser.errors == []


def levels(colour: str) -> list[float]:
    """The three numbers of ``rgb(…)``."""
    return [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def contrast(a: list[float], b: list[float]) -> float:
    """WCAG's contrast ratio of two colours."""

    def light(colour: list[float]) -> float:
        parts = [v / 255 / 12.92 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)
