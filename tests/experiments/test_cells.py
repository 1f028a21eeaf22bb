"""Cells of a table: each finished one is computed and written once, whatever cuts the run off."""

import builtins
import json
import os
from pathlib import Path

import pytest

from smilenn.errors import SmileError
from smilenn.experiments.cells import machine, machines, run_cells

CELLS = [{"name": name, "seed": seed} for name in ("a", "b") for seed in (0, 1)]
calls: list[tuple[str, int]] = []


def compute(name, seed):
    calls.append((name, seed))
    return [{"score": f"{name}{seed}", "of": name}]


def failing(name, seed):
    if (name, seed) == ("b", 0):
        raise RuntimeError("power cut")
    return compute(name, seed)


def refusing(name, seed):
    if name == "a":
        raise SmileError("this one cannot be done; try another.")
    return compute(name, seed)


def process(name, seed):
    return [{"score": f"{name}{seed}", "process": os.getpid()}]


@pytest.fixture(autouse=True)
def fresh():
    calls.clear()


def scores(rows):
    return [row["score"] for row in rows]


def lines(file: Path) -> list[dict]:
    text = file.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def written(file: Path) -> list[str]:
    return [row["score"] for record in lines(file) for row in record["rows"]]


def test_rows_come_in_the_order_of_the_cells():
    assert scores(run_cells(compute, CELLS, jobs=1)) == ["a0", "a1", "b0", "b1"]


def test_a_cell_may_have_several_rows(tmp_path):
    out = tmp_path / "rows.jsonl"
    twice = run_cells(lambda name, seed: compute(name, seed) * 2, CELLS[:2], out, jobs=1)
    assert scores(twice) == ["a0", "a0", "a1", "a1"] and len(lines(out)) == 2


def test_what_is_not_finite_is_null(tmp_path):
    out = tmp_path / "rows.jsonl"
    run_cells(lambda name, seed: [{"score": name, "auc": float("nan"), "bound": float("inf")}], CELLS[:1], out, jobs=1)
    assert lines(out)[0]["rows"] == [{"score": "a", "auc": None, "bound": None}]


def test_finished_cells_are_not_run_again(tmp_path):
    out = tmp_path / "deep" / "rows.jsonl"
    run_cells(compute, CELLS[:3], out, jobs=1)
    assert [record["cell"] for record in lines(out)] == CELLS[:3]
    every = run_cells(compute, CELLS, out, jobs=1)
    assert len(calls) == 4 and len(lines(out)) == 4
    assert run_cells(compute, CELLS[::-1], out, jobs=1) == every[::-1] and len(calls) == 4


def test_a_run_cut_off_keeps_what_it_finished(tmp_path):
    out = tmp_path / "rows.jsonl"
    with pytest.raises(RuntimeError, match="power cut"):
        run_cells(failing, CELLS, out, jobs=1)
    assert written(out) == ["a0", "a1"]
    assert len(run_cells(compute, CELLS, out, jobs=1)) == 4
    assert sorted(calls) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_a_cell_that_is_refused_does_not_stop_the_others(tmp_path):
    out = tmp_path / "rows.jsonl"
    told = []
    with pytest.raises(SmileError) as caught:
        run_cells(refusing, CELLS, out, jobs=1, callback=told.append)
    message = str(caught.value)
    assert message.startswith("2 of 4 cells failed; the first, name=a, seed=0, with: this one cannot be done")
    assert str(out) in message
    assert written(out) == ["b0", "b1"]
    assert [(progress.step, progress.steps) for progress in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert "cannot be done" in told[0].message and told[2].message == "b 0"
    assert told[1].message == "a 1: failed as before"
    assert len(run_cells(compute, CELLS, out, jobs=1)) == 4


@pytest.mark.parametrize("kept", [1, 10, -1])
def test_a_half_written_last_line_is_dropped(tmp_path, kept):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, CELLS[:2], out, jobs=1)
    whole, last = out.read_text().splitlines()
    out.write_text(f"{whole}\n{last[:kept]}")
    calls.clear()
    run_cells(compute, CELLS, out, jobs=1)
    assert ("a", 1) in calls and ("a", 0) not in calls
    assert written(out) == ["a0", "a1", "b0", "b1"]  # each on a line of its own
    calls.clear()
    run_cells(compute, CELLS, out, jobs=1)
    assert not calls


@pytest.mark.parametrize(
    "junk", [b"\xff\xfe\n", b"[]\n", b"3\n", b"{}\n", b'{"cell": 1, "rows": []}\n', b'{"cell": {}}\n', b"\n"]
)
def test_lines_that_are_no_cells_are_left_aside(tmp_path, junk):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, CELLS[:2], out, jobs=1)
    out.write_bytes(junk + out.read_bytes())
    calls.clear()
    assert scores(run_cells(compute, CELLS, out, jobs=1)) == ["a0", "a1", "b0", "b1"]
    assert calls == [("b", 0), ("b", 1)]


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, CELLS[:2], out, jobs=1)
    out.write_text(out.read_text().rstrip("\n"))
    calls.clear()
    run_cells(compute, CELLS, out, jobs=1)
    assert calls == [("b", 0), ("b", 1)] and len(lines(out)) == 4


def test_a_cell_named_twice_is_computed_once(tmp_path):
    out = tmp_path / "rows.jsonl"
    rows = run_cells(compute, [CELLS[0], CELLS[0]], out, jobs=1)
    assert rows[0] == rows[1] and len(calls) == 1 and len(lines(out)) == 1


def test_the_order_of_a_cell_s_parameters_does_not_matter(tmp_path):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, [{"name": "a", "seed": 0}], out, jobs=1)
    run_cells(compute, [{"seed": 0, "name": "a"}], out, jobs=1)
    assert len(calls) == 1


def test_machine_names_the_versions():
    assert machine().keys() == {"cores", "device", "python", "torch", "numpy", "scikit-learn", "smilenn"}
    json.dumps(machine(), allow_nan=False)


def test_every_record_names_its_machine(tmp_path):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, CELLS, out, jobs=1)
    assert machines(out, CELLS) == [(machine(), 4)]
    older = {"cell": CELLS[0], "rows": [{"score": "a0", "of": "a"}]}  # without it: unknown, and still a finished cell
    out.write_text(out.read_text() + json.dumps(older) + "\n")
    assert machines(out, CELLS) == [(machine(), 3), (None, 1)]
    assert machines(out, CELLS[:1]) == [(None, 1)] and machines(tmp_path / "absent", CELLS) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own start and end
def test_a_real_cluster_of_two_workers(tmp_path):
    """Cells run in other processes, results are written here."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
    out = tmp_path / "rows.jsonl"
    rows = run_cells(process, CELLS, out, jobs=2, cluster="local")
    assert scores(rows) == ["a0", "a1", "b0", "b1"]
    assert os.getpid() not in {row["process"] for row in rows}
    assert sorted(written(out)) == ["a0", "a1", "b0", "b1"]
    assert run_cells(process, CELLS, out, jobs=2, cluster="local") == rows, "nothing was left to do"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_by_its_address(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        rows = run_cells(process, CELLS[:2], jobs=1, cluster=cluster.scheduler_address)
    assert scores(rows) == ["a0", "a1"]


@pytest.mark.filterwarnings("ignore")
def test_no_scheduler_at_the_address(monkeypatch):
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
    monkeypatch.setattr("smilenn.clusters.dask_pool.CONNECT_SECONDS", 1)
    with pytest.raises(SmileError, match="No Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        run_cells(compute, CELLS, cluster="tcp://127.0.0.1:1")


def test_a_cluster_without_dask(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("distributed"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SmileError, match=r"pip install 'smilenn\[cluster\]'"):
        run_cells(compute, CELLS, cluster="local")
