"""What `smile pack` writes, refuses and leaves behind."""

import json
import shutil
import signal
import sys
import time

import numpy as np
import pandas as pd
import pytest
from tests.forked import COMMAND, Forked
from tests.pack.conftest import smile

import smilenn
from smilenn.certify.signing import public_key
from smilenn.certify.verdicts import inspect
from smilenn.cli.checking import held_against
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import dump_json
from smilenn.pack import checkers
from smilenn.pack.checkers import Checker, Running
from smilenn.pack.gather import copy_of
from smilenn.pack.manifest import read_pack, write_pack
from smilenn.pack.monitoring import FALSE_ALARMS, WINDOW, monitoring, psi, shares
from smilenn.report.findings import gather
from smilenn.verdict import Proved, Rejected


def read(folder, name):
    return json.loads((folder / name).read_text("utf-8"))


def test_the_checkers_have_run_and_their_words_are_kept(packs):
    for folder in packs.values():
        found = {one["name"]: one for one in read(folder, "checkers.json")}
        assert set(found) == {"fast", "reference", "proved"}
        assert found["fast"]["status"] == found["reference"]["status"] == "certified"
        assert found["proved"]["status"] in ("certified", "not built", "not covered")
        for one in found.values():
            if one["output"] is not None:
                words = "not covered" if one["status"] == "not covered" else "certified"
                assert words in (folder / one["output"]).read_text("utf-8").lower()
        assert found["fast"]["sha256"] != found["reference"]["sha256"]
        assert smilenn.check(folder / "model").status == "proved"
        statement = smilenn.load(folder / "model").certificate_.statement
        assert (folder / "statement.txt").read_text("utf-8").strip() == statement.strip()


def test_the_profile_counts_missing_and_outside(packs):
    columns = {column["name"]: column for column in read(packs["classifier"], "profile.json")["columns"]}
    assert columns["income"]["missing"] == 1 / 90 and columns["income"]["outside"] == 0
    profile = read(packs["regressor"], "profile.json")
    columns = {column["name"]: column for column in profile["columns"]}
    frame = pd.read_csv(packs["regressor"].parent / "numbers.csv")
    domain = smilenn.load(packs["regressor"] / "model").domain_
    share = float((frame["income"] > domain.feature("income").hi).mean())
    assert 0 < columns["income"]["outside"] == profile["outside"] == share
    assert columns["income"]["found"]["max"] == frame["income"].max()
    region = {value["value"]: value["rows"] for value in columns["region"]["values"]}
    assert region == frame["region"].value_counts().to_dict()


def test_quality_is_that_of_predict_with_groups(packs):
    folder = packs["classifier"]
    model, frame = smilenn.load(folder / "model"), pd.read_csv(folder.parent / "labels.csv")
    right = model.predict(frame.drop(columns="loan")) == frame["loan"].to_numpy()
    found = read(folder, "quality.json")
    assert found["metrics"][0]["name"] == "accuracy"
    assert found["metrics"][0]["model"]["value"] == pytest.approx(right.mean())
    assert found["metrics"][0]["model"]["low"] < right.mean() <= found["metrics"][0]["model"]["high"]
    for group in found["groups"]:
        if group["feature"] == "race":
            assert group["quality"]["value"] == pytest.approx(right[frame["race"] == group["value"]].mean())
    rates = {(one["feature"], one["value"]): one for one in found["decisions"]["groups"]}
    said = model.predict(frame.drop(columns="loan")) == "yes"
    some = (frame["race"] == "a").to_numpy()
    assert rates["race", "a"]["predicted"]["value"] == pytest.approx(said[some].mean())
    wrong = said[some & (frame["loan"] == "no").to_numpy()].mean()
    assert rates["race", "a"]["false_positive"]["value"] == pytest.approx(wrong)


def test_sensitivity_shows_what_is_proved_and_breaks_no_rule(packs):
    for folder in packs.values():
        found = read(folder, "sensitivity.json")
        ups = [c for c in found["changes"] if c["feature"] == "income" and c["change"][0] == "+"]
        assert len(ups) == 2 and all(c["outputs"][0]["p5"] >= 0 for c in ups)
        proved = {d["feature"]: d["proved"] for d in found["directions"]}
        output = "the log-odds of 'loan' = 'yes'" if folder == packs["classifier"] else "the predicted 'score'"
        assert proved["income"] == f"moving it up never lowers {output}" and proved["years"] is None
        assert all(rule["certified"] and rule["found"] <= rule["bound"] for rule in found["rules"])


def test_alarms_are_rare_where_nothing_changes_and_certain_where_much_does(place):
    model = smilenn.load(place / "regressor")
    rng = np.random.default_rng(1)

    def drawn(n, shift=0.0):
        return pd.DataFrame(
            {
                "income": rng.uniform(10, 100, n) + shift,
                "years": rng.integers(0, 30, n),
                "member": rng.integers(0, 2, n),
                "region": rng.choice(["north", "south", "east"], n),
                "race": rng.choice(["a", "b"], n),
            }
        )

    base = drawn(2000)
    plan = monitoring(gather(model, base, model.predict(base) + rng.normal(size=2000)), model.read_rows(base), "0")
    income = next(entry for entry in plan["drift"] if entry["column"] == "income")

    def index(frame):
        counts = np.bincount(np.searchsorted(income["edges"], frame["income"], side="left"), minlength=10)
        return psi(np.array(income["shares"]), shares(counts))

    false = sum(index(drawn(WINDOW)) > income["alarm"] for _ in range(400))
    assert false <= 400 * FALSE_ALARMS * 4
    assert index(drawn(WINDOW, shift=15)) > income["alarm"]
    outside = plan["outside"][0]
    assert outside["column"] == "any column" and outside["share"] <= outside["alarm"] < 0.1


def test_a_signed_pack_is_verified_and_any_change_is_noticed(packs, place, tmp_path):
    folder, key = packs["classifier"], public_key(place / "key.pem")
    code, out, _ = smile("check", folder, "--key", key)
    assert code == 0 and "fit their hashes and are signed by this key" in out and "Certified" in out
    assert read_pack(folder, key)
    code, _, err = smile("check", packs["regressor"], "--key", key)
    assert code == 1 and "is not signed" in err
    for name in ("quality.json", "model/weights.safetensors", "index.html"):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        data = bytearray((copy / name).read_bytes())
        data[len(data) // 2] ^= 1
        (copy / name).write_bytes(bytes(data))
        code, _, err = smile("check", copy)
        assert code == 1 and "its hash differs" in err and len(err.strip().splitlines()) == 1
        shutil.rmtree(copy)
    shutil.copytree(folder, tmp_path / "more")
    (tmp_path / "more" / "note.txt").write_text("x")
    with pytest.raises(AlteredError, match="does not list"):
        read_pack(tmp_path / "more")
    (tmp_path / "more" / "note.txt").unlink()
    manifest = read(tmp_path / "more", "manifest.json")
    manifest["files"]["../outside.txt"] = manifest["files"].pop("quality.json")
    (tmp_path / "more" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(AlteredError, match="is not the file that was written"):
        read_pack(tmp_path / "more")


def _another_model(files, place):
    own = {name: data for name, data in files.items() if not name.startswith("model/")}
    return own | copy_of(place / "regressor")


def _another_rule(files, place):
    said = json.loads(files["pack.json"])
    said["rules"][0]["rule"] = said["rules"][0]["rule"].replace("'income'", "'debt'")
    return files | {"pack.json": dump_json(said)}


FORGED = {
    "statement.txt": lambda files, place: (
        files | {"statement.txt": files["statement.txt"].replace(b"Raising 'income'", b"Raising 'debt'")}
    ),
    "index.html": lambda files, place: (
        files | {"index.html": files["index.html"].replace(b"Raising", b"Lowering or raising")}
    ),
    "pack.json has other rules": _another_rule,
    "is not the statement": _another_model,
}


@pytest.mark.parametrize("words", FORGED)
def test_a_pack_that_says_something_else_than_its_certificate_is_rejected(packs, place, tmp_path, words):
    files = read_pack(packs["classifier"])
    forged = FORGED[words](files, place)
    assert forged != files
    write_pack(tmp_path / "pack", forged, None)  # every hash fits
    code, out, err = smile("check", tmp_path / "pack")
    assert code != 0 and words in out + err and "Certified, checked" not in out


def test_what_a_check_leaves_to_the_writer_of_a_pack_is_said(packs, tmp_path):
    """Whoever calls a pack one of another version can write its page, and the check called it whole and certified."""
    files = read_pack(packs["classifier"])
    said = json.loads(files["pack.json"]) | {"by": "smilenn 0.0.1"}
    write_pack(tmp_path / "pack", files | {"pack.json": dump_json(said), "index.html": b"All is proved."}, None)
    _, out, _ = smile("check", tmp_path / "pack")
    assert "Not checked: measurements" in out and "index.html, which another version wrote" in out
    _, out, _ = smile("check", tmp_path / "pack", "--json")
    assert "index.html" in json.loads(out)["pack"]
    _, out, _ = smile("check", packs["classifier"])
    assert "what other checkers found." in out and "index.html" not in out


def test_a_model_exchanged_after_its_pack_was_read_is_rejected(packs, place):
    found = inspect(packs["regressor"] / "model")
    assert isinstance(held_against(read_pack(packs["regressor"]), found).verdict, Proved)
    assert isinstance(held_against(read_pack(packs["classifier"]), found).verdict, Rejected)


def test_a_signature_of_a_pack_is_none_of_a_model(packs, place, tmp_path):
    shutil.copytree(packs["classifier"], tmp_path / "copy")
    model = tmp_path / "copy" / "model"
    shutil.copy(tmp_path / "copy" / "signature.json", model / "signature.json")
    code, out, _ = smile("check", model, "--key", public_key(place / "key.pem"))
    assert code == 1 and "does not fit" in out


def test_an_existing_pack_is_replaced_and_nothing_else(packs, place, tmp_path):
    write_pack(tmp_path / "new", {"a.txt": b"1"}, None)
    write_pack(tmp_path / "new", {"b.txt": b"2"}, None)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["b.txt", "manifest.json"]
    (tmp_path / "new" / "mine.txt").write_text("keep")
    with pytest.raises(SmileError, match=r"'mine\.txt', which is not part of the pack"):
        write_pack(tmp_path / "new", {"c.txt": b"3"}, None)
    assert (tmp_path / "new" / "b.txt").exists()


def refused(place, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    lacking = tmp_path / "lacking.csv"
    pd.read_csv(place / "labels.csv").drop(columns="loan").to_csv(lacking, index=False)
    model, rows, new = place / "classifier", place / "labels.csv", tmp_path / "new"
    return [
        ((tmp_path / "none", "--data", rows, "--out", new), "There is no model folder"),
        ((model, "--data", tmp_path / "none.csv", "--out", new), "There is no file"),
        ((model, "--data", "-", "--out", new), "give --data a file instead of the standard input"),
        ((model, "--data", rows, "--out", tmp_path / "full"), "exists and is not a validation pack"),
        ((model, "--data", rows, "--out", model), "exists and is not a validation pack"),
        ((model, "--data", rows, "--out", rows), "is a file; name a folder"),
        ((model, "--data", rows, "--out", model / "pack"), "lies in the model folder"),
        ((model, "--data", rows, "--out", new, "--key", tmp_path / "none.pem"), "cannot be read"),
        ((model, "--data", rows, "--out", new, "--references"), "--references are trained on the rows of `smile fit`"),
        ((model, "--data", lacking, "--out", new), "has no target column"),
        ((model, "--data", place / "numbers.csv", "--out", new), "has no target column"),
    ]


def test_bad_input_gets_one_sentence_and_nothing_is_written(place, tmp_path):
    for arguments, said in refused(place, tmp_path):
        before = sorted(tmp_path.iterdir())
        code, _, err = smile("pack", *arguments)
        assert code == 2 and said in err and err.startswith("smile: "), (arguments, err)
        assert len(err.strip().splitlines()) == 1, err
        assert sorted(tmp_path.iterdir()) == before
    assert not (place / "classifier" / "pack").exists()


def test_a_request_to_terminate_leaves_nothing_behind(place, tmp_path):
    options = ("--data", place / "numbers.csv", "--out", tmp_path / "new")
    with Forked(COMMAND, "pack", place / "regressor", *options) as process:
        for line in process.stderr:
            if line.startswith("pack"):
                break
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    if process.poll() == 0:  # it was faster than the signal
        assert read_pack(tmp_path / "new")
    else:
        assert process.poll() == 130 and "nothing was written" in err
        assert list(tmp_path.iterdir()) == []


def given(monkeypatch, **commands):
    found = tuple(Checker(name, (sys.executable, "-c", text), (), "") for name, text in commands.items())
    monkeypatch.setattr(checkers, "checkers", lambda: found)


def test_what_the_proof_does_not_cover_is_no_disagreement(monkeypatch, tmp_path):
    words = "print('unknown: not covered by the proof: a layer'); raise SystemExit(3)"
    given(monkeypatch, fast="raise SystemExit(0)", proved=words)
    with checkers.Running(tmp_path, 60) as running:
        records, _ = running.result()
    assert [record["status"] for record in records] == ["certified", "not covered"]
    given(monkeypatch, fast="raise SystemExit(0)", reference=words)  # of the others it is one
    with pytest.raises(AlteredError, match="disagree"), checkers.Running(tmp_path, 60) as running:
        running.result()


def test_checkers_that_disagree_end_the_pack(monkeypatch, tmp_path):
    given(monkeypatch, one="raise SystemExit(0)", two="raise SystemExit(3)")
    with (
        pytest.raises(AlteredError, match=r"The checkers disagree on .* \(one: certified, two: unknown\)"),
        Running(tmp_path, 60) as running,
    ):
        running.result()


def test_a_checker_that_crashes_or_takes_too_long(monkeypatch, tmp_path):
    given(monkeypatch, one="raise SystemExit(77)")
    with pytest.raises(SmileError, match="ended with code 77 and no finding"), Running(tmp_path, 60) as running:
        running.result()
    given(monkeypatch, one="import time; time.sleep(600)", two="print('certified')")
    with Running(tmp_path, 1) as running:
        records, printed = running.result()
    assert [one["status"] for one in records] == ["out of time", "certified"]
    assert printed == {"checker-two.txt": "certified\n"}


def test_leaving_ends_a_checker_that_still_runs(monkeypatch, tmp_path):
    given(monkeypatch, one=f"import time, pathlib; time.sleep(600); pathlib.Path({str(tmp_path / 'ran')!r}).touch()")
    with pytest.raises(ZeroDivisionError), Running(tmp_path, 600) as running:
        while running._process is None:
            time.sleep(0.01)
        raise ZeroDivisionError
    assert running._process.wait(timeout=30) != 0
