"""The attack on what a certificate promises: deployed floats, hostile backbones, odd domains, weights and claims."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from smilenn.certify import check, check_reference
from smilenn.errors import SmileError
from smilenn.model.bundle import load_net
from smilenn.properties.claim import Claim, row


def test_a_scale_that_is_flushed_to_zero_is_refused(corpus, tmp_path):
    """f = 2^-41 everywhere, but a subnormal output scale is zero to a processor that flushes: no margin covers that."""
    net = corpus.plain(corpus.box("x"), [[1.0]], [0.0], [0.0], const=1.0)
    claim = Claim(1, (), (row([(-1, 0, "out", "")], -F(1, 2**42)),))  # f ≥ 2^-42
    files = corpus.made(net, claim, [[0.5]], corpus.EMPTY_TREE)
    files = corpus.forge.forged(files, net={"output_scale": [2.0**-1040]}, tensors={"head_weight": [2.0**-41]})
    corpus.put(tmp_path / "m", files)
    with pytest.raises(SmileError, match="powers of two"):  # the loader too
        load_net(tmp_path / "m")
    assert check_reference.check_folder(tmp_path / "m").status == "refused"
    assert check.check_folder(tmp_path / "m").status == "refused"
