"""Parameters of the estimators: `Network` and `Columns`, nested names, names that are gone, short forms of rules."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

import smilenn
from smilenn import (
    ClampedRegressor,
    Columns,
    Config,
    Domain,
    Fair,
    Feature,
    Monotone,
    Network,
    SmileClassifier,
    SmileError,
    SmileRegressor,
)
from smilenn.estimators import kept
from smilenn.estimators.parameters import REMOVED
from smilenn.properties.spec import as_property

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=4, epochs=2, posttrain_rounds=2, least_quality=0.0)
SMALL = {"config": QUICK, "random_state": 0, "certify_limit": 0}


def table(n=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n), "z": rng.uniform(0, 1, n), "g": rng.choice(["u", "v"], n)})
    return frame, frame["x"] - frame["z"]


# ---- the parameters -------------------------------------------------------------------------------------------------


def test_the_parameters_are_few_and_can_be_read_off():
    shared = [
        "properties",
        "increasing",
        "decreasing",
        "monotonic_cst",
        "domain",
        "network",
        "config",
        "missing",
        "unknown",
        "out_of_bounds",
        "time_limit",
        "certify_limit",
        "validation_fraction",
        "random_state",
        "verbose",
    ]
    assert list(inspect.signature(SmileRegressor).parameters) == [*shared, "quantiles"]
    assert list(inspect.signature(SmileClassifier).parameters) == [*shared, "class_weight", "positive"]
    model = SmileRegressor(verbose=1)
    assert model.verbose == 1 and model.get_params(deep=False).keys() == {*shared, "quantiles"}


@pytest.mark.parametrize("name", REMOVED)
def test_a_name_that_is_gone_says_what_to_write(name):
    for attempt in (lambda: SmileRegressor(**{name: 3}), lambda: SmileClassifier().set_params(**{name: 3})):
        with pytest.raises(SmileError, match=rf"has no parameter '{name}'; write \w+=.*\.$") as caught:
            attempt()
        assert isinstance(caught.value, TypeError)


def test_what_to_write_is_written_with_the_value():
    for name, value, words in (
        ("hidden", 8, "write network=Network(hidden=8)."),
        ("bounds", {"x": (0, 1)}, "write domain=Columns(bounds={'x': (0, 1)})."),
        ("certify_time_limit", 5.0, "write certify_limit=5.0."),
        ("protected", {"sex": 0.2}, "write properties=Fair(['sex'], 0.2)."),
        ("protected", {"sex": 0.2, "race": 1}, "write properties=[Fair(['sex'], 0.2), Fair(['race'], 1)]."),
        ("bounds", {f"x{i}": (0, 1) for i in range(9)}, "write domain=Columns(bounds=…)."),
        ("network__hidden", 8, "write network=Network(hidden=8)."),
        ("increase", ["x"], "did you mean 'increasing'?"),
        ("zzz", 1, "it has 'certify_limit',"),
    ):
        with pytest.raises(SmileError) as caught:
            SmileRegressor(**{name: value})
        assert words in str(caught.value)


def test_clamped_models_follow_the_same_rules():
    frame, y = table()
    frame = frame.assign(g=(frame["g"] == "u").astype(int))
    for wrong, words in (({"bounds": {}}, r"domain=Columns\(bounds={}\)"), ({"hidden": 3}, "it has 'domain', 'eps'")):
        with pytest.raises(SmileError, match=f"ClampedRegressor has no parameter .*{words}"):
            ClampedRegressor(LinearRegression(), ["g"], **wrong)
    clamp = ClampedRegressor(LinearRegression(), ["g"], 0.5, domain=Columns(bounds={"x": (0, 50)}))
    clamp.set_params(domain__margin=0.0, model__fit_intercept=False).fit(frame, y)
    assert clamp.domain_.hi[0] == 50 and clamp.domain == Columns(bounds={"x": (0, 50)}, margin=0.0)
    assert clamp.model.fit_intercept is False and clone(clamp).domain == clamp.domain


# ---- Network and Columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (Network, {"encoder": "fancy"}, "encoder is 'auto', 'image', 'none', an Encoder or a function .* not 'fancy'."),
        (Network, {"encoder": 3}, "encoder is 'auto', .*, not 3."),
        (Network, {"boxes": "round"}, "boxes is 'gap' or 'paper', not 'round'."),
        (Network, {"auxiliaries": "tanh"}, "auxiliaries is 'constant', 'affine' or 'relu', not 'tanh'."),
        (Network, {"hidden": 0}, "hidden must be at least 1, not 0."),
        (Network, {"embedding": 2.5}, "embedding must be a whole number, not 2.5."),
        (Network, {"members": True}, "members must be a whole number, not True."),
        (Network, {"restarts": 0}, "restarts must be at least 1, not 0."),
        (Network, {"device": 0}, "device is a torch device such as 'cpu' or 'cuda', not 0."),
        (Network, {"backbone": "mlp"}, "backbone is an estimator with predict, or a function"),
        (Network, {"backbone_sizes": 32}, "backbone_sizes lists widths of layers"),
        (Network, {"backbone_sizes": (8, 0)}, "a width of backbone_sizes must be at least 1, not 0."),
        (Network, {"backbone_share": 1.0}, "backbone_share is a share of ε, from 0 to less than 1, not 1.0."),
        (Columns, {"bounds": [(0, 1)]}, "bounds is a dictionary column → .lowest, highest., not"),
        (Columns, {"kinds": {"x": "number"}}, "kinds: 'x' is 'continuous', .* or 'category', not 'number'."),
        (Columns, {"margin": -1}, "margin is -1; give a share"),
        (Columns, {"margin": "wide"}, "margin is 'wide'; give a share"),
        (Columns, {"scaling": "log"}, "scaling is 'log'; choose"),
    ],
)
def test_options_are_checked_when_they_are_made(kind, options, message):
    with pytest.raises(SmileError, match=message):
        kind(**options)
    nested = {f"{'network' if kind is Network else 'domain'}__{name}": value for name, value in options.items()}
    with pytest.raises(SmileError, match=message):
        SmileRegressor().set_params(**nested)


def test_options_are_values():
    one = Network(hidden=8, backbone_sizes=[4])
    assert one == Network(hidden=8, backbone_sizes=(4,)) != Network() and repr(
        one.changed(backbone_sizes=(32, 32))
    ) == ("Network(hidden=8)")
    with pytest.raises(AttributeError):
        one.hidden = 9
    bounds = {"x": [0, 1]}
    columns = Columns(bounds=bounds)
    bounds["x"] = [5, 6]
    assert columns.bounds == {"x": (0, 1)} and pickle.loads(pickle.dumps(columns)) == columns
    with pytest.raises(TypeError):
        Network(8)


# ---- nested names ---------------------------------------------------------------------------------------------------


def test_nested_names_are_parameters():
    model = SmileRegressor()
    assert SmileRegressor(**model.get_params()).get_params() == model.get_params()
    model.set_params(network__hidden=8).set_params(network__members=2, domain__margin=0.0)
    assert model.network == Network(hidden=8, members=2) and model.domain == Columns(margin=0.0)
    assert model.get_params()["network__hidden"] == 8 and model.get_params()["domain__margin"] == 0.0
    assert "network__hidden" not in model.get_params(deep=False)
    model.set_params(network=Network(embedding=2), network__hidden=4)
    assert model.network == Network(embedding=2, hidden=4)
    with pytest.raises(SmileError, match="Network has no option 'hiden'; it has 'encoder', 'boxes'"):
        model.set_params(network__hiden=3)


def test_a_copy_shares_no_options():
    encoder = smilenn.SmileNet  # any callable
    model = SmileRegressor(network=Network(encoder=encoder, backbone_sizes=(4,)), domain=Columns(bounds={"x": (0, 1)}))
    again = clone(model)
    assert again.network == model.network and again.network is not model.network
    assert again.domain == model.domain and again.domain.bounds is not model.domain.bounds


def test_a_grid_search_over_nested_names():
    frame, y = table()
    plain = SmileRegressor(**SMALL, increasing=["x"], network=Network(encoder="none"))
    search = GridSearchCV(plain, {"network__hidden": [2, 3], "domain__margin": [0.0, 0.1]}, cv=2).fit(frame, y)
    assert search.best_params_.keys() == {"network__hidden", "domain__margin"}
    best = search.best_estimator_
    assert best.net_.hidden == best.network.hidden == search.best_params_["network__hidden"]
    assert plain.network == Network(encoder="none")


def test_a_domain_is_known_learned_or_described():
    frame, y = table()
    known = Domain((Feature("x", hi=20), Feature("z", hi=2), Feature("g", "category", categories=("u", "v"))))
    for given, highest in (
        (known, 20),
        (Columns(bounds={"x": (0, 30)}), 30),
        ({"bounds": {"x": (0, 40)}}, 40),
        ({"bounds": {"x": (0, 40)}, "margin": 0.0}, 40),
    ):
        model = SmileRegressor(domain=given, **SMALL).fit(frame, y)
        assert model.domain_.hi[0] == highest
    assert model.set_params(domain__margin=0.5).domain == Columns(bounds={"x": (0, 40)}, margin=0.5)
    with pytest.raises(SmileError, match="Columns has no option 'x'; it has 'bounds', 'kinds'"):
        SmileRegressor(domain={"x": (0, 1)}).fit(frame, y)
    with pytest.raises(SmileError, match=r"domain is a Domain.*set domain=Columns"):
        SmileRegressor(domain=known).set_params(domain__margin=0.1)


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_one_property_needs_no_list():
    for rule in (Fair(["g"], 1), as_property(Fair(["g"], 1)).to_json()):
        assert SmileRegressor(properties=rule).all_properties() == (Fair(["g"], 1),)
    assert SmileRegressor(properties=[Fair(["g"], 1)]).all_properties() == (Fair(["g"], 1),)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"monotonic_cst": {"x": 1, "z": -1, "g": 0}}, Monotone(["x"], ["z"])),
        ({"monotonic_cst": [1, -1, 0]}, Monotone([0], [1])),
        ({"monotonic_cst": np.array([0, 0, 1])}, Monotone([2])),
        ({"monotonic_cst": {"x": 1}, "increasing": "x", "decreasing": ["z"]}, Monotone(["x"], ["z"])),
        ({"monotonic_cst": {"x": 1.0}, "decreasing": 1}, Monotone(["x"], [1])),
    ],
)
def test_directions_in_scikit_learns_form(options, rule):
    assert SmileRegressor(**options).all_properties() == (rule,)


def test_directions_that_say_nothing():
    frame, y = table()
    assert SmileRegressor(monotonic_cst=[0, 0]).all_properties() == ()
    for wrong, words in (
        ({"x": 2}, "column 'x' is 2; write 1 .rising., −1 .falling. or 0"),
        ("x", "a dictionary column → 1, 0 or −1, or a list.*, not 'x'"),
        ([1, 0], "has 2 numbers, but X has 3 columns"),
        ({"q": 1}, "'q'"),
    ):
        with pytest.raises(SmileError, match=words):
            SmileRegressor(monotonic_cst=wrong, **SMALL).fit(frame, y)
    with pytest.raises(SmileError, match="both increasing and decreasing"):
        SmileRegressor(monotonic_cst={"x": -1}, increasing=["x"], **SMALL).fit(frame, y)


def test_both_forms_are_the_same_fit():
    frame, y = table()
    labels = np.where(y > 4, "high", "low")
    one = SmileClassifier(monotonic_cst={"x": 1}, positive="high", **SMALL).fit(frame, labels)
    two = SmileClassifier(increasing=["x"], positive="high", **SMALL).fit(frame, labels)
    assert one.claims_ == two.claims_ and (one.decision_function(frame) == two.decision_function(frame)).all()


# ---- folders --------------------------------------------------------------------------------------------------------


def test_parameters_come_back(tmp_path):
    frame, y = table()
    options = {
        "properties": Fair(["g"], 50),
        "monotonic_cst": {"x": 1, 1: -1},
        "certify_limit": 3.0,
        "network": Network(hidden=3, backbone_sizes=(4,)),
        "domain": {"bounds": {"x": (0, 12)}},
    }
    SmileRegressor(**SMALL | options).fit(frame, y).save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    assert again.network == options["network"] and again.domain == Columns(bounds={"x": (0, 12)})
    assert again.monotonic_cst == {"x": 1, 1: -1} and again.certify_limit == 3.0
    assert again.properties == (Fair(["g"], 50),)
    SmileRegressor(**SMALL, domain=again.domain_).fit(frame, y).save(tmp_path / "plain")
    plain = smilenn.load(tmp_path / "plain")
    assert plain.network is None and plain.domain is None


def flat(model):
    """The parameters of a fitted model as 0.1 wrote them: every option beside the others."""
    params = kept.to_json(model)
    network = kept._network(model.network or Network())
    columns = Columns().get_params() | (params["domain"] or {})
    old = {key: value for key, value in params.items() if key not in ("network", "domain", "monotonic_cst")}
    old["certify_time_limit"] = old.pop("certify_limit")
    return old | network | columns | {"protected": None}


def test_flat_parameters_of_earlier_folders_are_read(tmp_path):
    """Short forms came first, then `protected`: the claims' order decides whether the folder is believed."""
    from smilenn.model.folder import dump_json, parse_json, read_folder, write_folder

    frame, y = table()
    rules = [Fair(["g"], 40), Monotone(["x"]), Fair(["g"], 60)]
    model = SmileRegressor(
        properties=rules, **SMALL, network=Network(hidden=3), domain=Columns(bounds={"x": (0, 12)})
    ).fit(frame, y)
    model.save(tmp_path / "new")
    files = read_folder(tmp_path / "new")
    document = parse_json(files["model.json"], "model.json")
    document["params"] = flat(model) | {"increasing": ["x"], "protected": {"g": 60}, "listed_properties": 1}
    write_folder(tmp_path / "old", files | {"model.json": dump_json(document)})
    again = smilenn.load(tmp_path / "old")
    assert again.claims_ == model.claims_ and again.certify_limit == 0
    assert again.all_properties() == tuple(rules) and again.increasing == ()
    assert again.network == Network(hidden=3) and again.domain == Columns(bounds={"x": (0, 12)})
    document["params"] |= {"increasing": [], "protected": None, "listed_properties": 3}
    write_folder(tmp_path / "older", files | {"model.json": dump_json(document)})
    assert smilenn.load(tmp_path / "older").properties == tuple(rules)


def test_restarts_and_device_that_stood_beside_the_network_are_read(tmp_path):
    from smilenn.model.folder import dump_json, parse_json, read_folder, write_folder

    frame, y = table()
    options = Network(hidden=3, restarts=2)
    SmileRegressor(**SMALL, increasing=["x"], network=options).fit(frame, y).save(tmp_path / "new")
    assert smilenn.load(tmp_path / "new").network == options
    files = read_folder(tmp_path / "new")
    document = parse_json(files["model.json"], "model.json")
    network = document["params"]["network"]
    beside = {name: network.pop(name) for name in ("restarts", "device")}
    document["params"] |= beside
    write_folder(tmp_path / "old", files | {"model.json": dump_json(document)})
    assert smilenn.load(tmp_path / "old").network == options
    document["params"] |= {"network": None, "restarts": 1}
    write_folder(tmp_path / "plain", files | {"model.json": dump_json(document)})
    assert smilenn.load(tmp_path / "plain").network is None
