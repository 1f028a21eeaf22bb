"""Every number on the page of a pack is followed to the file it names."""

import json
import re
from html.parser import HTMLParser

import pytest

from smilenn.report.svg import number

DIGIT = re.compile(r"\d")
QUIET = {"style", "title", "script"}


class Read(HTMLParser):
    """The texts of a page: those with a file and a place, and all others."""

    def __init__(self, page):
        super().__init__()
        self.stack, self.named, self.others, self.links = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in ("meta", "link", "br"):
            return
        if tag == "a":
            self.links.append(found["href"])
        self.stack.append((tag, found, []))

    def handle_data(self, data):
        if self.stack:
            self.stack[-1][2].append(data)

    def handle_endtag(self, tag):
        name, found, texts = self.stack.pop()
        assert name == tag
        if name in QUIET:
            return
        if "data-file" in found:
            self.named.append((found, "".join(texts)))
        else:
            self.others.append("".join(texts))


def value_at(folder, file, pointer):
    data = (folder / file).read_text("utf-8")
    if not file.endswith(".json"):
        assert pointer == ""
        return data
    value = json.loads(data)
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def shown(value, found):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, int(found["data-digits"])) if isinstance(value, (int, float)) else str(value)


def faults(folder, page):
    """What on a page does not follow from the files it names, and digits that name none."""
    read = Read(page)
    out = [text for text in read.others if DIGIT.search(text)]
    for found, said in read.named:
        expected = shown(value_at(folder, found["data-file"], found["data-at"]), found)
        if said.rstrip("\n") != expected.rstrip("\n"):
            out.append((found, said, expected))
        if "value" in found and float(found["value"]) != value_at(folder, found["data-file"], found["data-at"]):
            out.append((found, "value"))
    return out


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_every_number_is_that_of_the_file_it_names(packs, name):
    folder = packs[name]
    page = (folder / "index.html").read_text("utf-8")
    assert faults(folder, page) == []
    read = Read(page)
    assert len([found for found, _ in read.named if "data-digits" in found]) > 150
    files = {found["data-file"] for found, _ in read.named}
    assert files >= {path.name for path in folder.iterdir() if path.suffix in (".json", ".txt")} - {
        "manifest.json",
        "signature.json",
    }


def test_the_test_notices_a_number_from_nowhere_and_a_wrong_one(packs):
    folder = packs["regressor"]
    page = (folder / "index.html").read_text("utf-8")
    assert faults(folder, page.replace("<h2>Limits</h2>", "<h2>Limits, 3 of them</h2>"))
    assert faults(folder, re.sub(r'value="[0-9.e-]+">[0-9.]+<', 'value="17.0">17<', page, count=1))


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_the_page_fetches_nothing_and_its_links_lead_to_files_of_the_pack(packs, name):
    page = (packs[name] / "index.html").read_text("utf-8")
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page and "url(" not in page
    assert all((packs[name] / link).is_file() for link in Read(page).links)


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_the_map_supports_and_claims_no_more(packs, name):
    page = (packs[name] / "index.html").read_text("utf-8")
    found = json.loads((packs[name] / "clauses.json").read_text("utf-8"))
    assert {clause["source"] for clause in found["clauses"]} == {"SR 26-2", "EU AI Act, Annex IV"}
    assert all((packs[name] / file).is_file() for clause in found["clauses"] for file in clause["supports"])
    assert not re.search(r"compl(y|ies|iant)|conforms", page)
    assert not re.search(r"\b(19|20)\d\d\b", json.dumps(found).replace("2024/1689", ""))  # no legal date
