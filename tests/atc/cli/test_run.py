"""`atc run`."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_the_answer_alone_is_printed(atc_) -> None:
    Path("script.json").write_text(json.dumps(["```python\nprint(6 * 7)\n```"]))
    Path("desk.py").write_text("def look() -> int:\n    return 1\n")
    words = (
        "run",
        "What?",
        "--tools",
        "desk.py",
        "--model",
        "scripted:script.json",
        "--strategy",
        "chain",
    )
    code, out, err = atc_(*words)
    assert (code, out) == (0, "42\n"), err
    Path("script.json").write_text(json.dumps(["```python\nprint(6 * 7)\n```"]))
    code, out, _ = atc_(*words, "--json")
    assert (code, json.loads(out)["answer"]) == (0, "42")
