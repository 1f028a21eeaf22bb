"""The libraries of this process that have threads of their own (OpenBLAS, OpenMP, MKL), found again only if one came.

threadpoolctl finds them by walking through every loaded library, which takes milliseconds: longer than predicting
one row does. Linux counts what was loaded and unloaded (`dlpi_adds`, `dlpi_subs` of `dl_iterate_phdr`), and
asking it takes microseconds. Where it cannot be asked, every call walks.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


class _Entry(ctypes.Structure):
    """dl_phdr_info of <link.h>."""

    _fields_ = [
        ("address", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("headers", ctypes.c_void_p),
        ("count", ctypes.c_uint16),
        ("loaded", ctypes.c_ulonglong),
        ("unloaded", ctypes.c_ulonglong),
    ]


_VISIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Entry), ctypes.c_size_t, ctypes.c_void_p)
_kept: tuple[tuple[int, int], ThreadpoolController] | None = None


def libraries_counted() -> tuple[int, int] | None:
    """How many libraries this process has loaded and unloaded so far; None where the loader does not say."""
    walk = getattr(ctypes.CDLL(None), "dl_iterate_phdr", None) if sys.platform == "linux" else None
    if walk is None:
        return None
    found: list[tuple[int, int]] = []

    def visit(entry, size: int, _data: object) -> int:
        if size >= ctypes.sizeof(_Entry):
            found.append((entry.contents.loaded, entry.contents.unloaded))
        return 1  # the counters are the same in every entry: stop at the first

    walk(_VISIT(visit), None)
    return found[0] if found else None


def thread_pools() -> ThreadpoolController:
    """All libraries with threads of their own that are loaded now."""
    from threadpoolctl import ThreadpoolController

    global _kept
    kept, before = _kept, libraries_counted()
    if kept is not None and kept[0] == before:
        return kept[1]
    pools = ThreadpoolController()
    if before is not None and libraries_counted() == before:  # nothing came while we walked
        _kept = before, pools
    return pools
