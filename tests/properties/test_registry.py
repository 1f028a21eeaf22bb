"""Registered kinds: who may have one, and what a folder says where nobody has registered it."""

import json
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from tests.forked import COMMAND, forked

from smilenn import (
    AlteredError,
    Claim,
    Config,
    Domain,
    Monotone,
    Property,
    SmileError,
    SmileRegressor,
    UnregisteredWarning,
    check,
    load,
    register_property,
)
from smilenn.model.folder import dump_json, parse_json, read_folder, write_folder
from smilenn.properties import Unregistered, property_from_json, read_toml, registry, row

pytestmark = pytest.mark.usefixtures("quick_module")

DOMAIN = Domain.box([0, 0], [4, 4], names=["x", "y"])


@register_property
@dataclass(frozen=True)
class Below(Property):
    """The output is never above a feature plus ten."""

    feature: str | int
    kind = "tests.below"

    def renamed(self, rename):
        return replace(self, feature=rename(self.feature))

    def claims(self, domain, outputs):
        return [Claim(1, (), (row([(1, 0, "out", name), (-1, 0, "in", self.feature)], 10),)) for name in outputs.names]

    def sentence_about(self, output):
        return f"{output} is never above {self.feature!r} and ten."


def test_a_registered_property_is_read_like_any_other():
    assert property_from_json({"kind": "tests.below", "feature": "x"}) == Below("x")
    assert read_toml("[[property]]\nkind = 'tests.below'\nfeature = 'y'") == (Below("y"),)
    assert Below(1).lower(DOMAIN) == Below("y").lower(DOMAIN)
    assert Below("x").formula() == "Below(feature='x')" and Below("x").lower(DOMAIN)[0].sentence


def test_a_cell_that_runs_again_replaces_its_class():
    first = type("Again", (Below,), {"kind": "tests.again", "__module__": "cell"})
    second = type("Again", (Below,), {"kind": "tests.again", "__module__": "cell"})
    other = type("Other", (Below,), {"kind": "tests.again", "__module__": "cell"})
    for cls in (first, second):
        assert register_property(dataclass(frozen=True)(cls)) is cls
        assert registry.class_of("tests.again") is cls
    with pytest.raises(SmileError, match=r"'tests.again' belongs to cell.Again; give Other another one"):
        register_property(dataclass(frozen=True)(other))
    assert registry.class_of("tests.again") is second


def named(kind):
    return dataclass(frozen=True)(type("Made", (Below,), {"kind": kind}))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda: named("monotone"), r"belongs to smilenn.properties.order.Monotone; give Made another"),
        (lambda: named("Made"), "give it one of small letters"),
        (lambda: named(3), "has the kind 3; give it one of small letters"),
        (lambda: type("Plain", (Below,), {"kind": "tests.plain"}), "Plain must be a frozen dataclass"),
        (lambda: dataclass(frozen=True)(type("Half", (Property,), {"kind": "tests.half"})), "lacks claims, sentence_a"),
        (lambda: Below("x"), "takes a subclass of smilenn.Property, not Below"),
        (lambda: dict, "takes a subclass of smilenn.Property"),
    ],
)
def test_what_cannot_be_registered(what, said):
    before = registry.kinds()
    with pytest.raises(SmileError, match=said):
        register_property(what())
    assert registry.kinds() == before


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ((), "Odd makes no claim"),
        (("a.out <= 1",), "Odd.claims gives str where a Claim is wanted"),
        ((Claim(1, (), (row([(1, 0, "out", "")]), row([(1, 0, "out", ""), (1, 0, "in", "z")]))),), "Odd names 'z'"),
        ((Claim(2, (), (row([(1, 0, "out", "")]),), free=("z",)),), "Odd names 'z', which is not a feature"),
        ((Claim(1, (), (row([(1, 0, "out", "price")]),)),), "Odd names the output 'price'"),
    ],
)
def test_claims_that_say_nothing_or_name_what_is_not_there(claims, said):
    odd = type("Odd", (Below,), {"claims": lambda *_: claims})
    with pytest.raises(SmileError, match=said):
        odd("x").lower(DOMAIN)


# ---- folders --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0, 4, (80, 2)), columns=["x", "y"])
    config = Config(epochs=2, batch_size=64)
    model = SmileRegressor(
        properties=[Below(0), Monotone(increasing=["x"])],
        increasing=["y"],
        domain=DOMAIN,
        config=config,
        random_state=0,
    ).fit(frame, frame["x"] + frame["y"])
    assert model.verdict_.status == "proved"
    place = tmp_path_factory.mktemp("registry") / "model"
    model.save(place)
    return place


@pytest.fixture
def unregistered(monkeypatch):
    monkeypatch.delitem(registry._registered, "tests.below")


def test_a_registered_folder_loads_without_a_word(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = load(folder)
        assert check(folder).status == "proved"
    assert again.properties == (Below(0), Monotone(increasing=["x"])) and again.verdict_.status == "proved"


def test_without_its_class_the_claims_stay(folder, unregistered, tmp_path):
    with pytest.warns(UnregisteredWarning, match=r"kind 'tests.below' are not registered here.*import the module"):
        again = load(folder)
    kept = again.properties[0]
    assert isinstance(kept, Unregistered) and repr(kept).startswith("<property 'tests.below', not registered here: 1")
    assert again.properties[1] == Monotone(increasing=["x"]) and again.verdict_.status == "proved"
    assert kept.lower(DOMAIN) == again.claims_[:1] and "'x'" in kept.sentence() and "⇒" not in kept.formula()
    with pytest.warns(UnregisteredWarning):
        assert check(folder).status == "proved"
    again.save(tmp_path / "again")  # and is the same property where its class is known
    stated = [json.loads((place / "properties.json").read_text()) for place in (folder, tmp_path / "again")]
    assert stated[0] == stated[1] and stated[0]["claims_of"] == [1, 1, 1]
    assert stated[0]["classes"] == {"tests.below": f"{__name__}.Below"}


def test_the_command_checks_claims_and_says_that_the_name_is_a_comment(folder):
    code, said, errors = forked(COMMAND, "check", folder)
    assert code == 0 and "\nCertified" in said, said + errors
    assert "Properties of kind 'tests.below' are not registered here" in said


def altered(folder, place, change):
    files = dict(read_folder(folder))
    document = parse_json(files["properties.json"], "properties.json")
    change(document)
    files["properties.json"] = dump_json(document)
    write_folder(place, files)
    return place


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("claims_of"),
        lambda d: d.update(claims_of=[0, 2, 1]),
        lambda d: d.update(claims_of=[1, 1]),
        lambda d: d.update(claims_of=[2, 1, 1]),
        lambda d: d.update(claims_of=[True, True, True]),
        lambda d: d.update(claims_of="111"),
        lambda d: d.update(claims_of=[-1, 3, 1]),
    ],
)
def test_claims_that_nobody_can_assign_prove_nothing(folder, unregistered, tmp_path, change):
    place = altered(folder, tmp_path / "model", change)
    with pytest.raises(SmileError, match="'claims_of' does not say which claims"):
        load(place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(place).status == "unknown"


def test_a_name_does_not_take_over_the_claims_of_another(folder, unregistered, tmp_path):
    """Known properties must still be found among the claims, where they stand."""
    place = altered(folder, tmp_path / "model", lambda d: d.update(claims_of=[1, 1, 1], claims=d["claims"][::-1]))
    with pytest.raises(AlteredError):
        load(place)
    other = altered(folder, tmp_path / "other", lambda d: d["properties"][1].update(increasing=["y", "x"]))
    with pytest.raises(SmileError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load(other)


def test_a_class_that_claims_something_else_than_the_folder(folder, monkeypatch):
    """The same kind in another program: its claims are not the folder's, which is neither loaded nor called proved."""

    @dataclass(frozen=True)
    class Stricter(Below):
        def claims(self, domain, outputs):
            return [Claim(1, (), (row([(1, 0, "out", "")], -100),))]

    monkeypatch.setitem(registry._registered, "tests.below", Stricter)
    with pytest.raises(AlteredError, match="states properties that are not its claims"):
        load(folder)
    assert check(folder).status == "unknown"


def test_texts_of_a_folder_cannot_move_the_terminal(folder, tmp_path):
    def change(document):
        document["properties"][0]["kind"] = "tests.\x1b[2J"
        document["classes"] = {"tests.\x1b[2J": "evil\nmodule.Class"}

    place = altered(folder, tmp_path / "model", change)
    with pytest.warns(UnregisteredWarning) as caught:
        again = load(place)
    said = str(caught[0].message) + repr(again.properties[0])
    assert "\x1b" not in said and "\n" not in said
