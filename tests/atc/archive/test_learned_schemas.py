"""What an API answers, where its document says otherwise, is kept and can be written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.labs.notes_service import operation
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import serve

pytestmark = pytest.mark.usefixtures("shared_sandbox")

WRONG = {
    "File": {
        "type": "object",
        "properties": {"content": {"type": "string"}, "name": {"type": "string"}},
        "required": ["content", "name"],
    }
}
ANSWER = {"content": {"cells": ["x = 1"]}, "name": "n"}
FILE = operation("get_file", "GET", "/file", "File", lambda *_: ANSWER)
PROGRAM = '```python\nprint(get_file()["content"]["cells"][0])\n```'


@pytest.fixture
def source(own_folders: Path):
    (own_folders / "replies.json").write_text(json.dumps([PROGRAM, PROGRAM]))
    app = build_app(
        [FILE],
        context=None,
        info={"title": "Files", "version": "1"},
        schemas=WRONG,
        close=lambda: None,
    )
    with serve(app) as served:
        yield served.document_url


def test_responses_against_the_document_reach_tools_import(source, atc_, tmp_path: Path) -> None:
    def content(*flags: str):
        atc_("tools", "import", source, "-o", "out", "--force", *flags)
        document = json.loads((tmp_path / "out" / "get_file.json").read_text())
        kinds = document["outputSchema"]["properties"]["content"]["type"]
        return kinds if isinstance(kinds, str) else sorted(kinds), document.get("evidence", {}).get(
            "level"
        )

    run = (
        "run",
        "What does the first cell say?",
        "--tools",
        source,
        "--model",
        "scripted:replies.json",
    )
    assert content() == ("string", None)
    code, out, err = atc_(*run)
    assert (code, out) == (0, "x = 1\n")
    offered = "To write it down: atc tools import SOURCE -o FOLDER"
    assert (
        f"get_file answered otherwise than declared; later runs go by its answer. {offered}"
        in " ".join(err.split())
    )
    code, out, err = atc_(*run)
    assert (code, out) == (0, "x = 1\n")
    assert offered not in " ".join(err.split())  # known by now, and the first program runs
    code, _, err = atc_("tools", "import", source, "-o", "other")
    assert "What get_file answered in runs stands in place of what was declared" in err
    assert content() == (["object", "string"], "observed")  # both may come
    assert content("--no-learn") == ("string", None)
