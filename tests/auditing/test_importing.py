"""Networks of other libraries: the same function, bit for bit where sums have one term; anything else is named."""

from contextlib import suppress

import numpy as np
import pytest
import torch
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from torch import nn

from smilenn.auditing.importing import read_network
from smilenn.auditing.network import DeepNet
from smilenn.auditing.onnx_file import run_onnx
from smilenn.errors import SmileError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def saved(path, nodes, tensors, *, shape=("n", 3), outputs=1):
    """An ONNX file of these nodes over x, whose output is y."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", outputs])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


RNG = np.random.default_rng(0)
W = {
    "w": RNG.normal(size=(3, 4)).astype(np.float32),
    "b": RNG.normal(size=4).astype(np.float32),
    "v": RNG.normal(size=(1, 4)).astype(np.float32),
    "c": RNG.normal(size=1).astype(np.float32),
    "mean": RNG.normal(size=(1, 3)).astype(np.float32),
    "range": np.array([2.0, 0.5, 3.0], dtype=np.float32),
}


def chain(*ops):
    """Nodes (type, names of constants, attributes) one after the other."""
    nodes, at = [], "x"
    for place, (kind, constants, attributes) in enumerate(ops):
        out = "y" if place == len(ops) - 1 else f"h{place}"
        nodes.append(helper.make_node(kind, [at, *constants], [out], name=f"node{place}", **attributes))
        at = out
    return nodes


GOOD = [
    ("Sub", ["mean"], {}),
    ("Div", ["range"], {}),
    ("MatMul", ["w"], {}),
    ("Add", ["b"], {}),
    ("Relu", [], {}),
    ("Gemm", ["v", "c"], {"transB": 1}),
]


def test_onnx_chains_are_read_and_replayed(tmp_path):
    path = saved(tmp_path / "net.onnx", chain(*GOOD), W)
    net = read_network(path)
    assert (net.dtype, net.sizes, [step for step, _ in net.scaling]) == ("float32", (3, 4, 1), ["sub", "div"])
    x = RNG.normal(size=(20, 3)).astype(np.float32).astype(float)
    np.testing.assert_allclose(run_onnx(path, x), net(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose([net.in_order(row) for row in x], net(x), rtol=1e-4, atol=1e-5)


def test_inputs_with_more_dimensions_are_flattened(tmp_path):
    nodes = chain(("Flatten", [], {"axis": 1}), *GOOD[2:])
    assert read_network(saved(tmp_path / "a.onnx", nodes, W, shape=(1, 1, 1, 3))).sizes == (3, 4, 1)


def test_keras_networks_as_their_converters_write_them(tmp_path):
    """Normalization, Dense with and without a bias, Dropout and Identity; a batch without a fixed size."""
    nodes = chain(
        ("Sub", ["mean"], {}),
        ("Div", ["range"], {}),
        ("MatMul", ["w"], {}),
        ("Add", ["b"], {}),
        ("Relu", [], {}),
        ("MatMul", ["u"], {}),
        ("Relu", [], {}),
        ("Identity", [], {}),
        ("MatMul", ["last"], {}),
        ("Add", ["c"], {}),
        ("Identity", [], {}),
    )
    names = "normalization/sub normalization/truediv dense/MatMul dense/BiasAdd dense/Relu dense_1/MatMul dense_1/Relu"
    for node, name in zip(nodes, names.split(), strict=False):
        node.name = f"StatefulPartitionedCall/sequential/{name}"
    more = {"u": RNG.normal(size=(4, 2)).astype(np.float32), "last": RNG.normal(size=(2, 1)).astype(np.float32)}
    path = saved(tmp_path / "keras.onnx", nodes, W | more, shape=("unk__7", 3))
    net = read_network(path)
    assert (net.sizes, [step for step, _ in net.scaling]) == ((3, 4, 2, 1), ["sub", "div"])
    assert not net.biases[1].any()
    x = RNG.normal(size=(20, 3)).astype(np.float32).astype(float)
    np.testing.assert_allclose(run_onnx(path, x), net(x), rtol=1e-4, atol=1e-5)


BAD = {
    "Sigmoid": [*GOOD, ("Sigmoid", [], {})],
    "Conv": [("Conv", ["w"], {}), *GOOD[2:]],
    "without a Relu": [*GOOD[2:4], ("Gemm", ["v", "c"], {"transB": 1})],
    "does not follow a linear layer": [("Relu", [], {}), *GOOD[2:]],
    "linear layer; export": GOOD[:-1],
    "stands behind a layer": [*GOOD, ("Mul", ["c"], {})],
    "has factors or transposes its input": [*GOOD[2:5], ("Gemm", ["v", "c"], {"transB": 1, "alpha": 2.0})],
    "not stored in the file": [("MatMul", ["nowhere"], {}), *GOOD[3:]],
    "reads 3 numbers": [*GOOD[2:5], ("Gemm", ["mean"], {"transB": 1})],
    "has the attribute 'alpha'": [*GOOD[2:4], ("Relu", [], {"alpha": 1.0}), GOOD[5]],
    "may be told to drop units at random": [("Dropout", ["range", "mean"], {}), *GOOD[2:]],
    "has weights with 1 dimensions": [("MatMul", ["range"], {}), *GOOD[3:]],
    "is defined by 'com.others'": [*GOOD[2:4], ("Relu", [], {"domain": "com.others"}), GOOD[5]],
}


@pytest.mark.parametrize("why", BAD)
def test_other_nodes_are_named(tmp_path, why):
    with pytest.raises(SmileError, match=why):
        read_network(saved(tmp_path / "net.onnx", chain(*BAD[why]), W))


def test_nodes_that_read_or_write_the_wrong_way_are_named(tmp_path):
    turned = chain(*GOOD[2:])
    turned[0].input[:] = ["w", "x"]
    stored = chain(*GOOD[2:])
    stored[1].output[0] = stored[2].input[0] = "mean"
    twice = [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(W["w"])), *chain(*GOOD[2:])]
    for nodes, why in (
        (turned, "multiplies its input from the left"),
        (stored, "gives what the file stores as a tensor"),
        (twice, "The file stores the tensor 'w' twice"),
    ):
        with pytest.raises(SmileError, match=why):
            read_network(saved(tmp_path / "net.onnx", nodes, W))


@pytest.mark.parametrize(
    ("weights", "biases", "scaling", "why"),
    [
        ([(2, 3)], [3], [], r"Layer 1 has weights of shape \(2, 3\) and biases of shape \(3,\)"),
        ([(2, 3), (1, 4)], [2, 1], [], "Layer 2 reads 4 numbers, but layer 1 gives 2"),
        ([(1, 3)], [1], [("add", np.ones(2))], r"The scaling has a step 'add' with constants of shape \(2,\)"),
        ([(1, 3)], [1], [("div", np.array([1, 0, 1]))], "The scaling multiplies or divides an input by zero"),
    ],
)
def test_networks_whose_parts_do_not_fit_are_one_sentence(weights, biases, scaling, why):
    with pytest.raises(SmileError, match=why):
        DeepNet(tuple(map(np.ones, weights)), tuple(map(np.ones, biases)), "float64", tuple(scaling))


def test_dynamic_columns_are_refused(tmp_path):
    with pytest.raises(SmileError, match="no fixed number of columns"):
        read_network(saved(tmp_path / "net.onnx", chain(*GOOD), W, shape=("n", "m")))


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**41])
def test_numbers_that_no_certificate_covers_are_refused(tmp_path, value):
    bad = {**W, "b": np.array([0, value, 0, 0], dtype=np.float32)}
    with pytest.raises(SmileError, match=r"NaN|2\^40"):
        read_network(saved(tmp_path / "net.onnx", chain(*GOOD), bad))


def test_files_that_are_no_onnx_are_one_sentence(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"no network at all")
    for path in (tmp_path / "net.onnx", tmp_path / "nowhere.onnx", tmp_path):
        with pytest.raises(SmileError):
            read_network(path)


def test_altered_onnx_files_are_read_or_refused(tmp_path):
    """Whatever bytes a file holds: a network or a SmileError, nothing else."""
    good = saved(tmp_path / "net.onnx", chain(*GOOD), W).read_bytes()
    rng, read = np.random.default_rng(1), 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
        if rng.random() < 0.2:
            data = data[: int(rng.integers(len(data)))]
        (tmp_path / "net.onnx").write_bytes(data)
        with suppress(SmileError):
            read += isinstance(read_network(tmp_path / "net.onnx"), DeepNet)
    assert read > 50


def test_torch_sequentials(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Dropout(), nn.Linear(5, 2, bias=False)).eval()
    net = read_network(model)
    x = torch.randn(10, 3)
    np.testing.assert_allclose(net(x.double().numpy()), model(x).detach().numpy(), rtol=1e-4, atol=1e-6)
    assert read_network(model.double()).dtype == "float64"
    for bad in (nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)), nn.Sequential(nn.Linear(3, 2), nn.ReLU())):
        with pytest.raises(SmileError):
            read_network(bad)
    with pytest.raises(SmileError, match="follows another Linear; put a ReLU between them"):
        read_network(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))
    with pytest.raises(SmileError, match="LSTM cannot be audited"):
        read_network(nn.LSTM(3, 2))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_networks_and_their_scalers():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)) * [1, 10, 100], rng.normal(size=60)
    for scaler in (StandardScaler(), MinMaxScaler()):
        model = make_pipeline(scaler, MLPRegressor(hidden_layer_sizes=(4, 3), max_iter=5, random_state=0)).fit(x, y)
        np.testing.assert_allclose(read_network(model)(x)[:, 0], model.predict(x), rtol=1e-9)
    classifier = MLPClassifier(hidden_layer_sizes=(4,), max_iter=5, random_state=0).fit(x, y > 0)
    logit = read_network(classifier)(x)[:, 0]
    np.testing.assert_allclose(1 / (1 + np.exp(-logit)), classifier.predict_proba(x)[:, 1], rtol=1e-6)
    read = "StandardScaler and MinMaxScaler are read"
    for bad, why in (
        (MLPRegressor(), "is not fitted; call fit first"),
        (MLPRegressor(activation="tanh", max_iter=5).fit(x, y), "has the activation 'tanh'; 'relu' is audited"),
        (
            make_pipeline(PolynomialFeatures(), MLPRegressor(max_iter=5)).fit(x, y),
            f"holds a PolynomialFeatures; {read}",
        ),
        (make_pipeline(MinMaxScaler(clip=True), MLPRegressor(max_iter=5)).fit(x, y), rf"holds the step Min.*; {read}"),
        (make_pipeline(StandardScaler()).fit(x), "The pipeline ends in a StandardScaler"),
    ):
        with pytest.raises(SmileError, match=why):
            read_network(bad)
