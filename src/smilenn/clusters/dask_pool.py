"""A Dask cluster as a pool; the one import of Dask (extra `cluster`).

`shared` is a task of its own whose value every worker fetches once. It is part of the graph that the scheduler keeps,
so that it survives the worker that held it. Of the tasks, a few more than there are workers are under way: neither the
scheduler nor this process holds them all.

What ends a job, each in a bounded time and with one sentence: nobody answers at the address, no worker comes, all
workers go and none comes back, a task kills its workers again and again, the scheduler is lost.
"""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from smilenn.clusters.pool import Function, Pool
from smilenn.clusters.task import ClusterError, perform, versions

CONNECT_SECONDS = 15.0  # for a scheduler's answer, and again for its first worker
WORKERLESS_SECONDS = 60.0  # a job waits so long for workers when all have gone
POLL_SECONDS = 1.0
ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+$")
AHEAD = 3  # tasks under way for each worker: those at work, and the next ones at hand


def distributed() -> Any:
    """The library, or a sentence that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise ClusterError("Running on a cluster needs Dask: pip install 'smilenn[cluster]'.") from None
    return distributed


class DaskPool(Pool):
    """The workers that a client reaches; `name` is what the cluster is called in sentences."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    @property
    def workers(self) -> int:
        """The threads of all workers, as the scheduler counts them now."""
        return sum(self.client.nthreads().values())

    def finished(self, function: Function, tasks: Sequence[Any], shared: Any = None) -> Iterator[tuple[int, Any]]:
        """As they finish; a task whose worker died is begun anew by another, as often as the scheduler allows."""
        pending: dict[Any, int] = {}
        left = enumerate(tasks)
        wanted = versions()
        with self._watched():
            held = self._submit(_itself, shared)
            try:
                while True:
                    for index, task in islice(left, self._room(len(pending))):
                        pending[self._submit(perform, function, held, task, wanted)] = index
                    if not pending:
                        return
                    for future in self._some(pending):
                        index = pending.pop(future)
                        yield index, future.result().get()
            finally:
                self._drop(list(pending))

    def _submit(self, *call: Any) -> Any:
        with warnings.catch_warnings():  # of a large `shared`, which is sent once as it is meant to be
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self.client.submit(*call, pure=False)

    def _room(self, under_way: int) -> int:
        return max(0, AHEAD * max(1, self.workers) - under_way)

    def _some(self, pending: dict[Any, int]) -> list[Any]:
        """Those that are done; waits for the first."""
        begun = time.monotonic()
        while True:
            try:
                with self.client.as_current():
                    return list(distributed().wait(list(pending), POLL_SECONDS, "FIRST_COMPLETED").done)
            except TimeoutError:
                if self.workers:
                    begun = time.monotonic()
                elif time.monotonic() - begun > WORKERLESS_SECONDS:
                    raise ClusterError(
                        f"All workers of {self.name} are gone and none came back; start some with 'dask worker'."
                    ) from None

    def _drop(self, futures: list[Any]) -> None:
        if futures and self.client.status == "running":
            self.client.cancel(futures, asynchronous=False)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """What Dask raises, in one sentence each."""
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker:
            raise ClusterError(
                f"A task killed its worker again and again on {self.name}, as happens when memory runs out; give the "
                "workers more memory, or make smaller parts."
            ) from None
        except (CancelledError, OSError) as error:
            if isinstance(error, OSError) and self.client.status == "running":
                raise  # a task's own error about a file
            raise ClusterError(f"The Dask scheduler of {self.name} was lost; start it again.") from None
        except ModuleNotFoundError as error:
            raise ClusterError(f"The workers of {self.name} lack {error.name!r}; install smilenn there too.") from None


def _itself(value: Any) -> Any:
    return value


@contextmanager
def local_pool(workers: int, memory: str | int) -> Iterator[DaskPool]:
    """A cluster of processes on this machine, one thread each, that ends with the block."""
    library = distributed()
    with (
        library.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address="127.0.0.1:0",  # None would take port 8787, and say so where it is taken
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as started,
        _client(started, "the local cluster") as client,
    ):
        yield DaskPool(client, "the local cluster")


@contextmanager
def remote_pool(address: str, security: Any = None) -> Iterator[DaskPool]:
    """The cluster whose scheduler listens at `address`; `security` as Dask's clients take it."""
    _check_address(address, security)
    with _client(address, repr(address), security) as client:
        yield client_pool(client, repr(address))


def _check_address(address: str, security: Any) -> None:
    """What a client would not survive: an address that is none, certificates that are not there."""
    library = distributed()
    if not ADDRESS.match(address):
        raise ClusterError(f"cluster: {address!r} is not an address; write tcp://host:8786, tls://host:8786 or local.")
    if not address.startswith("tls://"):
        return
    try:
        context = (security or library.Security()).get_connection_args("client")["ssl_context"]
    except OSError as error:
        raise ClusterError(f"cluster: the TLS certificates for {address!r} cannot be read: {error}.") from None
    if context is None:
        raise ClusterError(
            f"cluster: {address!r} needs TLS certificates; name them in Dask's configuration, as in "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE."
        )


def client_pool(client: Any, name: str = "the cluster") -> DaskPool:
    """The cluster of a client that is somebody else's to close; it has at least one worker."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        raise ClusterError(f"The Dask scheduler of {name} has no workers; start some with 'dask worker'.") from None
    return DaskPool(client, name)


@contextmanager
def _client(address: Any, name: str, security: Any = None) -> Iterator[Any]:
    library = distributed()
    try:
        client = library.Client(address, timeout=CONNECT_SECONDS, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ClusterError(
            f"No Dask scheduler answers at {name} ({why}); start one with 'dask scheduler', and workers."
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=2)
