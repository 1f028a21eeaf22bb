"""Training that is cut off, at whatever moment, continues bit for bit or says why it cannot."""

import json
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.forked import Forked
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.properties import Monotone
from smilenn.train.fit import fit


class CutOff(Exception):
    """Stands for anything that ends a run between two units."""


def cut_at(phase, step):
    def callback(progress):
        if (progress.phase, progress.step) == (phase, step):
            raise CutOff

    return callback


def settled(result):
    """The history but for the clock."""
    return [{k: v for k, v in record.items() if "seconds" not in k} for record in result.history]


def scenario(make, name):
    """A case and a seed whose posttraining takes rounds of both kinds (settling and projecting) or proves at once."""
    if name == "paper":
        case = make.wave(boxes="paper").but(pretrain_epochs=5, epochs=8, settle_rounds=2, posttrain_rounds=6)
        return case.but(dual_step=0.05), 1
    return make.unfair().but(pretrain_epochs=6, epochs=5, settle_rounds=2, posttrain_rounds=6, check_every=2), 0


@pytest.fixture(scope="module")
def whole(make):
    """Uninterrupted runs by name."""
    return {name: scenario(make, name)[0].fit(scenario(make, name)[1]) for name in ("paper", "fair")}


@pytest.mark.parametrize(
    ("name", "phase", "step"),
    [
        ("paper", "pretrain", 1),
        ("paper", "pretrain", 5),
        ("paper", "train", 1),
        ("paper", "train", 6),
        ("paper", "train", 8),
        ("paper", "posttrain", 1),
        ("paper", "posttrain", 2),
        ("paper", "posttrain", 4),
        ("fair", "pretrain", 3),
        ("fair", "train", 1),
        ("fair", "train", 2),
        ("fair", "train", 4),
        ("fair", "posttrain", 1),
        ("fair", "posttrain", 4),
    ],
)
def test_a_run_cut_off_after_a_unit_ends_with_the_same_bits(make, whole, tmp_path, name, phase, step):
    case, seed = scenario(make, name)
    file = tmp_path / "run.safetensors"
    with pytest.raises(CutOff):
        case.fit(seed, checkpoint=file, callback=cut_at(phase, step))
    assert os.listdir(tmp_path) == [file.name]
    resumed = case.fit(seed, checkpoint=file)
    assert make.same(resumed.net, whole[name].net)
    assert resumed.verdict.sentence() == whole[name].verdict.sentence()
    assert resumed.verdict.bound == whole[name].verdict.bound
    assert settled(resumed) == settled(whole[name])


def test_a_run_cut_off_again_and_again_ends_with_the_same_bits(make, whole, tmp_path):
    case, seed = scenario(make, "paper")
    file, cuts = tmp_path / "run", 0

    def every_third(progress):
        nonlocal cuts
        if progress.step % 3 == 0:
            cuts += 1
            raise CutOff

    while True:
        try:
            resumed = case.fit(seed, checkpoint=file, callback=every_third)
            break
        except CutOff:
            continue
    assert cuts >= 4
    assert make.same(resumed.net, whole["paper"].net) and settled(resumed) == settled(whole["paper"])
    assert [r["seconds"] for r in resumed.history] == sorted(r["seconds"] for r in resumed.history)
    assert resumed.seconds >= resumed.history[-1]["seconds"]


def test_the_start_of_the_weights_does_not_matter_when_resuming(make, whole, tmp_path):
    case, seed = scenario(make, "fair")
    with pytest.raises(CutOff):
        case.fit(seed, checkpoint=tmp_path / "run", callback=cut_at("train", 2))
    net = case.net(77)
    fit(net, case.x, case.y, case.claims, config=case.config, seed=seed, checkpoint=tmp_path / "run")
    assert make.same(net, whole["fair"].net)


def test_a_finished_run_is_not_trained_again(make, whole, tmp_path):
    case, seed = scenario(make, "fair")
    case.fit(seed, checkpoint=tmp_path / "run")
    heard = []
    again = case.fit(seed, checkpoint=tmp_path / "run", callback=heard.append)
    assert make.same(again.net, whole["fair"].net) and not heard
    assert again.verdict.sentence() == whole["fair"].verdict.sentence()


def test_buffers_of_the_backbone_survive(make, tmp_path):
    """Batch norm counts in whole numbers and learns outside the optimiser; dropout draws from torch's generator."""
    case = make.plane().but(pretrain_epochs=3, epochs=4, settle_rounds=1, posttrain_rounds=3, check_every=2)

    def net():
        torch.manual_seed(0)
        layers = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4, 2)
        return SmileNet(case.domain, nn.Sequential(*layers), 2, auxiliaries="affine")

    def run(**options):
        return fit(net(), case.x, case.y, case.claims, loss="bce", config=case.config, **options)

    with pytest.raises(CutOff):
        run(checkpoint=tmp_path / "run", callback=cut_at("train", 3))
    assert make.same(run(checkpoint=tmp_path / "run").net, run().net)


def test_interrupting_keeps_the_checkpoint(make, whole, tmp_path):
    case, seed = scenario(make, "paper")

    def stop(progress):
        if (progress.phase, progress.step) == ("train", 3):
            raise KeyboardInterrupt

    assert case.fit(seed, checkpoint=tmp_path / "run", callback=stop).interrupted
    assert make.same(case.fit(seed, checkpoint=tmp_path / "run").net, whole["paper"].net)


# ---- a hard kill ----------------------------------------------------------------------------------------------------

SCRIPT = """
import runpy, sys
from pathlib import Path
case = runpy.run_path(sys.argv[1])["wave"]().but(pretrain_epochs=10**6, pretrain_patience=None)
case.fit(checkpoint=Path(sys.argv[2]))
"""


def test_a_killed_process_leaves_a_readable_checkpoint(make, tmp_path):
    """SIGKILL while units are finished every few milliseconds; what is left must be whole and lead to the same bits."""
    file = tmp_path / "run.safetensors"
    conftest = Path(__file__).parent / "conftest.py"
    with Forked(SCRIPT, conftest, file) as process:
        deadline = time.monotonic() + 120
        while not file.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(random.Random().uniform(0.0, 0.1))  # any moment will do: the outcome must not depend on it
    assert process.poll() == -signal.SIGKILL
    case = make.wave().but(pretrain_epochs=10**6, pretrain_patience=None)
    left = json.loads(metadata(file)["state"])
    total = len(left["history"]) + 3
    nets = []

    def stop(progress):
        if progress.step == total:
            raise KeyboardInterrupt

    for checkpoint in (file, None):
        net = case.net()
        result = fit(net, case.x, case.y, case.claims, config=case.config, checkpoint=checkpoint, callback=stop)
        assert len(result.history) == total
        nets.append(net)
    assert make.same(*nets)


def test_a_write_that_fails_leaves_the_old_checkpoint(make, tmp_path, monkeypatch):
    case, seed = scenario(make, "fair")
    file = tmp_path / "run"
    with pytest.raises(CutOff):
        case.fit(seed, checkpoint=file, callback=cut_at("pretrain", 2))
    before = file.read_bytes()

    def full(path, data):
        with open(path, "wb") as opened:
            opened.write(data[:100])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        case.fit(seed, checkpoint=file)
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["run"]


# ---- checkpoints that do not fit ------------------------------------------------------------------------------------


def metadata(file):
    from safetensors import safe_open

    with safe_open(file, framework="pt") as opened:
        return opened.metadata()


@pytest.fixture(scope="module")
def checkpoint(make, tmp_path_factory):
    """A checkpoint in the middle of a run, as bytes."""
    case, seed = scenario(make, "fair")
    file = tmp_path_factory.mktemp("run") / "run"
    with pytest.raises(CutOff):
        case.fit(seed, checkpoint=file, callback=cut_at("train", 2))
    return file


def halved(file, old):
    file.write_bytes(old.read_bytes()[: len(old.read_bytes()) // 2])


def flipped(file, old):
    data = bytearray(old.read_bytes())
    data[-5] ^= 1
    file.write_bytes(bytes(data))


def edited(file, old):
    found = metadata(old)
    save_file(load_file(old), file, metadata={**found, "state": found["state"].replace('"unit": 2', '"unit": 3')})


def foreign(file, old):
    save_file({"w": torch.zeros(2)}, file)


def newer(file, old):
    save_file(load_file(old), file, metadata={"state": json.dumps({"format": 99})})


@pytest.mark.parametrize(
    "damage",
    [
        halved,
        flipped,
        edited,
        foreign,
        newer,
        lambda f, _: f.write_bytes(b""),
        lambda f, _: f.write_text("hello"),
        lambda f, _: f.mkdir(),
    ],
    ids=["halved", "flipped bit", "edited", "foreign", "newer", "empty", "text", "folder"],
)
def test_a_corrupt_checkpoint_is_refused(make, checkpoint, tmp_path, damage):
    case, seed = scenario(make, "fair")
    file = tmp_path / "run"
    damage(file, checkpoint)
    net = case.net(seed)
    before = {k: v.clone() for k, v in net.state_dict().items()}
    with pytest.raises(SmileError, match="cannot be read; delete it") as error:
        fit(net, case.x, case.y, case.claims, config=case.config, seed=seed, checkpoint=file)
    assert str(file) in str(error.value) and "\n" not in str(error.value)
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())


@pytest.mark.parametrize(
    "change",
    [
        lambda case: (case.but(dual_step=0.5), {}),
        lambda case: (case, {"seed": 5}),
        lambda case: (replace(case, y=case.y + 1), {}),
        lambda case: (replace(case, x=np.clip(case.x + 1e-9, 0, 1)), {}),
        lambda case: (replace(case, properties=(Monotone(increasing=["score"]),)), {}),
        lambda case: (replace(case, network=(("hidden", 5),)), {}),
        lambda case: (case, {"sample_weight": np.linspace(1, 2, len(case.x))}),
        lambda case: (case, {"validation": (case.x[:5], case.y[:5])}),
    ],
    ids=["constants", "seed", "targets", "inputs", "claims", "network", "weights", "validation"],
)
def test_the_checkpoint_of_another_run_is_refused(make, checkpoint, change):
    case, seed = scenario(make, "fair")
    other, options = change(case)
    with pytest.raises(SmileError, match="belongs to another") as error:
        other.fit(**{"seed": seed, "checkpoint": checkpoint, **options})
    assert str(checkpoint) in str(error.value)


def test_the_checkpoint_of_another_custom_backbone_is_refused(make, tmp_path):
    """Two modules of the same type: the description says no more, the shapes of the weights do."""
    case = make.plane()

    def run(width, **options):
        backbone = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, 2))
        net = SmileNet(case.domain, backbone, 2, auxiliaries="affine")
        fit(net, case.x, case.y, case.claims, loss="bce", config=case.config, checkpoint=tmp_path / "run", **options)

    with pytest.raises(CutOff):
        run(4, callback=cut_at("pretrain", 1))
    with pytest.raises(SmileError, match="belongs to another"):
        run(5)
