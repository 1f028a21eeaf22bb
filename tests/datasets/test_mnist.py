import numpy as np
import pytest

from smilenn.datasets import DataError, Images, fetch_mnist
from smilenn.datasets.mnist import parse_idx


@pytest.fixture
def folder(need_data):
    return need_data("mnist/t10k-images-idx3-ubyte.gz")


def test_test_images(folder):
    images = fetch_mnist("test", data_dir=folder)
    assert images.pixels.shape == (10000, 784) and images.pixels.dtype == np.uint8
    assert images.labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert (images.labels == 0).sum() == 980
    first = images.first(1000).zero_or_not()
    assert first.target.sum() == 85
    assert first.frame.dtype == np.float32 and first.frame.shape == (1000, 784)
    assert first.frame.min() == 0 and first.frame.max() == 1


def test_training_images(folder):
    images = fetch_mnist("train", data_dir=folder)
    assert images.pixels.shape == (60000, 784)
    assert (images.labels == 0).sum() == 5923
    assert images.pixels.mean() / 255 == pytest.approx(0.13066, abs=1e-5)


def test_found_by_the_environment_variable(folder):
    assert len(fetch_mnist("test")) == 10000


def test_floats_are_exact_fractions():
    pixels = np.arange(256, dtype=np.uint8).reshape(4, 64)
    images = Images(pixels, np.arange(4, dtype=np.uint8))
    assert np.array_equal(images.floats(np.float64), pixels / 255.0)
    assert np.array_equal(images.floats(), (pixels.astype(np.float32) / np.float32(255)))
    assert images.zero_or_not().target.tolist() == [1, 0, 0, 0]


def test_missing_folder_and_part(tmp_path):
    with pytest.raises(DataError, match="mnist/t10k-images-idx3-ubyte.gz"):
        fetch_mnist("test", data_dir=tmp_path)
    with pytest.raises(DataError, match="no part 'validation'"):
        fetch_mnist("validation")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"\x00\x00\x08\x00", b"\x00\x00\x09\x01\x00\x00\x00\x00", b"\x00\x00\x08\x02\x00\x00\x00\x01"],
)
def test_not_idx(content):
    with pytest.raises(DataError, match="toy is not an IDX file"):
        parse_idx(content, "toy")


@pytest.mark.parametrize("values", [b"\x01\x02", b"\x01\x02\x03\x04"])
def test_wrong_number_of_values(values):
    with pytest.raises(DataError, match="announces 3 values but holds"):
        parse_idx(b"\x00\x00\x08\x01\x00\x00\x00\x03" + values, "toy")
