"""What a sixth stranger tried, who brought networks of other libraries and folders that are two things at once."""

import json
import re
import shutil
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn
from typer.testing import CliRunner

from smilenn import (
    Bracket,
    Custom,
    Domain,
    Fair,
    Feature,
    Monotone,
    Robust,
    SmileClassifier,
    SmileError,
    SmileRegressor,
    audit,
)
from smilenn.auditing.importing import read_network
from smilenn.auditing.onnx_file import run_onnx
from smilenn.certify import check_deep
from smilenn.certify.reference import deep as reference
from smilenn.cli import app
from smilenn.domain.table import as_frame, numbers
from smilenn.estimators.checks import check_inputs
from smilenn.estimators.radius import steps_of
from smilenn.estimators.rules import check_directions
from smilenn.properties import Outputs

SQUARE = Domain.box([0, 0], [1, 1], names=["age", "income"])


def net(*parts):
    """Two inputs, four units, an output, and what else is given."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), *parts, nn.Linear(4, 1))


def bracket(model, domain=SQUARE, name="age", **options):
    """How far one column alone changes the output."""
    return audit(model, Bracket(Fair([name], 0)), domain, time_limit=1, **options)


# ---- networks that compute something else than what was read of them -------------------------------------------------


class Larger(nn.Linear):
    """A layer under the name of another one."""

    def forward(self, x):
        return 100 * super().forward(x)


class Straight(nn.ReLU):
    """An activation that is none."""

    def forward(self, x):
        return x


class Whole(nn.Sequential):
    """A chain that does more than its parts."""

    def forward(self, x):
        return 100 * super().forward(x)


def layer_exchanged():
    model = net()
    model[0] = Larger(2, 4)
    return model


def activation_exchanged():
    model = net()
    model[1] = Straight()
    return model


def hooked():
    model = net()
    model[0].register_forward_hook(lambda module, given, out: 100 * out)
    return model


def hooked_whole():
    model = net()
    model.register_forward_pre_hook(lambda module, given: (100 * given[0],))
    return model


def method_replaced():
    model = net()
    model[2].forward = lambda x: 100 * x[:, :1]
    return model


TORCH = {
    "layer of another class": layer_exchanged,
    "activation of another class": activation_exchanged,
    "chain of another class": lambda: Whole(*net()),
    "hook of a layer": hooked,
    "hook of the chain": hooked_whole,
    "method replaced": method_replaced,
    "dropout while training": lambda: net(nn.Dropout(0.5)),
    "rows made one": lambda: nn.Sequential(nn.Flatten(0), *net()),
}


@pytest.mark.parametrize("how", TORCH)
def test_a_torch_network_that_computes_something_else_is_not_read(how):
    with pytest.raises(SmileError, match=r"not supported|of its own|cannot be audited|random|flatten"):
        read_network(TORCH[how]())


def test_dropout_that_is_switched_off_is_read():
    model = net(nn.Dropout(0.5)).eval()
    x = np.random.default_rng(0).random((5, 2)).astype(np.float32)
    assert read_network(model)(x) == pytest.approx(model(torch.as_tensor(x)).detach().numpy(), abs=1e-6)


class Wider(StandardScaler):
    """A scaler that scales otherwise."""

    def transform(self, X, copy=None):
        return 50 * super().transform(X)


class Louder(MLPRegressor):
    """A network that answers otherwise."""

    def predict(self, X):
        return 100 * super().predict(X)


def fitted(model, names=None):
    x = np.random.default_rng(0).random((40, 2))
    return model.fit(x if names is None else pd.DataFrame(x, columns=names), x[:, 0])


def small(kind=MLPRegressor):
    return kind(hidden_layer_sizes=(3,), max_iter=5, random_state=0)


def with_method():
    model = fitted(small())
    model.predict = lambda x: 100 * x[:, 0]
    return model


SKLEARN = {
    "scaler of another class": lambda: fitted(make_pipeline(Wider(), small())),
    "network of another class": lambda: fitted(small(Louder)),
    "network of another class in a pipeline": lambda: fitted(make_pipeline(StandardScaler(), small(Louder))),
    "method replaced": with_method,
}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("how", SKLEARN)
def test_a_model_of_scikit_learn_that_computes_something_else_is_not_read(how):
    with pytest.raises(SmileError, match=r"cannot be audited|of its own|ends in a Louder|holds a Wider"):
        read_network(SKLEARN[how]())


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_columns_of_another_order_are_refused():
    """The model knew 'income' as its first column; the bracket of 'age' was that of 'income'."""
    with pytest.raises(SmileError, match="'age' as column 2, but it is input 1"):
        bracket(fitted(small(), ["income", "age"]))
    with pytest.raises(SmileError, match="'age' as column 2"):
        bracket(fitted(make_pipeline("passthrough", StandardScaler(), small()), ["income", "age"]))
    assert bracket(fitted(make_pipeline("passthrough", StandardScaler(), small()), ["age", "income"])).rows


# ---- graphs whose nodes mean something else --------------------------------------------------------------------------

RNG = np.random.default_rng(0)
TENSORS = {
    "w": RNG.normal(size=(2, 3)).astype(np.float32),
    "b": RNG.normal(size=3).astype(np.float32),
    "v": RNG.normal(size=(3, 1)).astype(np.float32),
    "c": RNG.normal(size=1).astype(np.float32),
    "column": RNG.normal(size=(3, 1)).astype(np.float32),
    "shift": RNG.normal(size=(2, 1)).astype(np.float32),
    "three": np.array([3, -1]),
    "yes": np.array(True),
    "half": np.array(0.5, dtype=np.float32),
}
# nodes (type, constants, attributes) before, in place of the bias, and after the activation
GRAPHS = {
    "a bias for every row": ([], ("Add", ["column"], {}), [], (1, 2)),
    "a shift for every row": ([("Sub", ["shift"], {})], None, [], (1, 2)),
    "a row cut in three": ([("Flatten", [], {"axis": 2})], None, [], (1, 3, 2)),
    "a row cut by a shape": ([("Reshape", ["three"], {})], None, [], (1, 6)),
    "a network for every row of a row": ([], None, [], (1, 3, 2)),
    "a function under the name of Identity": ([("Identity", [], {"domain": "own"})], None, [], (1, 2)),
    "dropout that is told to train": ([], None, [("Dropout", ["half", "yes"], {})], (1, 2)),
    "an axis of an old Add": ([("Add", ["shift"], {"axis": 0, "broadcast": 1})], None, [], (2, 2)),
    "a tensor under the name of a node": ([("Identity", [], {"out": "b"})], None, [], (1, 2)),
}


def graph(path, before, bias, after, shape, functions=()):
    """An ONNX file of a network of two inputs with these nodes."""
    from onnx import TensorProto, helper, numpy_helper

    nodes, at = [], "x"
    ops = [
        *before,
        ("MatMul", ["w"], {}),
        bias or ("Add", ["b"], {}),
        ("Relu", [], {}),
        *after,
        ("Gemm", ["v", "c"], {}),
    ]
    for place, (kind, constants, given) in enumerate(ops):
        attributes = {key: value for key, value in given.items() if key != "out"}
        out = "y" if place == len(ops) - 1 else given.get("out", f"h{place}")
        nodes.append(helper.make_node(kind, [at, *constants], [out], name=f"node{place}", **attributes))
        at = out
    content = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in TENSORS.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(content, opset_imports=opsets, functions=functions, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("how", GRAPHS)
def test_a_graph_that_means_something_else_is_not_read(tmp_path, how):
    pytest.importorskip("onnx")
    with pytest.raises(SmileError, match=r"node|Relu between"):
        read_network(graph(tmp_path / "net.onnx", *GRAPHS[how]))


def test_nodes_that_a_file_redefines_are_not_read(tmp_path):
    pytest.importorskip("onnx")
    from onnx import helper

    own = helper.make_function(
        "", "Relu", ["p"], ["q"], [helper.make_node("Neg", ["p"], ["q"])], [helper.make_opsetid("", 17)]
    )
    with pytest.raises(SmileError, match="redefines Relu"):
        read_network(graph(tmp_path / "net.onnx", [], None, [], (1, 2), [own]))


def test_a_fixed_batch_is_replayed(tmp_path):
    """onnxruntime refused one row where the file says four, in an error of its own after the search."""
    pytest.importorskip("onnxruntime")
    path, x = graph(tmp_path / "net.onnx", [], None, [], (4, 2)), np.array([[0.5, 0.25], [1.0, -2.0]])
    assert run_onnx(path, x) == pytest.approx(read_network(path)(x), abs=1e-6)


# ---- what a network reads, and what is left out ----------------------------------------------------------------------


def steep(slope):
    """relu(slope·x) − relu(−slope·x) of the first of two inputs in float32."""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[slope, 0.0], [-slope, 0.0]]))
        model[0].bias.zero_()
        model[2].weight.copy_(torch.tensor([[1.0, -1.0]]))
        model[2].bias.zero_()
    return model


def test_cells_at_the_ends_of_a_domain_are_audited():
    """A table's 0.1 is the float32 0.1000000015 to the network, which lies beyond a domain that ends at 0.1."""
    domain = Domain.box([-0.1, 0.0], [0.1, 1.0], names=["age", "income"])
    cell = float(np.float32(0.1))
    (row,) = bracket(steep(1.0), domain).rows
    assert row.real >= 2 * cell > 0.2
    constant = Domain((Feature("age", lo=0, hi=1), Feature("income", lo=0.1, hi=0.1)))
    assert bracket(net(), constant).status == "proved"
    (first, second) = bracket(net(), values={"age": (0.1, 0.7)}).rows
    assert {first.pair["age"]["a"], second.pair["age"]["a"]} == {cell, float(np.float32(0.7))}


def test_whole_numbers_that_float32_rounds_are_audited():
    """16777219 is 16777220 to the network; a domain of 16777217 to 16777219 had the one number 16777218."""
    domain = Domain((Feature("age", "integer", lo=2**24 + 1, hi=2**24 + 3), Feature("income", lo=0, hi=1)))
    (row,) = bracket(steep(1.0), domain).rows
    assert row.found == 4
    first, second = bracket(steep(1.0), domain, values={"age": (2**24 + 1, 2**24 + 3)}).rows
    assert {first.found, second.found} == {-4, 4}


def test_cells_at_thresholds_are_audited():
    rule = Custom(when=["a.age <= 0.1"], then=["a.out <= 0.1"])
    result = audit(steep(1.0), rule, SQUARE, time_limit=1)
    assert result.status == "violated" and result.rows[0].found == np.float32(0.1)


def counting(categories):
    """relu(x + Σ one-hot columns − 1.5): a row of two categories at once changes by 1, one of the table by 0.5."""
    model = nn.Sequential(nn.Linear(1 + categories, 1), nn.ReLU(), nn.Linear(1, 1))
    with torch.no_grad():
        for part, bias in ((model[0], -1.5), (model[2], 0.0)):
            part.weight.fill_(1.0)
            part.bias.fill_(bias)
    return model


@pytest.mark.parametrize("categories", [3, 6])
def test_pairs_have_one_value_of_a_category(categories):
    """``violated`` by a pair of rows that were two categories at once, shown as rows of one."""
    colour = Feature("colour", "category", categories=tuple("abcdef"[:categories]))
    domain = Domain((Feature("age", lo=0, hi=1), colour))
    result = audit(counting(categories), Fair(["age"], 0.75), domain, time_limit=2)
    assert result.status != "violated" and all(row.found == Fraction(1, 2) for row in result.rows)
    free = bracket(counting(categories), domain, "colour")
    assert all(row.found == 0 for row in free.rows)


def test_the_best_category_is_found():
    model = counting(4)
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 0.0, 0.0, 2.0, 1.0]]))
    domain = Domain((Feature("age", lo=0, hi=1), Feature("colour", "category", categories=tuple("abcd"))))
    (row,) = bracket(model, domain).rows
    assert row.found == 1 and list(row.pair["colour"]) == ["c", "c"]


def test_a_claim_that_no_given_value_satisfies_is_not_dropped():
    middle = ["a.age >= 0.25", "a.age <= 0.5", "b.age >= 0.25", "b.age <= 0.5"]
    never = Custom(when=middle, then=["a.out - b.out <= -5"])
    with pytest.raises(SmileError, match="No given value"):
        audit(steep(1.0), [Monotone(increasing=["age"]), never], SQUARE, values={"age": (0, 1)}, time_limit=1)


# ---- words -----------------------------------------------------------------------------------------------------------


def test_a_bracket_does_not_say_that_a_limit_was_proved():
    """``a.out - b.out <= 0: proved`` stood over a change of 0.14 that had been found."""
    result = bracket(steep(1.0))
    assert result.rows[0].found > 0
    assert not re.search(r"<=.*proved", result.lines()[0])
    assert "bracket closed" in result.lines()[0] and '"age" free' in result.lines()[0]
    stated = audit(steep(1.0), Fair(["age"], 2), SQUARE, time_limit=1)
    assert stated.lines()[0].endswith("a.out - b.out <= 2: proved") and '"age" free' in stated.lines()[0]


def test_a_bound_is_not_rounded_down_in_words():
    result = bracket(steep(1.0000005))
    found, proved = re.search(r"found (\S+), proved at most (\S+)", result.lines()[1]).groups()
    assert float(found) <= result.rows[0].found and float(proved) >= result.rows[0].proved


def test_names_cannot_write_lines_of_an_audit():
    name = "x\x1b[2J\nage: proved"
    domain = Domain((Feature("age", lo=0, hi=1), Feature(name, "binary")))
    for line in bracket(net(), domain, name).lines():
        assert line.isprintable() and not line.startswith("age: proved")


# ---- a folder that is a model and an audit ---------------------------------------------------------------------------


def smile(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_an_audit_does_not_answer_for_a_model(tmp_path):
    """Three files put beside an altered model were checked in its place: certified, also with --key."""
    audit(steep(1.0), Fair(["age"], 2), SQUARE, time_limit=1, out=tmp_path / "audit")
    assert smile("check", tmp_path / "audit").exit_code == 0
    for option in (["--key", "ab" * 32], ["--verified"]):
        done = smile("check", tmp_path / "audit", *option)
        assert done.exit_code == 2 and "Audits are neither" in done.output
    both = shutil.copytree(tmp_path / "audit", tmp_path / "both")
    (both / "manifest.json").write_text("{}")
    done = smile("check", both)
    assert done.exit_code == 1 and "certified" not in done.output


# ---- two checkers, one answer ----------------------------------------------------------------------------------------

ODD = {
    "a float": 1.5,
    "a long number": 10**20,
    "a long number below zero": -(10**19),
    "a number of twenty characters": 10**19,
    "a list": [],
    "nothing": None,
}


def deep(levels):
    """A list in a list in a list …"""
    return [] if levels == 1 else [deep(levels - 1)]


@pytest.mark.parametrize("key", ["source", "network", "rows"])
@pytest.mark.parametrize("how", ODD)
def test_both_checkers_of_audits_call_odd_values_the_same(tmp_path, how, key):
    """One called unreadable what the other refused, and a type that is a list ended the fast one with a traceback."""
    audit(steep(1.0), Fair(["age"], 2), SQUARE, time_limit=1, out=tmp_path / "audit")
    file = tmp_path / "audit" / "audit.json"
    content = json.loads(file.read_text())
    if key == "network":
        content["network"]["dtype"] = ODD[how]
    else:
        content[key] = [ODD[how]] if key == "rows" else ODD[how]
    file.write_text(json.dumps(content))
    fast, slow = check_deep.check_folder(file.parent), reference.check_folder(file.parent)
    assert fast.status == slow.status != "certified"


def test_nesting_has_one_limit(tmp_path):
    audit(steep(1.0), Fair(["age"], 2), SQUARE, time_limit=1, out=tmp_path / "audit")
    file = tmp_path / "audit" / "audit.json"
    for levels, status in ((63, "refused"), (64, "unreadable")):
        file.write_text(json.dumps({**json.loads(file.read_text()), "source": deep(levels)}))
        assert check_deep.check_folder(file.parent).status == reference.check_folder(file.parent).status == status


# ---- radii -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [2, "inf"])
def test_a_radius_is_not_that_of_some_columns(norm):
    """`Robust` of one column gave radii of 1.5, and 46 of 60 labels changed when another column moved by 0.45."""
    given = {"norm": 2} if norm == 2 else {}
    domain = Domain((Feature("age", lo=0, hi=1), Feature("income", lo=0, hi=1), Feature("always", lo=3, hi=3)))

    def steps(delta):
        return [steps_of(c, Outputs(("",)), domain, norm) for c in Robust(delta, 1, **given).lower(domain)]

    assert steps({"age": 0.5}) == [None]
    assert steps({"age": 0.5, "income": 0.25}) == [None]
    assert [found.delta for found in steps({"age": 0.5, "income": 0.5})] == [0.5]


@pytest.mark.parametrize("norm", [2, "inf"])
def test_a_model_that_is_robust_in_one_column_has_no_radius(norm):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.random((60, 2)), columns=["age", "income"])
    given = {"norm": 2} if norm == 2 else {}
    model = SmileClassifier(properties=[Robust({"age": 0.5}, **given)], random_state=0, time_limit=5)
    model.fit(x, x["income"] > 0.5)
    with pytest.raises(SmileError, match="all continuous columns"):
        model.certified_radius(x, norm=norm)


# ---- columns that are called by numbers ------------------------------------------------------------------------------


def test_a_list_of_directions_does_not_reach_another_column():
    """Of the columns 1, 2 and 3 the second was asked to rise, and 'raising 1' was certified."""
    x = pd.DataFrame(np.random.default_rng(0).random((30, 3)), columns=[1, 2, 3])
    with pytest.raises(SmileError, match="called '1' that is not its column 1"):
        SmileRegressor(monotonic_cst=[0, 1, 0], time_limit=5).fit(x, x[2])
    check_directions([0, 0, 1], ("0", "1", "2"))
    check_directions([1, 0, 0], ("1", "2", "3"))
    check_directions({1: 1}, ("1", "2", "3"))


# ---- cells -----------------------------------------------------------------------------------------------------------


def test_durations_of_arrow_are_refused_as_others_are():
    """Nanoseconds beyond 2⁵³ were rounded on their way from the table."""
    arrow = pytest.importorskip("pyarrow")
    for kind, cells in ((arrow.duration("ns"), [2**53 + 1, 5]), (arrow.timestamp("ns"), [2**53 + 1, 5])):
        with pytest.raises(SmileError, match="dates or durations"):
            numbers(pd.Series(arrow.array(cells, kind), dtype=pd.ArrowDtype(kind)), "time")


def test_cells_that_pandas_cannot_read_are_one_sentence():
    with pytest.raises(SmileError, match="Column 'x' cannot be read as numbers"):
        numbers(pd.Series([np.array(3)], dtype=object), "x")


def test_columns_of_polars_that_arrow_does_not_know_are_read_or_refused():
    polars = pytest.importorskip("polars")
    wide = polars.DataFrame({"x": polars.Series([2**53 + 1, 1], dtype=polars.Int128)})
    with pytest.raises(SmileError, match="which float64 rounds to"):
        numbers(as_frame(wide)["x"], "x")
    small = polars.DataFrame({"x": polars.Series([3, 1], dtype=polars.Int128)})
    assert numbers(as_frame(small)["x"], "x").tolist() == [3.0, 1.0]
    with pytest.raises(SmileError, match="must be a string or a number, not 'ndarray'"):
        check_inputs(polars.DataFrame({"x": [[1, 2], [3, 4]]}), "SmileRegressor")
