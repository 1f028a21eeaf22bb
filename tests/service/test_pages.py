"""The two pages of the service in a real browser, at the width of a desk and of a phone."""

import threading
from contextlib import contextmanager

import pandas as pd
import pytest
import uvicorn
from tests.service.browser import CHROMIUM, WHY, Browser

import smilenn
from smilenn.service.app import Limits, Service, application
from smilenn.service.run import bound
from smilenn.service.served import Served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=WHY)


@contextmanager
def served(folder):
    """The address of a model that a thread of this process serves; `test_service.py` has the command."""
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(application(Service(Served.load(folder), Limits())), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(regressor_folder):
    with served(regressor_folder) as found:
        yield found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


READY = "document.querySelectorAll('#controls input[type=range]').length > 0 && /[0-9]/.test(at('value').textContent)"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("width", [1280, 400])
def test_moving_a_control_changes_the_number(browser, address, regressor_folder, width):
    browser.open(address, width)
    browser.until(f"typeof at === 'function' && {READY}")
    before = browser.run("at('value').textContent")
    browser.run(
        "(() => { const c = document.querySelector('#controls input[type=range]'); c.value = c.max;"
        " for (const kind of ['input', 'change']) c.dispatchEvent(new Event(kind, {bubbles: true})); })()"
    )
    browser.until(f"at('value').textContent !== {before!r}")
    shown = float(browser.run("at('value').textContent").split()[0])
    row = browser.run("row")
    wanted = smilenn.load(regressor_folder).predict(pd.DataFrame([row]))[0]
    assert row["income"] > 100 and shown == pytest.approx(wanted, rel=1e-4) and shown > float(before.split()[0])
    assert browser.run(WIDER) <= 0  # nothing sticks out to the side


def test_rules_are_shown_with_their_verdicts_and_the_curve_is_drawn(browser, address):
    browser.open(address, 1280)
    browser.until(f"typeof at === 'function' && {READY}")
    rules = browser.until("at('rules').textContent")
    assert "Raising 'income'" in rules and "certified" in rules.lower()
    assert "Certified" in browser.run("at('verdict').textContent")
    browser.until("document.querySelector('#curve svg polyline, #curve svg path') !== null")


@pytest.mark.parametrize("width", [1280, 400])
def test_the_interface_is_shown_without_the_internet(browser, address, width):
    browser.open(f"{address}docs", width)
    browser.until("document.querySelectorAll('section').length >= 5")
    text = browser.run("document.body.textContent")
    assert "POST /predict" in text and "income" in text
    browser.run("document.querySelector('section button').click()")
    said = browser.until("document.querySelector('section pre').textContent")
    assert said.startswith("200") and '"prediction"' in said
    assert browser.run(WIDER) <= 0
    fetched = browser.run("performance.getEntriesByType('resource').map(e => e.name)")
    assert fetched and all(name.startswith(address) for name in fetched)


def test_a_cell_that_may_be_missing_has_a_tick_for_it(browser, classifier_folder):
    with served(classifier_folder) as address:
        browser.open(address, 400)
        browser.until("typeof at === 'function' && /probability/.test(at('beside').textContent)")
        browser.run("document.querySelector('[aria-label=\"income is missing\"]').click()")
        browser.until("/lacks income/.test(at('band').textContent)")
        assert browser.run("row")["income"] is None and browser.run("at('error').textContent") == ""
        browser.run("document.querySelector('[aria-label=\"income is missing\"]').click()")
        browser.until("!/lacks income/.test(at('band').textContent)")
        assert browser.run("row")["income"] > 0
        browser.run(
            "(() => { const c = document.querySelector('#controls select'); c.value = -1;"
            " c.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        browser.until("/lacks region/.test(at('band').textContent)")
