"""How many single rows a second `smile serve` answers, with what delay, and whether every answer is right.

    python -m benchmarks.service MODEL [--seconds 60] [--clients 8] [--bad 0.0]
    python -m benchmarks.service MODEL --minutes 10        good and bad requests mixed, memory every 15 seconds

The service runs in a process of its own, the clients in this one, on the same cores. Each client keeps its connection
and sends the next row when it has the answer to the last. A share `--bad` of the requests is wrong in one of several
ways and must be refused with the right status. Every prediction is compared with `predict` of that row alone, bit for
bit.
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

import smilenn

ROWS = 2000  # different rows that are asked for
BAD = [  # body, and the status it must get
    (b"{", 400),
    (b'{"rows": []}', 422),
    (b'{"rows": [{"no such column": 1}]}', 422),
    (b'{"rows": 7}', 422),
    (b'{"rows": [' + b"0," * 10_001 + b"0]}", 422),
]
MIXED = 0.2  # share of bad requests in a long run
EVERY = 15.0  # seconds between two looks at the memory


class Answers:
    """What came back: delays, wrong answers, statuses."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.wrong = 0
        self.statuses: dict[int, int] = {}


def request(body: bytes) -> bytes:
    """An HTTP request."""
    head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
    return int(lines[0].split()[1]), await reader.readexactly(length)


async def client(port: int, rows: list[tuple[bytes, Any]], until: float, bad: float, seed: int, out: Answers) -> None:
    """Ask until the time is over."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    rng = np.random.default_rng(seed)
    wrong = [(request(body), status) for body, status in BAD]
    while time.perf_counter() < until:
        if bad and rng.random() < bad:
            data, wanted = wrong[rng.integers(len(wrong))]
            value = None
        else:
            data, value = rows[rng.integers(len(rows))]
            wanted = 200
        begun = time.perf_counter()
        writer.write(data)
        status, body = await answer(reader)
        out.delays.append(time.perf_counter() - begun)
        out.statuses[status] = out.statuses.get(status, 0) + 1
        good = status == wanted
        if good and status == 200:
            good = json.loads(body)["predictions"][0]["prediction"] == value
        out.wrong += not good
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
    frame = model.domain_.decode(model.domain_.sample(ROWS, np.random.default_rng(0)))
    wanted = model.predict(frame).tolist()
    rows = [
        (request(json.dumps({"rows": [row]}).encode()), value)
        for row, value in zip(frame.to_dict("records"), wanted, strict=True)
    ]
    command = [sys.executable, "-m", "smilenn", "serve", str(options.model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split("http://127.0.0.1:")[1].split("/")[0])
            print(json.dumps(measure(options, port, rows, process.pid)))
        finally:
            process.terminate()


def measure(options: argparse.Namespace, port: int, rows: list[tuple[bytes, Any]], pid: int) -> dict[str, Any]:
    """Ask for the time given; what was seen."""

    sizes: list[int] = []

    async def run(seconds: float, out: Answers) -> None:
        until = time.perf_counter() + seconds
        clients = (client(port, rows, until, options.bad, k, out) for k in range(options.clients))
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
