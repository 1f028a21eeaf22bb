"""The Python function and the command, from a file to a checked bracket."""

import json
from fractions import Fraction
from time import perf_counter, sleep

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import smilenn
import smilenn.auditing.audit as auditing
from smilenn.auditing.domain_file import read_domain
from smilenn.auditing.lowering import rows_of
from smilenn.cli import app
from smilenn.errors import SmileError

pytest.importorskip("onnx")
DOMAIN = """
[[feature]]
name = "age"
kind = "integer"
lo = 18
hi = 60
values = [20, 40]

[[feature]]
name = "income"
lo = 0.0
hi = 10.0

[[feature]]
name = "member"
kind = "binary"
"""


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 1))


@pytest.fixture
def place(model, tmp_path):
    """A folder with net.onnx, domain.toml and rows.csv."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, tensors, at = [], [], "x"
    for i, part in enumerate(model):
        out = "y" if i == len(model) - 1 else f"h{i}"
        if isinstance(part, nn.Linear):
            for name, value in (("w", part.weight), ("b", part.bias)):
                tensors.append(numpy_helper.from_array(value.detach().numpy(), f"{name}{i}"))
            nodes.append(helper.make_node("Gemm", [at, f"w{i}", f"b{i}"], [out], transB=1))
        else:
            nodes.append(helper.make_node("Relu", [at], [out]))
        at = out
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", k]) for n, k in (("x", 3), ("y", 1))]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], tensors)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx"
    )
    (tmp_path / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    frame = pd.DataFrame({"age": [18, 60, 30], "income": [0.5, 9.0, 3.25], "member": [0, 1, 1]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def smile(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_brackets_hold_on_samples_and_are_closed(model, place):
    domain, values = read_domain(place / "domain.toml")
    found = smilenn.audit(model, smilenn.Bracket(smilenn.Fair(["age"], 0)), domain, values=values)
    assert found.status == "proved" and len(found.rows) == 2 and found.certificate is None
    rng = np.random.default_rng(0)
    x = domain.sample(2000, rng)
    for row in found.rows:
        a, b = row.pair["age"].tolist()
        assert {a, b} == {20, 40} and (row.pair.iloc[0, 1:] == row.pair.iloc[1, 1:]).all()
        sides = []
        for age in (a, b):
            y = x.copy()
            y[:, 0] = age
            sides.append(model(torch.tensor(y, dtype=torch.float32)).detach().numpy()[:, 0].astype(float))
        assert (sides[0] - sides[1]).max() <= float(row.proved)
        assert row.real - row.found <= Fraction(1, 1000) * abs(row.found) + Fraction(1, 10**9)
        assert row.replayed["exact"] == pytest.approx(row.replayed["float32"], abs=1e-3)


def test_right_sides_are_decided(model):
    domain = smilenn.Domain.box([0, 0, 0], [1, 1, 1], names=["p", "q", "r"])
    wide = smilenn.audit(model, [smilenn.Fair(["p"], 100)], domain, decide=True)
    assert wide.status == "proved" and wide.exit_code == 0
    tight = smilenn.audit(model, [smilenn.Bounded(-1000, 1000), smilenn.Fair(["p"], "1/100000")], domain, decide=True)
    assert tight.status == "violated" and {row.status for row in tight.rows} == {"proved", "violated"}


def test_the_command_writes_what_smile_check_accepts(place):
    done = smile(
        "audit", place / "net.onnx", "--domain", place / "domain.toml", "--fair", "age", "--out", place / "a", "--json"
    )
    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert [row["status"] for row in said["rows"]] == ["proved", "proved"]
    assert all(row["found"] <= row["proved"] and "onnxruntime" in row["replayed"] for row in said["rows"])
    for options in ((), ("--quiet",), ("--json",), ("--reference",)):
        checked = smile("check", place / "a", *options)
        assert checked.exit_code == 0, checked.output
    (place / "a" / "network.bin").write_bytes(b"")
    assert smile("check", place / "a").exit_code == 1


def test_the_domain_may_be_learned_from_rows(place):
    done = smile("audit", place / "net.onnx", "--data", place / "rows.csv", "--fair", "member:50", "--decide")
    assert done.exit_code == 0 and '"member": a = 0, b = 1' in done.output


def test_a_violated_rule_and_a_limit_that_runs_out_have_their_codes(place):
    command = ["audit", place / "net.onnx", "--domain", place / "domain.toml", "--time-limit", 0]
    assert smile(*command, "--fair", "age:0.000001").exit_code == 1
    done = smile(*command, "--fair", "income")
    assert done.exit_code in (0, 3) and "proved" in done.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fair", "age"], "--data or --domain"),
        (["--domain", "domain.toml"], "Nothing is claimed"),
        (["--domain", "domain.toml", "--fair", "sex"], "sex"),
        (["--domain", "nowhere.toml", "--fair", "age"], "nowhere.toml"),
        (["--domain", "domain.toml", "--fair", "age", "--time-limit", "-1"], "time"),
        (["--domain", "domain.toml", "--fair", "age:x"], "x"),
        (["--domain", "short.toml", "--fair", "age"], "reads 3 inputs"),
        (["--domain", "open.toml", "--fair", "age"], "has no hi"),
        (["--domain", "infinite.toml", "--fair", "age"], "finite"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_2(place, monkeypatch, options, words):
    monkeypatch.chdir(place)
    (place / "short.toml").write_text('[[feature]]\nname = "age"\nlo = 0\nhi = 1\n', encoding="utf-8")
    (place / "open.toml").write_text('[[feature]]\nname = "age"\nlo = 0\n', encoding="utf-8")
    (place / "infinite.toml").write_text('[[feature]]\nname = "age"\nlo = 0\nhi = inf\n', encoding="utf-8")
    done = smile("audit", "net.onnx", *options)
    assert done.exit_code == 2 and words in done.output and done.output.count("\n") == 1, done.output


def test_writing_a_proof_takes_no_time_from_other_rows(model, monkeypatch):
    given = []

    def slow(net, row, outputs, until, **options):
        given.append(until - perf_counter())
        sleep(0.3)
        return prove_row(net, row, outputs, perf_counter(), **options)

    prove_row = auditing.prove_row
    monkeypatch.setattr(auditing, "prove_row", slow)
    claim = smilenn.Fair(["x0"], 50)
    smilenn.audit(model, claim, smilenn.Domain.box([0, 0, 0], [1, 1, 1]), time_limit=0.4, values={"x0": (0, 1)})
    assert len(given) == 2 and all(0.1 < seconds <= 0.21 for seconds in given)


def test_claims_outside_the_rule_are_named(model):
    domain = smilenn.Domain.box([0, 0, 0], [1, 1, 1])
    for claim in (smilenn.Lipschitz(["x0"], 1), smilenn.Convex(["x0"]), smilenn.Robust(0.1, 1, norm=2)):
        with pytest.raises(SmileError, match="audits do not cover"):
            smilenn.audit(model, claim, domain)
    with pytest.raises(SmileError, match="[Nn]o inputs satisfy"):
        smilenn.audit(model, smilenn.Custom(when=["a.x0 >= 2"], then=["a.out <= 1"]), domain)


def test_rows_that_mirror_another_are_left_out(model):
    net = smilenn.auditing.importing.read_network(model)
    domain = smilenn.Domain.box([0, 0, 0], [1, 1, 1])
    assert len(rows_of([smilenn.Fair(["x0"], 1)], domain, net, [""])) == 1
    assert len(rows_of([smilenn.Monotone(increasing=["x0"])], domain, net, [""])) == 1
    pairs = rows_of([smilenn.Fair(["x0"], 1)], domain, net, [""], {"x0": (0, "1/2", 1)})
    assert len(pairs) == 6


def test_the_command_writes_and_reads_queries_and_compares(place):
    plain = place / "plain.toml"
    plain.write_text(
        "".join(f'[[feature]]\nname = "{name}"\nlo = 0\nhi = 1\n\n' for name in ("age", "income", "member"))
    )
    start = ["audit", place / "net.onnx", "--domain", plain]
    query = place / "query.vnnlib"
    assert smile(*start, "--fair", "age:2.5", "--to-vnnlib", query).exit_code == 0
    wanted = smile(*start, "--fair", "age:2.5", "--decide", "--json")
    found = smile("audit", place / "net.onnx", "--vnnlib", query, "--decide", "--json", "--out", place / "query")
    assert found.exit_code == wanted.exit_code == 0
    assert smile("check", place / "query", "--reference").exit_code == 0
    same = smile(*start, "--against", place / "net.onnx", "--equal", "0.1", "--decide", "--json")
    assert same.exit_code == 0 and "onnxruntime" in json.loads(same.stdout)["rows"][0]["replayed"]
    for more, words in (
        (("--fair", "age", "--to-vnnlib", query), "needs a limit"),
        (("--fair", "age:1", "--to-vnnlib", query, "--labels"), "audits nothing"),
        (("--fair", "age:1", "--to-vnnlib", place / "net.onnx"), "is the file that is read"),
    ):
        done = smile(*start, *more)
        assert done.exit_code == 2 and words in done.output, done.output


def test_the_command_audits_labels(place):
    done = smile(
        "audit", place / "net.onnx", "--data", place / "rows.csv", "--fair", "member", "--labels", "--time-limit", "1"
    )
    assert done.exit_code in (1, 3) and "counted where all inputs are whole numbers" in done.stdout
