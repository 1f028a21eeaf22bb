"""A cluster in this process for most tests: two workers of one thread each, nothing to start."""

import pytest

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")


@pytest.fixture
def workers():
    """A client of a cluster in this process."""
    options = {"processes": False, "protocol": "tcp://", "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
