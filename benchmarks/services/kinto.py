"""Kinto 26 from PyPI, with 130 notes of which a page has 50; only a header names the next page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import RunningService, install_python, work_folder

_SETTINGS = """
[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = throw-away
kinto.bucket_create_principals = system.Everyone
kinto.bucket_read_principals = system.Everyone
kinto.bucket_write_principals = system.Everyone
kinto.paginate_by = 50
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = %(http_port)s
"""
_START = "import sys; from kinto.__main__ import main; sys.exit(main())"
_NOTES = "/buckets/mine/collections/notes"


def _note(number: int) -> dict[str, Any]:
    """Return a note. The first notes of the list come last, as Kinto lists the newest first."""
    created = date(2026, 1, 1) + timedelta(days=(number * 37) % 170)
    return {
        "title": f"Note {number:03}",
        "status": "open" if number % 3 == 0 else "done",
        "created": f"{created}T08:30:00Z",
        "version": f"3.{number % 12}",
        "code": f"{number:04}",
    }


NOTES = {f"note-{number:03}": _note(number) for number in range(130)}


def _truths(etag: str) -> dict[str, Any]:
    notes = list(NOTES.values())
    return {
        "count": len(notes),
        "oldest": min(notes, key=lambda note: note["created"])["title"],
        "open": sum(note["status"] == "open" for note in notes),
        "code": NOTES["note-007"]["code"],
        "etag": etag,
        "first-three": sorted(note["title"] for note in notes)[:3],
        "march": sum("2026-03" in note["created"] for note in notes),
        "version": sum(note["version"] == "3.10" for note in notes),
        "create": "Buy bread",
        "finish": "done",
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run Kinto with its notes while the context is open."""
    python = install_python(folder, "kinto==26.5.0", "waitress", "setuptools")
    port = free_port()
    with work_folder(folder) as work:
        (work / "kinto.ini").write_text(_SETTINGS, encoding="utf-8")
        start = [str(python), "-W", "ignore", "-c", _START, "start", "--ini", "kinto.ini"]
        with run_in_background([*start, "--port", str(port)], port=port, folder=work):
            url = f"http://127.0.0.1:{port}/v1"
            for path in ("/buckets/mine", _NOTES):
                requests.put(url + path, json={}, timeout=30).raise_for_status()
            for key, note in NOTES.items():
                made = requests.put(f"{url}{_NOTES}/records/{key}", json={"data": note}, timeout=30)
                made.raise_for_status()

            def records(**values: str) -> list[dict[str, Any]]:
                found = requests.get(f"{url}{_NOTES}/records", params=values, timeout=30)
                return list(found.json()["data"])

            etag = requests.get(f"{url}{_NOTES}/records/note-001", timeout=30).headers["ETag"]
            yield RunningService(
                tools=f"{url}/__api__",
                truths=_truths(etag),
                written={
                    "create": lambda: len(records(title="Buy bread", code="0990")) == 1,
                    "finish": lambda: records(id="note-003")[0]["status"] == "done",
                },
            )
