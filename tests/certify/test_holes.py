"""Ways in which a false "certified" was once reached: each is refused here, or harmless."""

import ast
import json
import os
import random
import re
import shutil
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tests.forked import forked

import smilenn
from smilenn import Config, Fair, Monotone, Network, SmileRegressor
from smilenn.certify import certificate as c
from smilenn.certify import check, process
from smilenn.certify.certify import certify
from smilenn.certify.process import check_apart, read_report
from smilenn.certify.reference import check as check_reference
from smilenn.domain import Domain
from smilenn.errors import AlteredError, SmileError
from smilenn.model.bundle import certified_tensors, dump_weights, load_net, save_net
from smilenn.model.folder import dump_json, read_folder, write_folder
from smilenn.model.net import SmileNet
from smilenn.properties.claim import Claim, row

CHECKERS = pytest.mark.parametrize("checker", [check, check_reference], ids=["fast", "reference"])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(1, 9, 120), "race": rng.choice(list("abc"), 120)})
    y = (X.income + (X.race == "a")).rename("score")
    quick = {"config": Config(epochs=3, batch_size=64), "random_state": 0, "certify_limit": 10.0}
    return SmileRegressor(
        properties=[Monotone(increasing=["income"]), Fair(["race"], 0.6)], network=Network(encoder="none"), **quick
    ).fit(X, y)


# ---- a stored verdict is a note -------------------------------------------------------------------------------------


def test_a_forged_note_beside_changed_weights_proves_nothing(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    for name in ("certificate.json", "certificate.bin", "selftest.json"):
        files.pop(name, None)
    from safetensors.numpy import load as load_tensors
    from safetensors.numpy import save as save_tensors

    tensors = load_tensors(files["weights.safetensors"])
    tensors["second.const"] = tensors["second.const"] + 100.0
    files["weights.safetensors"] = save_tensors(tensors)
    claimed = {"status": "proved", "method": "exact check of the certificate", "tolerance": 0.0, "bound": 0.0}
    write_folder(tmp_path / "forged", files)
    digest = load_net(tmp_path / "forged")[0].snapshot().digest  # the forger names the new weights
    claimed |= {"weights": digest, "certificate": ""}
    files["verdict.json"] = json.dumps(json.loads(files["verdict.json"]) | claimed).encode()
    write_folder(tmp_path / "forged", files, overwrite=True)
    loaded = smilenn.load(tmp_path / "forged")
    assert loaded.verdict_.status == "unknown" and loaded.violation_bound_ == np.inf
    assert "no certificate" in loaded.verdict_.sentence() and loaded.certificate_ is None
    assert "exact check" not in loaded._repr_html_() and "unknown" in loaded._repr_html_()


def test_a_noted_counterexample_counts_only_if_the_model_still_breaks_the_claim(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(0, 1, 50)})
    model = SmileRegressor(network=Network(encoder="none"), config=Config(epochs=1), random_state=0).fit(
        X, X.x.rename("y")
    )
    model.properties = [Claim(1, (), (row([(1, 0, "out", "")], -(10**6)),))]
    model.claims_ = model.lower(model.all_properties())
    found = model.certify(time_limit=5)
    assert found.status == "violated"
    model.save(tmp_path / "m")
    assert smilenn.load(tmp_path / "m").verdict_.status == "violated"
    files = dict(read_folder(tmp_path / "m"))
    note = json.loads(files["verdict.json"])
    note["counterexample"]["row"] = "a.out <= -7"
    write_folder(tmp_path / "other", {**files, "verdict.json": dump_json(note)})
    assert smilenn.load(tmp_path / "other").verdict_.status == "unknown"


# ---- processors that flush ------------------------------------------------------------------------------------------

FALLING = """
import sys, torch
from smilenn.certify import check
from smilenn.certify.reference import check as check_reference
import smilenn
torch.set_flush_denormal(True)
assert 2.0**-1074 * float(sys.argv[2]) == 0.0, "this processor does not flush"
fast, slow = check.check_folder(sys.argv[1]), check_reference.check_folder(sys.argv[1])
print(fast.status, slow.status, smilenn.check(sys.argv[1], reference=True).status)
"""


def falling(slope: float, top: float) -> SmileNet:
    """f(x) = 2^990·(slope·x), asked to rise; its slope is a subnormal number below zero."""
    net = SmileNet(Domain.box([0.0], [top], ["x"]), torch.nn.Linear(1, 16), 16, auxiliaries="affine")
    with torch.no_grad():
        for part in (net.lower.slope, net.lower.const, net.gap.const, net.gap.rise, net.gap.fall, net.head_weight):
            part.zero_()
        net.lower.slope[0, 0], net.head_weight[0, 0] = slope, 2.0**990
        net.head_bias.zero_()
    net.set_profile("fixed-order")
    return net.eval()


@pytest.mark.parametrize(("slope", "top"), [(-(2.0**-1030), 2.0**30), (-(2.0**-1023), 2.0**130)])
def test_checkers_read_subnormal_weights_where_the_process_flushes_them(tmp_path, slope, top):
    net = falling(slope, top)
    claims = Monotone(["x"]).lower(net.domain)
    proofs = [c.ClaimProof(claims[0].to_json(), [[0.0], [0.0]], [c.OrderProof()])]
    files = c.dump(c.model_digest(net.describe(), certified_tensors(net)), proofs, net.profile)
    save_net(tmp_path / "m", net, extra=files)
    assert [one.check_folder(tmp_path / "m").status for one in (check, check_reference)] == ["refused"] * 2
    _, said, errors = forked(FALLING, tmp_path / "m", "1.0")
    if "does not flush" in errors:
        pytest.skip("this processor cannot flush subnormal numbers")
    assert said.split() == ["refused", "refused", "rejected"], errors


FAST = Path(check.__file__)
SOURCES = [FAST, FAST.with_name("check_deep.py"), *sorted(Path(check_reference.__file__).parent.glob("*.py"))]
IN_INTEGERS = {"ceil", "floor", "gcd", "isqrt", "lcm", "prod"}  # functions of math that make no floats


def floats_in(source: str) -> list[int]:
    """Lines with a float constant, the name `float`, a float format of struct, or what makes floats of math."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=float()) | ast.Name(id="float"):
                found.append(node.lineno)
            case ast.Attribute(value=ast.Name(id="math"), attr=used) if used not in IN_INTEGERS:
                found.append(node.lineno)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="struct")), args=[form, *_]):
                texts = [v.value for v in ast.walk(form) if isinstance(v, ast.Constant) and isinstance(v.value, str)]
                if re.search("[efd]", "".join(texts)):
                    found.append(node.lineno)
            case ast.ImportFrom(module="math"):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_checkers_use_no_floats(path):
    """Every float of the files is an integer times a power of two from the first byte on."""
    assert floats_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line", ["x = 1.0", "x = float(y)", "math.ldexp(1, 2)", "struct.unpack('<d', b)", "struct.unpack(f'<{n}d', b)"]
)
def test_floats_are_seen(line):
    assert floats_in(f"y = 2\n{line}") == [2] and floats_in("math.lcm(2, struct.unpack('<q', b)[0])") == []


# ---- the checker in its own process ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("fresh_checker")
def test_a_fresh_process_says_what_this_one_says(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    here, apart = check.check_folder(tmp_path / "m"), check_apart(tmp_path / "m")
    assert here == apart and here.status == "certified" and here.version == 2
    assert read_report(json.loads(json.dumps(here.to_json()))) == here
    assert check_apart(tmp_path / "nothing").status == "unreadable"


@pytest.mark.usefixtures("fresh_checker")
def test_without_an_interpreter_the_checker_runs_here(monkeypatch, fitted, tmp_path):
    """As in a program that Python is embedded in."""
    fitted.save(tmp_path / "m")
    monkeypatch.setattr(process.subprocess, "run", None)
    for name, value in (("executable", ""), ("frozen", True)):
        with monkeypatch.context() as patch:
            patch.setattr(process.sys, name, value, raising=False)
            assert check_apart(tmp_path / "m").status == "certified"


@pytest.mark.usefixtures("fresh_checker")
def test_a_checker_that_dies_is_no_verdict(monkeypatch, tmp_path):
    monkeypatch.setattr(check, "__file__", str(tmp_path / "gone.py"))
    with pytest.raises(SmileError, match="ended without a report"):
        check_apart(tmp_path)


# ---- what rounding may excuse ---------------------------------------------------------------------------------------


def cancelling() -> SmileNet:
    """f(x) = −x, in which two constants of 2^30 cancel."""
    net = SmileNet(Domain.box([0.0], [1.0], ["income"]), torch.nn.Linear(1, 2), 2, auxiliaries="affine").eval()
    with torch.no_grad():
        for part in (net.lower.slope, net.lower.const, net.gap.const, net.gap.rise, net.gap.fall, net.head_bias):
            part.zero_()
        net.lower.slope[0, 0] = -1.0
        net.lower.const.fill_(2.0**30)
        net.head_weight.copy_(torch.tensor([[1.0, -1.0]]))
    return net


def test_large_constants_that_cancel_do_not_excuse_a_falling_network(tmp_path):
    net = cancelling()
    claims = Monotone(["income"]).lower(net.domain)
    certificate = certify(net, claims, time_limit=10)
    assert not certificate.accepted and certificate.bound > 0.99
    stated = {"properties": [], "claims": [claim.to_json() for claim in claims]}
    save_net(tmp_path / "m", net, extra=certificate.files, documents={"properties.json": stated})
    verdict = smilenn.check(tmp_path / "m", reference=True)
    assert verdict.status == "unknown" and verdict.exit_code == 3 and verdict.bound > 0.99


@CHECKERS
@pytest.mark.parametrize(
    ("room", "status"),
    [
        ("1/1000000000", "certified"),
        ("1000000001/1000000000000000000", "refused"),
        ("-1/10", "refused"),
        ("0.1", "refused"),
        ("", "refused"),
    ],
)
def test_room_is_a_billionth_of_the_scale_at_most(tmp_path, checker, room, status):
    """A rising network proved with more room than it needs: what is granted depends on the scale alone."""
    net = falling(1.0, 1.0)
    with torch.no_grad():
        net.head_weight[0, 0] = 1.0
    net.set_profile("f64-aux")
    claims = Monotone(["x"]).lower(net.domain)
    found = certify(net, claims, time_limit=10)
    assert found.accepted and 0 < found.rounding < 1e-9
    content = json.loads(found.files["certificate.json"])
    content["claims"][0]["room"] = [room]
    extra = {**found.files, "certificate.json": json.dumps(content).encode()}
    save_net(tmp_path / "m", net, extra=extra)
    assert checker.check_folder(tmp_path / "m").status == status


# ---- small files that keep a checker busy ---------------------------------------------------------------------------


@CHECKERS
def test_long_numbers_count_as_long_work(tmp_path, checker, monkeypatch):
    """90 bounds with denominators of 400 digits: a unit of work took ten times as long, and was counted as one."""
    m, h, numbers = 90, 16, random.Random(0)
    net = SmileNet(Domain.box([0.0] * m, [1.0] * m), torch.nn.Linear(m, 1), 1, hidden=h).eval()
    tree: list[c.Node] = [c.Leaf((), tuple(numbers.randrange(-(2**30), 2**30) for _ in range(4 * h)))]
    for depth in range(3):
        tree = [c.Input(depth % 2, numbers.randrange(m), numbers.random()), *tree, *tree]
    then = [row([(1, 0, "out", ""), (-1, 1, "out", "")], 10**6).to_json()]

    def status_with(digits: int) -> str:
        when = []
        for i in range(m):
            p = numbers.randrange(10 ** (digits - 1), 10**digits) | 1
            when.append({"terms": [[str(p), 0, "in", f"x{i}"]], "op": "<=", "rhs": str(p // 2)})
        claim = {"copies": 2, "when": when, "then": then, "others": "free", "equal": [], "free": [], "sentence": ""}
        proof = c.ClaimProof(claim, [[0.0] * m] * 2, [c.LeafProof(24, tuple(range(2 * h)), tuple(tree))])
        files = c.dump(c.model_digest(net.describe(), certified_tensors(net)), [proof], net.profile)
        described = {"weights.safetensors": dump_weights(net), "model.json": dump_json({"net": net.describe()})}
        write_folder(tmp_path / str(digits), described | files)
        return checker.check_folder(tmp_path / str(digits)).status

    work = 2 * 15 * (2 * h + 1) * (m + 1) + 2 * (1 + m + 2 * h)
    monkeypatch.setattr(*((check, "WORK") if checker is check else (check_reference, "MOST_WORK")), 3 * work)
    assert status_with(3) == "certified" and status_with(399) == "refused"


# ---- files and what they state --------------------------------------------------------------------------------------


def test_a_claim_dropped_from_both_files_is_missed(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    stated, content = (json.loads(files[name]) for name in ("properties.json", "certificate.json"))
    assert len(stated["claims"]) == 2
    dropped = content["claims"].pop()
    stated["claims"].pop()
    used = sum(proof.get("length", 0) for proof in dropped["rows"])
    binary = files["certificate.bin"][: len(files["certificate.bin"]) - used]
    import hashlib

    content["proofs_sha256"] = hashlib.sha256(binary).hexdigest()
    files |= {"properties.json": dump_json(stated), "certificate.json": dump_json(content), "certificate.bin": binary}
    write_folder(tmp_path / "less", files)
    assert check.check_folder(tmp_path / "less").status == "certified"  # of the claim that is left
    verdict = smilenn.check(tmp_path / "less")
    assert verdict.status == "unknown" and verdict.exit_code == 3 and "does not prove" in verdict.sentence()
    with pytest.raises(AlteredError, match="not its claims"):
        smilenn.load(tmp_path / "less")


@CHECKERS
def test_claims_of_properties_json_are_those_of_the_certificate(fitted, tmp_path, checker):
    fitted.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    stated = json.loads(files["properties.json"])
    stated["claims"][0]["then"][0]["rhs"] = "1/10"
    write_folder(tmp_path / "other", {**files, "properties.json": dump_json(stated)})
    report = checker.check_folder(tmp_path / "other")
    assert report.status == "refused" and "properties.json" in report.reason
    stated["claims"][0]["then"][0]["rhs"] = "0"
    stated["claims"][0]["sentence"] = "a comment"
    write_folder(tmp_path / "comment", {**files, "properties.json": dump_json(stated)})
    assert checker.check_folder(tmp_path / "comment").status == "certified"


@CHECKERS
def test_a_link_is_no_file_of_a_model(fitted, tmp_path, checker):
    fitted.save(tmp_path / "m")
    shutil.move(tmp_path / "m" / "certificate.json", tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", tmp_path / "m" / "certificate.json")
    assert checker.check_folder(tmp_path / "m").status == "unreadable"
    with pytest.raises(SmileError, match="not a regular file"):
        smilenn.load(tmp_path / "m")


@CHECKERS
@pytest.mark.parametrize("key", ["columns", "fill", "target", "meaning"])
def test_the_digest_covers_the_table(fitted, tmp_path, checker, key):
    fitted.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    model = json.loads(files["model.json"])
    changes = {"columns": ["race", "income"], "fill": {"income": 5.0}, "target": "other", "meaning": ["the opposite"]}
    model["table"][key] = changes[key]
    write_folder(tmp_path / "changed", {**files, "model.json": dump_json(model)})
    report = checker.check_folder(tmp_path / "changed")
    assert report.status == "refused" and "differ" in report.reason


@CHECKERS
def test_a_negative_zero_is_another_digest(fitted, tmp_path, checker):
    fitted.save(tmp_path / "m")
    files = dict(read_folder(tmp_path / "m"))
    model = json.loads(files["model.json"])
    model["table"]["fill"] = {"income": 0.0}
    content = json.loads(files["certificate.json"])
    raw = certified_tensors(fitted.net_)
    content["model"] = c.model_digest(model["net"], raw, model["table"])
    same = {**files, "model.json": dump_json(model), "certificate.json": dump_json(content)}
    write_folder(tmp_path / "zero", same)
    assert checker.check_folder(tmp_path / "zero").status == "certified"
    model["table"]["fill"] = {"income": -0.0}
    write_folder(tmp_path / "minus", {**same, "model.json": dump_json(model)})
    assert checker.check_folder(tmp_path / "minus").status == "refused"


def test_floats_are_read_as_the_processor_reads_them():
    """Digits to bits by whole numbers: subnormal, halfway, huge and tiny ones."""
    import struct

    numbers = random.Random(0)
    texts = [
        "0.0",
        "-0.0",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "1e-999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "2.2250738585072011e-308",
        "9007199254740993.0",
        "9007199254740995.0",
        "0." + "0" * 320 + "1",
        "1" + "0" * 300 + ".5",
        "1E+2",
        "0e5",
    ]
    for _ in range(3000):
        bits = numbers.getrandbits(64)
        value = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        if np.isfinite(value):
            texts.append(repr(value) if "e" in repr(value) or "." in repr(value) else f"{value!r}.0")
            exact = Fraction(value)
            found = check.decoded(bits.to_bytes(8, "little"))
            assert found is not None and Fraction(found[0][0], 2 ** found[1]) == exact
    for text in texts:
        value, found = float(text), check.real(text)
        assert found == Fraction(value) and found.bits == int.from_bytes(struct.pack(">d", value), "big"), text
    for text in ("1.8e308", "1e309", "1e999999999", "-1e400"):
        with pytest.raises(ValueError, match="too"):
            check.real(text)
    begun = time.process_time()
    check.real("0.1e-" + "9" * 300)
    assert time.process_time() - begun < 1


# ---- signatures -----------------------------------------------------------------------------------------------------


def test_a_signature_shows_who_made_a_folder(fitted, tmp_path):
    from smilenn.certify.signing import new_key, verify

    fitted.save(tmp_path / "m")
    mine, other = new_key(tmp_path / "mine.pem"), new_key(tmp_path / "other.pem")
    assert smilenn.check(tmp_path / "m", key=mine).status == "rejected"
    assert smilenn.sign(tmp_path / "m", tmp_path / "mine.pem") == mine
    assert smilenn.check(tmp_path / "m", key=mine).status == "proved"
    assert smilenn.check(tmp_path / "m", key=str(tmp_path / "mine.pem")).status == "proved"
    refused = smilenn.check(tmp_path / "m", key=other)
    assert refused.status == "rejected" and "another key" in refused.sentence()
    files = dict(read_folder(tmp_path / "m"))
    write_folder(tmp_path / "again", {**files, "note.json": b"{}"})
    shutil.copy(tmp_path / "m" / "signature.json", tmp_path / "again" / "signature.json")
    assert "does not fit" in smilenn.check(tmp_path / "again", key=mine).sentence()
    fitted.save(tmp_path / "m", overwrite=True)
    with pytest.raises(AlteredError, match="is not signed"):
        verify(tmp_path / "m", mine)
    with pytest.raises(SmileError, match="exists"):
        new_key(tmp_path / "mine.pem")
    (tmp_path / "text.pem").write_text("no key")
    with pytest.raises(SmileError, match="no key in PEM"):
        smilenn.sign(tmp_path / "m", tmp_path / "text.pem")
    with pytest.raises(SmileError, match="cannot be read"):
        verify(tmp_path / "m", "nowhere")
    assert (tmp_path / "mine.pem").stat().st_mode & 0o077 == 0


def test_the_command_line_signs_and_checks_by_key(fitted, tmp_path):
    from typer.testing import CliRunner

    from smilenn.cli import app

    fitted.save(tmp_path / "m")
    runner = CliRunner()
    made = runner.invoke(app, ["sign", "--new-key", str(tmp_path / "k.pem")])
    public = made.output.split()[-1]
    assert made.exit_code == 0 and len(public) == 64
    assert runner.invoke(app, ["check", str(tmp_path / "m"), "--key", public]).exit_code == 1
    assert runner.invoke(app, ["sign", str(tmp_path / "m"), "--key", str(tmp_path / "k.pem")]).exit_code == 0
    done = runner.invoke(app, ["check", str(tmp_path / "m"), "--key", public])
    assert done.exit_code == 0 and f"Signed by {public}" in done.output
    assert "who keeps the key" in done.output and "who made the folder" not in done.output
    assert runner.invoke(app, ["sign", str(tmp_path / "m")]).exit_code == 2


def test_fairness_survives_its_folder(fitted, tmp_path):
    """What was certified is certified again from the folder, by both checkers."""
    fitted.save(tmp_path / "m")
    assert fitted.verdict_.status == "proved"
    assert smilenn.check(tmp_path / "m", reference=True).status == "proved"
    assert smilenn.load(tmp_path / "m").verdict_.certificate == fitted.certificate_.sha256
    assert any(isinstance(p, Fair) for p in smilenn.load(tmp_path / "m").all_properties())
