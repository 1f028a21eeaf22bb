"""A certificate checked on a cluster, a task a claim: the report of the checker alone, and nothing less is accepted."""

import json
import logging

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smilenn
from smilenn import Config, Fair, Monotone, Robust, SmileRegressor
from smilenn.certify import shared
from smilenn.certify.process import check_apart
from smilenn.certify.shared import check_shared, parts_of
from smilenn.cli import app
from smilenn.clusters.pool import Here
from smilenn.clusters.task import ClusterError
from smilenn.model.folder import dump_json, write_folder

pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own start and end


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three claims, two of them with trees of cells in certificate.bin."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 200), "b": rng.uniform(0, 1, 200), "g": rng.choice(["x", "y"], 200)})
    rules = [Monotone(increasing=["a"]), Robust(0.05, 0.4), Fair(["g"], eps=0.5)]
    network = smilenn.Network(encoder="none", auxiliaries="relu", hidden=3, embedding=2)
    model = SmileRegressor(properties=rules, network=network, config=Config(epochs=15), random_state=0)
    model.fit(frame, frame["a"] + 0.3 * frame["b"] + 0.05 * (frame["g"] == "x"))
    assert model.certificate_ is not None
    out = tmp_path_factory.mktemp("shared") / "model"
    model.save(out)
    assert len(json.loads((out / "certificate.json").read_text())["claims"]) == 3
    return out


class Counted(Here):
    """Tasks in this process, counted."""

    performed = 0

    def finished(self, function, tasks, shared=None):
        for found in super().finished(function, tasks, shared):
            Counted.performed += 1
            yield found


def altered(folder, out, change):
    """The folder with a certificate that was changed, its hashes in order again."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}
    content = json.loads(files["certificate.json"])
    change(content, files)
    files["certificate.json"] = dump_json(content)
    write_folder(out, files)
    return out


def test_the_report_is_that_of_the_checker_alone(folder, monkeypatch):
    monkeypatch.setattr(Counted, "performed", 0)
    assert check_shared(folder, Counted()) == check_apart(folder)
    assert Counted.performed == 3


def test_every_byte_of_the_proofs_is_in_one_part(folder):
    proofs = (folder / "certificate.bin").read_bytes()
    parts = parts_of((folder / "certificate.json").read_bytes(), proofs)
    assert b"".join(some for _, some in parts) == proofs and sum(bool(some) for _, some in parts) >= 1


def wrong_bound(content, files):
    """A leaf's number is another one: the tree proves less, or nothing."""
    data = bytearray(files["certificate.bin"])
    data[len(data) // 2] ^= 0x55
    files["certificate.bin"] = bytes(data)
    content["proofs_sha256"] = shared.check.sha256(files["certificate.bin"])


def left_out(content, files):
    content["claims"].pop()


def twice(content, files):
    content["claims"][-1] = content["claims"][0]


def more_bytes(content, files):
    files["certificate.bin"] += b"\0"
    content["proofs_sha256"] = shared.check.sha256(files["certificate.bin"])


def other_model(content, files):
    content["model"] = "0" * 64


def other_hash(content, files):
    content["proofs_sha256"] = "0" * 64


@pytest.mark.parametrize("change", [wrong_bound, left_out, twice, more_bytes, other_model, other_hash])
def test_what_the_checker_refuses_is_refused_with_its_reason(folder, tmp_path, change):
    bad = altered(folder, tmp_path / "bad", change)
    wanted = check_apart(bad)
    assert check_shared(bad, Counted()) == wanted
    if change is not wrong_bound:
        assert wanted.status == "refused"


def test_a_worker_that_says_nothing_sensible_is_not_believed(folder, monkeypatch):
    """Reports of another model, of no claim, or fewer than there are claims: the folder is checked here."""
    real = shared.check_part
    from dataclasses import replace

    def lies(model, part):
        return replace(real(model, part), domain=("x in [0, 1]",) if b"Fair" in part[0] or b'"g"' in part[0] else ())

    for wrong in (lies, lambda model, part: replace(real(model, part), claims=())):
        monkeypatch.setattr(shared, "check_part", wrong)
        assert check_shared(folder, Counted()) == check_apart(folder)


def test_a_report_on_one_claim_is_none_on_another(folder):
    """A worker that answers every task with the report of the first was believed, three times the same claim."""

    class Stale(Counted):
        def finished(self, function, tasks, shared=None):
            first = function(shared, tasks[0])
            yield from ((index, first) for index in range(len(tasks)))

    assert check_shared(folder, Stale()) == check_apart(folder)


def test_where_the_cluster_is_lost_the_folder_is_checked_here(folder, caplog):
    class Lost(Counted):
        def finished(self, function, tasks, shared=None):
            raise ClusterError("The scheduler was lost.")

    with caplog.at_level(logging.WARNING):
        assert check_shared(folder, Lost()) == check_apart(folder)
    assert "The certificate is checked here: The scheduler was lost." in caplog.text


def test_smilenn_check_in_a_cluster_block(folder, workers):
    with smilenn.cluster(workers):
        found = smilenn.check(folder)
    assert vars(found) == vars(smilenn.check(folder))


def test_a_model_is_loaded_on_the_word_of_this_machine_alone(folder, workers, monkeypatch):
    def asked(*_):
        raise AssertionError("loading asked the cluster")

    monkeypatch.setattr("smilenn.certify.verdicts.check_shared", asked)
    with smilenn.cluster(workers):
        assert smilenn.load(folder).verdict_.status == "proved"


def test_on_the_command_line(folder, monkeypatch):
    run = CliRunner().invoke
    alone = run(app, ["check", str(folder)])
    found = run(app, ["check", str(folder), "--cluster", "local:2"])
    assert "workers" not in alone.output
    assert found.output.replace(", the workers of the cluster", "") == alone.output != found.output
    assert found.exit_code == alone.exit_code
    monkeypatch.setattr("smilenn.clusters.dask_pool.CONNECT_SECONDS", 1)
    lost = run(app, ["check", str(folder), "--cluster", "tcp://127.0.0.1:1"])
    assert lost.exit_code == 2 and "No Dask scheduler answers" in lost.output
