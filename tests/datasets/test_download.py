"""Downloads over HTTP, from a server of the test's own, into an empty cache."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from smilenn.datasets.base import DataError
from smilenn.datasets.files import DataFile, cache_dir, keep, read

CONTENT = b"a,b\n1,2\n" * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()
PAGES = {
    "/packed.csv.gz": gzip.compress(CONTENT),
    "/plain.csv": CONTENT,
    "/login.html": b"<html>please log in</html>",
    "/half.csv.gz": gzip.compress(CONTENT)[:30],
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = PAGES.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        # one page promises more than it sends: a connection that breaks
        self.send_header("Content-Length", str(len(body) + (50 if "half" in self.path else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.delenv("SMILENN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def at(server, *pages, path="set/data.csv.gz"):
    return DataFile(path, SHA, tuple(f"http://127.0.0.1:{server.server_port}/{page}" for page in pages))


@pytest.mark.parametrize(("page", "kept"), [("packed.csv.gz", "data.csv.gz"), ("plain.csv", "data.csv")])
def test_packed_or_plain_the_cache_is_filled_once(server, page, kept):
    file = at(server, page)
    assert read(file) == CONTENT and read(file) == CONTENT
    assert server.asked == [f"/{page}"]
    assert [path.name for path in (cache_dir() / "set").iterdir()] == [kept]


def test_wrong_pages_broken_connections_and_absent_files_are_passed_over(server):
    assert read(at(server, "nothing.gz", "login.html", "half.csv.gz", "packed.csv.gz")) == CONTENT
    assert len(server.asked) == 4


def test_nothing_suits(server):
    with pytest.raises(DataError) as caught:
        read(at(server, "nothing.gz", "login.html"))
    message = str(caught.value)
    assert "404" in message and "not the expected content" in message and SHA in message and "SMILENN_DATA" in message
    assert not cache_dir().exists()


def test_no_server_at_all(server):
    with pytest.raises(DataError, match=r"could not be downloaded .*; put it at .*data\.csv\.gz"):
        read(DataFile("set/data.csv.gz", SHA, ("http://127.0.0.1:1/data",)))


def test_in_memory_only(server):
    assert read(at(server, "packed.csv.gz"), keep=False) == CONTENT
    assert not cache_dir().exists()


def test_asked_not_to_go_online(server):
    with pytest.raises(DataError, match="was not found; put it at"):
        read(at(server, "packed.csv.gz"), download=False)
    assert server.asked == []


def test_a_file_address_serves_too(server, tmp_path):
    (tmp_path / "copy.csv").write_bytes(CONTENT)
    assert read(DataFile("set/data.csv.gz", SHA, ((tmp_path / "copy.csv").as_uri(),))) == CONTENT


def test_a_derived_content_is_kept_only_if_it_is_the_known_one(server):
    file = DataFile("set/data.csv.gz", SHA)
    assert not keep(file, b"another")
    assert not cache_dir().exists()
    assert keep(file, CONTENT) and read(file) == CONTENT


def test_git_blob_ids(tmp_path):
    # git hash-object of a file that holds "hello\n"
    file = DataFile("hello.txt", git_blob="ce013625030ba8dba906f756967f9e9ca394464a")
    (tmp_path / "hello.txt").write_bytes(b"hello\n")
    assert read(file, tmp_path) == b"hello\n"
    (tmp_path / "hello.txt").write_bytes(b"hallo\n")
    with pytest.raises(DataError, match="git blob id .*expected ce0136.*replace it by an undamaged copy"):
        read(file, tmp_path)
