"""`atc bench`, driven as a person drives it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_bench_list(atc_) -> None:
    assert atc_("bench", "list")[1].startswith("toolflow  587 tasks")
    assert [suite["name"] for suite in json.loads(atc_("bench", "list", "--json")[1])] == [
        "toolflow",
        "flights",
    ]


MATHS = '''
def double(number: int) -> int:
    """Twice a number.

    read_only = True
    """
    return 2 * number
'''


def test_bench_run_grades_answers_with_given_tools(atc_, tmp_path: Path) -> None:
    (tmp_path / "maths.py").write_text(MATHS)
    (tmp_path / "replies.json").write_text(json.dumps(["```python\nprint(double(number=2))\n```"]))
    question = {
        "id": "q1",
        "question": "What is twice 2?",
        "answer": 4,
        "type": "number",
        "calls": 1,
    }
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    command = (
        "bench",
        "run",
        "flights",
        "--data",
        "q.jsonl",
        "--tools",
        "maths.py",
        "--strategy",
        "chain",
        "--json",
    )
    code, out, err = atc_(*command, "--model", "scripted:replies.json")
    summary = json.loads(out)
    assert (code, summary["graded"], summary["solved"], summary["outages"]) == (0, 1, 1, 0), err
    assert "  1/1  right" in err


def test_a_taken_address_is_reported_before_serving(atc_, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, out, err = atc_(
            "serve", "--tools", "sums.py", "--http", f"127.0.0.1:{taken.getsockname()[1]}"
        )
    assert (code, out, "choose another address or port" in err, "Serving" in err) == (
        3,
        "",
        True,
        False,
    )
