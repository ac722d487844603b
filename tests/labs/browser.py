"""A real Chromium, spoken to over its debugging pipe: open a page, press keys and buttons, read what is there."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import pytest

from tests.labs.patience import PATIENCE

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="there is no chromium; .ci/chromium installs it"
)
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip

HOSTILE = (
    "</script></style></svg></title></details></pre><script>document.title='taken'</script><img src='http://127.0.0.1:"
    "{port}/i' onerror=\"document.title='taken'\"><style>@import 'http://127.0.0.1:{port}/s';</style><a href=\""
    "javascript:document.title='taken'\">x</a><meta http-equiv=refresh content='0;url=http://127.0.0.1:{port}/m'>"
    "<iframe src=//127.0.0.1:{port}/f></iframe><form action=http://127.0.0.1:{port}/p><button data-post=x>Allow"
    '</button></form>" onfocus="document.title=\'taken\'" autofocus x="\' $body ${{body}}\x00\x07\x1b]8;;http://127.0'
    ".0.1\x07\x9b31m\u202edetrever\u2066\ufeff\u200b\ud800\r\u2028"
)
"""What would act in a page if it became part of it; `port` is one that nobody should ask."""


class Browser:
    """One browser with one page. `console` is what the page, or the policy, said against something."""

    def __init__(self) -> None:
        self.console: list[str] = []
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._profile = tempfile.mkdtemp(prefix="atc-browser-")
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        script = f'exec chromium "$@" 3<&{reads} 4>&{writes}'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                script,
                "bash",
                *_FLAGS,
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            pass_fds=(reads, writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reads)
        os.close(writes)
        targets = self._send("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = None
        self._session = self._send("Target.attachToTarget", targetId=page, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self._send(f"{domain}.enable")

    _session: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, url: str) -> Self:
        """Go to a page and wait until it is there."""
        self._send("Page.navigate", url="about:blank")
        self.until(
            "location.href === 'about:blank'"
        )  # what the last page tried until then is no concern of this one
        self.console.clear()
        self._send("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        return self

    def size(self, width: int, height: int, *, dark: bool = False, scale: float = 1) -> Self:
        """How large the window is, and what the user likes."""
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                   mobile=False)  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._send("Emulation.setEmulatedMedia", features=features)
        return self

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self._send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """Wait until an expression is true, and give its value."""
        ends = time.monotonic() + seconds
        while True:
            try:
                if (found := self.run(script)) not in (
                    None,
                    False,
                    0,
                    "",
                ):  # an element is an empty object here
                    return found
            except AssertionError:
                if time.monotonic() > ends:
                    raise
            assert time.monotonic() < ends, f"{script} did not come true: {self.text[:2000]}"
            time.sleep(0.02)

    @property
    def text(self) -> str:
        """What can be read."""
        return str(self.run("document.body.innerText"))

    def press(self, key: str) -> None:
        """One key."""
        code = {"windowsVirtualKeyCode": 13, "text": "\r"} if key == "Enter" else {"text": key}
        for kind in ("keyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, key=key, **code)

    def click(self, label: str) -> None:
        """Press the button with this text, by the keyboard: what moves while the page changes cannot make it miss."""
        self.until(
            "(() => { const one = [...document.querySelectorAll('button')].find((one) => one.textContent ==="
            f" {json.dumps(label)}); if (!one || one.disabled) return false; one.focus(); return true; }})()"
        )
        self.press("Enter")

    def picture(self, path: Path) -> None:
        """What the window shows, as a PNG."""
        found = self._send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (heard := self._hear()).get("id") != number:
            self._note(heard)
        assert "error" not in heard, heard["error"]
        return dict(heard["result"])

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        first, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(first))

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        match event.get("method"):
            case "Log.entryAdded":
                self.console.append(about["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.console.append(about["exceptionDetails"]["text"])
            case "Runtime.consoleAPICalled":
                self.console.append(str(about["args"]))
