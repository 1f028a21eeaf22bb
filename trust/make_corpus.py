"""The frozen corpus: certificates that every release has to accept with the same bounds, and others it has to refuse.

    python -m trust.make_corpus [--try]   writes tests/certify/corpus2 anew: only while version 2 is not frozen
    python -m trust.make_corpus --trees   writes tests/certify/corpus_trees anew: layers of trees, added later
    python -m trust.make_corpus --balls   writes tests/certify/corpus_balls anew: Euclidean norms, added later

``corpus2/folders.tar.xz`` holds one model folder per entry, ``corpus2/index.json`` for each its status, exit code,
class of reason and, if it was checked, rule, bound, margin, right side and room of every row as exact fractions, and
what its outputs mean. Both checkers have to agree before anything is written; test_corpus.py holds them to it
afterwards. ``corpus`` is that of version 1, frozen with 0.1. With ``--try`` nothing is written.
"""

from __future__ import annotations

import io
import json
import math
import struct
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.certify import certificate as c
from smilenn.certify import check
from smilenn.certify.reference import check as check_reference
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim, Inequality, Term, row
from trust import corpus_details as more_details
from trust import encoded_folder as encoders
from trust import forge, kill_cases, kill_lemmas, kill_signs
from trust import kill_balls as balled
from trust import kill_trees as grown
from trust import kill_version2 as version2
from trust import random_folder as folders

CORPORA = Path(__file__).resolve().parents[1] / "tests" / "certify"
CORPUS = CORPORA / "corpus2"
PREFIX = "v2-"  # of all names, so that both corpora fit in one folder

kills = (kill_signs, kill_cases, kill_lemmas)
Files = dict[str, bytes]
Entry = tuple[str, str, Files]  # name, class of reason, files (a manifest is made unless there is one)

# ---- networks by hand ------------------------------------------------------------------------------------------------


def plain(domain: Domain, weight: Any, bias: Any, out: Any, slope: Any = None, const: float = 0.0) -> SmileNet:
    """f = const + slope·u + out·relu(weight·u + bias), one output, no gap."""
    net = SmileNet(domain, MLP(domain.size, (1,), 1), 1, auxiliaries="relu", hidden=len(bias), skip=True)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.lower.weight.copy_(torch.tensor(weight, dtype=torch.float64))
        net.lower.bias.copy_(torch.tensor(bias, dtype=torch.float64))
        net.lower.out.copy_(torch.tensor([list(out)], dtype=torch.float64))
        net.lower.slope.copy_(torch.tensor([slope or [0.0] * domain.size], dtype=torch.float64))
        net.lower.const.fill_(const)
        net.head_weight.fill_(1.0)
    return net


def box(*names: str, lo: float = 0.0, hi: float = 1.0) -> Domain:
    return Domain.box([lo] * len(names), [hi] * len(names), list(names))


def less(name: str, delta: Any = 0) -> Any:
    """a.name − b.name ≤ delta."""
    return row([(1, 0, "in", name), (-1, 1, "in", name)], delta)


def more(name: str, delta: Any = 0) -> Any:
    """b.name − a.name ≤ delta."""
    return row([(-1, 0, "in", name), (1, 1, "in", name)], delta)


def difference(rhs: Any = 0, out: str = "") -> Any:
    return row([(1, 0, "out", out), (-1, 1, "out", out)], rhs)


def made(net: SmileNet, claim: Claim, witness: Any, *proofs: c.RowProof) -> Files:
    return folders.files_of(net, [c.ClaimProof(claim.to_json(), witness, proofs)])


LEAF, EMPTY_TREE = c.Leaf(), c.LeafProof(0, (), (c.Leaf(),))


def root(bits: int, units: tuple[int, ...], *numbers: int) -> c.LeafProof:
    """One leaf."""
    return c.LeafProof(bits, units, (c.Leaf((), numbers),))


# ---- accepted --------------------------------------------------------------------------------------------------------


def by_hand() -> Iterator[Entry]:
    """Small networks whose bounds can be worked out on paper."""
    hinge = plain(box("x", lo=-1.0), [[1.0]], [0.0], [-3.0], [1.0])  # x, then −2x
    claim = Claim(1, (), (row([(1, 0, "out", "")], F(1, 100)),))
    split, left, right = c.Input(0, 0, 0.0), c.Leaf((), (0,)), c.Leaf((), (-3,))
    yield "hinge", "", made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (split, left, right)))
    yield "hinge-children-swapped", "", made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (split, right, left)))
    yield "hinge-phases", "", made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (c.Phase(0, 0), left, right)))
    yield "hinge-bits", "", made(hinge, claim, [[0.0]], c.LeafProof(30, (0,), (split, left, c.Leaf((), (-3 << 29,)))))
    yield "hinge-most-bits", "", made(hinge, claim, [[0.0]], c.LeafProof(1000, (0,), (split, left, right)))
    yield (
        "hinge-threshold-outside",
        "",
        made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (c.Input(0, 0, 1e300), left, right))),
    )
    yield (
        "hinge-threshold-tiny",
        "",
        made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (c.Input(0, 0, 5e-324), left, right))),
    )
    yield (
        "hinge-threshold-twice",
        "",
        made(hinge, claim, [[0.0]], c.LeafProof(0, (0,), (split, split, left, right, split, right, right))),
    )
    decided = plain(box("x", lo=1.0, hi=2.0), [[1.0]], [0.0], [1.0])
    for t in (3, 1, 0, -1):
        yield (
            f"decided-unit-{t}",
            "",
            made(decided, Claim(1, (), (row([(1, 0, "out", "")], 10),)), [[1.5]], root(0, (0,), t)),
        )
    peak = plain(Domain((Feature("x", "integer", 0, 4),)), [[1.0]], [-2.0], [-2.0], [1.0])
    for theta in (2.0, 1.5, 2.5, -1.5):
        tree = (c.Input(0, 0, theta), c.Leaf((), (0,)), c.Leaf((), (-2,)))
        yield (
            f"peak-of-whole-numbers-{theta}",
            "",
            made(peak, Claim(1, (), (row([(1, 0, "out", "")], 2),)), [[0.0]], c.LeafProof(0, (0,), tree)),
        )
    bend = plain(box("x", lo=-1.0), [[1.0]], [0.0], [1.0])
    middle = row([(1, 0, "in", "x"), (-2, 1, "in", "x"), (1, 2, "in", "x")], 0, "==")
    convex = Claim(3, (middle,), (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], 0),))
    for place, numbers in enumerate(((-1, 2, -1, 0), (0, 0, 0, 1), (0, 2, -1, -1), (-1, 1, 0, 1))):
        leaf = c.Leaf((), numbers[:3], numbers[3:])
        yield f"convex-{place}", "", made(bend, convex, [[0.0]] * 3, c.LeafProof(0, (0,), (leaf,)))
    for low, high in ((F(1, 4), F(1, 2)), (F(-1, 2), F(-1, 4)), (F(0), F(1, 3)), (F(-1, 8), F(-1, 8)), (F(0), F(0))):
        strip = Claim(2, (less("x", high), more("x", -low)), (difference(1),))
        two = plain(box("x"), [[1.0], [-2.0]], [-0.5, 0.75], [-3.0, 2.0], [1.0])
        witness = [[0.5 + float(low)], [0.5]]
        yield f"strip-{low}-{high}-leaf".replace("/", "of"), "", made(two, strip, witness, root(2, (0, 1), -3, 5, 7, 1))
        yield f"strip-{low}-{high}-sweep".replace("/", "of"), "", made(two, strip, witness, c.SweepProof())
    rise = plain(box("x", "y", lo=-1.0), [[1.0, 1.0], [-1.0, -1.0]], [-0.5, -0.5], [1.0, -3.0])
    steep = Claim(
        2, (less("x"),), (row([(-1, 0, "out", ""), (1, 1, "out", ""), (3, 0, "in", "x"), (-3, 1, "in", "x")], 0),)
    )
    tree = (c.Phase(255, 0), LEAF, c.Phase(255, 1), LEAF, c.Empty((1, 1)))
    yield "slope-with-an-empty-leaf", "", made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, tree))
    yield (
        "slope-splits-a-pinned-input",
        "",
        made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, (c.Input(255, 1, 0.25), *tree, *tree))),
    )
    grouped = plain(
        Domain((Feature("x"), Feature("r", "category", categories=("u", "v", "w")), Feature("n", "integer", 0, 3))),
        [[1.0, 0.0, 2.0, -1.0, 0.5], [1.0, 1.0, 0.0, 0.0, -1.0]],
        [-0.5, 0.0],
        [1.0, 2.0],
    )
    tree = (c.Group(255, 0), LEAF, c.Input(255, 4, 1.5), LEAF, LEAF, c.Phase(255, 1), LEAF, LEAF)
    yield (
        "slope-splits-a-group",
        "",
        made(grouped, Claim(2, (less("x"),), (difference(),)), [[0.0, 1.0, 0.0, 0.0, 0.0]] * 2, c.SlopeProof(0, tree)),
    )
    yield (
        "slope-decreasing",
        "",
        made(
            plain(box("x", "y"), [[-1.0, 1.0]], [0.25], [2.0], [-0.5, 0.0]),
            Claim(2, (more("x"),), (difference(F(1, 3)),)),
            [[0.5, 0.5]] * 2,
            c.SlopeProof(0, (LEAF,)),
        ),
    )
    wide = plain(box(*(f"x{i}" for i in range(20))), np.ones((64, 20)), np.linspace(-9, 9, 64), np.ones(64))
    names = [f"x{i}" for i in range(20)]
    yield (
        "monotone-by-signs",
        "",
        made(wide, Claim(2, tuple(map(less, names)), (difference("1/10000000000"),)), [[0.0] * 20] * 2, EMPTY_TREE),
    )
    yield (
        "tight-on-the-diagonal",
        "",
        made(wide, Claim(2, tuple(map(less, names)), (difference(),)), [[0.0] * 20] * 2, c.SlopeProof(0, (LEAF,))),
    )
    cells = plain(box("x", lo=-1.0), [[1.0], [-1.0]], [0.0, 0.0], [1.0, -1.0])
    for lipschitz in (1, 2):
        terms = [(1, 0, "in", "x"), (-1, 1, "in", "x")]
        claim = Claim(
            2,
            (less("x"),),
            (row([(-1, 0, "out", ""), (1, 1, "out", ""), *((lipschitz * t[0], *t[1:]) for t in terms)], 0),),
        )
        full = (c.Phase(255, 0), LEAF, c.Phase(255, 1), LEAF, LEAF)
        yield (
            f"degenerate-cell-{lipschitz}",
            "" if lipschitz == 2 else "slope",
            made(cells, claim, [[0.0]] * 2, c.SlopeProof(0, full)),
        )
    dip = plain(Domain((Feature("x", "binary"),)), [[1.0], [1.0]], [-0.25, -0.75], [-10.0, 10.0], [1.0])
    monotone = Claim(2, (less("x"),), (difference(),))
    yield "dip-between-whole-numbers-sweep", "", made(dip, monotone, [[0.0]] * 2, c.SweepProof())
    yield "dip-between-whole-numbers-slope", "slope", made(dip, monotone, [[0.0]] * 2, c.SlopeProof(0, (LEAF,)))
    yield (
        "dip-between-whole-numbers-split",
        "tree",
        made(dip, monotone, [[0.0]] * 2, c.SlopeProof(0, (c.Input(255, 0, 0.5), LEAF, LEAF))),
    )
    group = plain(
        Domain((Feature("r", "category", categories=("u", "v", "w")),)),
        [[1.0, -2.0, 0.5]],
        [0.5],
        [1.0],
        [3.0, 1.0, 2.0],
    )
    for name, when, witness in (
        ("free", (), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        ("no-step-up", (less("r=u"),), [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        ("must-move", (more("r=u", -1),), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        (
            "must-not-be",
            (row([(1, 0, "in", "r=v")], 0), row([(-1, 1, "in", "r=w")], -1)),
            [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        ("between-numbers", (less("r=u", F(1, 2)), more("r=v", F(1, 3))), [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
    ):
        tree = c.LeafProof(1, (0,), (c.Group(0, 0), *(c.Leaf((), (i, -i)) for i in range(3))))
        yield f"one-hot-{name}", "", made(group, Claim(2, when, (difference(5),), "free"), witness, tree)
        yield (
            f"one-hot-{name}-root",
            "",
            made(group, Claim(2, when, (difference(5),), "free"), witness, root(1, (0,), 2, 1)),
        )
    yield (
        "one-hot-pinned-member",
        "",
        made(
            group,
            Claim(3, (), (row([(1, 0, "out", ""), (1, 1, "out", ""), (-1, 2, "out", "")], 20),), "free", ("r=v",)),
            [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            root(1, (0,), 2, 1, -1),
        ),
    )


CHOICES: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    ("any", {}, tuple(range(24))),
    ("paper", {"boxes": "paper", "auxiliaries": "relu"}, (1, 2, 3, 4, 5, 6)),
    ("paper-two", {"boxes": "paper", "copies": 2}, (1, 2, 3, 4)),
    ("affine-gap", {"auxiliaries": "affine", "boxes": "gap"}, (1, 2, 3)),
    ("affine-paper", {"auxiliaries": "affine", "boxes": "paper"}, (1, 2)),
    ("constant", {"auxiliaries": "constant"}, (1, 2)),
    ("sweep", {"rule": "sweep", "size": 1}, (1, 2, 3, 4, 5, 6)),
    ("slope", {"rule": "slope", "zero_gap": True, "copies": 2}, (1, 2, 3, 4, 5, 6)),
    ("mirror", {"rule": "mirror", "copies": 2}, (1, 2, 3, 4)),
    ("three", {"copies": 3}, (1, 2, 3)),
    ("four", {"copies": 4}, (1, 2)),
    ("certified", {"rhs": 100000}, (1, 2, 3)),
    ("fixed-order", {"profile": "fixed-order"}, (1, 2, 3)),
    ("order", {"profile": "fixed-order", "rule": "order", "copies": 2}, (1, 2, 3, 4)),
    ("dyadic", {"profile": "dyadic"}, (1, 2, 3, 4, 5, 6)),
    ("dyadic-slope", {"profile": "dyadic", "rule": "slope", "copies": 2}, (1, 2, 3)),
    ("dyadic-sweep", {"profile": "dyadic", "rule": "sweep", "size": 1}, (1, 2, 3)),
]


def at_random() -> Iterator[Entry]:
    """Random networks with random trees."""
    with tempfile.TemporaryDirectory() as place:
        for name, choices, seeds in CHOICES:
            for seed in seeds:
                folders.random_folder(Path(place) / "m", 500 + seed, **choices)
                files = forge.forge2.read(Path(place) / "m")
                good = check.check_folder(Path(place) / "m").status in ("certified", "unknown")
                yield f"random-{name}-{seed}", "" if good else "rule", files


def encoded() -> Iterator[Entry]:
    """Random networks with encoders, random trees over what they give; and one odd value after the other."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "m"
        for seed in (
            *range(50),
            64,
            72,
            78,
            116,
            118,
            129,
            145,
            149,
            157,
            166,
            173,
            178,
            193,
            196,
            209,
            214,
            242,
            307,
            387,
        ):
            encoders.encoded_folder(path, seed, rules=0.5 if seed % 2 else 0.1)
            good = check.check_folder(path).status in ("certified", "unknown")
            yield f"encoded-{seed}", "" if good else "encoder", {n: (path / n).read_bytes() for n in check.FILES}
        # a branch of very many layers, a weight that is zero
        encoders.encoded_folder(path, 78)
        files = {n: (path / n).read_bytes() for n in check.FILES}
        branches = json.loads(files["model.json"])["net"]["encoder"]
        kinks = next(i for i, b in enumerate(branches) if b["layers"] and b["layers"][0]["kind"] == "kinks")
        for count, why in ((64, ""), (65, "encoder")):
            many = json.loads(json.dumps(branches))
            first = many[kinks]["layers"][0]
            many[kinks] = {"name": "many", "columns": many[kinks]["columns"], "layers": [first] * count}
            header, data = forge.unpacked(files["weights.safetensors"])
            kept = {n: e for n, e in header.items() if not n.startswith(f"encoder.branches.{kinks}.")}
            width, end, body = sum(_width(b) for b in many), 0, b""
            for name in sorted(kept, key=lambda n: kept[n].get("data_offsets", [0])):
                if name != "__metadata__":
                    piece = data[slice(*kept[name]["data_offsets"])]
                    if name in ("encoder.lo", "encoder.hi"):
                        piece = struct.pack(f"<{width}d", *[float(name == "encoder.hi")] * width)
                        kept[name] = kept[name] | {"shape": [width]}
                    elif "slope" in name or name in ("lower.weight", "second.weight"):
                        rows = kept[name]["shape"][0]
                        piece, kept[name] = b"\0" * (8 * rows * width), kept[name] | {"shape": [rows, width]}
                    kept[name] = kept[name] | {"data_offsets": [end, end + len(piece)]}
                    end, body = end + len(piece), body + piece
            changed = files | {"weights.safetensors": forge.safetensors(kept, body)}
            yield f"encoder-of-{count}-layers", why, _unmoduled(changed, many)
        for what, odd in _odd_encoders(branches):
            entry = f"encoder-odd-{what}", "encoder", _unmoduled(files, odd)
            yield more_details.judged(sys.modules[__name__], *entry)
        header, _ = forge.unpacked(files["weights.safetensors"])
        name = next(n for n in header if n.endswith(".weight") and n.startswith("encoder.") and ".module." not in n)
        size = math.prod(header[name]["shape"])
        values = [0.0 if i % 2 else 1.0 - i for i in range(size)]
        yield "encoder-weight-zero", "", _unmoduled(files, branches, {name: values})


def _odd_encoders(branches: Any) -> Iterator[tuple[str, Any]]:
    """A description with one value replaced, dropped or doubled."""

    def walk(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*path, key)
            if isinstance(value[key], dict | list) and key != "module":
                yield from walk(value[key], (*path, key))

    for number, path in enumerate(walk(branches)):
        for odd, new in enumerate((None, True, -1, 0, 1, 99, 1.0, "", [], {}, "drop", "more")):
            copy = json.loads(json.dumps(branches))
            where = copy
            for key in path[:-1]:
                where = where[key]
            if new == "drop":
                where.pop(path[-1])
            elif new == "more" and isinstance(where[path[-1]], list):
                where[path[-1]] += where[path[-1]][:1]
            elif new == "more" and isinstance(where[path[-1]], dict):
                where[path[-1]]["more"] = 1
            else:
                where[path[-1]] = new
            yield f"{number}-{odd}", copy


def _width(branch: dict[str, Any]) -> int:
    """Outputs of a branch."""
    last = branch["layers"][-1] if branch["layers"] else {"size": len(branch["columns"])}
    if last.get("kind") == "pool":
        return (last["side"] // last["block"]) ** 2
    return len(last["source"]) if "source" in last else last.get("outputs", last.get("size"))


def _unmoduled(files: Files, encoder: Any, tensors: Any = None) -> Files:
    """`forged` for networks with encoders, whose pinned modules are not part of the weights' digest; one empty tree."""
    out = forge.forged(files, net={"encoder": encoder}, tensors=tensors)
    header, data = forge.unpacked(out["weights.safetensors"])
    raw = {
        n: data[slice(*e["data_offsets"])]
        for n, e in header.items()
        if n != "__metadata__" and not n.startswith("backbone.") and ".module." not in n
    }
    content = json.loads(out["certificate.json"])
    content["model"] = c.model_digest(json.loads(out["model.json"])["net"], raw)
    return out | {"certificate.json": json.dumps(content).encode()}


# ---- refused ---------------------------------------------------------------------------------------------------------


def small() -> tuple[Files, tuple[c.Node, ...], c.Leaf]:
    """A certified folder with a phase, an input, a group and a flip split, an extra row, two outputs of units."""
    domain = Domain(
        (
            Feature("x", lo=0.0, hi=1.0, unit="€"),
            Feature("n", "integer", 0, 4),
            Feature("r", "category", categories=("u", "v")),
        )
    )
    torch.manual_seed(1)
    net = folders.random_net(
        np.random.default_rng(1), domain, boxes="paper", auxiliaries="relu", hidden=2, outputs=1, embedding=2
    )
    when = (row([(1, 0, "in", "x"), (1, 1, "in", "x"), (1, 0, "in", "n")], 3), less("x", F(1, 10)))
    out = net.outputs[0]
    then = (difference(5000, out), row([(1, 0, "out", out)], 5000))
    claim = Claim(2, when, then, sentence="It\x1bholds.")
    leaf = c.Leaf((1, 0, -1, 2), (3, 0, 1, -2, 5, 6, 7, 8), (1,))
    nodes = (c.Phase(0, 1), c.Input(1, 1, 1.5), leaf, leaf, c.Group(255, 0), leaf, c.Flip(0, 1), leaf, leaf)
    proof = c.LeafProof(2, (0, 1, 2, 3), nodes)
    return made(net, claim, [[0.25, 1.0, 1.0, 0.0], [0.25, 2.0, 1.0, 0.0]], proof, proof), nodes, leaf


TERM = ["1", 0, "out", ""]
ROW = {"terms": [TERM], "op": "<=", "rhs": "1"}


def forgeries() -> Iterator[Entry]:
    """One thing changed in a certified folder, every hash made to fit: the thing itself is judged."""
    files, nodes, leaf = small()
    claim = json.loads(files["certificate.json"])["claims"][0]["claim"]

    def then(**changes: Any) -> dict[str, Any]:
        return {"claim": {"then": [ROW | changes] * 2}}

    def term(*values: Any) -> dict[str, Any]:
        return then(terms=[list(values)])

    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "nothing": ("", {}),
        "sentence": ("", {"claim": {"sentence": "Trust me."}}),
        "sentence-of-control-characters": ("", {"claim": {"sentence": "\u202e\x00\n\x9b"}}),
        "claim-edited": ("hash", {"claim": {"others": "free"}, "rehash": False}),
        "weights-edited": ("hash", {"tensors": {"head_bias": [1.0]}, "rehash": False}),
        "one-bit-of-a-weight": ("hash", {"tensors": {"head_bias": [5e-324]}, "rehash": False}),
        "weights-of-another-model": ("hash", {"certificate": {"model": "0" * 64}}),
        "weights-in-capitals": ("hash", {"certificate": {"model": "A" * 64}}),
        "proofs-of-another-file": ("hash", {"certificate": {"proofs_sha256": "0" * 64}}),
        "claim-hash-is-no-text": ("hash", {"entry": {"claim_sha256": None}, "rehash": False}),
        "copies-true": ("claim", {"claim": {"copies": True}}),
        "copies-float": ("claim", {"claim": {"copies": 2.0}}),
        "copies-none": ("claim", {"claim": {"copies": 0}}),
        "copies-five": ("claim", {"claim": {"copies": 5}}),
        "no-conclusion": ("claim", {"claim": {"then": []}}),
        "conclusion-of-another-kind": ("claim", {"claim": {"then": {}}}),
        "premise-of-another-kind": ("claim", {"claim": {"when": "x"}}),
        "no-claims": ("form", {"certificate": {"claims": []}}),
        "claims-of-another-kind": ("form", {"certificate": {"claims": {"a": 1}}}),
        "claim-of-another-kind": ("form", {"certificate": {"claims": [1]}}),
        "others": ("claim", {"claim": {"others": "Equal"}}),
        "equal-as-text": ("claim", {"claim": {"equal": "x"}}),
        "equal-of-numbers": ("claim", {"claim": {"equal": [1]}}),
        "equal-unknown": ("claim", {"claim": {"equal": ["z"]}}),
        "free-unknown": ("claim", {"claim": {"free": ["z"]}}),
        "free-as-text": ("claim", {"claim": {"free": "x"}}),
        "sentence-of-another-kind": ("claim", {"claim": {"sentence": 3}}),
        "rhs-exponent": ("claim", then(rhs="1e5")),
        "rhs-number": ("claim", then(rhs=1)),
        "rhs-decimal": ("claim", then(rhs="1.5")),
        "rhs-plus": ("claim", then(rhs="+1")),
        "rhs-new-line": ("claim", then(rhs="1\n")),
        "rhs-other-digits": ("claim", then(rhs="١")),
        "rhs-over-zero": ("claim", then(rhs="1/00")),
        "rhs-over-minus": ("claim", then(rhs="1/-2")),
        "rhs-giant": ("claim", then(rhs="9" * 401)),
        "rhs-long": ("", then(rhs="9" * 400)),
        "rhs-long-denominator": ("", then(rhs="9" * 400 + "/" + "7" * 400)),
        "rhs-giant-denominator": ("claim", then(rhs="1/" + "7" * 401)),
        "denominators": ("claim", {"claim": {"then": [ROW | {"rhs": f"1/{10**399 + i}"} for i in (1, 3, 7)]}}),
        "relation": ("claim", then(op="<")),
        "row-of-another-kind": ("claim", {"claim": {"then": [1, 1]}}),
        "row-with-another-key": ("claim", then(more=1)),
        "terms-of-another-kind": ("claim", then(terms={})),
        "term-too-short": ("claim", then(terms=[["1", 0, "out"]])),
        "term-of-another-kind": ("claim", then(terms=["1out"])),
        "copy-not-there": ("claim", term("1", 2, "out", "")),
        "copy-negative": ("claim", term("1", -1, "out", "")),
        "copy-true": ("claim", term("1", True, "out", "")),
        "kind-of-term": ("claim", term("1", 0, "Out", "")),
        "name-of-another-kind": ("claim", term("1", 0, "in", 3)),
        "category-as-number": ("claim", term("1", 0, "in", "r")),
        "input-not-there": ("claim", term("1", 0, "in", "q")),
        "output-not-there": ("claim", term("1", 0, "out", "q")),
        "premise-over-outputs": ("claim", {"claim": {"when": [ROW]}}),
        "more-rows-than-proofs": ("form", {"claim": {"then": [ROW] * 3}}),
        "claim-with-another-key": ("claim", {"claim": {"more": 1}}),
        "premise-false": ("premise", {"claim": {"when": [{"terms": [], "op": "<=", "rhs": "-1"}]}}),
        "premise-false-equality": ("premise", {"claim": {"when": [{"terms": [], "op": "==", "rhs": "1"}]}}),
        "premise-true": ("premise", {"claim": {"when": [{"terms": [], "op": "<=", "rhs": "1"}]}}),
        "premise-another": ("premise", {"claim": {"when": [ROW | {"terms": [["1", 0, "in", "x"]], "rhs": "1/5"}]}}),
        "premise-crossed": (
            "premise",
            {"claim": {"when": [*claim["when"], ROW | {"terms": [["1", 0, "in", "x"]], "rhs": "-1"}]}},
        ),
        "strips-crossed": (
            "premise",
            {
                "claim": {
                    "when": [
                        *claim["when"],
                        ROW | {"terms": [["-1", 0, "in", "x"], ["1", 1, "in", "x"]], "rhs": "-1/5"},
                    ]
                }
            },
        ),
        "bits-true": ("form", {"rows": [{"bits": True}, {}]}),
        "bits-float": ("form", {"rows": [{"bits": 2.0}, {}]}),
        "bits-negative": ("form", {"rows": [{"bits": -1}, {}]}),
        "bits-1001": ("form", {"rows": [{"bits": 1001}, {}]}),
        "bits-giant": ("form", {"rows": [{"bits": 10**9}, {}]}),
        "units-not-increasing": ("form", {"rows": [{"units": [0, 2, 1, 3]}, {}]}),
        "units-twice": ("form", {"rows": [{"units": [0, 0, 1, 2]}, {}]}),
        "unit-not-there": ("form", {"rows": [{"units": [0, 1, 2, 4]}, {}]}),
        "unit-negative": ("form", {"rows": [{"units": [-1, 0, 1, 2]}, {}]}),
        "unit-float": ("form", {"rows": [{"units": [0, 1, 2, 3.0]}, {}]}),
        "unit-true": ("form", {"rows": [{"units": [0, True, 2, 3]}, {}]}),
        "units-of-another-kind": ("form", {"rows": [{"units": "0123"}, {}]}),
        "start": ("form", {"rows": [{"start": 1}, {}]}),
        "start-true": ("form", {"rows": [{"start": False}, {}]}),
        "length-giant": ("form", {"rows": [{"length": 10**30}, {}]}),
        "length-negative": ("form", {"rows": [{"length": -1}, {}]}),
        "length-float": ("form", {"rows": [{"length": 9.0}, {}]}),
        "pieces-overlap": ("form", {"rows": [{}, {"start": 0}]}),
        "rule-unknown": ("form", {"rows": [{"rule": "trust"}, {}]}),
        "rule-with-another-key": ("form", {"rows": [{"more": 1}, {}]}),
        "leaf-as-slope": ("form", {"rows": [{"rule": "slope"}, {}]}),
        "leaf-as-sweep": ("form", {"rows": [{"rule": "sweep"}, {}]}),
        "proof-of-another-kind": ("form", {"entry": {"rows": [1, 2]}}),
        "proofs-of-another-kind": ("form", {"entry": {"rows": {}}}),
        "proof-too-many": ("form", {"entry": {"rows": [{"rule": "sweep"}] * 3}}),
        "sweep-of-many-inputs": ("rule", {"entry": {"rows": [{"rule": "sweep"}] * 2}, "binary": b""}),
        "mirror-of-itself": ("rule", {"entry": {"rows": [{"rule": "mirror", "of": 0}] * 2}, "binary": b""}),
        "mirror-of-nothing": ("rule", {"entry": {"rows": [{"rule": "mirror", "of": -1}] * 2}, "binary": b""}),
        "mirror-with-another-key": ("form", {"entry": {"rows": [{"rule": "mirror", "of": 0, "more": 1}] * 2}}),
        "entry-with-another-key": ("form", {"entry": {"more": 1}}),
        "version": ("form", {"certificate": {"version": 3}}),
        "version-of-another-manifest": ("form", {"certificate": {"version": 1}}),
        "version-float": ("form", {"certificate": {"version": 2.0}}),
        "version-true": ("form", {"certificate": {"version": True}}),
        "version-0": ("form", {"certificate": {"version": 0}}),
        "format": ("form", {"certificate": {"format": "else"}}),
        "profile": ("profile", {"certificate": {"profile": "f32-any-order"}}),
        "profile-of-another-model": ("profile", {"certificate": {"profile": "fixed-order"}}),
        "profile-unknown-to-both": ("profile", {"net": {"profile": "f16"}, "certificate": {"profile": "f16"}}),
        "profile-dyadic-without-grid": (
            "profile",
            {"net": {"profile": "dyadic"}, "certificate": {"profile": "dyadic"}},
        ),
        "profile-dyadic-with-a-box": (
            "profile",
            {"net": {"profile": "dyadic", "grid": 9}, "certificate": {"profile": "dyadic"}},
        ),
        "grid-without-profile": ("profile", {"net": {"grid": 9}}),
        "grid-true": ("profile", {"net": {"profile": "dyadic", "grid": True}, "certificate": {"profile": "dyadic"}}),
        "profile-fixed-order": ("", {"net": {"profile": "fixed-order"}, "certificate": {"profile": "fixed-order"}}),
        "order-under-any-order": ("rule", {"entry": {"rows": [{"rule": "order"}] * 2}, "binary": b""}),
        "order-with-another-key": ("form", {"entry": {"rows": [{"rule": "order", "bits": 0}] * 2}, "binary": b""}),
        "profile-none": ("profile", {"certificate": {"profile": None}}),
        "file-of-proofs": ("form", {"certificate": {"proofs": "../certificate.bin"}}),
        "certificate-with-another-key": ("form", {"certificate": {"more": 1}}),
        "net-with-another-key": ("form", {"net": {"more": {}}}),
        "encoder-of-another-kind": ("encoder", {"net": {"encoder": {}}}),
        "encoder-without-branches": ("encoder", {"net": {"encoder": []}}),
        "weight-nan": ("weights", {"tensors": {"head_bias": [math.nan]}}),
        "weight-infinite": ("weights", {"tensors": {"head_bias": [math.inf]}}),
        "weight-minus-infinite": ("weights", {"tensors": {"second.bias": [0.0, -math.inf]}}),
        "weight-overflows": ("overflow", {"tensors": {"head_bias": [1.7e308]}}),
        "hidden-weight-overflows": ("overflow", {"tensors": {"lower.weight": [1e306] * 8}}),
        "constant-overflows": ("overflow", {"tensors": {"second.const": [2e301, 0.0]}}),
        "embedding-true": ("form", {"net": {"embedding": True}}),
        "embedding": ("weights", {"net": {"embedding": 3}}),
        "embedding-0": ("form", {"net": {"embedding": 0}}),
        "hidden": ("weights", {"net": {"hidden": 10**9}}),
        "hidden-0": ("form", {"net": {"hidden": 0}}),
        "hidden-float": ("form", {"net": {"hidden": 2.0}}),
        "scale": ("form", {"net": {"output_scale": [3.0]}}),
        "scale-integer": ("form", {"net": {"output_scale": [1]}}),
        "scale-negative": ("form", {"net": {"output_scale": [-1.0]}}),
        "scale-two": ("form", {"net": {"output_scale": [1.0, 1.0]}}),
        "scale-of-another-kind": ("form", {"net": {"output_scale": 1.0}}),
        "scale-tiny": ("overflow", {"net": {"output_scale": [2.0**-1000]}}),
        "scale-subnormal": ("form", {"net": {"output_scale": [2.0**-1023]}}),
        "scale-least-subnormal": ("form", {"net": {"output_scale": [2.0**-1074]}}),
        "scale-least-normal-of-a-tiny-head": (
            "",
            {"net": {"output_scale": [2.0**-1022]}, "tensors": {"head_weight": [2.0**-60, 0.0], "head_bias": [0.0]}},
        ),
        "gap-instead-of-paper": ("weights", {"net": {"boxes": "gap"}}),
        "boxes": ("form", {"net": {"boxes": ["gap"]}}),
        "auxiliaries": ("form", {"net": {"auxiliaries": "tanh"}}),
        "auxiliaries-affine": ("weights", {"net": {"auxiliaries": "affine"}}),
        "skip": ("form", {"net": {"skip": 1}}),
        "outputs-twice": ("form", {"net": {"outputs": ["a", "a"], "output_scale": [1.0, 1.0]}}),
        "outputs-none": ("form", {"net": {"outputs": [], "output_scale": []}}),
        "outputs-of-numbers": ("form", {"net": {"outputs": [1]}}),
        "outputs-as-text": ("form", {"net": {"outputs": "a"}}),
        "backbone-of-any-kind": ("", {"net": {"backbone": {"kind": "oracle"}}}),
        "domain-of-another-kind": ("domain", {"net": {"domain": []}}),
        "domain-with-another-key": ("domain", {"net": {"domain": {"features": [], "more": 1}}}),
        "features-of-another-kind": ("domain", {"net": {"domain": {"features": {}}}}),
        "features-none": ("domain", {"net": {"domain": {"features": []}}}),
    }
    for name, (why, changes) in cases.items():
        yield f"forged-{name}", why, forge.forged(files, **changes)
    described = json.loads(files["model.json"])["net"]["domain"]["features"]
    for name, changed in FEATURES.items():
        feature = changed if not isinstance(changed, dict) else FEATURE | changed
        yield f"feature-{name}", "domain", forge.forged(files, net={"domain": {"features": [feature, *described[1:]]}})
    yield (
        "feature-nameless",
        "domain",
        forge.forged(files, net={"domain": {"features": [{"name": "x"}, *described[1:]]}}),
    )
    for name, witness in WITNESSES.items():
        yield f"witness-{name}", "witness", forge.forged(files, entry={"witness": witness})
    yield (
        "witness-minus-zero",
        "",
        forge.forged(files, entry={"witness": [[-0.0, 1.0, 1.0, -0.0], [0.0, 2.0, 1.0, 0.0]]}),
    )
    for name, tree in trees(nodes, leaf).items():
        yield f"tree-{name}", "tree", forge.with_tree(files, tree)
    yield "tree-in-the-second-row", "tree", forge.with_tree(files, (c.Phase(0, 4), leaf, leaf), 1)
    for kind in (4, 6, 77, 255):
        yield f"tree-kind-{kind}", "tree", forge.forged(files, binary=bytes([kind]) + files["certificate.bin"][1:])
    for name, cut in (("shorter", files["certificate.bin"][:-1]), ("longer", files["certificate.bin"] + b"\0")):
        yield f"tree-file-{name}", "form", forge.forged(files, binary=cut)


FEATURE = {"name": "x", "kind": "continuous", "lo": 0.0, "hi": 1.0}
FEATURES: dict[str, Any] = {
    "lo-integer": {"lo": 0},
    "crossed": {"lo": 2.0},
    "mult-0": {"mult": 0.0},
    "mult-negative": {"mult": -1.0},
    "shift-true": {"shift": True},
    "hi-text": {"hi": "1"},
    "kind": {"kind": "real"},
    "no-name": {"name": ""},
    "name-number": {"name": 1},
    "half-integer": {"kind": "integer", "lo": 0.5},
    "half-integer-hi": {"kind": "integer", "hi": 1.5},
    "binary-2": {"kind": "binary", "hi": 2.0},
    "binary-scaled": {"kind": "binary", "mult": 2.0},
    "binary-shifted": {"kind": "binary", "shift": 1.0},
    "another-key": {"more": 1},
    "category-without-values": {"kind": "category"},
    "category-twice": {"kind": "category", "categories": ["a", "a"]},
    "continuous-with-values": {"categories": ["a", "b"]},
    "binary-one-value": {"kind": "binary", "categories": ["a"]},
    "binary-same-values": {"kind": "binary", "categories": ["a", "a"]},
    "integer-with-values": {"kind": "integer", "categories": ["a"]},
    "values-as-text": {"kind": "category", "categories": "ab"},
    "values-of-numbers": {"kind": "category", "categories": [1]},
    "columns-as-text": {"kind": "category", "categories": ["a"], "columns": "a"},
    "unit-number": {"unit": 3},
    "columns-too-many": {"kind": "category", "categories": ["a"], "columns": ["a", "b"]},
    "columns-of-a-number": {"columns": ["a"]},
    "of-another-kind": [],
    "name-twice": {"name": "n"},
    "column-twice": {"kind": "category", "categories": ["a"], "columns": ["n"]},
}

WITNESSES: dict[str, Any] = {
    "none": [],
    "of-another-kind": {},
    "one-copy": [[0.25, 1.0, 1.0, 0.0]],
    "copy-of-another-kind": [1.0, 2.0],
    "three-copies": [[0.25, 1.0, 1.0, 0.0]] * 3,
    "short": [[0.25, 1.0, 1.0], [0.25, 2.0, 1.0]],
    "above-the-box": [[1.25, 0.0, 1.0, 0.0], [1.25, 0.0, 1.0, 0.0]],
    "below-the-box": [[-0.25, 1.0, 1.0, 0.0], [-0.25, 1.0, 1.0, 0.0]],
    "half-a-number": [[0.25, 1.5, 1.0, 0.0], [0.25, 1.0, 1.0, 0.0]],
    "two-categories": [[0.25, 1.0, 1.0, 1.0], [0.25, 1.0, 1.0, 1.0]],
    "no-category": [[0.25, 1.0, 0.0, 0.0], [0.25, 1.0, 0.0, 0.0]],
    "half-a-category": [[0.25, 1.0, 0.5, 0.5], [0.25, 1.0, 0.5, 0.5]],
    "pin-broken": [[0.25, 1.0, 1.0, 0.0], [0.25, 1.0, 0.0, 1.0]],
    "strip-broken": [[0.5, 1.0, 1.0, 0.0], [0.375, 1.0, 1.0, 0.0]],
    "strip-broken-by-one-float": [[math.nextafter(0.1, 1), 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]],
    "extra-row-broken": [[1.0, 3.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]],
    "integers": [[0, 1, 1, 0], [0, 2, 1, 0]],
    "texts": [["0", "1", "1", "0"], ["0", "2", "1", "0"]],
    "true": [[0.25, True, True, False], [0.25, True, True, False]],
}


def trees(nodes: tuple[c.Node, ...], leaf: c.Leaf) -> dict[str, tuple[c.Node, ...]]:
    """Trees that break a rule."""
    return {
        "trailing-node": (*nodes, leaf),
        "missing-node": nodes[:-1],
        "nothing": (),
        "only-splits": (nodes[0],) * 1000,
        "unit-not-there": (c.Phase(0, 4), leaf, leaf),
        "copy-not-there": (c.Phase(2, 0), leaf, leaf),
        "phase-of-all-copies": (c.Phase(255, 0), leaf, leaf),
        "flip-not-there": (c.Flip(0, 2), leaf, leaf),
        "flip-of-all-copies": (c.Flip(255, 0), leaf, leaf),
        "coordinate-not-there": (c.Input(0, 4, 0.5), leaf, leaf),
        "member-of-a-category": (c.Input(255, 2, 0.5), leaf, leaf),
        "group-not-there": (c.Group(255, 1), leaf, leaf),
        "pinned-group-in-one-copy": (c.Group(0, 0), leaf, leaf),
        "moving-input-in-all-copies": (c.Input(255, 0, 0.5), leaf, leaf),
        "threshold-nan": (c.Input(0, 0, math.nan), leaf, leaf),
        "threshold-infinite": (c.Input(0, 0, math.inf), leaf, leaf),
        "threshold-minus-infinite": (c.Input(0, 1, -math.inf), leaf, leaf),
        "negative-multiplier": (replace(leaf, rows=(-1,)),),
        "negative-multiplier-in-a-closed-leaf": (c.Input(0, 0, -1.0), replace(leaf, rows=(-1,)), leaf),
        "leaf-of-the-slope-rule": (c.Leaf(),),
        "empty-leaf": (c.Phase(0, 0), c.Empty((1,)), leaf),
        "too-few-slopes": (replace(leaf, units=leaf.units[:-1]),),
        "too-many-slopes": (replace(leaf, units=(*leaf.units, 1)),),
    }


def closed() -> Iterator[Entry]:
    """Empty cells: closed leaves do not count, and a tree of nothing else is refused."""
    net = plain(box("x", "y"), [[1.0, 1.0]], [-0.5], [1.0])
    claim = Claim(2, (less("x", F(1, 4)), more("x", F(1, 4))), (difference(9),))
    split = c.Input(0, 0, 0.25)
    poor, good = c.Leaf((), (99, -99)), c.Leaf((), (1, -1))
    idle = replace(less("x"), terms=(*row([(1, 0, "in", "x")]).terms, *row([(-1, 0, "in", "x")]).terms))
    yield "idle-row", "", made(net, replace(claim, when=(*claim.when, idle)), [[0.5, 0.5]] * 2, root(0, (0,), 1, -1))
    monotone = Claim(2, (less("x"),), (difference(),))
    yield (
        "closed-in-the-slope-rule",
        "",
        made(
            net,
            monotone,
            [[0.5, 0.5]] * 2,
            c.SlopeProof(0, (c.Input(255, 1, 2.0), LEAF, c.Phase(255, 0), LEAF, c.Empty((0,)))),
        ),
    )
    for name, nodes in {
        "strip": (split, c.Input(1, 0, 0.75), good, poor, good),
        "box": (split, c.Input(0, 0, 0.5), good, poor, good),
        "phases": (c.Phase(0, 0), c.Phase(0, 0), good, good, good),
        "phases-far": (c.Input(0, 0, 0.125), c.Input(255, 1, 0.25), c.Phase(0, 0), good, poor, good, good),
        "difference": (
            c.Phase(0, 0),
            c.Input(255, 1, 0.125),
            c.Phase(1, 0),
            good,
            c.Input(1, 0, 0.75),
            good,
            poor,
            good,
            good,
        ),
    }.items():
        yield f"closed-{name}", "", made(net, claim, [[0.5, 0.5]] * 2, c.LeafProof(0, (0,), nodes))


def strict_json() -> Iterator[Entry]:
    """Texts that a lenient reader would take."""
    files, _, _ = small()
    texts = {
        "duplicate-key": b'{"a": 1, "a": 1}',
        "nan": b'{"a": NaN}',
        "infinity": b'{"a": -Infinity}',
        "beyond-floats": b'{"a": 1e400}',
        "whole-beyond-floats": b'{"a": 1' + b"0" * 309 + b"}",
        "long-number": b'{"a": ' + b"1" * 401 + b"}",
        "long-float": b'{"a": 0.' + b"1" * 400 + b"}",
        "deep": b"[" * 65 + b"]" * 65,
        "very-deep": b"[" * 100_000,
        "deep-behind-a-quote": b'["\\"", ' + b"[" * 64 + b"]" * 64 + b"]",
        "deep-objects": b'{"a":' * 65 + b"1" + b"}" * 65,
        "not-closed": b'{"a": "' + b'\\"' * 1000,
        "empty": b"",
        "not-utf-8": b'{"a": "\xff"}',
        "byte-order-mark": b"\xef\xbb\xbf{}",
        "two-values": b"{} {}",
        "comment": b"{} // fine",
        "pickle": b"\x80\x04}.",
    }
    for name, text in texts.items():
        for file in ("certificate.json", "model.json"):
            yield f"json-{file[:-5]}-{name}", "unreadable", files | {file: text}
        yield f"json-manifest-{name}", "unreadable", forge.manifest(files) | {"manifest.json": text}
    for name, text in {
        "list": b"[]",
        "number": b"3",
        "null": b"null",
        "text": b'"x"',
        "object": b"{}",
        "deep-enough": b"[" * 64 + b"]" * 64,
    }.items():
        for file in ("certificate.json", "model.json"):
            yield f"json-{file[:-5]}-{name}", "form", files | {file: text}
        yield f"json-manifest-{name}", "form", forge.manifest(files) | {"manifest.json": text}
    yield "json-model-net-of-another-kind", "form", files | {"model.json": b'{"net": []}'}


ODD_NAMES = (
    "../model.json",
    "a/b",
    "..",
    ".",
    "",
    "a\\b",
    "a\0b",
    "a:b",
    "a\nb",
    "a b",
    ".a",
    "\u00e9",
    "a+b",
    "x" * 101,
    "manifest.json",
    "signature.json",
    "\ud800",
    "a\n",
)


def manifests() -> Iterator[Entry]:
    """Folders whose manifest does not fit."""
    files, _, _ = small()
    listed = json.loads(forge.manifest(files)["manifest.json"])["files"]
    yield "manifest-of-all", "", forge.manifest(files)
    yield "manifest-lists-another-file", "", forge.manifest(files | {"notes.txt": b"{}"})
    yield "manifest-lists-a-long-name", "", forge.manifest(files | {"x" * 91: b""})  # longer ones fit in no archive
    yield "manifest-half-a-character", "", forge.manifest(files, library="\ud800")  # a comment
    for name, changes in {
        "digest": {"digest": "0" * 64},
        "format": {"format": "else"},
        "version": {"version": 3},
        "version-1": {"version": 1},
        "version-true": {"version": True},
        "version-float": {"version": 2.0},
        "files": {"files": []},
        "files-none": {"drop": "files"},
        "format-none": {"drop": "format"},
        "version-none": {"drop": "version"},
        "another-key": {"note": "\ud800"},
        "library-none": {"drop": "library"},
        "library-number": {"library": 2},
        "hash-in-capitals": {"files": listed | {"model.json": listed["model.json"] | {"sha256": "A" * 64}}},
        "size": {"files": listed | {"model.json": listed["model.json"] | {"bytes": 1}}},
        "size-true": {"files": listed | {"model.json": listed["model.json"] | {"bytes": True}}},
        "size-float": {"files": listed | {"model.json": listed["model.json"] | {"bytes": 1e3}}},
        "hash": {"files": listed | {"model.json": listed["model.json"] | {"sha256": "0" * 64}}},
        "entry": {"files": listed | {"model.json": 3}},
        "entry-with-another-key": {"files": listed | {"model.json": listed["model.json"] | {"more": 1}}},
        **{f"name-{i}": {"files": listed | {name: listed["model.json"]}} for i, name in enumerate(ODD_NAMES)},
    }.items():
        yield f"manifest-{name}", "manifest", forge.manifest(files, **changes)
    half = {"files": listed | {"model.json": listed["model.json"] | {"sha256": "\ud800"}}}
    yield "manifest-hash-of-half-a-character", "form", forge.manifest(files, **half)
    for missing in files:
        yield f"missing-{missing}", "unreadable", {n: data for n, data in files.items() if n != missing}
        yield f"lost-{missing}", "unreadable", {n: d for n, d in forge.manifest(files).items() if n != missing}
        yield f"cut-{missing}", "manifest", forge.manifest(files) | {missing: files[missing][:-1]}
        yield f"padded-{missing}", "manifest", forge.manifest(files) | {missing: files[missing] + b"\n"}
    yield "missing-manifest", "unreadable", {"manifest.json": b""} | files


def weights_files() -> Iterator[Entry]:
    """Safetensors files that are none, or hold something else."""
    files, _, _ = small()
    header, data = forge.unpacked(files["weights.safetensors"])
    names = sorted((n for n in header if n != "__metadata__"), key=lambda n: header[n]["data_offsets"])
    certified = [n for n in names if not n.startswith("backbone.")]
    first, last = certified[0], certified[-1]
    entry = header[first]
    start, stop = entry["data_offsets"]
    bad = {
        "nothing": b"",
        "seven-bytes": b"\0" * 7,
        "all-ones": b"\xff" * 8,
        "header-too-long": (1 << 40).to_bytes(8, "little") + b"{}",
        "header-beyond-16-mib": ((16 << 20) + 1).to_bytes(8, "little") + b" " * 64,
        "list": forge.safetensors(b"[]", b""),
        "broken": forge.safetensors(b"{", b""),
        "one-byte-less": forge.safetensors(header, data[:-1]),
        "one-byte-more": forge.safetensors(header, data + b"\0"),
        "no-tensors": forge.safetensors({}, b"x"),
        "gap": forge.safetensors(header | {first: entry | {"data_offsets": [start + 8, stop]}}, data),
        "overlap": forge.safetensors(
            header | {last: header[last] | {"data_offsets": [0, header[last]["data_offsets"][1]]}}, data
        ),
        "negative": forge.safetensors(header | {first: entry | {"data_offsets": [start - 8, start]}}, data),
        "backwards": forge.safetensors(header | {first: entry | {"data_offsets": [stop, start]}}, data),
        "one-offset": forge.safetensors(header | {first: entry | {"data_offsets": [0]}}, data),
        "three-offsets": forge.safetensors(header | {first: entry | {"data_offsets": [start, stop, stop]}}, data),
        "float-offsets": forge.safetensors(
            header | {first: entry | {"data_offsets": [float(start), float(stop)]}}, data
        ),
        "text-offsets": forge.safetensors(header | {first: entry | {"data_offsets": "ab"}}, data),
        "entry": forge.safetensors(header | {first: 3}, data),
        "entry-without-type": forge.safetensors(
            header | {first: {k: v for k, v in entry.items() if k != "dtype"}}, data
        ),
        "duplicate": forge.safetensors(json.dumps(header).encode()[:-1] + b', "' + first.encode() + b'": {}}', data),
    }
    for name, content in bad.items():
        yield f"weights-{name}", "unreadable", files | {"weights.safetensors": content}
    malformed: dict[str, dict[str, Any]] = {
        "shape-object": {"shape": {"0": 1}},
        "shape-text": {"shape": "1"},
        "shape-number": {"shape": 1},
        "shape-none": {"shape": None},
        "shape-float": {"shape": [float(v) for v in entry["shape"]]},
        "shape-true": {"shape": [True]},
        "shape-negative": {"shape": [-1]},
        "type-number": {"dtype": 64},
        "type-list": {"dtype": ["F64"]},
        "entry-with-another-key": {"more": 1},
    }
    spine = next(n for n in names if n.startswith("backbone."))
    for name, changed in malformed.items():
        for whose, tensor in (("", first), ("backbone-", spine)):
            content = forge.safetensors(header | {tensor: header[tensor] | changed}, data)
            yield f"weights-{whose}{name}", "unreadable", files | {"weights.safetensors": content}
    wrong = {
        "giant-shape": header | {first: entry | {"shape": [10**30]}},
        "float32": header | {first: entry | {"dtype": "F32"}},
        "other-type": header | {first: entry | {"dtype": "I64"}},
        "one-dimension-more": header | {first: entry | {"shape": [*entry["shape"], 1]}},
        "another-shape": header | {first: entry | {"shape": [entry["shape"][0] + 1, *entry["shape"][1:]]}},
        "renamed": {n: e for n, e in header.items() if n != first} | {f"{first}.": entry},
        "tensor-too-many": header | {"more": entry | {"shape": [0], "data_offsets": [0, 0]}},
    }
    for name, changed in wrong.items():
        yield f"weights-{name}", "weights", files | {"weights.safetensors": forge.safetensors(changed, data)}
    yield (
        "weights-with-metadata",
        "",
        files | {"weights.safetensors": forge.safetensors({"__metadata__": {"made": "by hand"}} | header, data)},
    )
    yield (
        "weights-with-odd-metadata",
        "",
        files | {"weights.safetensors": forge.safetensors({"__metadata__": 3} | header, data)},
    )
    net = plain(box("x"), [[1.0]], [0.0], [1.0])
    flat = made(net, Claim(1, (), (row([(1, 0, "out", "")], 10),)), [[0.5]], EMPTY_TREE)
    for name in ("second.const", "second.out"):
        yield f"negative-gap-{name}", "weights", forge.forged(flat, tensors={name: [-1e-300]})
        yield f"gap-minus-zero-{name}", "", forge.forged(flat, tensors={name: [-0.0]})
    sizes: dict[str, tuple[str, dict[str, list[float]]]] = {
        "large-head": ("", {"head_weight": [1e300]}),
        "large-head-and-box": ("overflow", {"head_weight": [1e300], "lower.const": [1e10]}),
        "large-constant": ("overflow", {"lower.const": [1e307]}),
        "large-hidden": ("overflow", {"lower.out": [1e200], "lower.weight": [1e200]}),
        "subnormal": ("", {"lower.weight": [5e-324]}),
        "zero-head": ("", {"head_weight": [0.0]}),
        "cancelling": ("", {"head_bias": [2.0**24], "lower.const": [-(2.0**24)]}),
        "far-apart": ("", {"lower.weight": [1e7], "lower.out": [1e-8]}),
        "dead-unit": ("", {"lower.bias": [-5.0]}),
        "just-below-2^1000": ("", {"lower.const": [2.0**999]}),
        "at-2^1000": ("overflow", {"lower.const": [2.0**1000]}),
    }
    for name, (why, tensors) in sizes.items():
        yield f"sizes-{name}", why, forge.forged(flat, tensors=tensors)
    for scale, head, why in ((2.0**-200, 1e250, "overflow"), (2.0**-200, 1e3, ""), (2.0**200, 1e-3, "")):
        yield (
            f"scale-{math.log2(scale):.0f}-head-{head:g}",
            why,
            forge.forged(flat, net={"output_scale": [scale]}, tensors={"head_weight": [head]}),
        )
    far = json.loads(flat["model.json"])["net"]["domain"]["features"]
    for name, why, changes in (
        ("far", "", {"lo": -1e200, "hi": 1e200}),
        ("too-far", "overflow", {"lo": -1.7e308, "hi": 1.7e308}),
        ("shifted-too-far", "overflow", {"shift": 1.7e308, "mult": 1e-300}),
        ("scaled-too-far", "overflow", {"mult": 1e305}),
        ("shifted", "", {"shift": 0.1, "mult": 3.3}),
        ("shifted-only", "", {"shift": 0.5}),
        ("scaled-only", "", {"mult": 0.1}),
    ):
        yield f"domain-{name}", why, forge.forged(flat, net={"domain": {"features": [far[0] | changes]}})
    two = {"certificate.bin": flat["certificate.bin"] * 2}
    content = json.loads(flat["certificate.json"])
    second = json.loads(json.dumps(content["claims"][0]))
    second["rows"][0]["start"] = 1
    yield (
        "two-claims",
        "",
        forge.forged(
            flat | two | {"certificate.json": json.dumps(content | {"claims": [content["claims"][0], second]}).encode()}
        ),
    )
    sub = struct.pack("<d", 5e-324)
    assert sub in forge.forged(flat, tensors={"lower.weight": [5e-324]})["weights.safetensors"]


def other_rules() -> Iterator[Entry]:
    """Rules used where they do not apply."""
    torch.manual_seed(4)
    rng = np.random.default_rng(4)
    affine: dict[str, Any] = {"auxiliaries": "affine", "outputs": 1, "boxes": "gap"}
    wide = folders.random_net(rng, box("x"), zero_gap=False, **affine)
    flat = plain(box("x"), [[1.0]], [0.0], [1.0])
    group = plain(Domain((Feature("r", "category", categories=("a", "b")),)), [[1.0, 0.0]], [0.0], [1.0])
    slope, sweep = c.SlopeProof(0, (LEAF,)), c.SweepProof()
    extra = row([(1, 0, "in", "x"), (1, 1, "in", "x")], 2)
    point = [[0.0]]
    yield (
        "sweep-three-copies",
        "rule",
        made(flat, Claim(3, (), (row([(1, 0, "out", "")], 9),), "free"), point * 3, sweep),
    )
    yield "sweep-extra-row", "rule", made(flat, Claim(2, (extra,), (difference(),)), point * 2, sweep)
    yield "slope-gap", "rule", made(wide, Claim(2, (less("x"),), (difference(0, wide.outputs[0]),)), point * 2, slope)
    yield "slope-extra-row", "rule", made(flat, Claim(2, (less("x"), extra), (difference(),)), point * 2, slope)
    yield "slope-both-ways", "rule", made(flat, Claim(2, (), (difference(),), "free"), point * 2, slope)
    yield "slope-negative-rhs", "rule", made(flat, Claim(2, (less("x"),), (difference(-1),)), point * 2, slope)
    yield (
        "slope-unequal",
        "rule",
        made(flat, Claim(2, (less("x"),), (row([(1, 0, "out", ""), (-2, 1, "out", "")], 0),)), point * 2, slope),
    )
    yield (
        "slope-unequal-inputs",
        "rule",
        made(
            flat,
            Claim(2, (less("x"),), (row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "x")], 0),)),
            point * 2,
            slope,
        ),
    )
    yield "slope-one-copy", "rule", made(flat, Claim(1, (), (row([(1, 0, "out", "")], 9),)), point, slope)
    yield (
        "slope-moving-category",
        "rule",
        made(group, Claim(2, (less("r=a"),), (difference(),)), [[1.0, 0.0]] * 2, slope),
    )
    yield (
        "slope-moving-category-one-way",
        "rule",
        made(group, Claim(2, (less("r=a"), more("r=b")), (difference(),)), [[1.0, 0.0]] * 2, slope),
    )
    yield "slope-wrong-sign", "slope", made(flat, Claim(2, (more("x"),), (difference(),)), point * 2, slope)
    rise = plain(box("x", "y", lo=-1.0), [[1.0, 1.0], [-1.0, -1.0]], [-0.5, -0.5], [1.0, -3.0])
    steep = Claim(
        2, (less("x"),), (row([(-1, 0, "out", ""), (1, 1, "out", ""), (3, 0, "in", "x"), (-3, 1, "in", "x")], 0),)
    )
    for bad in ((0, 0), (1, 0), (0, 1), (1, 4)):
        tree = (c.Phase(255, 0), LEAF, c.Phase(255, 1), LEAF, c.Empty(bad))
        yield f"slope-not-empty-{bad[0]}-{bad[1]}", "slope", made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, tree))
    yield (
        "slope-splits-a-moving-input",
        "tree",
        made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, (c.Input(255, 0, 0.0), LEAF, LEAF))),
    )
    yield "slope-flip", "tree", made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, (c.Flip(255, 0), LEAF, LEAF)))
    yield (
        "slope-phase-of-one-copy",
        "tree",
        made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, (c.Phase(0, 0), LEAF, LEAF))),
    )
    yield (
        "slope-leaf-cut-short",
        "tree",
        forge.forged(
            made(rise, steep, [[0.0, 0.0]] * 2, c.SlopeProof(3, (c.Phase(255, 0), LEAF, c.Empty((1,))))),
            rehash=True,
            binary=forge.packed((c.Phase(255, 0), LEAF, c.Empty((1,))))[:-2],
            rows=[{"length": 8}],
        ),
    )
    both = tuple(row([(s, 0, "in", "x"), (-s, 1, "in", "x")], F(1, 4)) for s in (1, -1))
    there = row([(1, 0, "out", ""), (-1, 1, "out", ""), (F(1, 3), 0, "in", "x")], 50)
    back = row([(1, 1, "out", ""), (-1, 0, "out", ""), (F(1, 3), 1, "in", "x")], 50)
    mirror, middle = c.MirrorProof, [[0.5]] * 2
    yield "mirror", "", made(flat, Claim(2, both, (there, back)), middle, EMPTY_TREE, mirror(0))
    yield (
        "mirror-of-a-mirror",
        "rule",
        made(flat, Claim(2, both, (there, back, there)), middle, EMPTY_TREE, mirror(0), mirror(1)),
    )
    yield "mirror-of-a-later-row", "rule", made(flat, Claim(2, both, (there, back)), middle, mirror(1), EMPTY_TREE)
    yield "mirror-not-exchanged", "rule", made(flat, Claim(2, both, (there, there)), middle, EMPTY_TREE, mirror(0))
    yield (
        "mirror-another-rhs",
        "rule",
        made(flat, Claim(2, both, (there, replace(back, rhs=F(51)))), middle, EMPTY_TREE, mirror(0)),
    )
    yield (
        "mirror-another-input",
        "rule",
        made(
            flat,
            Claim(2, both, (there, row([(1, 1, "out", ""), (-1, 0, "out", "")], 50))),
            middle,
            EMPTY_TREE,
            mirror(0),
        ),
    )
    yield "mirror-one-sided", "rule", made(flat, Claim(2, both[:1], (there, back)), middle, EMPTY_TREE, mirror(0))
    yield (
        "mirror-unequal-boxes",
        "rule",
        made(flat, Claim(2, (*both, row([(1, 0, "in", "x")], F(3, 4))), (there, back)), middle, EMPTY_TREE, mirror(0)),
    )
    yield (
        "mirror-unequal-lower-bounds",
        "rule",
        made(
            flat, Claim(2, (*both, row([(-1, 0, "in", "x")], F(-1, 4))), (there, back)), middle, EMPTY_TREE, mirror(0)
        ),
    )
    yield (
        "mirror-extra-row",
        "rule",
        made(
            flat,
            Claim(2, (*both, extra), (there, back)),
            middle,
            c.LeafProof(0, (), (c.Leaf((), (), (0,)),)),
            mirror(0),
        ),
    )
    yield (
        "mirror-three-copies",
        "rule",
        made(flat, Claim(3, (), (there, back), "free"), [[0.5]] * 3, EMPTY_TREE, mirror(0)),
    )
    yield (
        "mirror-equality",
        "",
        made(flat, Claim(2, both, (replace(difference(), op="=="),)), middle, EMPTY_TREE, mirror(0)),
    )


def corners() -> Iterator[Entry]:
    """Equality where a rule says ≤, names without weight, limits met exactly, mirrors of the row itself."""
    net = plain(box("x", "y"), [[1.0, 1.0], [-2.0, 1.0]], [-0.5, 0.25], [1.0, -3.0], [0.5, 0.25])
    claim = Claim(2, (less("x", F(1, 4)), more("x", F(1, 3))), (difference(9),))
    proof = root(3, (0, 1), 4, -20, -5, 21)
    files = made(net, claim, [[0.5, 0.5]] * 2, proof)
    with tempfile.TemporaryDirectory() as place:
        put(Path(place) / "m", files)
        found = check.check_folder(Path(place) / "m").claims[0].rows[0]
    exact = found.bound + found.margin
    for name, rhs in (("met", exact), ("missed", exact - F(1, 10**120)), ("over", exact + F(1, 10**120))):
        changed = replace(claim, then=(difference(rhs),))
        yield f"right-side-{name}", "", made(net, changed, [[0.5, 0.5]] * 2, proof)

    def named(*terms: tuple[Any, int, str], rhs: Any = 1000) -> Inequality:
        return Inequality(tuple(Term(F(a), copy, "in", name) for a, copy, name in terms), F(rhs))

    point = [[0.5, 0.5]] * 2
    for name, when in {
        "zero": (named((0, 0, "x")),),
        "zero-beside": (named((0, 1, "x"), (1, 0, "y")),),
        "cancels": (named((1, 0, "x"), (-1, 0, "x"), rhs=0),),
        "nothing": (named(rhs=0),),
        "nothing-equal": (replace(named(rhs=0), op="=="),),
        "merged": (named((1, 0, "x"), (2, 0, "x"), rhs=2),),
        "merged-strip": (named((1, 0, "x"), (-2, 1, "x"), (1, 1, "x"), rhs=F(1, 8)),),
        "not-opposite": (named((1, 0, "x"), (-2, 1, "x"), rhs=F(1, 8)),),
        "two-inputs": (named((1, 0, "x"), (-1, 1, "y"), rhs=F(1, 8)),),
    }.items():
        extra = len(when[0].terms) == 2 and name in ("not-opposite", "two-inputs")
        tree = c.LeafProof(3, (0, 1), (c.Leaf((), (4, -20, -5, 21), (3,) if extra else ()),))
        for others in ("equal", "free"):
            yield f"named-{name}-{others}", "", made(net, Claim(2, when, (difference(9),), others), point, tree)
    for name, when, then in (
        ("unpinned", (less("x"), more("x", F(1, 2))), ()),
        ("pinned-by-strips", (less("x"), more("x")), ()),
        ("pinned-by-name", (less("x"),), ("x",)),
        ("rounded", (less("x", F(1, 9)), more("x", F(1, 9))), ()),
    ):
        for kind in ("continuous", "integer"):
            domain = Domain((Feature("x", kind, 0, 2), Feature("y")))  # type: ignore[arg-type]
            other = plain(domain, [[1.0, 1.0], [-2.0, 1.0]], [-0.5, 0.25], [1.0, -3.0], [0.5, 0.25])
            free = kind == "continuous" and name in ("unpinned", "rounded")
            split = c.Input(0 if free else 255, 0, 0.75)
            tree = c.LeafProof(3, (0, 1), (split, proof.nodes[0], proof.nodes[0]))
            yield (
                f"pin-{name}-{kind}",
                "",
                made(other, Claim(2, when, (difference(9),), "equal", then), [[0.0, 0.5]] * 2, tree),
            )
    # a row that is its own mirror image, and mirrors of rows that do not come before
    both = (less("x", F(1, 4)), more("x", F(1, 4)))
    even = row([(1, 0, "out", ""), (1, 1, "out", "")], 9)
    yield "mirror-even", "", made(net, Claim(2, both, (even, even)), point, proof, c.MirrorProof(0))
    yield "mirror-of-the-row-itself", "rule", made(net, Claim(2, both, (even, even)), point, proof, c.MirrorProof(1))
    yield (
        "mirror-of-the-next-row",
        "rule",
        made(net, Claim(2, both, (even,) * 3), point, proof, c.MirrorProof(2), proof),
    )
    yield "mirror-beyond", "rule", made(net, Claim(2, both, (even, even)), point, proof, c.MirrorProof(2))
    # boxes that differ between the copies, in one input
    single = plain(box("x", lo=-1.0), [[1.0], [-2.0], [4.0]], [-0.25, 0.75, 1.0], [-3.0, 2.0, 1.0], [1.0])
    third = plain(box("x", lo=-1.0), [[3.0], [-7.0], [5.0]], [-0.3, 1.1, 1.0], [-3.0, 2.0, 1.0], [1.0])
    whole = plain(
        Domain((Feature("x", "integer", -3, 3),)), [[3.0], [-2.0], [4.0]], [-1.0, 3.0, 8.0], [-3.0, 2.0, 1.0], [1.0]
    )
    sides = {
        "upper": (row([(1, 0, "in", "x")], F(1, 3)),),
        "upper-of-the-other": (row([(1, 1, "in", "x")], F(1, 3)),),
        "lower": (row([(-1, 0, "in", "x")], F(2, 3)),),
        "lower-of-the-other": (row([(-1, 1, "in", "x")], F(2, 3)),),
        "apart": (row([(1, 0, "in", "x")], F(-1, 4)), row([(-1, 1, "in", "x")], F(-1, 4))),
        "apart-the-other-way": (row([(1, 1, "in", "x")], F(-1, 4)), row([(-1, 0, "in", "x")], F(-1, 4))),
        "equal": (row([(1, 0, "in", "x")], F(0), "=="),),
        "corner": (row([(1, 0, "in", "x")], F(-3, 4)), less("x", F(-1, 8))),
    }
    witness = {"apart": [[-1.0], [1.0]], "apart-the-other-way": [[1.0], [-1.0]], "corner": [[-1.0], [-0.5]]}
    for name, when in sides.items():
        x = witness.get(name, [[0.0], [0.0]])
        for net_name, one in (("binary", single), ("thirds", third), ("whole", whole)):
            strips = (*when, less("x", F(5, 2)), more("x", F(9, 4)))
            if name == "corner" and net_name == "whole":
                x, strips = [[-2.0], [-1.0]], (row([(1, 0, "in", "x")], -2), less("x", F(-1, 2)))
            then = row([(2, 0, "out", ""), (-1, 1, "out", "")], 9)
            yield f"sweep-{name}-{net_name}", "", made(one, Claim(2, strips, (then,), "free"), x, c.SweepProof())
            pinned = Claim(2, when, (then,), "free", ("x",))
            if name not in witness:
                yield f"sweep-pinned-{name}-{net_name}", "", made(one, pinned, [[0.0], [0.0]], c.SweepProof())
    # the slope rule: a phase alone decides a unit, and the hull of two different boxes is what counts
    monotone = Claim(2, (less("x"),), (difference(),))
    tree = (c.Phase(255, 0), c.Phase(255, 1), LEAF, LEAF, c.Phase(255, 1), LEAF, c.Empty((1, 1)))
    for at in range(3):
        signs = [(1.0, -3.0, -1.0), (2.0, 2.0, 0.0), (1.0, -3.0, 0.0)][at]
        one = plain(box("x", "y", lo=-1.0), [[1.0, 1.0], [-1.0, -1.0]], [-0.5, -0.5], signs[:2], [signs[2], 0.0])
        for sense in (less, more):
            files = made(one, replace(monotone, when=(sense("x"),)), [[0.0, 0.0]] * 2, c.SlopeProof(1, tree))
            with tempfile.TemporaryDirectory() as place:
                put(Path(place) / "m", files)
                good = check_reference.check_folder(Path(place) / "m").status != "refused"
            yield f"phases-decide-{at}-{sense.__name__}", "" if good else "slope", files
    for name, when in (("upper", row([(1, 0, "in", "x")], F(-3, 4))), ("lower", row([(-1, 1, "in", "x")], F(-3, 4)))):
        claim = Claim(2, (less("x"), when), (difference(),))
        bend = plain(box("x", "y", lo=-1.0), [[1.0, 0.0]], [0.0], [-2.0], [1.0, 0.0])
        x = [[-1.0, 0.0], [1.0, 0.0]]
        yield f"hull-{name}", "slope", made(bend, claim, x, c.SlopeProof(0, (LEAF,)))
    # a group with a pinned member, three copies, split until no tuple is left
    group = plain(
        Domain((Feature("r", "category", categories=("u", "v", "w")),)),
        [[1.0, -2.0, 0.5]],
        [0.5],
        [1.0],
        [3.0, 1.0, 2.0],
    )
    three = Claim(3, (), (row([(1, 0, "out", ""), (1, 1, "out", ""), (-1, 2, "out", "")], 20),), "free", ("r=v",))
    leaf = c.Leaf((), (2, 1, -1))
    nodes = (c.Group(0, 0), leaf, c.Group(1, 0), leaf, leaf, leaf, leaf)
    yield "group-without-tuples", "", made(group, three, [[1.0, 0.0, 0.0]] * 3, c.LeafProof(1, (0,), nodes))
    # limits of the scaled domain
    flat = forge.forged(
        made(plain(box("x"), [[0.0]], [0.0], [1.0]), Claim(1, (), (row([(1, 0, "out", "")], 10),)), [[0.5]], EMPTY_TREE)
    )
    feature = json.loads(flat["model.json"])["net"]["domain"]["features"][0]
    below = math.nextafter(2.0**500, 0)
    for name, why, changes in (
        ("at", "overflow", {"hi": 2.0**500, "mult": 2.0**500}),
        ("below", "", {"hi": below, "mult": 2.0**500}),
        ("at-minus", "overflow", {"lo": -(2.0**500), "mult": 2.0**500}),
        ("below-minus", "", {"lo": -below, "mult": 2.0**500}),
        ("distance-at", "overflow", {"hi": 2.0**1000, "mult": 2.0**-10}),
        ("distance-below", "", {"hi": math.nextafter(2.0**1000, 0), "mult": 2.0**-10}),
    ):
        yield f"scaled-domain-{name}", why, forge.forged(flat, net={"domain": {"features": [feature | changes]}})


def profiled(files: Files, profile: str, grid: int = 0, **changes: Any) -> Files:
    """The same folder under another numeric profile."""
    net = {"profile": profile, "grid": grid} | changes.pop("net", {})
    return forge.forged(files, net=net, certificate={"profile": profile}, **changes)


def profiles() -> Iterator[Entry]:
    """Fixed order, with the order rule, and dyadic networks."""
    rise = plain(box("x", "y"), [[1.0, -2.0], [-0.5, 3.0]], [-0.5, 0.25], [2.0, -1.0], [1.0, 0.0])  # rises in x
    order = c.OrderProof()
    middle = [[0.5, 0.5]] * 2
    for name, why, when, then in (
        ("rises", "", (less("x"),), difference()),
        ("falls", "rule", (more("x"),), difference()),
        ("negated", "", (more("x"),), row([(-1, 0, "out", ""), (1, 1, "out", "")], 0)),
        ("other-input", "rule", (less("y"),), difference()),
        ("other-input-falling", "", (more("y"),), difference()),
        ("both-inputs", "", (less("x"), more("y")), difference(F(1, 3))),
        ("free-input", "rule", (), difference()),
        ("extra-row", "", (less("x"), row([(1, 0, "in", "x"), (1, 1, "in", "x")], 2)), difference()),
        ("negative-rhs", "rule", (less("x"),), difference(-1)),
        ("unequal", "rule", (less("x"),), row([(1, 0, "out", ""), (-2, 1, "out", "")], 0)),
        (
            "input-terms",
            "rule",
            (less("x"),),
            row([(1, 0, "out", ""), (-1, 1, "out", ""), (1, 0, "in", "x"), (-1, 1, "in", "x")], 0),
        ),
    ):
        claim = Claim(2, when, (then,), "free" if name == "free-input" else "equal")
        yield f"order-{name}", why, profiled(made(rise, claim, middle, order), "fixed-order")
    up = Claim(2, (less("x"),), (difference(),))
    yield (
        "order-one-copy",
        "rule",
        profiled(made(rise, Claim(1, (), (row([(1, 0, "out", "")], 9),)), middle[:1], order), "fixed-order"),
    )
    yield (
        "order-with-a-gap",
        "rule",
        profiled(made(rise, up, middle, order), "fixed-order", tensors={"second.const": [0.125]}),
    )
    yield "order-dyadic", "rule", profiled(made(rise, up, middle, order), "dyadic", 9)
    yield "fixed-order-slope", "", profiled(made(rise, up, middle, c.SlopeProof(0, (LEAF,))), "fixed-order")
    yield "fixed-order-leaf", "", profiled(made(rise, up, middle, root(0, (0, 1), 2, 0, -1, 0)), "fixed-order")
    yield "order-mirror", "rule", profiled(made(rise, up, middle, c.MirrorProof(0)), "fixed-order")
    group = plain(
        Domain((Feature("x"), Feature("r", "category", categories=("u", "v")))), [[1.0, 5.0, -3.0]], [0.0], [1.0]
    )
    person = [[0.5, 1.0, 0.0]] * 2
    yield "order-pinned-group", "", profiled(made(group, up, person, order), "fixed-order")
    yield (
        "order-moving-group",
        "rule",
        profiled(
            made(group, Claim(2, (less("x"), less("r=u"), more("r=v")), (difference(),)), person, order), "fixed-order"
        ),
    )
    constant = SmileNet(box("x"), MLP(1, (1,), 1), 1, auxiliaries="constant")
    with torch.no_grad():
        constant.gap.const.zero_()
    yield "order-constant", "", profiled(made(constant, up, [[0.5]] * 2, order), "fixed-order")

    tree = (c.Phase(255, 0), LEAF, LEAF)
    bounded = Claim(2, (less("x", F(1, 4)), more("x", F(1, 4))), (difference(5),))
    strip = Claim(2, (less("x", F(1, 2)), more("x", F(-1, 4))), (difference(5),))
    extra = Claim(2, (less("x"), row([(1, 0, "in", "x"), (1, 1, "in", "y")], 1)), (difference(5),))
    leaf = c.LeafProof(1, (0, 1), (c.Input(0, 0, 0.3), c.Leaf((), (4, 1, -2, 0)), c.Leaf((), (3, 0, -2, 1))))
    with_row = c.LeafProof(1, (0,), (c.Leaf((), (4, -2), (3,)),))
    inputs = Claim(
        2, (less("x"),), (row([(-1, 0, "out", ""), (1, 1, "out", ""), (5, 0, "in", "x"), (-5, 1, "in", "x")], 0),)
    )
    for grid in (1, 8, 20):
        for name, claim, witness, proof in (
            ("slope", up, middle, c.SlopeProof(0, tree)),
            ("leaf", bounded, middle, leaf),
            ("strip", strip, [[0.75, 0.5], [0.5, 0.5]], leaf),
            ("extra", extra, middle, with_row),
            ("inputs", inputs, middle, c.SlopeProof(0, (LEAF,))),
        ):
            yield f"dyadic-{name}-{grid}", "", profiled(made(rise, claim, witness, proof), "dyadic", grid)
    single = plain(box("x"), [[1.0], [-2.0]], [-0.5, 0.75], [-3.0, 2.0], [1.0])
    line = made(single, Claim(2, (less("x", F(1, 4)),), (difference(9),)), [[0.5]] * 2, c.SweepProof())
    yield "dyadic-sweep", "", profiled(line, "dyadic", 9)
    feature = json.loads(line["model.json"])["net"]["domain"]["features"][0]
    for name, why, changes in (
        ("scaled", "", {"mult": 3.0}),
        ("shifted", "", {"shift": 0.1, "mult": 0.7}),
        ("whole", "", {"kind": "integer", "hi": 4.0}),
        ("whole-scaled", "", {"kind": "integer", "hi": 4.0, "mult": 0.25}),
        ("large", "profile", {"hi": 2.0**46}),
        ("far", "profile", {"lo": 0.0, "hi": 2.0**520, "mult": 1.0}),
        ("grid-too-fine", "profile", {"hi": 1e6, "mult": 1e-3, "shift": 1e9}),
    ):
        witness = [[0.0]] * 2
        domain = {"domain": {"features": [feature | changes]}}
        yield (
            f"dyadic-domain-{name}",
            why,
            profiled(line, "dyadic", 40 if "fine" in name else 9, net=domain, entry={"witness": witness}),
        )
    for name, why, tensors in (
        ("long-weight", "profile", {"lower.weight": [0.1, 0.2]}),
        ("long-bias", "profile", {"lower.bias": [1 / 3, 0.0]}),
        ("long-head", "profile", {"head_weight": [0.1]}),
        ("long-slope", "profile", {"lower.slope": [2.0**-45]}),
        ("gap", "profile", {"second.out": [1.0, 0.0]}),
        ("tiny", "profile", {"lower.const": [2.0**-501]}),
        ("just-fits", "", {"lower.const": [2.0**-49]}),
        ("just-too-long", "profile", {"lower.const": [2.0**-50]}),
        ("large", "profile", {"head_weight": [2.0**60]}),
        ("zero-weights", "", {"lower.out": [0.0, 0.0], "lower.slope": [0.0]}),
    ):
        yield f"dyadic-{name}", why, profiled(line, "dyadic", 9, tensors=tensors)
    for power, why in ((400, ""), (-400, ""), (401, "profile"), (-401, "profile")):
        yield f"dyadic-scale-{power}", why, profiled(line, "dyadic", 9, net={"output_scale": [2.0**power]})
    for grid, why in ((52, "profile"), (53, "profile"), (0, "profile"), (-1, "profile")):
        yield f"dyadic-grid-{grid}", why, profiled(line, "dyadic", grid)


def judged(name: str, files: Files) -> Entry:
    """An entry whose class of reason is taken from the fast checker; the other one has to agree with it."""
    with tempfile.TemporaryDirectory() as place:
        put(Path(place), files)
        status = check.check_folder(place).status
    return name, {"refused": "form", "unreadable": "unreadable"}.get(status, ""), files


def of_kill_suites() -> Iterator[Entry]:
    """Signs, cases and lemmas, sound and malformed; rooms, tables, properties, manifests of both versions."""
    signs, cases, lemmas = kills
    for name, folders_of, step in (
        ("signs", signs.folders(), 12),
        ("cases", cases.folders(), 27),
        ("lemmas", lemmas.folders(), 19),
    ):
        for at in range(0, len(folders_of), step):
            yield judged(f"{name}-{at}", folders_of[at])
    for at, path in enumerate(version2.folders()):
        files = {file.name: file.read_bytes() for file in path.iterdir() if len(file.name) < 92}
        yield judged(f"version2-{at}", files)


def of_trees() -> Iterator[Entry]:
    """Layers of trees, sound and malformed."""
    given = grown.folders()
    malformed = range(grown.COUNT, len(given))
    for at in (*range(0, grown.COUNT, 6), *malformed):
        yield judged(f"trees-{at}", given[at])


def of_balls() -> Iterator[Entry]:
    """Contractions and balls, sound and malformed."""
    given = balled.folders()
    malformed = range(balled.COUNT, len(given))
    for at in (*range(0, balled.COUNT, 4), *malformed):
        yield judged(f"balls-{at}", given[at])


def stated() -> Iterator[Entry]:
    """Rooms, a table and properties.json beside a network with a tree."""
    files, _, _ = small()
    content, f2 = json.loads(files["certificate.json"]), forge.forge2
    claims = [entry["claim"] for entry in content["claims"]]
    for name, why, room in (
        ("all", "", ["1/200000", "1/200000"]),
        ("none", "", ["0", "0"]),
        ("too-much", "form", ["0", "1/199999"]),
        ("negative", "form", ["-1/200000", "0"]),
        ("too-few", "form", ["0"]),
        ("too-many", "form", ["0"] * 3),
        ("of-another-kind", "form", {}),
        ("numbers", "form", [0, 0]),
        ("no-rational", "form", ["0.0", "0"]),
        ("over-zero", "form", ["0/0", "0"]),
        ("long", "", ["1/" + "9" * 400, "0"]),
        ("too-long", "form", ["1/" + "9" * 401, "0"]),
    ):
        yield f"room-{name}", why, forge.forged(files, entry={"room": room})
    model = json.loads(files["model.json"])
    for name, why, table in (
        ("empty", "", {}),
        ("free", "", {"columns": [None, 1e-320, -0.0, 2**900, "\u20ac"], "": {}}),
        ("meaning", "", {"meaning": ['the "price"\n, \u20ac']}),
        ("meaning-too-short", "form", {"meaning": []}),
        ("meaning-too-long", "form", {"meaning": ["a", "b"]}),
        ("meaning-number", "form", {"meaning": [1]}),
        ("meaning-text", "form", {"meaning": "a"}),
        ("meaning-null", "form", {"meaning": None}),
        ("list", "form", []),
        ("text", "form", "meaning"),
        ("false", "form", False),
    ):
        yield f"table-{name}", why, f2.rehashed(files | {"model.json": json.dumps(model | {"table": table}).encode()})
    null = json.dumps(model | {"table": None}).encode()
    yield "table-null", "form", f2.rehashed(files | {"model.json": null})
    half = json.dumps(model | {"table": {"a": "\ud800"}}).encode()
    yield "table-half-a-character", "form", files | {"model.json": half}
    other = json.dumps(model | {"table": {"meaning": ["cost"]}}).encode()
    yield "table-of-another-model", "hash", files | {"model.json": other}
    zero = json.dumps(model | {"table": {"a": -0.0}}).encode()
    good = f2.rehashed(files | {"model.json": zero})
    yield "table-minus-zero", "hash", good | {"model.json": zero.replace(b"-0.0", b"0.0")}
    yield "table-number-in-other-digits", "", good | {"model.json": zero.replace(b"-0.0", b"-0.000e7")}
    for name, why, number in (
        ("large", "", 2**1024 - 2**970 - 1),
        ("too-large", "unreadable", 2**970 - 2**1024),
        ("long", "unreadable", 10**399),
    ):
        whole = {"model.json": json.dumps(model | {"table": {"a": number}}).encode()}
        yield f"table-whole-number-{name}", why, f2.rehashed(files | whole)
        behind = {"model.json": json.dumps(model | {"net": model["net"] | {"backbone": number}}).encode()}
        yield f"backbone-whole-number-{name}", why, files | behind
    yield "table-before-net", "", good | {"model.json": json.dumps(dict(reversed(json.loads(zero).items()))).encode()}
    yield "other-keys-of-the-model", "", files | {"model.json": json.dumps(model | {"more": "\ud800"}).encode()}
    properties: dict[str, tuple[str, Any]] = {
        "same": ("", {"claims": claims}),
        "sentence": ("", {"claims": [claims[0] | {"sentence": ["else"]}], "more": 1}),
        "no-sentence": ("", {"claims": [{k: v for k, v in claims[0].items() if k != "sentence"}]}),
        "other-claim": ("claim", {"claims": [claims[0] | {"others": "free"}]}),
        "copies-float": ("claim", {"claims": [claims[0] | {"copies": 2.0}]}),
        "one-more-key": ("claim", {"claims": [claims[0] | {"more": 1}]}),
        "twice": ("claim", {"claims": claims * 2}),
        "none": ("claim", {"claims": []}),
        "no-claims": ("claim", {"properties": []}),
        "of-another-kind": ("form", [claims]),
        "claims-of-another-kind": ("claim", {"claims": {"a": claims[0]}}),
        "claim-of-another-kind": ("claim", {"claims": [1]}),
        "half-a-character": ("form", {"claims": [claims[0] | {"others": "\ud800"}]}),
    }
    for name, (why, document) in properties.items():
        yield f"properties-{name}", why, files | {"properties.json": json.dumps(document).encode()}
    yield "properties-broken", "unreadable", files | {"properties.json": b"{"}
    lost = forge.manifest(files | {"properties.json": b"{}"})
    yield "properties-lost", "unreadable", {n: d for n, d in lost.items() if n != "properties.json"}
    yield "properties-not-listed", "", forge.manifest(files) | {"properties.json": b"{"}
    yield "signature-beside", "", forge.manifest(files) | {"signature.json": b"{"}


def entries() -> Iterator[Entry]:
    """Everything."""
    for part in (
        by_hand,
        at_random,
        closed,
        forgeries,
        strict_json,
        manifests,
        weights_files,
        other_rules,
        profiles,
        corners,
        encoded,
        stated,
        of_kill_suites,
    ):
        yield from part()
    this = sys.modules[__name__]
    for part in (more_details.details, more_details.limits):
        yield from part(this)


# ---- files -----------------------------------------------------------------------------------------------------------


def put(folder: Path, files: Files) -> None:
    """Write a folder, with a manifest unless there is one; an empty manifest means none."""
    folder.mkdir(parents=True, exist_ok=True)
    if "manifest.json" not in files:
        files = forge.manifest(files)
    for name, data in files.items():
        if name != "manifest.json" or data:
            (folder / name).write_bytes(data)


def pack(place: Path, target: Path) -> None:
    """All folders of a place in one archive that depends on their content only."""
    with tarfile.open(target, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for path in sorted(place.glob("*/*")):
            member = tarfile.TarInfo(str(path.relative_to(place)))
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))


def expectation(folder: Path, why: str) -> dict[str, Any]:
    """What both checkers say; they have to agree."""
    fast, slow = check.check_folder(folder), check_reference.check_folder(folder)
    numbers = [
        [[[r.rule, *map(str, (r.bound, r.margin, r.rhs, r.room))] for r in claim.rows] for claim in report.claims]
        for report in (fast, slow)
    ]
    assert fast.status == slow.status, (folder.name, fast.status, fast.reason, slow.status, slow.reason)
    assert numbers[0] == numbers[1], folder.name
    assert fast.meaning == slow.meaning, folder.name
    assert (fast.status in ("certified", "unknown")) == (why == ""), (folder.name, why, fast.status, fast.reason)
    assert (fast.status == "unreadable") == (why == "unreadable"), (folder.name, why, fast.status, fast.reason)
    out: dict[str, Any] = {"status": fast.status, "exit": fast.exit_code}
    said = {"meaning": list(fast.meaning)} if fast.meaning else {}
    return out | ({"why": why} if why else {"claims": numbers[0]}) | said


def main() -> int:
    """Write a corpus anew."""
    chosen, corpus = (of_trees, CORPORA / "corpus_trees") if "--trees" in sys.argv else (entries, CORPUS)
    chosen, corpus = (of_balls, CORPORA / "corpus_balls") if "--balls" in sys.argv else (chosen, corpus)
    corpus.mkdir(exist_ok=True)
    index: dict[str, Any] = {}
    wrong: list[str] = []
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as place:
        for plain_name, why, files in chosen():
            name = PREFIX + plain_name
            assert name not in index, name
            folder = Path(place) / name
            put(folder, files)
            try:
                index[name] = expectation(folder, why)
            except AssertionError as error:
                wrong.append(str(error))
        if wrong:
            raise SystemExit("\n".join(wrong))
        if "--try" not in sys.argv:
            pack(Path(place), corpus / "folders.tar.xz")
            (corpus / "index.json").write_text(json.dumps(index, indent=0) + "\n", encoding="utf-8")
    statuses = [entry["status"] for entry in index.values()]
    print({status: statuses.count(status) for status in sorted(set(statuses))})  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
