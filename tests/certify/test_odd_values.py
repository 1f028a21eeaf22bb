"""Every value of every JSON file of a folder replaced, dropped, doubled or renamed: both checkers say the same.

Hashes are made to fit again wherever they still can, so that the value itself is judged. One change in forty in the
usual tests, all of them in the slow ones.
"""

import contextlib
import copy
import hashlib
import json
import shutil

import pytest

from smilenn.certify import check, check_reference

ODD = [
    None, True, 0, 1, -1, 2, 255, 10**18, 1.0, 0.5, -0.0, 1e300, "", "1/0", "1e3", "-1", "1/3", "x0", "0" * 401, "a:b",
    "a\nb", "F64", [], [1], {}, {"a": 1},
]  # fmt: skip
NAMES = ["a:b", "a\nb", "", "../x", "backbone.x", "__metadata__"]


def places(value, path=()):
    """Paths of all values below."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def variants(document):
    """The document with one thing changed, and what was changed."""

    def changed(path):
        new = copy.deepcopy(document)
        where = new
        for key in path[:-1]:
            where = where[key]
        return new, where, path[-1]

    for path in places(document):
        for odd in ODD:
            new, where, key = changed(path)
            where[key] = odd
            yield (*path, repr(odd)), new
        new, where, key = changed(path)
        value = where.pop(key)
        yield (*path, "dropped"), new
        if isinstance(value, dict | list):
            new, where, key = changed(path)
            if isinstance(value, dict):
                where[key]["more"] = 1
            else:
                where[key] += where[key][:1] or [1]
            yield (*path, "more"), new
        for name in NAMES if isinstance(key, str) else ():
            new, where, key = changed(path)
            where[name] = where.pop(key)
            yield (*path, f"called {name!r}"), new


def fitting(corpus, files, model=None, content=None):
    """The files with hashes that fit, as far as there is anything to take them of."""
    model = json.loads(files["model.json"]) if model is None else model
    content = json.loads(files["certificate.json"]) if content is None else content
    with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
        header, data = corpus.forge.unpacked(files["weights.safetensors"])
        raw = {
            name: data[slice(*entry["data_offsets"])]
            for name, entry in header.items()
            if name != "__metadata__" and not name.startswith("backbone.") and ".module." not in name
        }
        content["model"] = corpus.c.model_digest(model["net"], raw)
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        for entry in content["claims"]:
            entry["claim_sha256"] = corpus.c.claim_digest(entry["claim"])
    return files | {"model.json": json.dumps(model).encode(), "certificate.json": json.dumps(content).encode()}


def documents(corpus, files, part):
    if part == "header":
        header, data = corpus.forge.unpacked(files["weights.safetensors"])
        for what, new in variants(header):
            yield what, fitting(corpus, files | {"weights.safetensors": corpus.forge.safetensors(new, data)})
    elif part == "manifest":
        body = json.loads(corpus.forge.manifest(files)["manifest.json"])
        del body["digest"]
        for what, new in variants(body):
            digest = hashlib.sha256(json.dumps(new, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
            yield what, files | {"manifest.json": json.dumps(new | {"digest": digest}).encode()}
    elif part == "model":
        for what, new in variants(json.loads(files["model.json"])):
            yield what, fitting(corpus, files, model=new)
    else:
        for what, new in variants(json.loads(files["certificate.json"])):
            yield what, fitting(corpus, files, content=new)


@pytest.mark.parametrize("step", [pytest.param(40, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "part",
    [
        "header", "manifest", "model", "certificate", "encoded header", "encoded model", "cases certificate",
        "lemmas certificate",
    ],
)  # fmt: skip
def test_both_checkers_judge_odd_values_alike(corpus, encoders, cased, lemmas, tmp_path, part, step):
    files, _, _ = corpus.small()
    if part == "cases certificate":
        files, part = cased.Cased(102).files, "certificate"  # certified, three splits, a row beside the clause
    if part == "lemmas certificate":
        files, part = lemmas.Lemmas(380).files, "certificate"  # certified, three lemmas, an extra row
    if part.startswith("encoded"):
        encoders.encoded_folder(tmp_path / "e", 78)  # all kinds of layers
        files, part = {name: (tmp_path / "e" / name).read_bytes() for name in check.FILES}, part.split()[1]
    seen = set()
    for what, changed in list(documents(corpus, files, part))[::step]:
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        corpus.put(tmp_path / "m", changed)
        for name in NAMES[:2]:  # files of these names exist
            (tmp_path / "m" / name).write_bytes(files["model.json"])
        fast, slow = check.check_folder(tmp_path / "m"), check_reference.check_folder(tmp_path / "m")
        assert fast.status == slow.status, (what, fast.reason, slow.reason)
        numbers = [[(r.bound, r.margin, r.rhs) for c in report.claims for r in c.rows] for report in (fast, slow)]
        assert numbers[0] == numbers[1], what
        seen.add(fast.status)
    assert ("unreadable" if part == "header" else "refused") in seen
