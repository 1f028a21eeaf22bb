"""The docs' home page in a real browser: on a desktop and on a phone, light and dark, nothing is cut off."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOORS = ["I have a CSV", "I work in a notebook", "I verify networks"]
# elements of the page's text that reach beyond the window and are not inside a box that scrolls by itself
BEYOND = """[...document.querySelectorAll('article *')].filter(e => {
    const box = e.getBoundingClientRect();
    for (let p = e; p !== document.body; p = p.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
    return box.width > 0 && box.right > innerWidth + 1;
}).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages without the API reference, which takes long to build, as files that link to each other."""
    pytest.importorskip("mkdocs", reason="MkDocs is not installed: this test looks at a built page.")
    pytest.importorskip("material", reason="The theme of the docs is not installed: this test looks at a built page.")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    config = load_config(
        str(ROOT / "mkdocs.yml"), site_dir=str(folder), plugins=[], strict=False, use_directory_urls=False
    )
    build(config)
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_cut_off(browser, site, width, dark):
    browser.look(site / "index.html", width=width, height=900, dark=dark, phone=width == 400)
    scheme = browser.ask("document.body.getAttribute('data-md-color-scheme')")
    assert scheme == ("slate" if dark else "default"), "a page that was looked at in light turns dark with the system"
    assert browser.ask(BEYOND) == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    shown = browser.ask("[...document.images].filter(i => i.offsetParent !== null).map(i => i.naturalWidth)")
    assert shown and all(shown)
    text = browser.ask("document.querySelector('article').textContent")
    assert all(door in text for door in DOORS)


@pytest.mark.filterwarnings("ignore")
def test_the_doors_lead_somewhere(browser, site):
    browser.look(site / "index.html")
    links = browser.ask("[...document.querySelectorAll('article a[href]')].map(a => a.href)")
    inside = [link.partition("#")[0].removeprefix("file://") for link in links if link.startswith("file:")]
    assert len(inside) > 3 and all(Path(path).is_file() for path in inside)
    assert (site / "contributing.html").is_file()
