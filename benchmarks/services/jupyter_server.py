"""Jupyter Server 2 from PyPI, with 130 reports; its document, too, needs the token."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import RunningService, install_python, work_folder

_SETTINGS = """
[credentials.jupyter]
value = "env:JUPYTER_TOKEN"
hosts = ["127.0.0.1:{port}"]
header = "Authorization"
prefix = "token "
"""
_TOKEN = "sesame-2718281828"
_BEGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)
PICTURE = b"\x89PNG\r\n" + random.Random(3).randbytes(60_000)
LOG = "".join(
    f"{number} {'error' if number % 7 == 0 else 'ok'} {'x' * 80}\n" for number in range(100_000)
)


def _report(number: int) -> str:
    rows = [f"{part},{(number * part * 17) % 1000}" for part in range(1, 21)]
    return "\n".join(["part,amount", *rows]) + "\n"


def _changed(number: int) -> datetime:
    """Return when report `number` was changed: no two at the same time, in no order."""
    return _BEGIN + timedelta(hours=(number * 77) % 131 * 24)


REPORTS = {f"report-{number:03}.csv": _report(number) for number in range(130)}
NOTEBOOK = {
    "cells": [
        {"cell_type": kind, "metadata": {}, "source": "", "id": f"cell-{number}"}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for number, kind in enumerate(["markdown", "code", "code", "raw", "code", "markdown"])
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def _fill(root: Path) -> None:
    (root / "reports").mkdir(parents=True)
    (root / "notes").mkdir()
    for number, (name, text) in enumerate(REPORTS.items()):
        path = root / "reports" / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (_changed(number).timestamp(),) * 2)
    (root / "notes" / "version.txt").write_text("3.10", encoding="utf-8")
    (root / "notes" / "picture.png").write_bytes(PICTURE)
    (root / "notes" / "service.log").write_text(LOG, encoding="utf-8")
    (root / "notes" / "analysis.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    changed = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC).timestamp()
    os.utime(root / "notes" / "version.txt", (changed, changed))


def _truths() -> dict[str, Any]:
    oldest = min(range(len(REPORTS)), key=_changed)
    rows = REPORTS["report-042.csv"].splitlines()[1:]
    return {
        "count": len(REPORTS),
        "oldest": f"report-{oldest:03}.csv",
        "march": sum(_changed(number).month == 3 for number in range(len(REPORTS))),
        "sum": sum(int(row.split(",")[1]) for row in rows),
        "version": "3.10",
        "picture": hashlib.sha256(PICTURE).hexdigest(),
        "errors": LOG.count(" error "),
        "code-cells": 3,
        "last-modified": "Mon, 04 May 2026 03:02:01 GMT",
        "save": "milk, 007 eggs",
        "rename": "notes/release.txt",
        "location": "/api/contents/notes/list.txt",
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run Jupyter Server over a folder with reports and notes while the context is open."""
    python = install_python(folder, "jupyter-server==2.21.1")
    port = free_port()
    with work_folder(folder) as work:
        root = work / "root"
        _fill(root)
        start = [str(python), "-m", "jupyter_server", "--no-browser", "--allow-root"]
        options = [f"--port={port}", f"--ServerApp.token={_TOKEN}", f"--ServerApp.root_dir={root}"]
        with run_in_background([*start, *options], port=port, folder=work):

            def text(name: str) -> str:
                path = root / "notes" / name
                return path.read_text(encoding="utf-8") if path.exists() else ""

            yield RunningService(
                tools=f"http://127.0.0.1:{port}/api/spec.yaml",
                truths=_truths(),
                settings=_SETTINGS.format(port=port),
                variables={"JUPYTER_TOKEN": _TOKEN},
                written={
                    "save": lambda: text("shop.txt") == "milk, 007 eggs",
                    "rename": lambda: text("release.txt") == "3.10",
                    "location": lambda: text("list.txt") == "one",
                },
            )
