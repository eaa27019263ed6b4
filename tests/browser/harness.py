"""What the browser tests and the bench share: a server on a free port, Chromium, the record of a visit."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
# A cold deep link makes Streamlit look for its own endpoints below the page first: these two, no others.
COLD_LINK_404 = ("_stcore/health", "_stcore/host-config")


def find_chromium() -> str | None:
    """Path of a Chromium: the one that the variable CHROMIUM names, or the first found on the path."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`streamlit run` of one script until `stop()`; `base` is its address, `log()` all that it printed."""

    def __init__(self, script: str | Path = "app.py", environment: dict[str, str] | None = None) -> None:
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._log = Path(self._folder.name) / "server.log"
        command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(self.port),
                   "--server.address", "127.0.0.1", "--server.headless", "true",
                   "--browser.gatherUsageStats", "false"]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=self._log.open("w"), stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})},
        )  # fmt: skip

    def wait(self, seconds: float = 60) -> Server:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self.healthy():
                return self
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"the server on port {self.port} gave no healthy answer:\n{self.log()}")

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.base}/_stcore/health", timeout=1) as answer:
                return answer.status == 200
        except OSError:
            return False

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def launch(playwright):
    """A headless Chromium under playwright; the caller closes it."""
    return playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)


def address(base: str, path: str = "/", **query: object) -> str:
    """The link of a page with these settings, spelled as they are; with random weights where they name no source."""
    return f"{base}{path}?{urlencode({'source': 'random', **query})}"


@dataclass
class Record:
    """What a page said and sent: console errors, uncaught errors, dialogs, websocket frames, far hosts."""

    errors: list[str] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)  # time.monotonic() of each frame from page to server
    received: list[int] = field(default_factory=list)  # bytes of each frame from server to page
    hosts: set[str] = field(default_factory=set)

    def watch(self, page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname or ""))
        page.on("websocket", self._socket)

    def _console(self, message) -> None:
        if message.type == "error" and not is_cold_link_404(message):
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _dialog(self, dialog) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _socket(self, socket) -> None:
        socket.on("framesent", lambda _: self.sent.append(time.monotonic()))
        socket.on("framereceived", lambda payload: self.received.append(len(payload)))


def is_cold_link_404(message) -> bool:
    """Whether a console message is one of the two 404s that a cold link to a page below the root makes."""
    path = urlsplit(message.location.get("url", "")).path.strip("/")
    below = any(path.endswith(f"/{name}") for name in COLD_LINK_404)
    return below and "404" in message.text
