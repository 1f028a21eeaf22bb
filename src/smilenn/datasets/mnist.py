"""MNIST: 60,000 training and 10,000 test images of handwritten digits, 28×28 pixels; the paper's task is "zero or not".

The four files are in IDX format: two zero bytes, a type (8: unsigned bytes), the number of dimensions d, d big-endian
32-bit sizes, the values. Images stay unsigned bytes until floats are asked for: as float64 the training images would
take 376 MB, as bytes they take 47.
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.files import DataFile, read

Part = Literal["train", "test"]

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


def _file(name: str, sha256: str) -> DataFile:
    return DataFile(f"mnist/{name}", sha256, tuple(mirror + name for mirror in MIRRORS))


FILES: dict[Part, tuple[DataFile, DataFile]] = {
    "train": (
        _file("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        _file("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    ),
    "test": (
        _file("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        _file("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
}


@dataclass(frozen=True, eq=False)
class Images:
    """n images as published.

    Attributes
    ----------
    pixels : [n, 784] uint8, row by row of the image.
    labels : [n] uint8, the digit.
    """

    pixels: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.pixels)

    def first(self, n: int) -> Images:
        """The first n images (the paper tests on the first 1,000)."""
        return Images(self.pixels[:n], self.labels[:n])

    def floats(self, dtype: type[np.floating] = np.float32) -> np.ndarray:
        """Pixels / 255 in [0, 1], [n, 784]; a new array."""
        return np.divide(self.pixels, 255, dtype=dtype)

    def zero_or_not(self, dtype: type[np.floating] = np.float32) -> Dataset[np.ndarray]:
        """The binary task of the paper: 1 where the digit is a zero."""
        return Dataset(
            name="mnist-zero",
            frame=self.floats(dtype),
            target=pd.Series((self.labels == 0).astype(np.int64), name="zero"),
            task="binary",
            description="28x28 images of handwritten digits; 1 if the digit is a zero",
            source="MNIST (LeCun, Cortes, Burges)",
        )


def fetch_mnist(
    part: Part = "train", data_dir: str | os.PathLike[str] | None = None, *, download_if_missing: bool = True
) -> Images:
    """The training or the test images; ``fetch_mnist("test").zero_or_not()`` is the paper's test set.

    Files: ``mnist/*-ubyte.gz`` below `data_dir`, else SMILENN_DATA, else the cache, else a download.
    """
    if part not in FILES:
        raise DataError(f"MNIST has no part {part!r}; choose 'train' or 'test'.")
    images, labels = (parse_idx(read(file, data_dir, download=download_if_missing), file.path) for file in FILES[part])
    return Images(images.reshape(len(images), -1), labels)


def parse_idx(content: bytes, name: str) -> np.ndarray:
    """The array of unsigned bytes in an IDX file's content; read-only, no copy.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]), "toy").tolist()
    [7, 8, 9]
    """
    dimensions = content[3] if len(content) >= 4 else 0
    start = 4 + 4 * dimensions
    if content[:3] != b"\x00\x00\x08" or not dimensions or len(content) < start:
        raise DataError(f"{name} is not an IDX file of unsigned bytes; replace it by the published file.")
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    if len(content) - start != math.prod(shape):
        raise DataError(
            f"{name} announces {math.prod(shape)} values but holds {len(content) - start}; "
            "replace it by the published file."
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
