"""Libraries with threads of their own are found again when, and only when, a library was loaded."""

import _ctypes
import ctypes
import shutil
import sys

import pytest
from threadpoolctl import ThreadpoolController

from smilenn.model import pools

linux = pytest.mark.skipif(sys.platform != "linux", reason="the loader of Linux counts libraries")


def files(found):
    return sorted(pool["filepath"] for pool in found.info())


def test_what_is_kept_is_what_a_walk_finds():
    assert files(pools.thread_pools()) == files(pools.thread_pools()) == files(ThreadpoolController())


@linux
def test_one_more_library_makes_it_look_again(tmp_path):
    kept, counted = pools.thread_pools(), pools.libraries_counted()
    assert pools.thread_pools() is kept
    library = ctypes.CDLL(shutil.copy(_ctypes.__file__, tmp_path / "another.so"))
    assert library and pools.libraries_counted() != counted
    assert pools.thread_pools() is not kept


def test_where_nobody_counts_every_call_looks(monkeypatch):
    monkeypatch.setattr(pools, "libraries_counted", lambda: None)
    assert pools.thread_pools() is not pools.thread_pools()


def test_what_came_during_a_walk_is_not_taken_as_seen(monkeypatch):
    counts = iter([(1, 0), (2, 0), (2, 0), (2, 0)])
    monkeypatch.setattr(pools, "libraries_counted", lambda: next(counts))
    monkeypatch.setattr(pools, "_kept", None)
    early = pools.thread_pools()
    assert pools.thread_pools() is not early
