"""The page: complete, escaped, self-contained; the card beside it; files whole or absent."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from smilenn import Domain, Monotone, Network, SmileClassifier, SmileError, SmileRegressor, prove
from smilenn.report import write
from smilenn.report.card import card
from smilenn.report.findings import gather
from smilenn.report.html import page
from smilenn.report.opening import _predicts as opening_of
from smilenn.report.quality import CERTIFIED

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("quick_module")

TAGS = """html head meta title link style body header h1 h2 h3 h4 p span main div section ul li details summary table
thead tbody tr th td figure figcaption svg line text polyline polygon circle rect img footer script b br i code"""
TAGS = set(TAGS.split())


class Read(HTMLParser):
    """Every element with its attributes, and the visible text."""

    def __init__(self, content):
        super().__init__()
        self.elements, self.words, self.open = [], [], []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def trial(regressor, rows):
    """What a report on 120 held-out rows has to say."""
    return gather(regressor, *rows, name="Trial", held_out=True, folder="models/a b")


def test_a_report_says_everything_it_should(regressor, rows, trial):
    found, read = trial, Read(page(trial))
    sections = [attrs["id"] for tag, attrs in read.elements if tag == "section"]
    assert sections == ["summary", "quality", "guarantee", "pairs", "variation", "slices", "training"]
    for sentence in (
        "Raising 'dose' or lowering 'visits', alone or together, everything else equal, never lowers "
        "the predicted 'score'.",
        "changing 'smoker' alone changes the predicted 'score' by at most 3. ('smoker': 'no' or 'yes'.)",
        '∀ a, b ∈ X: "smoker" free, other features equal ⇒ a.out - b.out <= 3, -a.out + b.out <= 3',
        "What is not guaranteed",
        "Accuracy is not guaranteed",
        "changing the protected columns alone moves the predicted 'score' by no more than ε. It says nothing about "
        "other columns that act as proxies",
        "120 held-out rows",
        "site: Bonn",
        "R²",
    ):
        assert sentence in read.text, sentence
    assert regressor.certificate_ is not None and regressor.certificate_.sha256 in read.text
    assert sum(tag == "svg" for tag, _ in read.elements) >= 10
    value = found.quality.metrics[0].model.value
    assert value == pytest.approx(regressor.score(*rows))


def test_the_verdict_is_the_models_own(regressor, trial):
    found = trial
    assert found.headline == ("Certified" if regressor.certificate_.accepted else "Not certified")
    assert [rule.certified for rule in found.rules] == list(regressor.certificate_.holds)
    assert max(float(p.value.max()) for p in found.probes) <= max(regressor.violation_bound_, 1e-9)


def test_nothing_is_fetched_and_only_the_own_script_may_run(trial):
    content = page(trial)
    read = Read(content)
    scripts = re.findall(r"<script>(.*?)</script>", content, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", content, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    policy = next(a["content"] for t, a in read.elements if t == "meta" and "http-equiv" in a)
    for kind, body in (("script-src", scripts[0]), ("style-src", styles[0])):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    for tag, attrs in read.elements:
        assert tag.lower() in TAGS, tag
        for name, value in attrs.items():
            assert not name.startswith("on") and name != "style"
            if name in ("src", "href"):
                assert value.startswith("data:")
    assert "http://" not in content and "https://" not in content


def test_hostile_names_stay_text(hostile):
    model, frame, y = hostile
    content = page(gather(model, frame, y, name="<script>window.hacked=1</script>"))
    read = Read(content)
    assert {tag for tag, _ in read.elements} <= TAGS
    assert sum(tag == "script" for tag, _ in read.elements) == 1
    assert not any(name.startswith("on") for _, attrs in read.elements for name in attrs)
    assert not any(tag == "img" for tag, _ in read.elements)
    assert "\x1b" not in content and "<script>window.hacked=1</script>" in read.text  # shown, not run


def test_images_are_shown_as_pictures(classifier):
    model, x, y = classifier
    content = page(gather(model, x[:60], y[:60]))
    images = [attrs for tag, attrs in Read(content).elements if tag == "img"]
    assert images and all(attrs["src"].startswith("data:image/png;base64,iVBOR") and attrs["alt"] for attrs in images)
    assert 'id="slices"' not in content
    with pytest.raises(SmileError, match="An image of 4x4 has 16 pixels, not 25"):
        gather(model, x, y, image=(4, 4))


def test_without_rows_the_rules_and_the_training_are_still_told(regressor):
    found = gather(regressor)
    read = Read(page(found))
    assert found.quality is None and found.tradeoff is None and found.probes and found.slices
    assert "No rows with a known target were given" in read.text


def test_a_violated_model_shows_its_counterexample():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 60)})
    y = -frame["x"].to_numpy()
    model = SmileRegressor(random_state=0, certify_limit=0.0).fit(frame, y)
    model.properties = [Monotone(increasing=["x"])]
    model.claims_ = model.lower(model.properties)
    model.verdict_ = prove(model, model.properties)
    found = gather(model, frame, y)
    assert found.headline == "Violated" and found.example is not None
    read = Read(page(found))
    assert "Counterexample" in read.text and "evaluated by the network itself" in read.text
    assert any(tag == "span" and "bad" in attrs.get("class", "") for tag, attrs in read.elements)
    assert "**Violated.**" in card(found)


def test_the_card_is_plain_markdown(trial, hostile):
    text = card(trial)
    assert text.startswith("# Trial\n") and "| R² |" in text and "## What is not guaranteed" in text
    model, frame, y = hostile
    text = card(gather(model, frame, y))
    assert "<script>" not in text and "<img" not in text and "\x1b" not in text
    widths = {line.replace("\\|", "").count("|") for line in text.split("## The domain")[1].strip().splitlines()}
    assert widths == {4}  # a bar in a name does not make a column


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y.iloc[:-1]), "Got 120 rows and 119 targets; give one target per row."),
        (lambda X, y: (None, y), "A report got a target without its rows; give X as well."),
        (lambda X, y: (X, y.where(y.index != 3)), "Row 3 of the target is missing; drop the row or fill it in."),
        (lambda X, y: (X, y.where(y.index != 3, np.inf)), "Row 3 of the target is inf; give a finite number."),
        (lambda X, y: (X, ["much"] * 120), "The target holds text; this model predicts numbers."),
        (lambda X, y: (X.drop(columns="dose"), y), "The data lacks the column 'dose'"),
    ],
)
def test_bad_rows_are_refused_in_words(regressor, rows, change, message):
    with pytest.raises(SmileError, match=re.escape(message)):
        gather(regressor, *change(*rows))


def test_certified_labels_are_counted(classifier):
    model, x, y = classifier
    found = gather(model, x[:60], y[:60])
    labels, certified = model.predict_certified(x[:60])
    (both,) = (m for m in found.quality.metrics if m.name == CERTIFIED)
    assert both.model.value == pytest.approx(((labels == y[:60]) & certified).mean())
    shown = page(found)
    assert "correct and certified stable" in shown and CERTIFIED in shown
    assert SmileRegressor().stable_rows(np.zeros((3, 1))) is None
    rising = SmileClassifier(increasing=[0], network=Network(members=1), time_limit=2, certify_limit=0).fit(
        x[:60], y[:60]
    )
    assert rising.stable_rows(np.zeros((3, 1))) is None


def test_rows_that_are_separated_have_no_temperature(classifier):
    model, x, _ = classifier
    labels = model.predict(x)
    assert len(set(labels)) == 2
    assert "separates these rows perfectly, so they cannot determine a temperature" in page(gather(model, x, labels))


def test_unknown_classes_are_refused(classifier):
    model, x, _ = classifier
    with pytest.raises(SmileError, match="The target holds 'up'; the model knows the classes 'left' and 'right'"):
        gather(model, x[:3], ["left", "up", "right"])


def test_references_need_rows_and_time(regressor, rows):
    with pytest.raises(SmileError, match="References are compared on rows with a known target; give X and y as well"):
        gather(regressor, train=rows)
    with pytest.raises(SmileError, match="References need more than 0 seconds, not 0"):
        gather(regressor, *rows, train=rows, seconds=0)


def test_references_stand_beside_the_model(regressor, rows):
    told = []
    found = gather(regressor, *rows, train=rows, seconds=12.0, callback=told.append)
    assert found.tradeoff is not None
    points = {point.name: point for point in found.tradeoff.points}
    assert set(points) == {"this model, ε = 3", "constant", "without rules", "unaware", "ε = 1.5", "ε = 6"}
    assert points["unaware"].variation < 1e-9 and points["constant"].quality.value == pytest.approx(0.0)
    for name, eps in (("ε = 1.5", 1.5), ("ε = 6", 6.0)):
        assert points[name].eps == eps
        if points[name].status == "certified":
            assert points[name].variation <= eps
    assert any(progress.phase == "references" and progress.message == "without rules" for progress in told)
    text = Read(page(found)).text
    for words in (text, card(found)):
        assert "References were trained for this report" in words
        assert "is the same model without the rules: its own recipe and settings, fitted with no rule." in words
        assert f"{len(rows[1])} of the {len(rows[1])} rows measured here equal rows" in words


def test_references_of_a_classifier(classifier):
    model, x, y = classifier
    found = gather(model, x[:60], y[:60], train=(x[60:], y[60:]), seconds=8.0)
    assert found.tradeoff is not None and found.tradeoff.metric == "accuracy"
    points = {point.name: point for point in found.tradeoff.points}
    assert set(points) == {"this model, ε = 2", "constant", "without rules", "ε = 1", "ε = 4"}  # nothing is protected
    assert points["without rules"].quality.value > points["constant"].quality.value
    assert points["without rules"].variation > 0


# ---- files ----------------------------------------------------------------------------------------------------------


def test_a_report_is_written_whole_or_not_at_all(regressor, rows, tmp_path, monkeypatch):
    regressor.report(tmp_path / "deep" / "r.html", *rows, card=tmp_path / "c.md")
    before = (tmp_path / "deep" / "r.html").read_bytes()
    assert before.startswith(b"<!doctype html>") and (tmp_path / "c.md").exists()

    def interrupted(found):
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "card", interrupted)
    with pytest.raises(KeyboardInterrupt):
        regressor.report(tmp_path / "deep" / "r.html", *rows, card=tmp_path / "d.md", name="another")
    assert (tmp_path / "deep" / "r.html").read_bytes() == before
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["c.md", "r.html"]
    with pytest.raises(SmileError, match="is a folder; name a file to write"):
        regressor.report(tmp_path)
    with pytest.raises(KeyboardInterrupt), write.replaced(tmp_path / "x.html") as place:
        place.write_text("half")
        raise KeyboardInterrupt
    assert not (tmp_path / "x.html").exists()


def test_the_same_report_twice_is_the_same_file(regressor, rows, tmp_path):
    for name in ("a.html", "b.html"):
        regressor.report(tmp_path / name, *rows)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_inputs_are_counted_as_columns():
    """A number that may be missing is two features of the domain and one column of the table."""
    domain = Domain.from_data(pd.DataFrame({"pay": [1.0, np.nan, 3.0, 4.0], "age": [20, 30, 40, 50]}), missing=True)
    outputs = SimpleNamespace(classes=(), names=("",))
    model = SimpleNamespace(domain_=domain, target_name_="y", outputs_=outputs, task="regression")
    assert len(domain.features) == 3
    assert opening_of(SimpleNamespace(model=model)) == "This model predicts 'y' from 2 inputs"


def test_a_page_opens_with_what_is_predicted_and_certified(regressor, trial):
    from smilenn.report.opening import opening

    found = trial
    words = opening(found)
    assert words.startswith("This model predicts 'score' from 4 inputs; on 120 held-out rows, R² = ")
    assert "Certified for every input in the domain: Raising 'dose'" in words
    assert found.command("smile check MODEL") == "smile check 'models/a b'"
    assert opening(gather(regressor)).startswith("This model predicts 'score' from 4 inputs; ")


def test_the_docs_pictures_have_the_tabs_of_today(trial, classifier):
    """`make pictures` notes the tabs that it has seen; other ones mean that it has to be run again."""
    recorded = json.loads((ROOT / "docs" / "images" / "report-tabs.json").read_text("utf-8"))

    def tabs(found):
        return re.findall(r'<section id="\w+" data-title="(.*?)">', page(found))

    numbers = [recorded[name] for name in ("report-light", "report-dark", "report-guarantee")]
    assert numbers == [tabs(trial)] * 3
    model, x, y = classifier
    assert recorded["report-pairs"] == tabs(gather(model, x, y, held_out=True))


def test_figures_of_quality_stand_once_at_the_top(trial):
    head = Read(page(trial).split("</header>")[0]).text
    assert head.count("R²") == 1 and head.count("held-out rows") == 1


def test_the_card_opens_as_the_page_does(hostile, trial):
    from smilenn.report.card import plain
    from smilenn.report.opening import opening

    assert card(trial).split("\n\n")[1] == plain(opening(trial))
    model, *_ = hostile
    assert all(str(name)[:20] in opening(gather(model)) for name in model.classes_)


def test_tiles_show_a_measure_beside_a_constant(trial, classifier):
    def tiles(found):
        return re.findall(r'<div class="tile"><b>(.*?)</b><span>(.*?)</span>', page(found))

    assert any(words.startswith("R², 95 %: ") and words.endswith("; a constant: 0") for _, words in tiles(trial))
    model, x, y = classifier
    found = gather(model, x, y, held_out=True)
    value = dict((words, value) for value, words in tiles(found))["AUC; a constant: 0.5"]
    assert value == f"{found.standing.numbers['auc']:.3g}"


def test_slices_show_where_the_rows_lie(regressor, trial):
    for part in trial.slices:
        cells = trial.rows.x[:, regressor.domain_.slices[part.feature.name]]
        codes = cells.argmax(axis=1) if cells.shape[1] > 1 else cells[:, 0]
        counts = [
            int((np.abs(part.at - v).argmin() == np.abs(part.at[:, None] - codes).argmin(axis=0)).sum())
            for v in part.at
        ]
        assert part.share.tolist() == pytest.approx([count / max(counts) for count in counts])
    shown = page(trial)
    assert shown.count('class="data"') == sum(int((part.share > 0).sum()) for part in trial.slices)
    assert "where the rows lie" in shown
    bare = page(gather(regressor))
    assert 'class="data"' not in bare and "where the rows lie" not in bare


def test_importances_follow_the_model(regressor, rows, trial):
    found = trial.importances
    assert found[0].name == "dose" and found[0].change > 3 * found[-1].change >= 0
    assert gather(regressor, *rows, held_out=True).importances == found  # the same shuffle every time
