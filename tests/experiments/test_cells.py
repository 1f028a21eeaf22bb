"""Cells of a table: each finished one is computed and written once, whatever cuts the run off."""

import json
from pathlib import Path

import pytest

from smilenn.experiments.cells import machine, run_cells

CELLS = [{"name": name, "seed": seed} for name in ("a", "b") for seed in (0, 1)]
calls: list[tuple[str, int]] = []


def compute(name, seed):
    calls.append((name, seed))
    return {"score": f"{name}{seed}", "of": name}


def failing(name, seed):
    if (name, seed) == ("b", 0):
        raise RuntimeError("power cut")
    return compute(name, seed)


@pytest.fixture(autouse=True)
def fresh():
    calls.clear()


def lines(file: Path) -> list[dict]:
    text = file.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_rows_come_in_the_order_of_the_cells_with_their_parameters():
    rows = run_cells(compute, CELLS, jobs=1)
    assert [row["score"] for row in rows] == ["a0", "a1", "b0", "b1"]
    assert [row["cell"] for row in rows] == CELLS


def test_finished_cells_are_not_run_again(tmp_path):
    out = tmp_path / "deep" / "rows.jsonl"
    first = run_cells(compute, CELLS[:3], out, jobs=1)
    assert lines(out) == first
    every = run_cells(compute, CELLS, out, jobs=1)
    assert len(calls) == 4 and len(lines(out)) == 4
    assert run_cells(compute, CELLS[::-1], out, jobs=1) == every[::-1] and len(calls) == 4


def test_a_run_cut_off_keeps_what_it_finished(tmp_path):
    out = tmp_path / "rows.jsonl"
    with pytest.raises(RuntimeError, match="power cut"):
        run_cells(failing, CELLS, out, jobs=1)
    assert [row["score"] for row in lines(out)] == ["a0", "a1"]
    assert len(run_cells(compute, CELLS, out, jobs=1)) == 4
    assert sorted(calls) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


@pytest.mark.parametrize("kept", [1, 10, -1])
def test_a_half_written_last_line_is_dropped(tmp_path, kept):
    out = tmp_path / "rows.jsonl"
    run_cells(compute, CELLS[:2], out, jobs=1)
    whole, last = out.read_text().splitlines()
    out.write_text(f"{whole}\n{last[:kept]}")
    calls.clear()
    run_cells(compute, CELLS, out, jobs=1)
    assert ("a", 1) in calls and ("a", 0) not in calls
    assert [row["score"] for row in lines(out)] == ["a0", "a1", "b0", "b1"]  # each on a line of its own
    calls.clear()
    run_cells(compute, CELLS, out, jobs=1)
    assert not calls


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
    assert machine().keys() == {"cores", "python", "torch", "numpy"}
    json.dumps(machine(), allow_nan=False)
