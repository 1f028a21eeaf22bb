"""The examples run: texts of any length behind a Transformer are certified, in a space that does not grow with them."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_transformer_as_pinned_encoder(capsys):
    example = load("sequence")
    short, long = example.main(lengths=(4, 12), rows=200, epochs=6)
    assert short["certified"] and long["certified"]
    assert short["encoded"] == long["encoded"] == 2  # where the proof lives
    assert "certified" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["Safe on a polytope", "OneOf", "SumAtMost"])
def test_every_property_is_certified_and_attacked(name):
    found = load("every_property").run(name, epochs=2)
    assert found["verdict"].status == "proved" and found["ruled_broken"] == 0 < found["free_broken"]


@pytest.mark.slow
def test_all_properties_are_certified_and_attacked():
    example = load("every_property")
    for name in example.RULES:
        found = example.run(name)
        assert found["verdict"].status == "proved" and found["ruled_broken"] == 0 < found["free_broken"], name


def test_a_convex_dose_is_curved_certified_and_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from smilenn import Config

    example = load("dose")
    found = example.main(rows=200, config=Config(epochs=20, batch_size=256), figure=tmp_path / "dose.png")
    assert found["verdict"].status == "proved" and 0 < found["verdict"].tolerance < 1e-9  # the margin of rounding
    assert found["r2"] > 0.9 and found["bend"] < 1e-9 < 0.01 < found["ordinary_bend"]
    curve = found["model"].predict(example.patients(3, 0)[0].assign(dose=[1.0, 5.0, 9.0], age=50.0, weight=80.0))
    assert curve[2] - curve[1] > curve[1] - curve[0] + 0.5, "curved, not a line"
    assert (tmp_path / "dose.png").stat().st_size > 10_000 and "R² on fresh patients" in capsys.readouterr().out


def test_texts_of_any_length_obey_the_rules():
    example = load("sequence")
    from smilenn import Config

    frame, y = example.reviews(200, 6)
    model = example.model(6, Config(epochs=2, batch_size=64)).fit(frame, y)
    richer = frame.assign(income=np.minimum(frame["income"] + 1, 9))
    assert (model.predict(richer) >= model.predict(frame)).all()
    assert (model.predict(frame.assign(group="u")) == model.predict(frame.assign(group="v"))).all()
    filled = frame.copy()
    filled.loc[:, ["t3", "t4", "t5"]] = 0  # a shorter text
    assert np.isfinite(model.predict(filled)).all()
