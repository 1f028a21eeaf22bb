"""Parquet files predicted part by part: the bits of `smile predict`, whoever computes them, whole or absent."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smilenn import Config, Fair, Monotone, Network, SmileClassifier, load
from smilenn.cli import app, parts, scoring
from smilenn.clusters.task import ClusterError
from smilenn.errors import AlteredError

pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own start and end


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "key": np.arange(n) + 1000 * seed,
            "income": rng.uniform(10, 100, n),
            "years": rng.integers(0, 30, n),
            "region": rng.choice(["north", "south"], n),
            "unused": "text",
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    frame = rows(240, 0)
    labels = np.where(frame["income"] + frame["years"] > 70, "yes", "no")
    rules = [Monotone(increasing=["income"]), Fair(["region"], eps=0.5)]
    fitted = SmileClassifier(properties=rules, config=Config(epochs=4), network=Network(members=1), random_state=0)
    folder = tmp_path_factory.mktemp("scored") / "model"
    fitted.fit(frame[["income", "years", "region"]], labels).save(folder)
    return folder


@pytest.fixture
def tables(tmp_path):
    """Two files: one of three row groups, one of a single group with a row outside the domain and an index."""
    first, second = rows(300, 1), rows(70, 2)
    second.loc[5, "income"] = 1e6
    first.to_parquet(tmp_path / "a.parquet", row_group_size=100, index=False)
    second.set_index(pd.Index(range(7, 77), name="id")).to_parquet(tmp_path / "b.parquet")
    return [tmp_path / "a.parquet", tmp_path / "b.parquet"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "MOST_ROWS", 150)


def smile(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def alone(model, tables, tmp_path):
    """What `smile predict` writes of each table by itself."""
    found = []
    for number, table in enumerate(tables):
        assert smile("predict", model, table, "--out", tmp_path / f"{number}.csv", "--id", "key")[0] == 0
        found.append(pd.read_csv(tmp_path / f"{number}.csv", float_precision="round_trip"))
    return pd.concat(found, ignore_index=True)


def equal(folder, wanted):
    found = pd.read_parquet(folder).reset_index(drop=True)
    assert list(found.columns) == list(wanted.columns)
    for name in wanted.columns:
        assert found[name].tolist() == wanted[name].tolist(), name


def test_many_tables_have_the_bits_of_each_alone(model, tables, tmp_path):
    code, out, errors = smile("predict", model, *tables, "--out", tmp_path / "out", "--id", "key", "--chunk", 64)
    assert code == 0, errors
    assert "370 predictions written" in out and "in 4 parts" in out
    assert "b.parquet': Row 7, column 'income': 1e+06 lies outside" in errors and "1 of 370 rows" in errors
    equal(tmp_path / "out", alone(model, tables, tmp_path))
    assert sorted(os.listdir(tmp_path / "out")) == ["_predictions.json", *(f"part-0000{i}.parquet" for i in range(4))]
    record = json.loads((tmp_path / "out" / "_predictions.json").read_text())
    assert record["rows"] == 370 and record["moved"] == 1
    assert [p["first_row"] for p in record["parts"]] == [0, 100, 200, 0]
    assert [p["rows"] for p in record["parts"]] == [100, 100, 100, 70]


def test_the_numbers_are_those_of_the_estimator(model, tables, tmp_path, workers):
    assert smile("predict", model, tables[0], "--cluster", workers.scheduler.address, "--out", tmp_path / "out")[0] == 0
    found, fitted = pd.read_parquet(tmp_path / "out"), load(model)
    frame = pd.read_parquet(tables[0])[["income", "years", "region"]]
    assert found["prediction"].tolist() == fitted.predict(frame).tolist()
    assert np.array_equal(found["probability"], fitted.predict_proba(frame)[:, 1])


@pytest.mark.slow  # test_engine.py kills a worker in the normal tests
def test_a_worker_killed_in_the_middle_changes_nothing(model, tables, tmp_path, monkeypatch):
    """Real processes: a worker dies with a part half-written, and the result is the same."""
    marker = tmp_path / "killed"
    monkeypatch.setattr(scoring, "score", Killer(str(marker)))
    code, _, errors = smile("predict", model, *tables, "--cluster", "local:2", "--out", tmp_path / "out", "--id", "key")
    assert code == 0, errors
    assert marker.exists(), "a worker was killed"
    equal(tmp_path / "out", alone(model, tables, tmp_path))
    assert len(os.listdir(tmp_path / "out")) == 5, "what the dead worker had begun is gone"


class Killer:
    """`score`, but the first process that comes to the second part kills itself while it writes."""

    def __init__(self, marker):
        self.marker = marker

    def __call__(self, job, part):
        if part.name == "part-00001.parquet" and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            (job.folder / f".{part.name}.half.part").write_bytes(b"PAR1")
            os.kill(os.getpid(), signal.SIGKILL)
        return parts.score(job, part)


class Fails:
    """`score`, but an error for the third part."""

    def __init__(self, error):
        self.error = error

    def __call__(self, job, part):
        if part.name == "part-00002.parquet":
            raise self.error
        return parts.score(job, part)


def test_after_an_interruption_the_same_command_goes_on(model, tables, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(scoring, "score", Fails(KeyboardInterrupt()))
        code, _, errors = smile("predict", model, *tables, "--out", tmp_path / "out", "--id", "key")
    assert code == 130 and "interrupted; 2 of 4 parts are finished and kept: the same command goes on." in errors
    assert not (tmp_path / "out").exists(), "nothing half-written"
    kept = {name: os.stat(tmp_path / ".out.parts" / name).st_mtime_ns for name in ("part-00000.parquet",)}
    assert smile("predict", model, *tables, "--out", tmp_path / "out", "--id", "key")[0] == 0
    assert {name: os.stat(tmp_path / "out" / name).st_mtime_ns for name in kept} == kept, "not computed twice"
    equal(tmp_path / "out", alone(model, tables, tmp_path))


def test_a_lost_cluster_keeps_what_was_finished(model, tables, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "score", Fails(ClusterError("The scheduler was lost.")))
    code, _, errors = smile("predict", model, *tables, "--out", tmp_path / "out")
    assert code == 2 and "The scheduler was lost. 2 of 4 parts are finished and kept" in errors
    code, _, errors = smile("predict", model, *tables, "--out", tmp_path / "out", "--id", "key")
    assert code == 2 and "holds parts of other predictions; remove it" in errors


def test_bad_cells_name_file_and_row_and_leave_nothing(model, tables, tmp_path):
    frame = rows(20, 3)
    frame.loc[4, "region"] = "west"
    frame.to_parquet(tmp_path / "c.parquet", row_group_size=5)
    code, _, errors = smile("predict", model, *tables, tmp_path / "c.parquet", "--out", tmp_path / "out")
    assert code == 2 and "c.parquet': Row 6, column 'region'" in errors
    assert not (tmp_path / "out").exists() and not (tmp_path / ".out.parts").exists()


def test_wrong_tables_and_folders(model, tables, tmp_path):
    (tmp_path / "c.csv").write_text("income,years,region\n50,3,north\n")
    for arguments, sentence in [
        ([tables[0], tmp_path / "c.csv", "--out", tmp_path / "out"], "is no Parquet file"),
        ([tmp_path / "c.csv", "--cluster", "local", "--out", tmp_path / "out"], "is no Parquet file"),
        ([*tables, "--out", tmp_path], "exists; remove it or choose another name"),
        ([*tables, tmp_path / "d.parquet", "--out", tmp_path / "out"], "There is no file"),
        ([*tables, "--cluster", "nonsense", "--out", tmp_path / "out"], "'nonsense' is not an address"),
    ]:
        code, _, errors = smile("predict", model, *arguments)
        assert code == 2 and sentence in errors and errors.count("\n") == 1
        assert not (tmp_path / "out").exists() and not (tmp_path / ".out.parts").exists()


def test_a_damaged_file_is_one_sentence(model, tables, tmp_path):
    (tmp_path / "d.parquet").write_bytes(tables[0].read_bytes()[:-20])
    code, _, errors = smile("predict", model, *tables, tmp_path / "d.parquet", "--out", tmp_path / "out")
    assert code == 2 and "d.parquet' is not a readable Parquet file" in errors


def test_a_model_that_was_altered_on_its_way_is_refused(model):
    sent = parts.Sent.read(model)
    weights = bytearray(sent.files["weights.safetensors"])
    weights[-1] ^= 1
    parts.opened.cache_clear()
    with pytest.raises(AlteredError):
        parts.opened(parts.Sent(sent.digest, sent.files | {"weights.safetensors": bytes(weights)}))
    with pytest.raises(AlteredError, match="is not the one that was read"):
        parts.opened(parts.Sent("0" * 64, sent.files))
    assert parts.opened(sent) is parts.opened(parts.Sent.read(model)), "loaded and checked once in a process"


def test_parts_depend_on_the_files_alone(monkeypatch):
    monkeypatch.setattr(parts, "MOST_ROWS", 100)
    assert list(parts._together([60, 60, 0, 40, 250, 10])) == [
        ((0,), 0, 60),
        ((1, 2, 3), 60, 100),
        ((4,), 160, 250),
        ((5,), 410, 10),
    ]
    assert list(parts._together([])) == list(parts._together([0, 0])) == []


def test_a_parquet_file_is_read_a_chunk_at_a_time(model, tables, tmp_path, monkeypatch):
    """Of one table without a cluster too: no frame is larger than a chunk. Rows are judged first, then predicted."""
    from smilenn.cli import table

    sizes = []
    real = table.without_marked
    monkeypatch.setattr(table, "without_marked", lambda source, frame: sizes.append(len(frame)) or real(source, frame))
    assert smile("predict", model, tables[0], "--out", tmp_path / "x.csv", "--chunk", 64)[0] == 0
    assert max(sizes) <= 64 and sum(sizes) == 2 * 300
