"""Take the documentation's screenshots of the viewer in Chromium: python scripts/screenshots.py.

They show a run in which an order desk is asked for a refund. A scripted model writes a wrong
program, then a right one. `.ci/chromium` installs Chromium.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT))

from atc.store import Store  # noqa: E402
from tests.labs.browser import Browser  # noqa: E402
from tests.labs.viewed_runs import RIGHT, TASK, WRONG, desk, many_calls  # noqa: E402


def main() -> None:
    """Take all screenshots."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        state = Path(folder) / "state"
        environment = os.environ | {
            "ATC_STATE_DIR": str(state),
            "XDG_CONFIG_HOME": folder,
            "NO_COLOR": "1",
        }
        with Store(state / "runs.sqlite") as store:
            many_calls(store, 40, task="How many orders came in between Christmas and New Year?")
            run = store.create(
                "Which tickets of last week are still open?", model="gpt-5-mini", strategy="chain"
            )
            store.finish(run, status="error", error="the model gave no reply within 60 seconds")
        options = desk(Path(folder), WRONG, RIGHT)[:4]
        subprocess.run(  # noqa: S603 - our own
            [*ATC, "run", TASK, *options],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        with viewer(environment) as url:
            for name, dark, width in (("viewer-run", False, 1100), ("viewer-run-dark", True, 1100)):
                browser.size(width, 760, dark=dark).open(url + "runs/last")
                if not dark:
                    browser.click("Go on, and ask me here")
                    browser.until("document.body.innerText.includes('A call waits for you')")
                    take_picture(browser, "viewer-consent")
                    browser.click("Allow")
                    browser.until("document.querySelector('.class.solved')")
                browser.run("document.querySelector('#attempt-1').scrollIntoView()")
                take_picture(browser, name)
            browser.size(1100, 760).open(url + "runs/last")
            browser.run(
                "document.querySelectorAll('#attempt-2 details').forEach((one) => { one.open = "
                "false; })"
            )
            browser.run("document.querySelector('[data-key=a2-calls]').open = true")
            browser.run("document.querySelector('[data-key=a2-call3]').open = true")
            browser.run("document.querySelector('#attempt-2').scrollIntoView()")
            take_picture(browser, "viewer-calls")
            browser.size(400, 800).open(url + "runs/last")
            take_picture(browser, "viewer-narrow")
            browser.size(1100, 420).open(url)
            take_picture(browser, "viewer-list")


ATC = [sys.executable, "-c", "from atc.cli.main import main; main()"]


@contextmanager
def viewer(environment: dict[str, str]) -> Iterator[str]:
    """Run a viewer while the context is open, and yield its address.

    It runs on a terminal of its own, since elsewhere it asks for no consent.
    """
    command = [*ATC, "runs", "view", "--no-browser", "--json"]
    ours, terminal = os.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        env=environment,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()
    os.close(terminal)
    os.close(ours)


def take_picture(browser: Browser, name: str) -> None:
    """Take one screenshot of the page in `browser` when all animations have ended."""
    browser.run("document.getAnimations().forEach((one) => one.cancel())")
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    path = PICTURES / f"{name}.png"
    browser.picture(path)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
