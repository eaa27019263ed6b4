"""Rows about whole visits: bytes sent, server start to first picture, memory of open sessions."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.bench.measure import Row, at_most, in_turns
from tests.bench.pages_open import PLOT, STAGE, WORDS, open_page, served
from tests.browser.harness import Server, address

BARE = "tests/bench/pages/torch_heatmap.py"
SESSIONS = 20


def sent_bytes(browser) -> list[Row]:
    """Uncompressed bytes that a first visit gets beyond Streamlit's own files, and of the largest scenes."""
    with served(app=("app.py", {})) as servers:
        base = servers["app"].base
        home, scene, files = _visit(browser, base)
        _, long, _ = _visit(browser, base, text=WORDS, d_k=64)
        _, widest, _ = _visit(browser, base, text=WORDS, d_k=256, d_v=256, d_model=256)
    total = (home - scene + files) / 1e3
    detail = f"messages {home / 1e3:.0f} KB, the scene {scene / 1e3:.0f}; other files {files / 1e3:.0f}"
    more = f"d_k 64; with d_model, d_k, d_v 256: {widest / 1e6:.2f} MB"
    return [
        at_most("home page beyond Streamlit and scene", total, 150, "KB", detail),
        at_most("scene of 64 tokens", long / 1e6, 2, "MB", more),
    ]


def _visit(browser, base: str, **query) -> tuple[int, int, int]:
    """Bytes of all messages to the page, of the scene in them, and of files that are not Streamlit's."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    context = browser.new_context(locale="en-US")
    page, frames, files = context.new_page(), [], []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.on("response", lambda answer: files.append(_size(answer)))
    page.goto(address(base, **query))
    page.locator(STAGE).wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    total = scene = 0
    for frame in frames:
        data = frame if isinstance(frame, bytes) else frame.encode()
        total += len(data)
        element = ForwardMsg.FromString(data).delta.new_element
        if element.WhichOneof("type") == "bidi_component":
            scene = max(scene, len(element.bidi_component.json.encode()))
    context.close()
    return total, scene, sum(files)


def _size(answer) -> int:
    address_ = urlsplit(answer.url)
    path = address_.path
    own = (
        not address_.scheme.startswith("http")
        or path == "/"
        or path.startswith(("/static/", "/_stcore/", "/favicon", "/manifest"))
    )
    return 0 if own or not answer.ok else len(answer.body())


def start(browser) -> list[Row]:
    """Server started to first picture painted, app and bare page by turns, each time a new server."""

    def sampler(script: str, ready: str):
        def sample(turn: int) -> float:
            begin = time.perf_counter()
            server = Server(script).wait()
            context = browser.new_context(locale="en-US")
            try:
                page = context.new_page()
                page.goto(server.base)
                page.locator(ready).first.wait_for(timeout=60_000)
                page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                return time.perf_counter() - begin
            finally:
                context.close()
                server.stop()

        return sample

    samplers = {"app": sampler("app.py", f"{STAGE} [data-cell]"), "bare": sampler(BARE, PLOT)}
    times = in_turns(samplers, samples=20, warm_up=1)
    detail = f"app {times['app']:.2f} s, bare page {times['bare']:.2f} s"
    return [at_most("start to first picture / bare", times["app"] / times["bare"], 1.15, "×", detail)]


def memory(browser) -> list[Row]:
    """What the server grows by for each of 20 sessions open at once, each with its own 64-token sentence."""
    with served(app=("app.py", {})) as servers:
        server = servers["app"]
        open_page(browser, server, STAGE)
        open_page(browser, server, STAGE, text=WORDS + " ")
        before = resident(server.process.pid)
        pages = [open_page(browser, server, STAGE, text=_sentence(i)) for i in range(SESSIONS)]
        added = (resident(server.process.pid) - before) / 1e6
        for page in pages:
            page.context.close()
    detail = f"{SESSIONS} sessions: {added:.0f} MB on {before / 1e6:.0f} MB"
    return [at_most("memory of one more session", added / SESSIONS, 5, "MB", detail)]


def _sentence(i: int) -> str:
    return " ".join(f"s{i}w{j}" for j in range(64))


def resident(pid: int) -> int:
    """Resident bytes of a process (Linux)."""
    kilobytes = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes[1]) * 1024
