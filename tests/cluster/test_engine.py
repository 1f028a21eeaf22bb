"""Tasks in this process, in processes and on a cluster: the same results in the same order, and how a job ends."""

import builtins
import os
import signal
import threading
import time

import pytest

import smilenn
from smilenn.clusters import dask_pool, task
from smilenn.clusters import pool as pools
from smilenn.clusters.context import current
from smilenn.clusters.pool import Here, Processes
from smilenn.clusters.task import ClusterError
from smilenn.errors import AlteredError, SmileError

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own start and end


def slow_first(factor, number):
    time.sleep(0.2 if number == 0 else 0.0)
    return factor * number


def deadly(marker, number):
    """The first process that performs task 3 dies; without a marker every one does."""
    if number == 3 and (not marker or not os.path.exists(marker)):
        if marker:
            open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def refused(_, number):
    raise AlteredError(f"Task {number} is altered.")


def strange(_, number):
    raise OSError(f"no file for {number}")


def threads(_, number):
    import torch

    return torch.get_num_threads(), threading.current_thread().name


def overlapping(_, number):
    """How many tasks this process performs at the moment."""
    RUNNING.append(number)
    time.sleep(0.05)
    seen = len(RUNNING)
    RUNNING.remove(number)
    return seen


RUNNING: list[int] = []


@pytest.mark.parametrize("pool", [Here(), Processes(2)], ids=["here", "processes"])
def test_results_come_in_the_order_of_the_tasks(pool):
    assert list(pool.results(slow_first, range(5), 10)) == [0, 10, 20, 30, 40]
    assert list(pool.results(slow_first, [])) == []


def test_a_cluster_gives_the_same(workers):
    with smilenn.cluster(workers) as pool:
        assert pool.workers == 2
        assert list(pool.results(slow_first, range(50), 10)) == [10 * i for i in range(50)]
        indices = [index for index, _ in pool.finished(slow_first, range(9), 10)]
    assert sorted(indices) == list(range(9))
    assert workers.status == "running", "somebody else's client stays open"


def test_bad_input_of_a_task_is_the_same_error_here(workers):
    for pool in (Here(), Processes(2), dask_pool.DaskPool(workers, "test")):
        with pytest.raises(AlteredError, match=r"Task \d is altered\."):
            list(pool.results(refused, range(3)))


def test_other_errors_of_a_task_keep_their_class(workers):
    with pytest.raises(OSError, match="no file for"):
        list(dask_pool.DaskPool(workers, "test").results(strange, range(3)))


def test_a_task_has_one_thread_and_its_process_for_itself(workers):
    pool = dask_pool.DaskPool(workers, "test")
    assert {count for count, _ in pool.results(threads, range(4))} == {1}
    assert set(pool.results(overlapping, range(6))) == {1}, "two workers in one process take turns"


def test_another_version_is_refused(workers, monkeypatch):
    monkeypatch.setattr(dask_pool, "versions", lambda: task.versions() | {"torch": "1.0"})
    with pytest.raises(SmileError, match=r"has torch .* and this process 1\.0; install the same versions on both\."):
        list(dask_pool.DaskPool(workers, "test").results(slow_first, range(2), 1))


@pytest.mark.parametrize("deaths", [1, pytest.param(pools.DEATHS, marks=pytest.mark.slow)])
def test_a_task_that_kills_every_process_ends_the_job(monkeypatch, deaths):
    monkeypatch.setattr(pools, "DEATHS", deaths)
    with pytest.raises(ClusterError, match=f"Processes were killed {deaths} times"):
        list(Processes(2).results(deadly, range(6), ""))


def test_killed_processes_lose_their_task_and_not_the_job(tmp_path):
    assert list(Processes(2).results(deadly, range(6), str(tmp_path / "marker"))) == [0, 2, 4, 6, 8, 10]


@pytest.mark.slow
def test_a_killed_worker_loses_its_task_and_not_the_job(tmp_path):
    """Real processes; a task that kills every worker ends the job, after as many as the scheduler allows."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), smilenn.cluster("local:2") as pool:
        assert list(pool.results(deadly, range(6), str(tmp_path / "marker"))) == [0, 2, 4, 6, 8, 10]
        with pytest.raises(ClusterError, match="A task killed its worker again and again on the local cluster"):
            list(pool.results(deadly, range(6), ""))


def test_a_worker_that_is_killed_ends_the_job_where_the_scheduler_allows_none():
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        smilenn.cluster("local:1") as pool,
        pytest.raises(ClusterError, match="A task killed its worker again and again on the local cluster"),
    ):
        list(pool.results(deadly, range(4), ""))


def test_a_lost_scheduler_ends_the_job(monkeypatch):
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 2.0)
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    found = []
    with pytest.raises(ClusterError, match="The Dask scheduler of 'inproc.* was lost; start it again"):  # noqa: SIM117
        with dask_pool._client(cluster.scheduler_address, "'inproc'") as client:
            for value in dask_pool.DaskPool(client, repr(cluster.scheduler_address)).results(slow_first, range(9), 1):
                found.append(value)
                if len(found) == 2:
                    cluster.close()
    assert found[:2] == [0, 1], "what was finished was handed out"


def test_workers_that_are_gone_are_waited_for_in_vain(workers, monkeypatch):
    monkeypatch.setattr(dask_pool, "WORKERLESS_SECONDS", 0.2)
    monkeypatch.setattr(dask_pool, "POLL_SECONDS", 0.1)
    workers.cluster.scale(0)
    deadline = time.monotonic() + 20
    while workers.nthreads() and time.monotonic() < deadline:
        time.sleep(0.05)
    with pytest.raises(ClusterError, match="All workers of test are gone and none came back"):
        list(dask_pool.DaskPool(workers, "test").results(slow_first, range(3), 1))


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 0.5)
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        with pytest.raises(SmileError, match="has no workers; start some"), smilenn.cluster(client):
            pass
        client.close()


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("tcp://127.0.0.1:1", "No Dask scheduler answers at 'tcp://127.0.0.1:1'"),
        ("tls://127.0.0.1:1", "needs TLS certificates; name them in Dask's configuration"),
        ("nonsense", "'nonsense' is not an address; write tcp://host:8786"),
        ("local:0", "'local:0' is not possible; start 1 to 64 workers here"),
    ],
)
def test_a_cluster_that_cannot_be_reached(where, sentence, monkeypatch):
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 1.0)
    with pytest.raises(SmileError, match=sentence), smilenn.cluster(where):
        pass


def test_tls_certificates_are_passed_on():
    pytest.importorskip("cryptography", reason="cryptography is not installed (extra: sign)")
    security = distributed.Security.temporary()
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(security=security, protocol="tls://", **options) as cluster:
        with smilenn.cluster(cluster.scheduler_address, security=security) as pool:
            assert list(pool.results(slow_first, range(3), 5)) == [0, 5, 10]
        with pytest.raises(SmileError, match="needs TLS certificates"), smilenn.cluster(cluster.scheduler_address):
            pass


def test_the_block_is_known_inside_and_nowhere_else(workers):
    assert current() is None
    with smilenn.cluster(workers) as pool:
        assert current() is pool
        seen = []
        other = threading.Thread(target=lambda: seen.append(current()))
        other.start()
        other.join()
        assert seen == [None]
    assert current() is None


def test_without_dask(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("distributed"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SmileError, match=r"pip install 'smilenn\[cluster\]'"), smilenn.cluster("local"):
        pass
