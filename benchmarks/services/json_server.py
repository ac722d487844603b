"""json-server 0.17 from the npm registry: 130 posts, and 100 comments, which are no page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import free_port, run_in_background
from benchmarks.services.service import DOCUMENTS, RunningService, install_node, work_folder

_AUTHORS = ("ann", "ben", "cleo")


def _post(number: int) -> dict[str, Any]:
    day = date(2026, 1, 1) + timedelta(days=(number * 53) % 150)
    return {
        "id": number,
        "title": f"Post {number:03}",
        "author": _AUTHORS[number % 3],
        "views": (number * 791) % 1000 + number / 1000,
        "published": str(day),
        "edition": f"1.{number % 20}",
        "shelf": f"{number:05}",
    }


POSTS = [_post(number) for number in range(1, 131)]
COMMENTS = [
    {"id": number, "postId": number % 130 + 1, "body": f"Comment {number}"}
    for number in range(1, 101)
]


def _truths() -> dict[str, Any]:
    by_views = sorted(POSTS, key=lambda post: post["views"], reverse=True)
    return {
        "count": len(POSTS),
        "comments": len(COMMENTS),
        "oldest": min(POSTS, key=lambda post: post["published"])["title"],
        "popular": sum(post["author"] == "ann" and post["views"] > 500 for post in POSTS),
        "shelf": "00042",
        "edition": sum(post["edition"] == "1.10" for post in POSTS),
        "top-three": [post["title"] for post in by_views[:3]],
        "sundays": sum(date.fromisoformat(post["published"]).weekday() == 6 for post in POSTS),
        "total-header": sum(post["author"] == "ben" for post in POSTS),
        "comment": "Well said",
        "location": 131,
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run json-server with its posts while the context is open."""
    commands = install_node(folder, "json-server@0.17.4")
    port = free_port()
    with work_folder(folder) as work:
        data = {"posts": POSTS, "comments": COMMENTS}
        (work / "db.json").write_text(json.dumps(data), encoding="utf-8")
        start = [
            str(commands / "json-server"),
            "db.json",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        with run_in_background(start, port=port, folder=work):
            url = f"http://127.0.0.1:{port}"

            def found(path: str, **values: str) -> list[dict[str, Any]]:
                return list(requests.get(url + path, params=values, timeout=30).json())

            yield RunningService(
                tools=f"{DOCUMENTS / 'json-server.yaml'}@{url}",
                truths=_truths(),
                written={
                    "comment": lambda: len(found("/comments", body="Well said", postId="7")) == 1,
                    "location": lambda: len(found("/posts", title="Late news")) == 1,
                },
            )
