"""How many single rows a second `smile serve` answers, with what delay, and whether every answer is right.

    python -m benchmarks.service MODEL [--seconds 60] [--clients 8] [--bad 0.0]
    python -m benchmarks.service MODEL --minutes 10        good and bad requests mixed, memory every 15 seconds

The service runs in a process of its own, the clients in this one, on the same cores. Each client keeps its connection
and sends the next row when it has the answer to the last. A share `--bad` of the requests is wrong in one of several
ways and must be refused with the right status; some good ones lie outside the domain and must say what was moved. Every
answer is compared with `predict` of that row alone, for classes also with `predict_proba`, bit for bit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import smilenn
from smilenn.domain.rare import OTHER

ROWS = 400  # different rows that are asked for, each predicted alone beforehand
OUTSIDE = 50  # of them with a number beyond its range
TOKEN = "a token of this benchmark"
MOST_BYTES = 2**16
BAD = [  # body, and the status it must get
    (b"{", 400),
    (b'{"rows": []}', 422),
    (b'{"rows": [{"no such column": 1}]}', 422),
    (b'{"rows": 7}', 422),
    (b'{"rows": [' + b"0," * 10_001 + b"0]}", 422),
    (b" " * (MOST_BYTES + 1), 413),
]
Asked = tuple[list[tuple[bytes, Any]], list[tuple[bytes, int]]]  # good requests with answers, bad ones with statuses
MIXED = 0.2  # share of bad requests in a long run
EVERY = 15.0  # seconds between two looks at the memory


class Answers:
    """What came back: delays, wrong answers, statuses."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.wrong = 0
        self.statuses: dict[int, int] = {}


def request(body: bytes, token: str = TOKEN) -> bytes:
    """An HTTP request."""
    head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Authorization: Bearer {token}\r\n\r\n".encode() + body


def good_requests(model: Any) -> list[tuple[bytes, Any]]:
    """Requests for one row each with the answer they must get; some rows lie outside the domain."""
    frame = model.domain_.decode(model.domain_.sample(ROWS, np.random.default_rng(0)))
    known = {f.name: f for f in model.domain_.features}
    numbers = [f for f in known.values() if f.kind == "continuous" and f.name in frame.columns]
    out = []
    for k, row in enumerate(frame.to_dict("records")):
        edges = []
        if k < OUTSIDE and numbers and model.outside_ != "raise":
            feature = numbers[k % len(numbers)]
            row[feature.name] = feature.hi + 1 + abs(feature.hi)
            edges = [feature.name]
        out.append((request(json.dumps({"rows": [row]}).encode()), truth(model, row) | {"moved": edges}))
    return out


def truth(model: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What the service must say of a row, from `predict` of that row alone."""
    frame = pd.DataFrame([row])
    (value,) = model.predict(frame).tolist()
    if model.task == "multilabel" or isinstance(value, list):
        value = dict(zip(model.outputs_.names, value, strict=True))
    if not isinstance(model, smilenn.SmileClassifier):
        return {"prediction": value}
    (sure,) = model.predict_proba(frame).tolist()
    names = model.outputs_.names if model.task == "multilabel" else model.outputs_.classes
    shares = dict(zip(names, sure, strict=True))
    return {"prediction": value, "probability": shares[model.positive_class] if model.task == "binary" else shares}


def bad_requests(model: Any) -> list[tuple[bytes, int]]:
    """Requests that must be refused, each with its status."""
    row = model.domain_.decode(model.domain_.sample(1, np.random.default_rng(1))).to_dict("records")[0]
    cells: list[dict[str, Any]] = [{next(iter(row)): [1]}, {next(iter(row)): {}}]
    for feature in model.domain_.features:
        if feature.name in row and feature.kind == "continuous":
            cells += [{feature.name: True}, {feature.name: 10**400}, {feature.name: "a text"}]
        elif feature.name in row and feature.categories and OTHER not in feature.categories:
            cells.append({feature.name: "no such category"})
    bodies = [*BAD, *((json.dumps({"rows": [row | cell]}).encode(), 422) for cell in cells)]
    good = json.dumps({"rows": [row]}).encode()
    return [*((request(body), status) for body, status in bodies), (request(good, "another token"), 401)]


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bool]:
    """Status and body of the next answer, and whether the connection ends with it."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
    return int(lines[0].split()[1]), await reader.readexactly(length), "connection: close" in lines


async def client(port: int, asked: Asked, until: float, bad: float, seed: int, out: Answers) -> None:
    """Ask until the time is over."""
    rows, wrong = asked
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    rng = np.random.default_rng(seed)
    while time.perf_counter() < until:
        if bad and rng.random() < bad:
            data, wanted = wrong[rng.integers(len(wrong))]
            value = {}
        else:
            data, value = rows[rng.integers(len(rows))]
            wanted = 200
        begun = time.perf_counter()
        writer.write(data)
        status, body, ends = await answer(reader)
        out.delays.append(time.perf_counter() - begun)
        out.statuses[status] = out.statuses.get(status, 0) + 1
        good = status == wanted
        if good and status == 200:
            found = json.loads(body)["predictions"][0]
            good = all(found[name] == part for name, part in value.items())
        out.wrong += not good
        if ends:
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Resident MiB of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def main() -> None:
    """Start a service, ask it, print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--bad", type=float, default=0.0)
    parser.add_argument("--minutes", type=float, help="a long run of good and bad requests instead")
    options = parser.parse_args()
    if options.minutes is not None:
        options.seconds, options.bad = 60 * options.minutes, options.bad or MIXED
    model = smilenn.load(options.model)
    asked = good_requests(model), bad_requests(model)
    command = [sys.executable, "-m", "smilenn", "serve", str(options.model), "--port", "0"]
    command += ["--most-bytes", str(MOST_BYTES)]
    environment = os.environ | {"SMILENN_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split("http://127.0.0.1:")[1].split("/")[0])
            print(json.dumps(measure(options, port, asked, process.pid)))
        finally:
            process.terminate()


def measure(options: argparse.Namespace, port: int, asked: Asked, pid: int) -> dict[str, Any]:
    """Ask for the time given; what was seen."""

    sizes: list[int] = []

    async def run(seconds: float, out: Answers) -> None:
        until = time.perf_counter() + seconds
        clients = (client(port, asked, until, options.bad, k, out) for k in range(options.clients))
        await asyncio.gather(*clients, watch(until))

    async def watch(until: float) -> None:
        sizes.append(memory(pid))
        while time.perf_counter() + EVERY < until:
            await asyncio.sleep(EVERY)
            sizes.append(memory(pid))

    asyncio.run(run(2.0, Answers()))  # warm
    out, before, own = Answers(), cpu_seconds(pid), resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    sizes.clear()
    asyncio.run(run(options.seconds, out))
    spent = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    delays = np.array(out.delays) * 1000
    return {
        "seconds": round(spent, 1),
        "requests": len(delays),
        "per_second": round(len(delays) / spent),
        "p50_ms": round(float(np.percentile(delays, 50)), 1),
        "p99_ms": round(float(np.percentile(delays, 99)), 1),
        "wrong": out.wrong,
        "statuses": out.statuses,
        "cores_of_the_service": round((cpu_seconds(pid) - before) / spent, 2),
        "cores_of_the_clients": round((after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime) / spent, 2),
        "memory_mib": {"first": sizes[0], "last": memory(pid), "least": min(sizes), "most": max(sizes)},
    }


if __name__ == "__main__":
    main()
