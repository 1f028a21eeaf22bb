"""The constants: defaults, changes, refusals."""

import dataclasses
import math

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.train.config import Config


def test_the_paper_s_recipe_has_no_feasible_start():
    paper = Config.paper(epochs=7)
    assert not paper.feasible_start and paper.epochs == 7
    assert Config().feasible_start and Config().replace(epochs=7).epochs == 7


def test_rate_of_the_training_phase():
    assert Config(learning_rate=0.01).rate == pytest.approx(0.03)
    assert Config(learning_rate=0.01, feasible_start=False).rate == 0.01
    assert Config(learning_rate=0.01, train_learning_rate=0.5).rate == 0.5


def test_numbers_of_numpy_and_whole_numbers_are_fine():
    config = Config(batch_size=np.int64(5), slack=np.float64(0.1), lambda_box=1, train_learning_rate=None)  # type: ignore[arg-type]
    assert config.batch_size == 5 and config.slack == 0.1


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("batch_size", 0, "at least 1"),
        ("search_every", 0, "at least 1"),
        ("pool", 0, "at least 1"),
        ("search_starts", 0, "at least 1"),
        ("check_every", 0, "at least 1"),
        ("pretrain_patience", 0, "at least 1"),
        ("generator_seconds", 0.0, "more than 0"),  # doubling a time-out of 0 would never end
        ("generator_limit", 0.0, "more than 0"),
        ("projector_radius", 0.0, "more than 0"),
        ("learning_rate", -1e-3, "at least 0"),
        ("train_learning_rate", -1e-3, "at least 0"),
        ("epochs", -1, "at least 0"),
        ("search_iterations", -1, "at least 0"),
        ("slack", 1.0, "share below 1"),
        ("slack", math.nan, "a number"),
        ("lambda_box", math.inf, "a number"),
        ("dual_step", "fast", "a number"),
        ("dual_step", None, "a number"),
        ("epochs", 2.5, "a whole number"),
        ("feasible_start", 1, "True or False"),
    ],
)
def test_bad_values_are_named(name, value, says):
    with pytest.raises(SmileError, match=f"Config.{name}.*{says}") as error:
        Config(**{name: value})
    assert str(error.value).count(".") >= 2 and "\n" not in str(error.value)
    with pytest.raises(SmileError, match=name):
        Config().replace(**{name: value})


def test_an_unknown_constant_is_named():
    with pytest.raises(SmileError, match=r"no constant 'epoch'; it has .*epochs"):
        Config().replace(epoch=3)


def test_a_configuration_is_a_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().epochs = 3  # type: ignore[misc]
    assert Config() == Config()
