"""A given network inside its guard: fair to the last bit, unchanged where it was fair, a folder like any other."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn
from typer.testing import CliRunner

import smilenn
from smilenn import Domain, Fair, Feature, Monotone, SmileClassifier, SmileError
from smilenn.certify import check
from smilenn.certify.reference.check import check_folder as reference
from smilenn.cli import app
from smilenn.guarding.agreement import Agreement
from smilenn.model.backbones import rebuild
from smilenn.model.bundle import WEIGHTS
from smilenn.model.folder import read_folder, write_folder

DOMAIN = Domain(
    (
        Feature("age", "integer", 0, 4),
        Feature("sex", "binary"),
        Feature("kind", "category", categories=("p", "q", "r")),
        Feature("pay", "integer", -2, 2),
    )
)


def network(seed=0, inputs=6, outputs=1, spread=2.0):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(inputs, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, outputs))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(spread)
    return net


def certified(made):
    """Whether the checker accepted the guard's certificate."""
    certificate = made.model.certificate_
    return certificate is not None and certificate.accepted


def every_row(domain):
    """All points of a domain of whole numbers and categories, [n, m]."""
    ways = []
    for feature in domain.features:
        if feature.kind == "category":
            ways.append([tuple(row) for row in np.eye(len(feature.categories))])
        else:
            ways.append([(float(v),) for v in range(int(feature.lo), int(feature.hi) + 1)])
    return np.array([sum(choice, ()) for choice in product(*ways)])


def groups_of(domain, protected, x):
    """Rows of x that differ in the protected columns alone, as lists of places."""
    columns = [i for name in protected for i in domain.indices(name)]
    rest = np.delete(x, columns, axis=1)
    found = {}
    for place, row in enumerate(rest):
        found.setdefault(row.tobytes(), []).append(place)
    return list(found.values())


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_of_random_networks(seed):
    """Brute force: all inputs, exactly; ε holds, fair groups stay, others move as little as they can."""
    net, outputs = network(seed, outputs=1 + seed % 2), 1 + seed % 2
    protected = (["sex"], ["kind"], ["sex", "age"])[seed % 3]
    x = every_row(DOMAIN)
    with torch.no_grad():
        before = net(torch.tensor(x, dtype=torch.float32)).double().numpy()
    groups = groups_of(DOMAIN, protected, x)
    widths = np.array([np.ptp(before[group], axis=0) for group in groups])
    eps = Fraction(round(256 * float(np.median(widths))), 256)  # about half of the groups are fair
    made = smilenn.guard(net, Fair(protected, eps), DOMAIN)
    assert made.verdict.status == "proved" and certified(made)
    after = made.model.net_.predict(x)
    for group, width in zip(groups, widths, strict=True):
        for o in range(outputs):
            f, g = before[group, o], [Fraction(float(v)) for v in after[group, o]]
            assert max(g) - min(g) <= eps  # no tolerance: this is what is certified
            assert np.abs(after[group, o] - f).max() <= max(0.0, (width[o] - float(eps)) / 2) + 1e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("guard") / "model"
    smilenn.guard(network(), Fair(["sex"], 0.25), DOMAIN, out=place)
    return place


def frame(count=60, seed=1):
    rng = np.random.default_rng(seed)
    return DOMAIN.decode(DOMAIN.sample(count, rng))


def test_the_folder_is_a_model_like_any_other(folder):
    assert check.check_folder(folder).status == reference(folder).status == "certified"
    names = {file.name for file in folder.iterdir()}
    assert all(name.endswith((".json", ".safetensors")) or name == "certificate.bin" for name in names)
    model = smilenn.load(folder)
    assert model.verdict_.status == "proved"
    again = smilenn.guard(network(), Fair(["sex"], 0.25), DOMAIN).model
    assert np.array_equal(model.predict(frame()), again.predict(frame()))
    assert smilenn.open_net(folder).verdict.status == "proved"


def test_a_row_has_the_same_bits_in_every_batch(folder):
    model, rows = smilenn.load(folder), frame(200)
    together = model.predict(rows)
    assert np.array_equal(np.concatenate([model.predict(rows[i : i + 7]) for i in range(0, 200, 7)]), together)
    assert np.array_equal(model.predict(rows[::-1])[::-1], together)


def changed(folder, place, edit):
    """A copy of a model folder with edited tensors and a fresh manifest."""
    from safetensors.torch import load, save

    files = dict(read_folder(folder))
    tensors = load(files[WEIGHTS])
    edit(tensors)
    files[WEIGHTS] = save(tensors)
    write_folder(place, files)
    return place


def test_a_wider_box_is_refused_by_both_checkers(folder, tmp_path):
    def widen(tensors):
        tensors["second.const"] *= 1.01

    wide = changed(folder, tmp_path / "wide", widen)
    assert check.check_folder(wide).status == reference(wide).status == "refused"


def test_another_network_inside_is_cut_to_the_same_rule(folder, tmp_path):
    """The certificate does not read the network: whoever exchanges it gets other answers, and fair ones."""

    def exchange(tensors):
        for name in tensors:
            if name.startswith("backbone."):
                tensors[name] *= -3

    other = changed(folder, tmp_path / "other", exchange)
    assert check.check_folder(other).status == "certified"
    x = every_row(DOMAIN)
    outputs = smilenn.load(other).net_.predict(x)
    pairs = groups_of(DOMAIN, ["sex"], x)
    assert max(np.ptp(outputs[group, 0]) for group in pairs) <= 0.25
    assert not np.array_equal(outputs, smilenn.load(folder).net_.predict(x))


def test_classifiers_and_scalers_of_scikit_learn():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.integers(0, 2, 80), "pay": rng.normal(3, 2, 80)})
    label = np.where(table["pay"] + 3 * table["sex"] > 4, "yes", "no")
    fitted = make_pipeline(StandardScaler(), MLPClassifier((6,), tol=0.05, max_iter=2000, random_state=0)).fit(
        table, label
    )
    domain = Domain((Feature("sex", "binary"), Feature("pay", lo=-4, hi=10)))
    made = smilenn.guard(fitted, Fair(["sex"], 0.5), domain, rows=table)
    assert isinstance(made.model, SmileClassifier)
    assert certified(made) and list(made.model.classes_) == ["no", "yes"]
    both = pd.DataFrame({"sex": [0, 1], "pay": [4.0, 4.0]})
    assert np.ptp(made.model.decision_function(both)) <= 0.5
    assert (made.model.predict(table) == fitted.predict(table)).mean() == made.agreement.same_label


def test_a_number_that_takes_any_value_is_asked_for_at_those_given():
    domain = Domain((Feature("a", lo=0, hi=1), Feature("b", lo=-1, hi=1)))
    net = network(3, inputs=2, spread=3.0)
    made = smilenn.guard(net, Fair(["a"], 0.1), domain, values={"a": (0, 1)})
    assert certified(made)
    x = np.column_stack([np.linspace(0, 1, 101), np.full(101, 0.3)])
    assert np.ptp(made.model.net_.predict(x)) <= 0.1  # between the values as well


SIX = network()
TWO = Domain((Feature("a", lo=0, hi=1), Feature("b", "integer", 0, 300)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((SIX, [], DOMAIN), "Nothing is claimed"),
        ((SIX, Monotone(["age"]), DOMAIN), "Fair alone, not Monotone"),
        ((SIX, [Fair(["sex"], 1), Fair(["age"], 1)], DOMAIN), "name all protected columns in it"),
        ((SIX, Fair(["sex"], 0), DOMAIN), "above 0"),
        ((SIX, Fair(["sex"], 1, delta={"age": 1}), DOMAIN), "without delta"),
        ((SIX, Fair(["race"], 1), DOMAIN), "There is no feature 'race'"),
        ((SIX, Fair(["age", "sex", "kind", "pay"], 1), DOMAIN), "Every input is protected"),
        ((SIX, Fair(["a"], 1), TWO), "reads 6 inputs"),
        ((network(inputs=2), Fair(["a"], 1), TWO), "takes any number"),
        ((network(inputs=2), Fair(["b"], 1), TWO), "more than 256 values"),
        ((network(spread=1e5), Fair(["sex"], 1e-4), DOMAIN), "too much for a box"),
        ((object(), Fair(["sex"], 1), DOMAIN), "cannot be audited"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(SmileError, match=words):
        smilenn.guard(*arguments)


def test_more_bad_input(tmp_path):
    rule = Fair(["sex"], 1)
    with pytest.raises(SmileError, match="classes are the two"):
        smilenn.guard(network(outputs=2), rule, DOMAIN, classes=["no", "yes"])
    with pytest.raises(SmileError, match="classes are the two"):
        smilenn.guard(SIX, rule, DOMAIN, classes=["no"])
    with pytest.raises(SmileError, match="not two or more numbers"):
        smilenn.guard(SIX, rule, DOMAIN, values={"age": (1, 9)})
    with pytest.raises(SmileError, match="not fitted"):
        smilenn.guard(MLPRegressor(), rule, DOMAIN)
    (tmp_path / "there").mkdir()
    with pytest.raises(SmileError, match="there"):
        smilenn.guard(SIX, rule, DOMAIN, out=tmp_path / "there")


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "given", "sizes": [3], "type": "float32", "steps": []},
        {"kind": "given", "sizes": [3, 0, 1], "type": "float32", "steps": []},
        {"kind": "given", "sizes": [3, 1], "type": "bfloat16", "steps": []},
        {"kind": "given", "sizes": [3, 1], "type": "float32", "steps": ["pow"]},
        {"kind": "given", "sizes": [1] * 3000, "type": "float32", "steps": []},
        {
            "kind": "middle",
            "network": {"sizes": [3, 1], "type": "float32", "steps": []},
            "protected": [3],
            "count": 2,
        },
        {
            "kind": "middle",
            "network": {"sizes": [3, 1], "type": "float32", "steps": []},
            "protected": [0],
            "count": 0,
        },
    ],
)
def test_a_description_that_makes_no_network_is_refused(description):
    with pytest.raises(SmileError):
        rebuild(description)


def test_the_command(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    net = network(5, inputs=2)
    nodes, tensors, at = [], [], "x"
    for i, part in enumerate(net):
        out = "y" if i == len(net) - 1 else f"h{i}"
        if isinstance(part, nn.Linear):
            for name, value in (("w", part.weight), ("b", part.bias)):
                tensors.append(numpy_helper.from_array(value.detach().numpy(), f"{name}{i}"))
            nodes.append(helper.make_node("Gemm", [at, f"w{i}", f"b{i}"], [out], transB=1))
        else:
            nodes.append(helper.make_node("Relu", [at], [out]))
        at = out
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in (("x", 2), ("y", 1))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "net.onnx")
    pd.DataFrame({"g": [0, 1, 1, 0], "v": [0.0, 1.5, 2.5, 3.0]}).to_csv(tmp_path / "rows.csv", index=False)
    start = ["guard", str(tmp_path / "net.onnx"), "--data", str(tmp_path / "rows.csv"), "--fair", "g:0.5"]
    done = CliRunner().invoke(app, [*start, "--classes", "no,yes", "--out", str(tmp_path / "model"), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["status"] == "proved" and said["agreement"]["rows"] == 4
    (tmp_path / "net.onnx").rename(tmp_path / "gone")
    answers = tmp_path / "answers.csv"
    used = ["predict", str(tmp_path / "model"), str(tmp_path / "rows.csv"), "--out", str(answers)]
    assert CliRunner().invoke(app, used).exit_code == 0
    assert CliRunner().invoke(app, ["check", str(tmp_path / "model"), "--reference"]).exit_code == 0
    text = CliRunner().invoke(app, [*start[:1], str(tmp_path / "gone"), *start[2:], "--out", str(tmp_path / "again")])
    assert text.exit_code == 0 and text.stdout.startswith("certified\nAttribute-flip fairness: changing 'g' alone")


def test_a_guard_says_which_rows_and_what_it_compared():
    measured = Agreement(10, 1.0, 1.0, 1.0, 0.0)
    assert measured.sentence().startswith("On 10 rows: 100.00% keep their label, 100.00% their output; no output moves")
    words = replace(measured, drawn=True, decides=False).sentence()
    assert words.startswith("On 10 rows drawn from the domain: 100.00% keep their sign, ")
    for classes, rows in ((None, None), (["no", "yes"], DOMAIN.decode(DOMAIN.sample(5, np.random.default_rng(0))))):
        made = smilenn.guard(network(), Fair(["sex"], 0.25), DOMAIN, classes=classes, rows=rows).agreement
        assert made.drawn is (rows is None) and made.decides is (classes is not None)
