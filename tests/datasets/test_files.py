import gzip
import hashlib
import io
import os
import urllib.request

import pytest

from smilenn.datasets.base import DataError
from smilenn.datasets.files import DataFile, cache_dir, locate, read

CONTENT = b"the data"
SHA = hashlib.sha256(CONTENT).hexdigest()
BY_HAND = DataFile("set/data.txt.gz", SHA)
ONLINE = DataFile("set/data.txt.gz", SHA, ("https://one.invalid/data", "https://two.invalid/data"))


@pytest.fixture(autouse=True)
def empty_places(tmp_path, monkeypatch):
    """No data folder, an empty cache, and an error for whoever goes online unasked."""
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(urllib.request, "urlopen", lambda *a, **k: pytest.fail("went online"))


def put(folder, raw, path="set/data.txt.gz"):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(raw)
    return folder / path


def answers(monkeypatch, *replies):
    """Each request gets the next reply: bytes, or an error to raise."""
    asked, left = [], list(replies)

    def urlopen(url, timeout):
        asked.append(url)
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return io.BytesIO(reply)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_order_of_places(tmp_path, monkeypatch):
    cached = put(cache_dir(), gzip.compress(CONTENT))
    assert locate(BY_HAND) == cached
    named = put(tmp_path / "named", gzip.compress(CONTENT))
    monkeypatch.setenv("SMILENN_DATA", str(tmp_path / "named"))
    assert locate(BY_HAND) == named
    given = put(tmp_path / "given", gzip.compress(CONTENT))
    assert locate(BY_HAND, tmp_path / "given") == given
    assert read(BY_HAND, str(tmp_path / "given")) == CONTENT


def test_cache_is_below_home_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "smilenn"


def test_explicit_folder_is_the_only_place(tmp_path):
    put(cache_dir(), gzip.compress(CONTENT))
    (tmp_path / "given").mkdir()
    with pytest.raises(DataError, match=r"no set/data\.txt\.gz in the data folder .*given; put it there"):
        read(ONLINE, tmp_path / "given")


def test_unpacked_file_is_accepted(tmp_path):
    put(tmp_path, CONTENT, "set/data.txt")
    assert read(BY_HAND, tmp_path) == CONTENT


def test_folders_that_do_not_exist(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="data_dir names .*absent, which is not a folder"):
        read(BY_HAND, tmp_path / "absent")
    monkeypatch.setenv("SMILENN_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="SMILENN_DATA names .*absent, which is not a folder"):
        read(BY_HAND)


def test_missing_file_says_what_to_put_where():
    with pytest.raises(DataError) as caught:
        read(BY_HAND)
    message = str(caught.value)
    assert str(cache_dir() / "set/data.txt.gz") in message
    assert "SMILENN_DATA" in message and SHA in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "raw",
    [b"not gzip at all", gzip.compress(CONTENT)[:-9], gzip.compress(CONTENT)[:12] + b"\xff" * 20, b""],
    ids=["text", "cut", "damaged", "empty"],  # not the bytes: gzip writes the time into them
)
def test_damaged_file_names_file_hash_and_remedy(tmp_path, raw):
    place = put(tmp_path, raw)
    with pytest.raises(DataError) as caught:
        read(BY_HAND, tmp_path)
    message = str(caught.value)
    assert str(place) in message and SHA in message and "replace it" in message


def test_other_content_names_both_hashes(tmp_path):
    put(tmp_path, gzip.compress(b"other"))
    with pytest.raises(DataError, match=SHA) as caught:
        read(ONLINE, tmp_path)
    assert hashlib.sha256(b"other").hexdigest() in str(caught.value)
    assert "is damaged or another file" in str(caught.value) and "delete it and fetch it again" in str(caught.value)


def test_download_fills_the_cache_once(monkeypatch):
    asked = answers(monkeypatch, gzip.compress(CONTENT))
    assert read(ONLINE) == CONTENT
    assert read(ONLINE) == CONTENT
    assert asked == ["https://one.invalid/data"]
    assert os.listdir(cache_dir() / "set") == ["data.txt.gz"]


def test_next_address_after_a_failure_or_wrong_content(monkeypatch):
    asked = answers(monkeypatch, OSError("no route"), gzip.compress(CONTENT))
    assert read(ONLINE) == CONTENT
    assert len(asked) == 2


def test_no_address_answers(monkeypatch):
    answers(monkeypatch, OSError("no route"), gzip.compress(b"a log-in page"))
    with pytest.raises(DataError) as caught:
        read(ONLINE)
    message = str(caught.value)
    assert "no route" in message and "not the expected content" in message and SHA in message
    assert not (cache_dir() / "set").exists(), "nothing half-written"


def test_cache_that_cannot_be_written(monkeypatch, tmp_path):
    answers(monkeypatch, gzip.compress(CONTENT))
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(DataError, match="set XDG_CACHE_HOME"):
        read(ONLINE)


def test_interrupted_write_leaves_nothing(monkeypatch):
    answers(monkeypatch, gzip.compress(CONTENT))

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read(ONLINE)
    assert os.listdir(cache_dir() / "set") == []
