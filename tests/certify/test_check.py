"""The fast checker: equal to the reference on random and tampered folders, alone in the world, deaf to garbage."""

import ast
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import tracemalloc
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smilenn.certify import certificate as c
from smilenn.certify import check
from smilenn.certify.check import Report, check_folder, corner, joint, single
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import premise as exact_premise
from smilenn.certify.reference import reader
from smilenn.certify.reference import rules as exact_rules
from smilenn.certify.reference import tree as exact_tree
from smilenn.domain import Domain, Feature
from smilenn.model.bundle import certified_tensors
from smilenn.properties.claim import Claim, row
from smilenn.properties.library import Robust

SOURCE = Path(check.__file__)
STATUSES = {"certified", "unknown", "refused", "unreadable"}


def reference(path):
    module = pytest.importorskip("smilenn.certify.reference.check")
    return module.check_folder(path)


def numbers(report):
    return [[(r.rule, r.bound, r.margin, r.rhs) for r in claim.rows] for claim in report.claims]


def same(path, codes=True):
    """Both checkers' common answer."""
    ours, theirs = check_folder(path), reference(path)
    if codes or {ours.status, theirs.status} - {"refused", "unreadable"}:
        assert ours.status == theirs.status, (ours.reason, theirs.reason)
    assert numbers(ours) == numbers(theirs)
    return ours


# ---- against the reference ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8))])
def test_agrees_with_the_reference_on_random_folders(folders, tmp_path, chunk):
    for seed in range(1000 + 25 * chunk, 1025 + 25 * chunk):
        folders.random_folder(tmp_path / str(seed), seed)
        assert same(tmp_path / str(seed)).status in ("certified", "unknown")


@pytest.mark.parametrize("profile", ["fixed-order", "dyadic"])
def test_agrees_with_the_reference_on_every_profile(folders, tmp_path, profile):
    statuses, rules = [], set()
    for seed in range(40):
        folders.random_folder(tmp_path / "m", seed, profile=profile)
        report = same(tmp_path / "m")
        statuses.append(report.status)
        rules |= {r.rule for claim in report.claims for r in claim.rows}
    assert statuses.count("certified") > 13
    assert rules >= ({"leaf", "order"} if profile == "fixed-order" else {"leaf", "sweep", "slope"})


@pytest.mark.parametrize(
    ("first", "last"), [(0, 30), *(pytest.param(a, a + 150, marks=pytest.mark.slow) for a in range(30, 1530, 150))]
)
def test_agrees_with_the_reference_on_encoders(encoders, tmp_path, first, last):
    statuses = []
    for seed in range(first, last):
        encoders.encoded_folder(tmp_path / "m", seed)
        statuses.append(same(tmp_path / "m").status)
    assert statuses.count("certified") > (last - first) // 3


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(30))
def test_agrees_with_the_reference_on_many_random_folders(folders, tmp_path, chunk):
    checked = 0
    for seed in range(10_000 + 200 * chunk, 10_200 + 200 * chunk):
        folders.random_folder(tmp_path / "m", seed, profile="any" if chunk % 2 else "f64-aux")
        report = same(tmp_path / "m")
        checked += report.status in ("certified", "unknown")
        assert chunk % 2 or report.status != "refused", seed  # an order rule is sometimes tried where it fails
    assert checked > 180


@pytest.mark.parametrize("seeds", [12, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "choices",
    [
        {"rule": "sweep", "size": 1},
        {"rule": "slope", "zero_gap": True, "copies": 2},
        {"boxes": "paper", "copies": 2},
        {"rule": "mirror", "copies": 2},
        {"copies": 3},
        {"copies": 4},
        {"auxiliaries": "affine", "boxes": "gap"},
    ],
)
def test_agrees_with_the_reference_on_every_rule(folders, tmp_path, choices, seeds):
    seen = set()
    for seed in range(seeds):
        folders.random_folder(tmp_path / "m", seed, **choices)
        seen |= {r.rule for claim in same(tmp_path / "m").claims for r in claim.rows}
    assert choices.get("rule", "leaf") in seen


def rewritten(folders, folder, edit):
    """Apply `edit` to the files and make all hashes fit again, so that what is edited itself is judged."""
    files = {name: (folder / name).read_bytes() for name in check.FILES}
    content = json.loads(files["certificate.json"])
    files, content = edit(files, content)
    content["proofs_sha256"] = sha256(files["certificate.bin"]).hexdigest()
    for entry in content["claims"]:
        entry["claim_sha256"] = c.claim_digest(entry["claim"])
    files["certificate.json"] = json.dumps(content).encode()
    folders.put(folder, files)


def leaves_of(value, path=()):
    """All scalars of nested JSON, with the containers and keys they stand at."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, (dict, list)):
            yield from leaves_of(inner)
        else:
            yield value, key


ODD = [None, True, 0, 1, -1, 2, 255, 1.0, 0.5, -0.0, 1e300, "", "1/0", "1e3", "-1", "1/3", "x0", [], {}, "0" * 401]


@pytest.mark.parametrize("chunk", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 8))])
def test_agrees_with_the_reference_on_tampered_folders(folders, tmp_path, chunk):
    answers = set()
    for seed in range(40 * chunk, 40 * chunk + 40):
        rng = np.random.default_rng(seed)
        folder = tmp_path / str(seed)
        folders.random_folder(folder, seed)

        def edit(files, content, rng=rng):
            if rng.random() < 0.5 and files["certificate.bin"]:
                data = bytearray(files["certificate.bin"])
                for _ in range(int(rng.integers(1, 3))):
                    data[int(rng.integers(len(data)))] = int(rng.choice([0, 1, 2, 3, 4, 5, 127, 128, 255]))
                files["certificate.bin"] = bytes(data)
            else:
                places = list(leaves_of(content["claims"]))
                where, key = places[int(rng.integers(len(places)))]
                where[key] = ODD[int(rng.integers(len(ODD)))]
            return files, content

        rewritten(folders, folder, edit)
        answers.add(same(folder).status)
    assert "refused" in answers


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 4))])
def test_agrees_with_the_reference_on_tampered_models(folders, tmp_path, chunk):
    for seed in range(40 * chunk, 40 * chunk + 40):
        rng = np.random.default_rng(seed)
        folder = tmp_path / str(seed)
        made = folders.random_folder(folder, seed)
        files = {name: (folder / name).read_bytes() for name in check.FILES}
        model = json.loads(files["model.json"])
        where, key = (p := list(leaves_of(model["net"])))[int(rng.integers(len(p)))]
        where[key] = ODD[int(rng.integers(len(ODD)))]
        # the digest of the certified part fits, so that the description itself is judged
        content = json.loads(files["certificate.json"])
        content["model"] = c.model_digest(model["net"], certified_tensors(made.net), model.get("table"))
        files["certificate.json"] = json.dumps(content).encode()
        folders.put(folder, files | {"model.json": json.dumps(model).encode()})
        same(folder)


# ---- alone in the world ---------------------------------------------------------------------------------------------


def test_imports_the_standard_library_only():
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module]
        assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), names
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        assert called not in ("eval", "exec", "__import__", "compile")


@pytest.mark.parametrize("way", ["copied", "module"])
def test_runs_without_any_installed_package(folders, tmp_path, way):
    folders.random_folder(tmp_path / "model", 4, rhs=100000)
    if way == "copied":
        shutil.copy(SOURCE, tmp_path / "check.py")
        command = [str(tmp_path / "check.py")]
    else:
        start = f"import sys, runpy; sys.path.insert(0, {str(SOURCE.parents[2])!r}); "
        command = ["-c", start + "runpy.run_module('smilenn.certify.check', run_name='__main__', alter_sys=True)"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", *command, str(tmp_path / "model")],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith("certified") and "∀ " in done.stdout.decode()
    assert not done.stderr


def test_says_everything_in_the_users_words(folders, tmp_path, capsys):
    import torch

    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    domain = Domain(
        (Feature("age", "integer", 18, 90, unit="years"), Feature("race", "category", categories=("a", "b")))
    )
    net = folders.random_net(rng, domain, auxiliaries="affine", boxes="gap", outputs=1)
    output = net.outputs[0]
    claim = Claim(
        2,
        (row([(1, 0, "in", "age"), (-1, 1, "in", "age")], 0),),
        (row([(1, 0, "out", output), (-1, 1, "out", output)], "1/3"),),
        sentence="All is well.",
    )
    proof = c.ClaimProof(claim.to_json(), [[20.0, 1.0, 0.0]] * 2, [c.LeafProof(0, (), (c.Leaf(),))])
    folders.write(tmp_path / "m", net, [proof])
    report = check_folder(tmp_path / "m")
    text = "\n".join(report.lines())
    assert quoted(claim.formula()) == report.claims[0].formula and quoted(claim.formula()) in text
    assert '"age" in [18.0, 90.0] "years" (integer)' in text and 'comment, not checked: "All is well."' in text
    assert report.certificate == sha256((tmp_path / "m" / "certificate.json").read_bytes()).hexdigest()
    assert check.main([str(tmp_path / "m")]) == report.exit_code == 3
    assert "checked bound" in capsys.readouterr().out
    assert check.main([]) == 2 and "usage" in capsys.readouterr().err


def test_names_cannot_forge_lines_of_the_report():
    claim = check.ClaimReport("a.x\ncertified", "\x1b[2Jfine", (check.RowReport("r\r", "leaf", *[Fraction(1)] * 3),))
    for report in (Report("unknown", "", "", ("x\ncertified",), (claim,)), Report("refused", "no\ncertified")):
        assert all(line.isprintable() for line in report.lines())


def quoted(formula):
    """A formula of the library as the checker writes it: every name between quotation marks."""
    formula = re.sub(r"\.(?!out\b)([A-Za-z_]\w*)", r'["\1"]', formula)
    return re.sub(r"\b(?!features\b)(\w+) free", r'"\1" free', formula)


@pytest.mark.parametrize("seed", range(40))
def test_formula_is_that_of_the_claim(folders, tmp_path, seed):
    made = folders.random_folder(tmp_path / "m", seed)
    assert [claim.formula for claim in check_folder(tmp_path / "m").claims] == [
        quoted(m.formula()) for m in made.claims
    ]


@pytest.mark.parametrize("count", [8, 9, 30])
def test_what_is_said_of_many_features_is_written_once(count):
    domain = Domain.box([0.0] * count, [1.0] * count)
    (claim,) = Robust(0.1, 0.2).lower(domain)
    rows = [
        ([(term.coef, term.copy, term.kind, term.name) for term in row.terms], row.op, row.rhs) for row in claim.when
    ]
    texts = check.row_texts(rows)
    if count > 8:
        names = f'"x0", "x1", … "x{count - 1}"'
        assert texts[0] == f'a["*"] - b["*"] <= 0.1 for each of {count} features in place of "*": {names}'
        assert len(texts) == 2
    else:
        assert quoted(claim.formula()).startswith("∀ a, b ∈ X: " + ", ".join(texts) + ", other")
        assert texts[0] == 'a["x0"] - b["x0"] <= 0.1' and len(texts) == 16


# ---- exit codes -----------------------------------------------------------------------------------------------------


def test_exit_codes(folders, tmp_path):
    folders.random_folder(tmp_path / "good", 4, rhs=100000)
    assert check_folder(tmp_path / "good").exit_code == 0
    folders.random_folder(tmp_path / "unknown", 4, rhs=-100000)
    report = check_folder(tmp_path / "unknown")
    assert report.exit_code == 3 and report.excess > 0
    assert check_folder(tmp_path / "nothing").exit_code == 2
    assert check_folder("nul\0l").exit_code == 2

    def tampered(name, data):
        shutil.rmtree(tmp_path / "bad", ignore_errors=True)
        shutil.copytree(tmp_path / "good", tmp_path / "bad")
        if data is None:
            (tmp_path / "bad" / name).unlink()
        else:
            (tmp_path / "bad" / name).write_bytes(data)
        return same(tmp_path / "bad")

    for name in (*check.FILES, "manifest.json"):
        data = (tmp_path / "good" / name).read_bytes()
        assert tampered(name, None).exit_code == 2
        if name != "manifest.json":
            assert tampered(name, data + b" ").exit_code == 1
        assert tampered(name, b"\x80\x04pickle").exit_code == (2 if name == "manifest.json" else 1)
    manifest = (tmp_path / "good" / "manifest.json").read_bytes()
    assert tampered("manifest.json", manifest.replace(b"sha256", b"sha255")).exit_code == 1
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bad" / "manifest.json").unlink()
    (tmp_path / "bad" / "manifest.json").symlink_to(tmp_path / "pipe")
    assert same(tmp_path / "bad").exit_code == 2


@pytest.mark.parametrize(
    "old, new",
    [
        (b'"version": 2', b'"version": 2, "version": 2'),
        (b'"version": 2', b'"version": NaN'),
        (b'"version": 2', b'"version": ' + b"1" * 500),
        (b'"version": 2', b'"version": 2e999'),
        (b'"version": 2', b'"version": ' + b"[" * 70 + b"]" * 70),
        (b'"version": 2', b'"version": ' + b"[" * 10**6),
        (b'"version": 2', b'"version": \xff'),
        (b'"version": 2', b'"version": 2,'),
    ],
)
def test_json_that_is_not_strict_is_unreadable(folders, tmp_path, old, new):
    folders.random_folder(tmp_path / "m", 3)
    files = {name: (tmp_path / "m" / name).read_bytes() for name in check.FILES}
    assert old in files["certificate.json"]
    folders.put(tmp_path / "m", files | {"certificate.json": files["certificate.json"].replace(old, new, 1)})
    assert check_folder(tmp_path / "m").exit_code == 2
    assert reference(tmp_path / "m").status in ("refused", "unreadable")


@pytest.mark.parametrize(
    "new",
    [b'"version": 1', b'"version": 3', b'"version": true', b'"version": 2.0', b'"version": 2, "more": 1'],
)
def test_certificates_of_another_form_are_refused(folders, tmp_path, new):
    folders.random_folder(tmp_path / "m", 3)
    files = {name: (tmp_path / "m" / name).read_bytes() for name in check.FILES}
    text = files["certificate.json"].replace(b'"version": 2', new, 1)
    folders.put(tmp_path / "m", files | {"certificate.json": text})
    assert same(tmp_path / "m").exit_code == 1


def test_a_certificate_of_another_model_is_refused(folders, tmp_path):
    folders.random_folder(tmp_path / "a", 3)
    folders.random_folder(tmp_path / "b", 4)
    files = {name: (tmp_path / ("a" if "cert" in name else "b") / name).read_bytes() for name in check.FILES}
    folders.put(tmp_path / "c", files)
    report = same(tmp_path / "c")
    assert report.exit_code == 1 and "another model" in report.reason


# ---- big trees ------------------------------------------------------------------------------------------------------


def deep(folders, folder, node, leaf_bytes, turns):
    """A folder whose tree repeats one split on its first child; the claim is a difference of the two copies."""
    import torch

    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    net = folders.random_net(rng, Domain.box([0.0, 0.0], [1.0, 1.0]), auxiliaries="relu", boxes="gap", outputs=1)
    claim = Claim(2, (), (row([(1, 0, "out", net.outputs[0]), (-1, 1, "out", net.outputs[0])], 10**6),), "free")
    folders.write(folder, net, [c.ClaimProof(claim.to_json(), [[0.0, 0.0]] * 2, [c.LeafProof(0, (), (c.Leaf(),))])])

    def edit(files, content):
        files["certificate.bin"] = c._node(node) * turns + leaf_bytes * (turns + 1)
        content["claims"][0]["rows"][0]["length"] = len(files["certificate.bin"])
        return files, content

    rewritten(folders, folder, edit)


@pytest.mark.parametrize("node", [c.Phase(0, 0), c.Input(1, 0, 0.3)])
def test_deep_trees_are_walked_without_recursion(folders, tmp_path, node):
    deep(folders, tmp_path / "m", node, b"\0", 20_000)
    start = time.perf_counter()
    report = check_folder(tmp_path / "m")
    assert report.status == "certified", report.reason
    assert time.perf_counter() - start < 60


@pytest.mark.slow
def test_deep_trees_take_little_memory(folders, tmp_path):
    deep(folders, tmp_path / "m", c.Phase(0, 0), b"\0", 20_000)
    tracemalloc.start()
    report = check_folder(tmp_path / "m")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.status == "certified", report.reason
    assert peak < 12 * sum(f.stat().st_size for f in (tmp_path / "m").iterdir())


def test_a_million_levels_that_end_too_early_are_refused(folders, tmp_path):
    deep(folders, tmp_path / "m", c.Phase(0, 0), b"", 10**6)
    assert check_folder(tmp_path / "m").exit_code == 1


# ---- the small maxima against brute force ---------------------------------------------------------------------------

small = st.integers(-6, 6)


@given(st.lists(small, min_size=6, max_size=6), st.lists(small, min_size=4, max_size=4))
@settings(max_examples=400, deadline=None)
def test_joint_maximum_is_that_of_all_grid_points(ends, values):
    a, b, c_, d, low, high = ends  # whole-valued polygons have whole vertices, and the kinks are whole
    grid = [(x, y) for x, y in itertools.product(range(a, b + 1), range(c_, d + 1)) if low <= x - y <= high]
    kx, tx, ky, ty = values
    found = joint(*ends, *values) if low <= high and a <= b and c_ <= d else None
    wanted = max((kx * max(x, 0) - tx * x + ky * max(y, 0) - ty * y for x, y in grid), default=None)
    assert found == wanted
    if grid:
        xs, ys, gaps = [x for x, _ in grid], [y for _, y in grid], [x - y for x, y in grid]
        tight = min(xs), max(xs), min(ys), max(ys), min(gaps), max(gaps)
        assert corner(kx, ky, *tight) == max(kx * x + ky * y for x, y in grid)
        assert single(min(xs), max(xs), kx, tx) == max(kx * max(x, 0) - tx * x for x in xs)


def test_bounds_hold_at_sampled_tuples(folders, tmp_path):
    import torch

    for seed in range(30):
        made = folders.random_folder(tmp_path / "m", seed, boxes="gap", copies=1, claims=1)
        report = check_folder(tmp_path / "m")
        x = torch.as_tensor(made.net.domain.sample(200, np.random.default_rng(seed)))
        claim = made.claims[0]
        keep = [i for i in range(len(x)) if folders.holds_exactly(claim, made.net.domain, x[i : i + 1].numpy())]
        y = made.net(x).detach().numpy()
        for r, inequality in zip(report.claims[0].rows, claim.rows, strict=True):
            for i in keep:
                left = sum(
                    t.coef
                    * Fraction(
                        float(
                            y[i, made.net.outputs.index(t.name)]
                            if t.kind == "out"
                            else x[i, made.net.domain.indices(t.name)[0]]
                        )
                    )
                    for t in inequality.terms
                )
                assert left <= r.bound + r.margin


# ---- garbage --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples(folders, tmp_path_factory):
    """The files of some small folders."""
    out = []
    for seed, choices in ((3, {}), (5, {"boxes": "paper"}), (7, {"size": 1, "rule": "sweep"}), (11, {"copies": 2})):
        folder = tmp_path_factory.mktemp("sample")
        folders.random_folder(folder, seed, **choices)
        out.append({name: (folder / name).read_bytes() for name in (*check.FILES, "manifest.json")})
    return out


def mutated(draw, data):
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["set", "cut", "insert", "copy", "drop"])):
            case "set" if place < len(data):
                data[place] = draw(st.integers(0, 255))
            case "cut":
                del data[place:]
            case "insert":
                data[place:place] = draw(st.one_of(st.binary(max_size=9), st.sampled_from([b"[", b"-", b"1e9", b'"'])))
            case "copy":
                data[place:place] = data[place : place + draw(st.integers(0, 40))]
            case "drop":
                del data[place : place + draw(st.integers(1, 9))]
            case _:
                pass
    return bytes(data)


def fuzz(folders, samples, folder, draw):
    files = dict(draw(st.sampled_from(samples)))
    name = draw(st.sampled_from(sorted(files)))
    files[name] = mutated(draw, files[name])
    if name != "manifest.json":
        if name == "certificate.bin":  # so that the nodes are read
            content = json.loads(files["certificate.json"])
            content["proofs_sha256"] = sha256(files[name]).hexdigest()
            files["certificate.json"] = json.dumps(content).encode()
        folders.put(folder, {key: files[key] for key in check.FILES})
    else:
        for key, data in files.items():
            (folder / key).write_bytes(data)
    report = check_folder(folder)
    assert isinstance(report, Report) and report.status in STATUSES
    assert report.lines()


@pytest.mark.parametrize("examples", [200, pytest.param(30_000, marks=pytest.mark.slow)])
def test_never_raises_whatever_the_files_hold(folders, samples, tmp_path, examples):
    @given(st.data())
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def run(data):
        fuzz(folders, samples, tmp_path, data.draw)

    run()


def test_safetensors_layouts(folders, tmp_path):
    folders.random_folder(tmp_path / "m", 3, auxiliaries="constant")
    files = {name: (tmp_path / "m" / name).read_bytes() for name in check.FILES}
    data = files["weights.safetensors"]
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])

    def status(header, body=data[8 + size :], length=None):
        text = json.dumps(header).encode()
        blob = struct.pack("<Q", len(text) if length is None else length) + text + body
        folders.put(tmp_path / "m", files | {"weights.safetensors": blob})
        return same(tmp_path / "m", codes=False).exit_code

    assert status(header) in (0, 3)
    assert status({**header, "__metadata__": {"a": "b"}}) in (0, 3)
    for key in ("lower.const", "head_weight"):
        changed = {**header, key: {**header[key], "data_offsets": [0, 8]}}
        assert status(changed) != 0
        for odd in ({"dtype": "F32"}, {"shape": [7]}, {"shape": [True]}, {"dtype": None}, {"shape": None}):
            assert status({**header, key: {**header[key], **odd}}) in (1, 2)
    assert status(header, data[8 + size :] + b"\0") == 2
    assert status(header, data[8 + size : -1]) == 2
    assert status(header, length=2**63) == 2
    assert status(header, length=2) == 2
    assert status([]) == 2
    assert status({"a": 1}) == 2
    assert status({"a": {"dtype": "F64", "shape": [], "data_offsets": "ab"}}) == 2
    assert status({**header, "more": {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}}) == 1


@pytest.mark.parametrize(
    "choices", [{"boxes": "paper"}, {"boxes": "paper", "copies": 1}, {"rule": "sweep", "size": 1}, {"copies": 2}, {}]
)
def test_both_checkers_count_the_same_work(folders, tmp_path, monkeypatch, choices):
    seen = 0
    for seed in range(8):
        folders.random_folder(tmp_path / "m", seed, **choices)
        report, read = same(tmp_path / "m"), reader.read_folder(tmp_path / "m")
        work, net = 0, read.net
        for entry in read.entries:
            k, h = entry.claim.copies, 2 * net.hidden
            groups = net.inner.groups if k == 2 else ()
            each = len(net.inner.names) + 1 + sum(len(g) ** 2 // 64 for g in groups)
            each *= 1 + (net.embedding if net.boxes == "paper" else 0)
            for proof in entry.proofs:
                numbers = k * (net.embedding if net.boxes == "paper" else 0) + k * len(proof.units)
                extra = len(exact_premise.ground(entry.claim, net.domain, None).extra)
                nodes = exact_tree.count(proof.nodes, numbers + extra if proof.rule == "leaf" else 0, net.inner.groups)
                nodes, extra = (h + 1, 0) if proof.rule == "sweep" else (nodes, extra)
                work += k * nodes * (16 + (h + 1 + extra) * each)
                m = len(net.inner.names)
                work += k * (net.embedding * (len(net.outputs) + m + h) + 8 * (m + 8))
        if report.status in ("certified", "unknown"):
            seen += 1
            for checker, name in ((check, "WORK"), (check_reference, "MOST_WORK")):
                monkeypatch.setattr(checker, name, work)
                assert checker.check_folder(tmp_path / "m").status == report.status
                monkeypatch.setattr(checker, name, work - 1)
                assert checker.check_folder(tmp_path / "m").status == "refused"
            monkeypatch.undo()
    assert seen > 4


def test_the_reference_counts_before_it_walks(folders, tmp_path, monkeypatch):
    folders.random_folder(tmp_path / "m", 3, copies=2)
    monkeypatch.setattr(check_reference, "MOST_WORK", 1)
    monkeypatch.setattr(exact_rules, "Walk", lambda *_, **__: pytest.fail("walked"))
    assert "work" in check_reference.check_folder(tmp_path / "m").reason


def test_a_pinned_module_of_a_billion_outputs_is_refused_at_once(encoders, folders, tmp_path):
    """The number stands in model.json alone: no list of that length is made before the tensors are compared."""
    found = 0
    for seed in range(40):
        encoders.encoded_folder(tmp_path / "m", seed)
        files = {name: (tmp_path / "m" / name).read_bytes() for name in check.FILES}
        model = json.loads(files["model.json"])
        layers = [y for b in model["net"]["encoder"] for y in b["layers"] if y["kind"] == "pinned"]
        if layers:
            found += 1
            layers[0]["outputs"] = 10**9
            folders.put(tmp_path / "m", files | {"model.json": json.dumps(model).encode()})
            assert same(tmp_path / "m").status == "refused"
    assert found


@pytest.mark.parametrize(("first", "last"), [(0, 320), pytest.param(320, 20_000, marks=pytest.mark.slow)])
def test_agrees_with_the_reference_on_small_whole_numbers(small, monkeypatch, first, last):
    """Networks whose numbers tie everywhere: intervals that end at zero, kinks on ends, equal candidates."""
    statuses = set()
    for seed in range(first, last):
        files = small.Small(seed).files
        monkeypatch.setattr(check, "read_folder", lambda _, files=files: small.listed(files))
        monkeypatch.setattr(reader, "listed_files", lambda _, files=files: small.listed(files))
        fast, exact = check.check_folder("nowhere"), check_reference.check_folder("nowhere")
        rows = [[(r.rule, r.bound, r.margin) for c in report.claims for r in c.rows] for report in (fast, exact)]
        assert fast.status == exact.status and rows[0] == rows[1], (seed, fast, exact)
        statuses.add((fast.status, small.RULES[seed % len(small.RULES)]))
    assert statuses >= {("certified", "leaf"), ("unknown", "sweep"), ("refused", "slope"), ("certified", "order")}


@pytest.mark.parametrize(("hidden", "good"), [(-1, False), (0, True), (7, True), (1 << 30, True), (2**30 + 1, False)])
def test_a_size_that_means_nothing_is_judged_alike(folders, tmp_path, hidden, good):
    """`hidden` of auxiliaries without units: no tensor has that size, and both checkers have the same limits."""
    made = folders.random_folder(tmp_path / "m", 3, auxiliaries="affine", rule="leaf")
    files = folders.files_of(made.net, made.proofs)
    model = json.loads(files["model.json"])
    model["net"]["hidden"] = hidden
    files["model.json"] = json.dumps(model).encode()
    files |= c.dump(c.model_digest(model["net"], certified_tensors(made.net)), made.proofs)
    folders.put(tmp_path / "m", files)
    report = same(tmp_path / "m")
    assert (report.status != "refused") == good, report.reason
