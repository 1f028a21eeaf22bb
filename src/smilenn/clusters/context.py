"""``with smilenn.cluster(…):`` what is parallel by nature runs there: restarts, the cells of a proof, folds, scoring.

The numbers do not depend on it. `current` is what the code asks that has tasks to share out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from smilenn.clusters.dask_pool import client_pool, distributed, local_pool, remote_pool
from smilenn.clusters.pool import Pool
from smilenn.errors import SmileError

MOST_LOCAL = 64  # processes that `local` starts
LOCAL = re.compile(r"local(:(\d+))?$")
_POOL: ContextVar[Pool | None] = ContextVar("smilenn.cluster", default=None)


def current() -> Pool | None:
    """The pool of the innermost `cluster` block; None outside of all."""
    return _POOL.get()


@contextmanager
def cluster(where: Any = "local", *, memory: str | int = "auto", security: Any = None) -> Iterator[Pool]:
    """A block whose parallel work runs on a Dask cluster.

    Parameters
    ----------
    where : ``"local"`` starts a worker for each core of this machine, ``"local:2"`` two; they end with the block. The
        address of a scheduler, ``"tcp://host:8786"`` or ``"tls://host:8786"``; or a `distributed.Client`, which stays
        open.
    memory : limit for each local worker, such as ``"2 GiB"``; by default its share of the machine's memory.
    security : a `distributed.Security` with the certificates for ``tls://``; by default those of Dask's configuration.

    Restarts of `fit`, the cells of long proofs and, through joblib, folds of scikit-learn's cross-validation run on the
    workers. Results have the same bits as without the block, on processors of one type.
    """
    with ExitStack() as stack:
        pool = stack.enter_context(_opened(where, memory, security))
        stack.enter_context(_folds(pool))
        token = _POOL.set(pool)
        try:
            yield pool
        finally:
            _POOL.reset(token)


def cluster_if(where: str | None) -> AbstractContextManager[Pool | None]:
    """`cluster`, or a block without one where none is asked for."""
    return nullcontext() if where is None else cluster(where)


@contextmanager
def _opened(where: Any, memory: str | int, security: Any) -> Iterator[Any]:
    library = distributed()
    if isinstance(where, library.Client):
        yield client_pool(where)
        return
    found = LOCAL.match(str(where))
    with local_pool(_workers(found[2]), memory) if found else remote_pool(str(where), security) as pool:
        yield pool


def _workers(text: str | None) -> int:
    from joblib import cpu_count  # which knows of containers

    count = min(int(cpu_count()), MOST_LOCAL) if text is None else int(text)
    if not 1 <= count <= MOST_LOCAL:
        raise SmileError(f"cluster: 'local:{count}' is not possible; start 1 to {MOST_LOCAL} workers here.")
    return count


@contextmanager
def _folds(pool: Any) -> Iterator[None]:
    """joblib's tasks, such as scikit-learn's folds, go to the same workers."""
    from joblib import parallel_config

    with parallel_config(backend="dask", client=pool.client):
        yield
