"""What a fifteenth stranger found: small files that take long, and columns named in two orders."""

import hashlib
import json
import struct

import numpy as np
import pandas as pd
import pytest
from trust import forge2

import smilenn
from smilenn import SmileRegressor
from smilenn.certify import check, check_deep
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import deep_work as deep_reference
from smilenn.certify.reference.share import check_share as check_share_reference
from smilenn.errors import AlteredError

TINY = 2.0**-1022 * (1 + 2**-52)  # every layer of such weights makes denominators longer by a thousand digits


# ---- encoders --------------------------------------------------------------------------------------------------------


def stored(tensors):
    """A safetensors file."""
    header, data = {}, b""
    for name, values in sorted(tensors.items()):
        raw = np.asarray(values, dtype="<f8")
        header[name] = {
            "dtype": "F64",
            "shape": list(raw.shape),
            "data_offsets": [len(data), len(data) + raw.nbytes],
        }
        data += raw.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def encoded_folder(path, layers, tensors, width):
    """f = 0 with an encoder of these layers, said to be at most 1."""
    claim = forge2.small_claim(([(1, 0, "y")], "<=", 1))
    leaf = {"witness": [[0.5]], "rows": [{"rule": "leaf", "bits": 0, "units": [], "start": 0, "length": 1}]}
    branch = {"name": "b", "columns": [0], "layers": layers}
    files = forge2.small_files(claim, net={"auxiliaries": "constant", "encoder": [branch]}, proofs=[leaf])
    own = {f"encoder.branches.0.layers.{name}": values for name, values in tensors.items()}
    plain = {"lower.const": [0.0], "second.const": [0.0], "head_weight": [[1.0]], "head_bias": [0.0]}
    box = {"encoder.lo": [-1.0] * width, "encoder.hi": [1.0] * width}
    files |= {forge2.WEIGHTS: stored(plain | box | own), forge2.BINARY: b"\0"}
    return forge2.put(path, forge2.as_version_2(files))


def chain(path, weight, depth=6, width=10):
    """Layers of one unit, then one of many."""
    layers = [{"kind": "linear", "inputs": 1, "outputs": 1, "base": 0} for _ in range(depth)]
    layers.append({"kind": "linear", "inputs": 1, "outputs": width, "base": 0})
    tensors = {f"{at}.weight": [[weight]] for at in range(depth)} | {f"{at}.bias": [weight] for at in range(depth)}
    return encoded_folder(
        path, layers, tensors | {f"{depth}.weight": [[1.0]] * width, f"{depth}.bias": [0.0] * width}, width
    )


def least(monkeypatch, module, name, status, high):
    """The smallest limit with which a checker does not refuse."""
    low = 0
    while low < high:
        middle = (low + high) // 2
        monkeypatch.setattr(module, name, middle)
        low, high = (middle + 1, high) if status() == "refused" else (low, middle)
    monkeypatch.undo()
    return low


def least_of_both(monkeypatch, folder):
    """The work of a folder, as both checkers count it."""
    limits = (check, "WORK"), (check_reference, "MOST_WORK")
    found = {
        least(monkeypatch, module, name, lambda m=module: m.check_folder(folder).status, 1 << 24)
        for module, name in limits
    }
    assert len(found) == 1
    return found.pop()


def test_long_numbers_of_an_encoder_count_as_long_work(tmp_path, monkeypatch):
    # 1.5 ms a coordinate were counted as 16 units of a microsecond: 1 MB took 14 hours, the limit allowed a week
    short = least_of_both(monkeypatch, chain(tmp_path / "short", 1.0))
    long = least_of_both(monkeypatch, chain(tmp_path / "long", TINY))
    coordinates = 10  # of the last layer, whose inputs have some 7,000 digits
    assert short > 256 * coordinates and long > 1000 * coordinates and long > 4 * short


def test_a_contraction_of_one_input_counts_its_units_in_pairs(tmp_path, monkeypatch):
    # every pair of units is looked at once, however few inputs there are: j²/64 was counted
    units = 100
    layers = [{"kind": "contract", "inputs": 1, "units": units}]
    vectors = {"0.bias": [0.0] * units, "0.gain": [0.0] * units, "0.balance": [1.0] * units}
    folder = encoded_folder(tmp_path / "m", layers, vectors | {"0.weight": [[0.5] * units]}, 1)
    assert units**2 <= least_of_both(monkeypatch, folder) < 4 * units**2


# ---- audits and labels -----------------------------------------------------------------------------------------------


def labels_folder(path, constant, steps=16):
    """f = 1, to each of its two inputs the constant is added so many times; one leaf for each of eight parts."""
    network, proof = struct.pack("<5d", 0, 0, 0, 0, 1), b"\1"
    scaling = [["add", [constant, constant]] for _ in range(steps)]
    content = {
        "format": "smilenn-share",
        "version": 1,
        "source": "",
        "network": {"dtype": "float64", "sizes": [2, 1, 1], "scaling": scaling, "sha256": sha256(network)},
        "inputs": ["a", "p"],
        "lo": [0, 0],
        "hi": [9, 1],
        "protected": 1,
        "parts": [[0, 1]] * 8,
        "pair": None,
        "proofs_sha256": sha256(proof),
    }
    path.mkdir()
    for name, data in {"share.json": json.dumps(content).encode(), "network.bin": network, "proofs.bin": proof}.items():
        (path / name).write_bytes(data)
    return path


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("module", "name", "checker"),
    [(check_deep, "WORK", check_deep.check_share), (deep_reference, "MOST_WORK", check_share_reference)],
    ids=["integers", "rationals"],
)
def test_long_constants_of_a_scaling_count_as_long_work(module, name, checker, tmp_path, monkeypatch):
    # 15 ms an input were counted as 23 units: a file of 1 MB about labels took eleven days
    for name_of_case, constant, factor in (("short", "3/4", 1), ("long", f"1/{2**1074}", 17)):
        folder = labels_folder(tmp_path / name_of_case, constant)
        layers, back = (1024 + 1024 + 8 * 2) + (1024 + 1024 + 8), 1024 + 64 + 2 * 2 + 256 * 2
        work = 8 * (4096 * 2 * (1 + 16) * factor + layers + back)
        for most, status in ((work, "certified"), (work - 1, "refused")):
            monkeypatch.setattr(module, name, most)
            assert checker(folder).status == status
        monkeypatch.undo()
    # 400 digits, as the file had, are those of no float: such constants are refused by now
    assert "float64" in checker(labels_folder(tmp_path / "none", f"{10**389 + 1}/{2 * 10**389 + 1}")).reason


# ---- names of columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["columns", "feature_names_in"])
def test_columns_have_one_order(names, quick_fits, tmp_path):
    # arrays were read in the one order and `feature_names_in_` had the other: 'income' rises was certified, of debts
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(0, 9, 40), "debt": rng.uniform(0, 5, 40)})
    model = SmileRegressor(increasing=["income"], random_state=0, time_limit=3).fit(X, X.income - X.debt)
    model.save(tmp_path / "m")
    files = {file.name: file.read_bytes() for file in (tmp_path / "m").iterdir() if file.name != "manifest.json"}
    described = json.loads(files["model.json"])
    described["table"][names].reverse()
    folder = forge2.put(tmp_path / "x", forge2.rehashed(files | {"model.json": json.dumps(described).encode()}))
    verdict = smilenn.check(folder)
    assert verdict.status == "unknown" and "in two orders" in verdict.sentence()
    with pytest.raises(AlteredError, match="in two orders"):
        smilenn.load(folder)
