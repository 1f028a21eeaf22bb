"""Fuzzing of the loaders: a changed folder gives a network or a model, or the package's own error in one sentence."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Network, SmileRegressor, load
from smilenn.errors import SmileError
from smilenn.model.bundle import load_net
from smilenn.model.net import SmileNet

RUNS = [(2.0, 1), pytest.param(120.0, None, marks=pytest.mark.slow)]  # seconds, seed (None: another every time)


def answers(read):
    """Whether what `read` makes of a folder is usable, or its error a sentence."""

    def answer(folder, files):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                net = read(folder)
            except SmileError as error:
                assert str(error) and "\n" not in str(error)
            else:
                assert isinstance(net, SmileNet)
                assert net.predict(net.domain.sample(3, np.random.default_rng(0))).shape == (3, len(net.outputs))

    return answer


@pytest.mark.parametrize(("seconds", "start"), RUNS)
def test_networks_from_whatever_the_files_hold(fuzzing, tmp_path, seconds, start):
    folders = fuzzing.samples(Path(__file__).with_name("corpus2"))
    assert fuzzing.fuzz(answers(lambda folder: load_net(folder)[0]), folders, tmp_path / "m", seconds, start) > 100


@pytest.mark.parametrize(("seconds", "start"), RUNS)
def test_estimators_from_whatever_the_files_hold(fuzzing, tmp_path, seconds, start):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.uniform(size=40), "b": rng.choice(["u", "v"], size=40)})
    model = SmileRegressor(
        increasing=["a"],
        network=Network(encoder="none", hidden=2),
        config=Config(pretrain_epochs=1, epochs=1),
        random_state=0,
    )
    model.fit(table, table["a"].to_numpy()).save(tmp_path / "model")
    files = {path.name: path.read_bytes() for path in sorted((tmp_path / "model").iterdir())}
    assert fuzzing.fuzz(answers(lambda folder: load(folder).net_), [files], tmp_path / "m", seconds, start) > 50
