"""More errors by their words, where no other test comes across them: domains in files, guards, claims, radii, keys."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingRegressor
from torch import nn
from typer.testing import CliRunner

from smilenn import Claim, Domain, Fair, Robust, SmileClassifier, SmileError, SmileRegressor, guard
from smilenn.auditing.domain_file import read_domain
from smilenn.certify.reference.encoding import encoding
from smilenn.certify.reference.strict import Refused, Unreadable, tensors_of
from smilenn.cli import app
from smilenn.cli.explain_request import changes_of
from smilenn.domain.table import numbers
from smilenn.model.backbones import MLP
from smilenn.model.bundle import save_net
from smilenn.model.encoders.encoder import rebuild_encoder
from smilenn.model.given import Given, Middle
from smilenn.model.net import SmileNet
from smilenn.model.trees import assert_same, convert
from smilenn.properties.claim import row
from smilenn.provers.rules.closed_form import ClosedForm

TWO = Domain.box([0.0, 0.0], [1.0, 1.0], names=["a", "b"])
FIRST = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
UNIT = {"kind": "kinks", "size": 1, "convex": 1}
RISES = (row([(1, 0, "out", ""), (-1, 1, "out", "")], 0),)
ONE = Fraction(1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: guard(FIRST, Fair(["a"], 1, delta=0.5), TWO), "A guard keeps Fair for all outputs and without delta;"),
        (
            lambda: guard(FIRST, Fair(["a"], 1, output="y"), TWO),
            "A guard keeps Fair for all outputs and without delta;",
        ),
        (
            lambda: next(Middle(Given([3, 1], "float32"), [0], 2).answers(torch.zeros(1, 3))),
            "2 unprotected inputs, not 3.",
        ),
        (
            lambda: rebuild_encoder(TWO, [{"name": "e", "columns": [0], "layers": [UNIT] * 65}]),
            "Branch 'e' has 65 layers; 64 is the most.",
        ),
        (lambda: numbers(pd.Series([1j]), "x"), "Column 'x' holds complex numbers; give real ones."),
        (lambda: numbers(pd.Series([1j, 2], dtype=object), "x"), "Column 'x' holds complex numbers; give real ones."),
        (lambda: Robust(0.1, 1, norm=3), 'Robust: norm is 3; choose "inf" or 2.'),
        (lambda: Claim(2, (), RISES, ball=(("a", ONE), ("a", ONE))), "norm2 names 'a' twice; name every feature once."),
        (lambda: SmileClassifier().certified_radius(None, unit="mm"), "unit is 'mm'; choose 'raw' or 'delta'."),
        (lambda: SmileRegressor(unknown="?").fit([[1.0]], [1.0]), "unknown is 'other' or 'refuse', not '?'."),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(SmileError) as found:
        make()
    assert message in str(found.value)


def test_a_rule_without_a_certificate_writes_none():
    with pytest.raises(NotImplementedError, match="leaves no certificate"):
        ClosedForm().emit(None, None, time_limit=1.0)  # type: ignore[arg-type]


def test_a_domain_file_without_bounds(tmp_path):
    path = tmp_path / "domain.toml"
    path.write_text('[[feature]]\nname = "age"\nlo = 0\n')
    with pytest.raises(SmileError, match=r"feature 1 \('age'\) has no hi; every number needs finite bounds"):
        read_domain(path)


def test_trees_that_were_not_converted_exactly():
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(x, x[:, 0])
    forest = convert(model)
    assert_same(forest, model, x, x)
    forest.layer.number[forest.layer.split == -1] *= 1.5
    with pytest.raises(SmileError, match=r"Row 0 .* in tree 0; the trees were not converted exactly"):
        assert_same(forest, model, x, x)


def test_options_that_contradict_each_other(tmp_path):
    described = {"estimator": "SmileRegressor", "params": {}, "learned": {}}
    save_net(tmp_path / "m", SmileNet(TWO, MLP(2, (3,), 2).double(), 2, hidden=2), model=described)
    with pytest.raises(SmileError, match="--change names 'a' twice; keep one"):
        changes_of(tmp_path / "m", ["a:up", "a:0.5"])
    found = CliRunner().invoke(app, ["sign", "--new-key", str(tmp_path / "k"), "--key", str(tmp_path / "k")])
    assert found.exit_code == 2 and "--new-key makes a key and signs nothing" in found.output
    assert not (tmp_path / "k").exists()


# ---- the reference checker's reader ---------------------------------------------------------------------------------


def weights(header, data=bytes(16)):
    return len(header).to_bytes(8, "little") + header + data


ENTRY = b'{"dtype": "F64", "shape": [1], "data_offsets": [%d, %d]}'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (weights(b'{"a": {"dtype": "F64"}}'), "the entry of a tensor is malformed"),
        (weights(b'{"a": %s, "b": %s}' % (ENTRY % (0, 8), ENTRY % (4, 12))), "its tensors leave a gap or overlap"),
        (weights(b'{"a": %s}' % (ENTRY % (0, 8))), "it has bytes that belong to no tensor"),
    ],
)
def test_weights_that_are_not_covered_by_their_header(data, why):
    with pytest.raises(Unreadable, match=why):
        tensors_of(data)


def test_half_a_surrogate_pair_has_no_encoding():
    with pytest.raises(Refused, match="A text holds half a surrogate pair"):
        encoding({"name": "\ud800"})
