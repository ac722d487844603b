"""Runs the shell commands in the README and in the pages of the documentation, without changes.

    readme.py examples          the README's `sh` blocks, except the one with `make test`
    readme.py tests             the README's block with `make test`
    readme.py pages [PAGE…]     all `sh` blocks of each page in docs/start and docs/guides

Each page runs in a temporary folder of its own. Blocks of other languages (`console`, `text`) are
not run: they show output, or need something that CI lacks. In the README's block with an API key,
an endpoint on this machine stands in for the model. A block with `title="NAME"` is written to that
file before the page runs. Background processes of a page are ended after it.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from plain import Stub, start_server

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


class FlightsModel(Stub):
    """An endpoint whose model knows the program for the README's question."""

    program = 'print(list_departures(origin="JFK", date="2013-07-04")["total"])'


def run_readme(which: str) -> None:
    """Run blocks of the README, one after another, in this checkout.

    `which` is `tests` for the block with `make test`, else the other blocks are run.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [
        block
        for kind, _, block in BLOCK.findall(text)
        if kind == "sh" and ("make test" in block) == (which == "tests")
    ]
    if not blocks:
        sys.exit(f"README.md has no sh block for {which!r}")
    for block in blocks:
        print(f"--- README ({which})\n{block}", flush=True)
        own = {}
        if "OPENAI_API_KEY" in block:
            own = {"OPENAI_BASE_URL": f"{start_server(FlightsModel)}/v1"}
        subprocess.run(["bash", "-eu", "-c", block], check=True, env=os.environ | own)  # noqa: S603, S607


def run_page(page: Path) -> None:
    """Run the `sh` blocks of a page with the `atc` of this checkout, in a temporary folder.

    The runs of atc are stored there, too.
    """
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    script = "\n".join(block for kind, title, block in blocks if kind == "sh" and not title)
    if not script:
        return
    print(f"--- {page.relative_to(ROOT)}\n{script}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for _, title, block in blocks:
            if title and not title.startswith(("~", "atc/")):
                (Path(place) / title).parent.mkdir(parents=True, exist_ok=True)
                (Path(place) / title).write_text(block, encoding="utf-8")
        own = {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}", "ATC_STATE_DIR": f"{place}/state"}
        told = ["bash", "-eu", "-o", "pipefail", "-c", script]
        with subprocess.Popen(  # noqa: S603
            told, cwd=place, env={**os.environ, **own}, start_new_session=True
        ) as shell:
            code = shell.wait()
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    if code:
        sys.exit(f"{page.relative_to(ROOT)}: exit status {code}")


if sys.argv[1] == "pages":
    folder = ROOT / "docs"
    for page in [ROOT / name for name in sys.argv[2:]] or sorted(
        [*folder.glob("start/*.md"), *folder.glob("guides/*.md")]
    ):
        run_page(page)
else:
    run_readme(sys.argv[1])
