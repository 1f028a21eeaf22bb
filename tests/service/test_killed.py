"""A service that is killed under load and started again: every answer is whole and right, or there is none."""

import json
import socket
import threading
import time
from http.client import HTTPConnection, HTTPException

import pandas as pd
from tests.forked import COMMAND, Forked
from tests.service.conftest import table

import smilenn

CLIENTS, KILLS, WANTED = 4, 1, 60


def start(folder, port):
    process = Forked(COMMAND, "serve", folder, "--port", port)
    assert process.stdout.readline().startswith("Certified: serving")
    return process


def kill(process):
    with process:
        process.kill()


class Load:
    """Clients that ask one row after the other until they are told to stop."""

    def __init__(self, port, rows, wanted):
        self.port, self.rows, self.wanted = port, rows, wanted
        self.right, self.wrong, self.broken, self.stop = 0, [], 0, threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(k,), daemon=True) for k in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _ask(self, k):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        while not self.stop.is_set():
            k = (k + 1) % len(self.rows)
            try:
                connection.request("POST", "/predict", json.dumps({"rows": [self.rows[k]]}))
                answer = connection.getresponse()
                status, body = answer.status, answer.read()  # raises where less comes than was announced
            except (OSError, HTTPException):
                self.broken += 1
                connection.close()
                time.sleep(0.02)
                continue
            self._judge(k, status, body)
        connection.close()

    def _judge(self, k, status, body):
        try:
            good = status == 200 and json.loads(body)["predictions"][0]["prediction"] == self.wanted[k]
        except (ValueError, LookupError):
            good = False
        if good:
            self.right += 1
        else:
            self.wrong.append((status, body))

    def more(self, count):
        """Wait for this many more right answers."""
        goal, end = self.right + count, time.monotonic() + 90
        while self.right < goal:
            assert time.monotonic() < end and not self.wrong, self.wrong[:1]
            time.sleep(0.01)


def test_no_answer_is_half_an_answer(regressor_folder):
    frame, _ = table()
    rows = frame.iloc[:40].to_dict("records")
    wanted = smilenn.load(regressor_folder).predict(pd.DataFrame(rows)).tolist()
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    process = start(regressor_folder, port)
    load = Load(port, rows, wanted)
    try:
        for _ in range(KILLS):
            load.more(WANTED)
            kill(process)
            process = start(regressor_folder, port)
        load.more(WANTED)
    finally:
        load.stop.set()
        for thread in load.threads:
            thread.join(30)
        kill(process)
    assert load.wrong == [] and load.right >= (KILLS + 1) * WANTED
    assert load.broken > 0  # it was killed under load, and callers noticed
