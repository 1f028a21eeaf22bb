"""Every value of every JSON file of a folder replaced, dropped, doubled or renamed: both checkers say the same.

Hashes are made to fit again wherever they still can, so that the value itself is judged. One change in eighty in the
usual tests, all of them in the slow ones.
"""

import contextlib
import copy
import json
import shutil
from functools import partial
from itertools import islice

import pytest

from smilenn.certify import check
from smilenn.certify.reference import check as check_reference

ODD = [
    None,
    True,
    0,
    1,
    -1,
    2,
    255,
    10**18,
    10**350,
    1.0,
    0.5,
    -0.0,
    1e300,
    "",
    "1/0",
    "1e3",
    "-1",
    "1/3",
    "x0",
    "0" * 401,
    "a:b",
    "a\nb",
    "F64",
    [],
    [1],
    {},
    {"a": 1},
]
NAMES = ["a:b", "a\nb", "", "../x", "backbone.x", "__metadata__"]


def places(value, path=()):
    """Paths of all values below, with the values."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key), inner
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def variants(document, step=1):
    """The document with one thing changed, and what was changed: every `step`-th change of all."""
    return (made() for made in islice(_changes(document), 0, None, step))


def _changes(document):
    """Functions, each of which makes one variant: most of them are never asked for where `step` is large."""

    def changed(path):
        new = copy.deepcopy(document)
        where = new
        for key in path[:-1]:
            where = where[key]
        return new, where, path[-1]

    def replaced(path, odd):
        new, where, key = changed(path)
        where[key] = odd
        return (*path, repr(odd)), new

    def dropped(path):
        new, where, key = changed(path)
        del where[key]
        return (*path, "dropped"), new

    def longer(path):
        new, where, key = changed(path)
        if isinstance(where[key], dict):
            where[key]["more"] = 1
        else:
            where[key] += where[key][:1] or [1]
        return (*path, "more"), new

    def renamed(path, name):
        new, where, key = changed(path)
        where[name] = where.pop(key)
        return (*path, f"called {name!r}"), new

    for path, value in places(document):
        yield from (partial(replaced, path, odd) for odd in ODD)
        yield partial(dropped, path)
        if isinstance(value, dict | list):
            yield partial(longer, path)
        if isinstance(path[-1], str):
            yield from (partial(renamed, path, name) for name in NAMES)


def fitting(corpus, files, **documents):
    """The files with some JSON files replaced and hashes that fit, as far as there is anything to take them of."""
    f2 = corpus.forge.forge2
    out = files | {name: json.dumps(document).encode() for name, document in documents.items()}
    content = json.loads(out["certificate.json"])
    with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError):
        content["model"] = f2.model_digest(out, 2)
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        for entry in content["claims"]:
            entry["claim_sha256"] = f2.claim_digest(entry["claim"], 2)
    return out | {"certificate.json": json.dumps(content).encode()}


def documents(corpus, files, part, step):
    if part == "header":
        header, data = corpus.forge.unpacked(files["weights.safetensors"])
        for what, new in variants(header, step):
            yield what, fitting(corpus, files | {"weights.safetensors": corpus.forge.safetensors(new, data)})
    elif part == "manifest":
        body = json.loads(corpus.forge.manifest(files)["manifest.json"])
        for what, new in variants(body, step):
            digest = body["digest"] == new.get("digest")  # one that fits, unless it was changed itself
            right = {"digest": corpus.forge.forge2.manifest_digest(new.get("files"))} if digest else {}
            yield what, files | {"manifest.json": json.dumps(new | right).encode()}
    else:
        for what, new in variants(json.loads(files[f"{part}.json"]), step):
            yield what, fitting(corpus, files, **{f"{part}.json": new})


def stated(corpus, files):
    """The files with rooms, a table and properties.json."""
    claims = [entry["claim"] for entry in json.loads(files["certificate.json"])["claims"]]
    table = {"meaning": ["price"], "columns": [[1, 0.5, None, True, "text"]]}
    rooms = [["1/1000000000"] * corpus.forge.forge2.row_count(claim) for claim in claims]
    out = corpus.forge.forge2.as_version_2(files, rooms=rooms, table=table, properties=True)
    short = {"claims": json.loads(out["properties.json"])["claims"], "properties": [{"kind": "fair"}]}
    return out | {"properties.json": json.dumps(short).encode()}


@pytest.mark.parametrize("step", [pytest.param(80, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "part",
    [
        "header",
        "manifest",
        "model",
        "certificate",
        "properties",
        "encoded header",
        "encoded model",
        "cases certificate",
        "lemmas certificate",
    ],
)
def test_both_checkers_judge_odd_values_alike(corpus, encoders, cased, lemmas, tmp_path, part, step):
    files = stated(corpus, corpus.small()[0])
    if part == "cases certificate":
        files, part = cased.Cased(102).files, "certificate"  # certified, three splits, a row beside the clause
    if part == "lemmas certificate":
        files, part = lemmas.Lemmas(380).files, "certificate"  # certified, three lemmas, an extra row
    if part.startswith("encoded"):
        encoders.encoded_folder(tmp_path / "e", 78)  # all kinds of layers
        files, part = {name: (tmp_path / "e" / name).read_bytes() for name in check.FILES}, part.split()[1]
    seen = set()
    for what, changed in documents(corpus, files, part, step):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        corpus.put(tmp_path / "m", changed)
        for name in NAMES[:2]:  # files of these names exist
            (tmp_path / "m" / name).write_bytes(files["model.json"])
        fast, slow = check.check_folder(tmp_path / "m"), check_reference.check_folder(tmp_path / "m")
        assert fast.status == slow.status, (what, fast.reason, slow.reason)
        numbers = [
            [(r.bound, r.margin, r.rhs, r.room, r.holds) for c in report.claims for r in c.rows]
            for report in (fast, slow)
        ]
        assert numbers[0] == numbers[1] and fast.meaning == slow.meaning, what
        seen.add(fast.status)
    assert ("unreadable" if part == "header" else "refused") in seen
