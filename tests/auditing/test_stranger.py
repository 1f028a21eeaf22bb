"""Found by a stranger who wanted a bound that does not hold: each of these was accepted once."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest

from smilenn.auditing.folder import described
from smilenn.auditing.network import DeepNet
from smilenn.auditing.onnx_file import read_onnx
from smilenn.certify import check_deep
from smilenn.certify.reference import deep, deep_files, share
from smilenn.errors import SmileError

THIRD = Fraction(float(np.float32(1) / np.float32(3)))


def folder_with(path, constant, dtype="float32"):
    """f = −relu(2³⁹·(x − constant)) at the one input x = fl(1/3): is it at most −5000?"""
    kind = np.dtype(dtype)
    ones = (np.ones((1, 1), kind), -np.ones((1, 1), kind))
    net = DeepNet(ones, (np.zeros(1, kind), np.zeros(1, kind)), dtype)
    network = {**described(net), "scaling": [["sub", [constant]], ["mul", [str(2**39)]]]}
    x = [[str(THIRD)], [str(THIRD)]]
    row = {"text": "", "lo": x, "hi": x, "low": ["0"], "high": ["0"], "whole": [False], "witness": x, "proof": 1}
    row |= {"weights": [["1"], ["0"]], "rhs": "-5000"}
    proof = bytes([check_deep.OWN])
    content = {"format": "smilenn-audit", "version": 1, "source": "", "network": network, "inputs": ["x"]}
    content |= {"outputs": ["y"], "proofs_sha256": hashlib.sha256(proof).hexdigest(), "rows": [row]}
    path.mkdir(exist_ok=True)
    (path / "audit.json").write_text(json.dumps(content), encoding="utf-8")
    (path / "network.bin").write_bytes(net.data())
    (path / "proofs.bin").write_bytes(proof)
    return path


def test_constants_that_the_type_does_not_have_are_refused(tmp_path):
    """Exactly, f = −5461 with the constant 1/3; float32 rounds 1/3 to x and computes 0."""
    folder = folder_with(tmp_path, "1/3")
    for report in (check_deep.check_folder(folder), deep.check_folder(folder)):
        assert (report.status, report.rows) == ("refused", ())
        assert "float32" in report.reason
    folder = folder_with(tmp_path, str(THIRD))
    for report in (check_deep.check_folder(folder), deep.check_folder(folder)):
        assert report.status == "violated" and report.rows[0].found == 0


def test_shares_refuse_such_constants_too(tmp_path):
    """Labels: the same network, whose sign depends on how 1/3 is read."""
    folder = folder_with(tmp_path, "1/3")
    network = json.loads((folder / "audit.json").read_text(encoding="utf-8"))["network"]
    proof = bytes([check_deep.OTHER])
    (folder / "proofs.bin").write_bytes(proof)
    content = {"format": "smilenn-share", "version": 1, "source": "", "inputs": ["x"], "lo": [0], "hi": [1]}
    content |= {"protected": 0, "parts": [[0, 1]], "pair": None, "proofs_sha256": hashlib.sha256(proof).hexdigest()}
    for constant, status in (("1/3", "refused"), ("1/4", "unknown")):
        network["scaling"][0][1] = [constant]
        (folder / "share.json").write_text(json.dumps({**content, "network": network}), encoding="utf-8")
        assert check_deep.check_share(folder).status == share.check_share(folder).status == status


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_checkers_know_the_numbers_of_a_type(dtype):
    """Numbers of the type and their neighbours in twice the digits, subnormal ones too; NumPy is the judge."""
    rng, kind, seen = np.random.default_rng(0), np.dtype(dtype).type, set()
    info = np.finfo(kind)
    lowest = -1074 if dtype == "float64" else -149
    for _ in range(600):
        power = int(rng.choice([rng.integers(lowest - 3, lowest + 60), rng.integers(-60, 30), 39 - info.nmant]))
        digits = int(rng.choice([1, 2, info.nmant, info.nmant + 1, info.nmant + 2]))
        n = int(rng.integers(1 << digits)) | 1 | 1 << (digits - 1)
        value = n * Fraction(2) ** power * int(rng.choice([-1, 1]))
        if abs(value) >= 1 << 40:
            continue
        with np.errstate(all="ignore"):
            near = Fraction(float(kind(float(value))))
        seen.add(near == value)
        assert check_deep.is_float(value, dtype) == deep_files.of_type(value, dtype) == (near == value), value
    assert seen == {True, False}
    for value, good in ((Fraction(0), True), (Fraction(1, 3), False), (Fraction(-1, 2), True)):
        assert check_deep.is_float(value, dtype) == deep_files.of_type(value, dtype) == good


def test_a_dropout_of_another_tensor_is_refused(tmp_path):
    """Dropout(data = a constant, ratio = x) gives the constant; it was read as x."""
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT

    def tensor(name, values):
        return onnx.numpy_helper.from_array(np.array(values, dtype=np.float32), name)

    stored = [tensor("c", [[5, -7]]), tensor("w", [[1, 0], [0, 1]]), tensor("v", [[1], [1]])]
    ends = [make.make_tensor_value_info(*end) for end in (("x", kind, [1, 2]), ("y", kind, [1, 1]))]
    for read, good in ((["x"], True), (["c", "x"], False)):
        nodes = [make.make_node("Dropout", read, ["d"]), make.make_node("MatMul", ["d", "w"], ["s"])]
        nodes += [make.make_node("Relu", ["s"], ["r"]), make.make_node("MatMul", ["r", "v"], ["y"])]
        onnx.save(make.make_model(make.make_graph(nodes, "g", ends[:1], ends[1:], stored)), tmp_path / "net.onnx")
        if good:
            assert read_onnx(tmp_path / "net.onnx").sizes == (2, 2, 1)
            continue
        with pytest.raises(SmileError, match="reads another tensor"):
            read_onnx(tmp_path / "net.onnx")
