"""Chromium without a window, driven over a pipe by its own protocol; nothing but the standard library is needed.

``--remote-debugging-pipe`` reads commands from descriptor 3 and writes answers to descriptor 4, JSON with a zero byte.
"""

import json
import os
import shutil
import subprocess
import time

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WHY = "Chromium is not installed; the pages are not tried in a browser."


class Browser:
    """One page of a browser."""

    def __init__(self, profile):
        to_child, own_out = os.pipe()
        own_in, from_child = os.pipe()

        def wired():
            """The pipe's ends as descriptors 3 and 4, whatever numbers they had."""
            first, second = os.dup(to_child), os.dup(from_child)
            os.dup2(first, 3)
            os.dup2(second, 4)

        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        self.process = subprocess.Popen(
            [CHROMIUM, *options, "about:blank"],
            preexec_fn=wired,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self.out, self.incoming, self.number, self.session = own_out, os.fdopen(own_in, "rb"), 0, None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        self.incoming.close()

    def call(self, method, **params):
        """A command, and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            found = json.loads(self._message())
            if found.get("id") == self.number:
                assert "error" not in found, found["error"]
                return found["result"]

    def _message(self):
        data = bytearray()
        while (one := self.incoming.read(1)) != b"\0":
            assert one, "Chromium has ended"
            data += one
        return bytes(data)

    def open(self, address, width, height=900):
        """Load a page in a window of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=address)

    def run(self, script):
        """The value of an expression of the page."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script, seconds=60):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"still false: {script}"
            time.sleep(0.05)
        return found
