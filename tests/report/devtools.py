"""A page in headless Chromium over its debugging pipe: loaded as it is, in real time."""

import base64
import json
import os
import subprocess
import tempfile

# Resolves once something has been painted, in milliseconds since the page was asked for.
FIRST_PAINT = """new Promise((resolve) => new PerformanceObserver((list) => {
  resolve(list.getEntriesByName("first-paint")[0].startTime);
}).observe({type: "paint", buffered: true}))"""
COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


class Browser:
    def __init__(self, program, width, height):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self.to = os.pipe()
        self.of, ours = os.pipe()
        # The program reads commands from descriptor 3 and writes to 4.
        words = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "-", program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]  # fmt: skip
        self.process = subprocess.Popen(words, pass_fds=(theirs, ours), stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(ours)
        self.events, self.buffer, self.calls, self.session = [], b"", 0, None

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self.to)  # it ends with its pipe
        os.close(self.of)
        self.process.wait()
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.of, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.calls += 1
        command = {"id": self.calls, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while (got := self.message()).get("id") != self.calls:
            self.events.append(got)
        return got["result"]

    def first_paint(self, page):
        """Loads a page; milliseconds."""
        self.call("Page.navigate", url=page.as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        return self.call("Runtime.evaluate", expression=FIRST_PAINT, awaitPromise=True, returnByValue=True)["result"]["value"]

    def view(self, width, dark):
        """What the page is looked at with, from then on."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1400, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def value(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return got["result"].get("value", got.get("exceptionDetails"))

    def picture(self, path):
        got = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(got["data"]))

    def complaints(self):
        """What the page wrote to the console, and what failed in it."""
        return [e["params"] for e in self.events if e["method"] in COMPLAINTS]
