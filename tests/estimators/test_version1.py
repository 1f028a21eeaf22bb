"""Folders that 0.1 wrote: read as they are, proved as far as they check today, unknown where pinned modules take part.

`version1` holds a model without encoder, one with a pinned module and a clamp, saved by 0.1 and certified there.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import smilenn
from smilenn.certify import check
from smilenn.certify.reference import check as reference
from smilenn.cli import app
from smilenn.cli.words import judgement_text
from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedRegressor
from smilenn.report.card import card
from smilenn.report.findings import gather
from smilenn.report.html import page

HERE = Path(__file__).parent / "version1"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    columns = {"income": rng.uniform(1, 9, 120), "age": rng.uniform(18, 90, 120), "sex": rng.integers(0, 2, 120)}
    frame = pd.DataFrame(columns)
    return frame, (frame.income + 0.02 * (frame.age - 50)).rename("score")


def module():
    return torch.nn.Sequential(torch.nn.Linear(2, 9), torch.nn.ReLU(), torch.nn.Linear(9, 3))


def test_a_model_of_version_1_is_proved_again_and_marked(data, tmp_path):
    for checker in (check, reference):
        report = checker.check_folder(HERE / "plain")
        assert report.status == "certified" and report.version == 1
    assert "version 1" in check.check_folder(HERE / "plain").lines()[0]
    model = smilenn.load(HERE / "plain")
    assert model.verdict_.status == "proved" and np.isfinite(model.predict(data[0])).all()
    assert model.verdict_.method.endswith(", version 1") and "version 1 of the format" in model.certificate_.statement
    assert smilenn.check(HERE / "plain").method.endswith(", version 1")
    pages = [model._repr_html_(), card(gather(model)), page(gather(model)), judgement_text(model)]
    for said in (smilenn.check(HERE / "plain").sentence(), *pages):
        assert "…, version 1 of the format" in said
    with pytest.raises(SmileError, match=r"call certify\(\)"):
        model.save(tmp_path / "m")
    assert model.certify(time_limit=20).status == "proved" and "version" not in model.certificate_.statement
    assert "version" not in model.verdict_.sentence()
    model.save(tmp_path / "m")
    assert check.check_folder(tmp_path / "m").version == 2 and smilenn.check(tmp_path / "m").status == "proved"


@pytest.mark.parametrize("name", ["pinned", "clamp"])
def test_smile_check_says_what_load_says_of_pinned_folders_of_version_1(name, tmp_path):
    """It said "rejected", exit code 1, as of files that were changed."""
    found = CliRunner().invoke(app, ["check", str(HERE / name)])
    assert found.exit_code == 3 and "which gave equal rows of a pinned module unequal bits" in found.output
    assert "ertified" not in found.output.replace("certify or fit it again", "") and "eject" not in found.output
    assert json.loads(CliRunner().invoke(app, ["check", str(HERE / name), "--json"]).output)["status"] == "unknown"
    assert CliRunner().invoke(app, ["check", str(HERE / name), "--reference"]).exit_code == 3
    changed = tmp_path / "changed"
    shutil.copytree(HERE / name, changed)
    data = bytearray((changed / "weights.safetensors").read_bytes())
    data[-1] ^= 1
    (changed / "weights.safetensors").write_bytes(data)
    assert CliRunner().invoke(app, ["check", str(changed)]).exit_code == 1


def test_a_pinned_model_of_version_1_is_unknown_until_it_is_certified_again(data):
    assert check.check_folder(HERE / "pinned").status == reference.check_folder(HERE / "pinned").status == "refused"
    model = smilenn.load(HERE / "pinned", modules={"rest": module()})
    assert model.verdict_.status == "unknown" and "version 1" in model.verdict_.sentence()
    assert model.certificate_ is None and np.isfinite(model.predict(data[0])).all()
    assert model.certify(time_limit=20).status == "proved"


def test_a_clamp_of_version_1_is_unknown(data, tmp_path):
    frame, y = data
    clamp = ClampedRegressor.load(HERE / "clamp", LinearRegression().fit(frame, y))
    assert clamp.verdict_.status == "unknown" and "fit it again" in clamp.verdict_.sentence()
    assert clamp.certificate_ is None and np.isfinite(clamp.predict(frame)).all()
    with pytest.raises(SmileError, match="fit it again"):
        clamp.save(tmp_path / "m")
