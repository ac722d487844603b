"""A service with an export, a picture and an upload, for tests of files over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.files import document
from tests.labs.loopback import Reply, Seen, Server, serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
CSV = b"id,name\n1,Ann\n2,Bob\n"


@contextmanager
def serving_files() -> Iterator[Server]:
    """The service, whose document is written to `doc.json` in the current folder.

    `named`, `csv` and `coding` of the server are the name, the bytes and the encoding of the export.
    """

    def answer(seen: Seen) -> Reply:
        if seen.path == "/orders":
            headers = {
                "Content-Type": "text/csv",
                "Content-Disposition": f'attachment; filename="{server.named}"',
                "Content-Encoding": server.coding,
            }
            return Reply(200, server.csv, headers)
        if seen.path == "/image":
            return Reply(200, PNG, {"Content-Type": "image/png"})
        return Reply(body={"bytes": len(seen.body)})

    with serving(answer) as server:
        server.named, server.csv, server.coding = "orders.csv", CSV, "identity"
        Path("doc.json").write_text(json.dumps(document(server.url)))
        yield server
