"""Work that is done in several threads of this process, each of which keeps to one core.

torch splits every operation among its threads. Operations of a net on patches take some fifty microseconds each, and
sharing one out costs as much as it saves; two nets that learn by themselves fill two cores. The parts compute the same
numbers in whatever thread they run, since each operation has one thread either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

Parts = Sequence[Callable[[], Any]]
Every = Callable[[Parts], list[Any]]


@contextmanager
def apart(most: int) -> Iterator[Every]:
    """A function that does all parts and returns what they do, in up to `most` threads, and no more than torch has.

    While it is there, torch's operations have one thread each; new threads inherit that.
    """
    before = torch.get_num_threads()
    others = min(most, before) - 1
    torch.set_num_threads(1)
    try:
        if others < 1:
            yield lambda parts: [part() for part in parts]
            return
        with ThreadPoolExecutor(others) as pool:

            def every(parts: Parts) -> list[Any]:
                """The first part here, the others in their threads."""
                later = [pool.submit(part) for part in parts[1:]]
                return [parts[0](), *(one.result() for one in later)]

            yield every
    finally:
        torch.set_num_threads(before)
