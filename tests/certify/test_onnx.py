"""Another runtime adds up in an order of its own: under ``f64-aux`` a promise holds there too."""

import json
import warnings

import numpy as np
import pytest
import torch

from smilenn.certify import check
from smilenn.model.bundle import load_net
from smilenn.properties.claim import Claim

ROWS = 64


def runtime(net, place):
    """The network as ONNX, in blocks of 64 rows: raw x [B, m] → [B, o]."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    pytest.importorskip("onnxscript", reason="the extra onnx is not installed")
    example = torch.zeros(ROWS, net.domain.size, dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net.eval(), (example,), dynamo=True, verbose=False).save(str(place))
    session = onnxruntime.InferenceSession(str(place), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def forward(x):
        out = []
        for i in range(0, len(x), ROWS):
            block = x[i : i + ROWS]
            padded = np.concatenate([block, np.repeat(block[-1:], ROWS - len(block), axis=0)])
            out.append(session.run(None, {name: padded})[0][: len(block)])
        return np.concatenate(out)

    return forward


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_onnxruntime_keeps_the_promise(attack, folders, tmp_path, boxes):
    folders.random_folder(tmp_path / "m", 77, claims=1, copies=2, boxes=boxes, auxiliaries="relu")
    net, _ = load_net(tmp_path / "m")
    forward = runtime(net, tmp_path / "net.onnx")
    x = net.domain.sample(200, np.random.default_rng(0))
    assert np.allclose(forward(x), net.predict(x), rtol=1e-9, atol=1e-9)
    (entry,) = json.loads((tmp_path / "m" / "certificate.json").read_text())["claims"]
    (claim,) = check.check_folder(tmp_path / "m").claims
    limits = [row.bound + row.margin for row in claim.rows]
    for found in attack(net, Claim.from_json(entry["claim"]), limits, count=2000, single=0, forward=forward):
        assert found.violations == 0, found
