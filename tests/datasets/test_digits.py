import hashlib

import numpy as np
import pytest

from smilenn.datasets import DataError, load_digits_zero


def test_all_digits():
    data = load_digits_zero()
    assert data.frame.shape == (1797, 64)
    assert data.frame.min() == 0 and data.frame.max() == 1
    assert data.target.sum() == 178


def test_the_split_is_fixed():
    train, test = load_digits_zero("train"), load_digits_zero("test")
    assert (len(train), train.target.sum()) == (1437, 142)
    assert (len(test), test.target.sum()) == (360, 36)
    assert not set(train.target.index) & set(test.target.index)
    positions = np.asarray(test.target.index, dtype=np.int64).tobytes()
    assert hashlib.sha256(positions).hexdigest().startswith("4d4ce327a5fe6e96")


def test_unknown_part():
    with pytest.raises(DataError, match="no part 'validation'"):
        load_digits_zero("validation")  # type: ignore[arg-type]
