"""Version 2 of the certificate in the reference checker: bounds as in version 1, the table, digests, versions."""

import hashlib
import json
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest

from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import encoding as exact_encoding
from smilenn.certify.reference import strict
from smilenn.certify.reference.check import check_folder

F = Fraction
HERE = Path(__file__).resolve().parent


@pytest.fixture
def checked(put2):
    """Write files as a folder, with changes of its manifest, and check it."""
    return lambda files, changes=None: check_folder(put2(files, changes))


def small(forge2, **more):
    """A certified folder of version 2."""
    return forge2.as_version_2(forge2.small_files(), **more)


# ---- the same bounds as in version 1 --------------------------------------------------------------------------------


def said(report):
    return report.status, report.profile, report.domain, report.claims


def test_random_folders_of_both_versions(folders, forge2, tmp_path):
    seen = set()
    for seed in range(40):
        files = forge2.read(folders.random_folder(tmp_path / "made", seed, profile="any").folder)
        files = {
            name: files[name] for name in ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")
        }
        one = check_folder(forge2.put(tmp_path / f"1-{seed}", forge2.as_version_1(files)))
        two = check_folder(forge2.put(tmp_path / f"2-{seed}", forge2.as_version_2(files, properties=True)))
        assert said(one) == said(two) and one.reason == two.reason, (one.reason, two.reason)
        assert not one.claims or (one.version, two.version) == (1, 2)
        seen |= {row.rule for claim in two.claims for row in claim.rows}
    assert {"leaf", "sweep", "slope"} <= seen


def test_random_folders_with_encoders(encoders, forge2, tmp_path):
    """Version 1 refuses those with pinned modules, and those only."""
    refused = checked = 0
    for seed in range(60):
        encoders.encoded_folder(tmp_path / "made", seed)
        files = forge2.read(tmp_path / "made")
        one = check_folder(forge2.put(tmp_path / f"1-{seed}", forge2.as_version_1(files)))
        two = check_folder(forge2.put(tmp_path / f"2-{seed}", forge2.as_version_2(files)))
        if forge2.pinned_modules(json.loads(files["model.json"])["net"]["encoder"]):
            assert one.status == "refused" and ("pinned" in one.reason or one.reason == two.reason)
            refused += two.status in ("certified", "unknown")
        else:
            assert said(one) == said(two) and one.reason == two.reason
            checked += two.status in ("certified", "unknown")
    assert refused > 2 and checked > 10


def test_the_corpus_in_version_2(forge2, tmp_path):
    """Folders that version 1 now refuses give what they gave, and so does every tenth of the others."""
    index = json.loads((HERE / "corpus" / "index.json").read_text(encoding="utf-8"))
    changes = json.loads((HERE / "corpus" / "changes.json").read_text(encoding="utf-8"))
    good = [name for name, entry in index.items() if entry["status"] in ("certified", "unknown")]
    with tarfile.open(HERE / "corpus" / "folders.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for name in {*changes, *good[::10]}:
        files = forge2.read(tmp_path / name)
        kept = {key: files[key] for key in ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")}
        report = check_folder(forge2.put(tmp_path / "two" / name, forge2.as_version_2(kept)))
        rows = [[(r.rule, r.bound, r.margin, r.rhs) for r in claim.rows] for claim in report.claims]
        wanted = [[(r[0], *map(F, r[1:])) for r in claim] for claim in index[name]["claims"]]
        assert (report.status, report.version, rows) == (index[name]["status"], 2, wanted), (name, report.reason)


# ---- the table ------------------------------------------------------------------------------------------------------


def test_the_meaning_is_shown(forge2, checked, tmp_path, capsys):
    files = small(forge2, table={"meaning": ['log-odds of "yes"\x1b'], "else": [1.5, None]})
    report = checked(files)
    assert report.status == "certified" and report.meaning == ('log-odds of "yes"\x1b',)
    assert check_reference.main([str(forge2.put(tmp_path / "m", files))]) == 0
    text = capsys.readouterr().out
    assert '"log-odds of \\"yes\\"\\u001b"' in text and "version 2" in text and "\x1b" not in text
    for table in ({}, {"other": 1}):
        assert checked(small(forge2, table=table)).meaning == ()


@pytest.mark.parametrize(
    "table",
    [
        {"meaning": "text"},
        {"meaning": []},
        {"meaning": ["a", "b"]},
        {"meaning": [1]},
        {"meaning": None},
        [],
        "table",
        0,
        False,
    ],
)
def test_tables_that_make_no_sense(forge2, checked, table):
    assert checked(small(forge2, table=table)).status == "refused"


def test_a_table_of_null_is_no_object(forge2, checked):
    files = forge2.edited(small(forge2), "model.json", lambda m: m.update(table=None))
    assert checked(files).status == "refused"


def test_any_change_of_the_table_is_noticed(forge2, checked):
    files = small(forge2, table={"meaning": ["price"], "scale": 1.0, "columns": ["a", "b"]})
    for change in (
        lambda m: m["table"].update(meaning=["cost"]),
        lambda m: m["table"].update(scale=1),
        lambda m: m["table"].update(scale=-1.0),
        lambda m: m["table"].update(columns=["b", "a"]),
        lambda m: m["table"].update(more=0),
        lambda m: m.pop("table"),
    ):
        report = checked(forge2.edited(files, "model.json", change))
        assert report.status == "refused" and "another network" in report.reason
    assert checked(forge2.edited(files, "model.json", lambda m: m.update(other=1))).status == "certified"


def test_version_1_does_not_look_at_the_table(forge2, checked):
    report = checked(forge2.edited(forge2.as_version_1(small(forge2)), "model.json", lambda m: m.update(table=7)))
    assert report.status == "certified" and report.version == 1 and report.meaning == ()


# ---- digests --------------------------------------------------------------------------------------------------------


def test_encodings():
    """The table of section 6, byte by byte."""
    value = strict.parse_json(
        b'{"b": [null, true, false, 0, -0, -12, 1.0, -0.0, 0.0, 1e2, 5e-324], "a\xc3\xa9": "\xe2\x82\xac\\n", "a": {}}',
        "it",
    )
    assert exact_encoding.encoding(value) == (
        b"{s1:a{}s3:a\xc3\xa9s4:\xe2\x82\xac\ns1:b[ntfi0;i0;i-12;d3ff0000000000000d8000000000000000d0000000000000000"
        b"d4059000000000000d0000000000000001]}"
    )
    # by bytes of UTF-8, not by code units of UTF-16
    assert exact_encoding.encoding({"\U0001f600": 1, "\uffff": 2}).startswith(b"{s3:\xef\xbf\xbf")
    for text in ("\ud800", "a\udfff"):
        for value in (text, [text], {text: 1}, {"a": text}):
            with pytest.raises(strict.Refused, match="surrogate"):
                exact_encoding.encoding(value)


def test_the_sign_of_zero_is_part_of_the_digest(forge2, checked):
    for lo in ("0.0", "-0.0"):
        files = small(forge2)
        text = files["model.json"].replace(b'"lo": 0.0', f'"lo": {lo}'.encode())
        assert (checked(files | {"model.json": text}).status == "certified") == (lo == "0.0")
        again = forge2.rehashed(files | {"model.json": text})
        assert checked(again).status == "certified"
    for change in (0, -0.0):
        other = forge2.edited(
            small(forge2), "certificate.json", lambda c, v=change: c["claims"][0]["claim"].update(copies=v)
        )
        assert checked(other).status == "refused"


def test_any_change_of_the_certified_part_is_noticed(forge2, checked):
    files = small(forge2)
    assert checked(files).status == "certified"
    for change in (
        lambda m: m["net"].update(hidden=1),
        lambda m: m["net"]["domain"]["features"][0].update(hi=0.5),
        lambda m: m["net"]["domain"]["features"][0].update(unit="m"),
        lambda m: m["net"].update(outputs=["z"]),
    ):
        assert "another network" in checked(forge2.edited(files, "model.json", change)).reason
    assert checked(forge2.edited(files, "model.json", lambda m: m["net"].update(backbone=[1]))).status == "certified"
    moved = files | {"weights.safetensors": forge2.small_weights({"lower.slope": [[0.5]]})}
    assert "another network" in checked(moved).reason and checked(forge2.rehashed(moved)).status == "certified"
    turned = files | {"weights.safetensors": forge2.small_weights({"head_bias": [-0.0]})}
    assert "another network" in checked(turned).reason
    for name in ("model", "proofs_sha256"):
        for value in ("0" * 64, "", None, 0):
            assert (
                checked(forge2.edited(files, "certificate.json", lambda c, n=name, v=value: c.update({n: v}))).status
                == "refused"
            )


def test_claims_have_digests_without_their_sentences(forge2, checked):
    files = small(forge2)

    def changed(change):
        return checked(forge2.edited(files, "certificate.json", lambda c: change(c["claims"][0])))

    report = changed(lambda e: e["claim"].update(sentence="Anything."))
    assert report.status == "certified" and report.claims[0].sentence == "Anything."
    assert changed(lambda e: e["claim"]["then"][0].update(rhs="3")).status == "refused"
    assert changed(lambda e: e.update(claim_sha256=forge2.claim_digest(e["claim"], 1))).status == "refused"
    assert changed(lambda e: e["claim"].pop("sentence")).status == "refused"
    assert changed(lambda e: e["claim"].update(sentence=1)).status == "refused"


# ---- versions -------------------------------------------------------------------------------------------------------


def test_versions_go_together(forge2, checked):
    one, two = forge2.as_version_1(small(forge2)), small(forge2)
    assert checked(one).status == checked(two).status == "certified"
    for files, version in ((one, 2), (two, 1)):  # the manifest of the other version, with a digest that fits
        report = checked(files, json.loads(forge2.manifest(files, version)))
        assert report.status == "refused" and "version" in report.reason
    for version in (0, 3, "2", 2.0, True, None, [2]):
        manifest = json.loads(forge2.manifest(two, 2))
        other = forge2.edited(two, "certificate.json", lambda c, v=version: c.update(version=v))
        assert checked(other, json.loads(forge2.manifest(other, 2))).status == "refused"
        assert checked(two, manifest | {"version": version}).status == "refused"


def test_keys_of_the_other_version(forge2, checked):
    one, two = forge2.as_version_1(small(forge2)), small(forge2)
    for change in (
        lambda c: c.update(weights=c["model"]),
        lambda c: c.update(weights=c.pop("model")),
        lambda c: c.update(extra=1),
        lambda c: c["claims"][0].pop("room"),
        lambda c: c["claims"][0].update(more=[]),
    ):
        assert checked(forge2.edited(two, "certificate.json", change)).status == "refused"
    for change in (
        lambda c: c.update(model=c["weights"]),
        lambda c: c["claims"][0].update(room=["0"]),
    ):
        assert checked(forge2.edited(one, "certificate.json", change)).status == "refused"


def test_a_report_says_that_it_is_of_version_1(forge2, tmp_path, capsys):
    folder = forge2.put(tmp_path / "m", forge2.as_version_1(small(forge2)))
    assert check_reference.main([str(folder)]) == 0 and "Format: version 1" in capsys.readouterr().out
    assert check_folder(folder).certificate == hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest()
