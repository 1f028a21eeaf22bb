"""`smile check --verified`: the proved checker beside the other one."""

import json

import pytest
from typer.testing import CliRunner

from smilenn.certify import verified
from smilenn.cli import app
from smilenn.errors import SmileError


@pytest.fixture(scope="module")
def model(order, tmp_path_factory):
    """A certified folder."""
    from smilenn.certify import check

    place = tmp_path_factory.mktemp("models")
    for seed in range(100):
        order.order_folder(place / f"{seed}", seed)
        if check.check_folder(place / f"{seed}").status == "certified":
            return place / f"{seed}"
    raise AssertionError("no such seed")


def run(*arguments):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


def fake(tmp_path, monkeypatch, output, code):
    """A program in place of the proved checker that prints and ends as told."""
    program = tmp_path / "fake"
    (tmp_path / "output").write_text(output, encoding="utf-8")
    program.write_text(f"#!/bin/sh\ncat '{tmp_path}/output'\nexit {code}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(verified, "BUILT", program)


def test_certified(smilecheck, model):
    done = run(model, "--verified")
    assert done.exit_code == 0
    assert "The proved checker certifies it too." in done.output


def test_json(smilecheck, model):
    done = run(model, "--verified", "--json")
    assert json.loads(done.output)["verified"] == {"status": "certified", "reason": ""}


@pytest.mark.parametrize(("status", "code"), [("unknown", 3), ("refused", 1), ("unreadable", 2)])
@pytest.mark.parametrize("option", [(), ("--quiet",)])
def test_not_certified_by_the_proved_checker(model, tmp_path, monkeypatch, status, code, option):
    """The exit code is not 0 then, whatever the other checker found, and the reason is said."""
    fake(tmp_path, monkeypatch, json.dumps({"status": status, "reason": "not covered by the proof: this"}), code)
    done = run(model, "--verified", *option)
    assert done.exit_code == code
    assert "The proved checker does not certify it: not covered by the proof: this." in done.output


@pytest.mark.parametrize(
    ("output", "code"), [('{"status": "certified", "reason": ""}', 1), ("", 0), ("[]", 0), ("{}", 3)]
)
def test_a_crash_is_no_answer(model, tmp_path, monkeypatch, output, code):
    fake(tmp_path, monkeypatch, output, code)
    with pytest.raises(SmileError, match="no finding"):
        verified.run(model)


def test_not_asked_about_what_is_refused(forge2, model, tmp_path, monkeypatch):
    """The program is not started on a folder that the other checker refuses."""
    files = forge2.read(model)
    files["certificate.bin"] += b"x"
    folder = forge2.put(tmp_path / "m", files)
    monkeypatch.setattr(verified, "BUILT", tmp_path / "nothing")
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run(folder, "--verified", "--json")
    assert done.exit_code == 1
    assert "verified" not in json.loads(done.output)


def test_not_built(model, tmp_path, monkeypatch):
    monkeypatch.setattr(verified, "BUILT", tmp_path / "nothing")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SmileError, match="make verified"):
        verified.run(model)
