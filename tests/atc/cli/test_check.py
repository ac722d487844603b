"""`atc check`: what a person or an editor is told of a program, without a call."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

TOOLS = '''
from typing import TypedDict


class Item(TypedDict):
    name: str
    price: float
    note: str | None


def get_item(key: str) -> Item:
    """One item."""
    raise AssertionError("a check calls nothing")
'''


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "shop.py"
    path.write_text(TOOLS)
    return str(path)


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_each_finding_has_place_caret_and_remedy(tmp_path: Path, tools: str, atc_) -> None:
    path = program(
        tmp_path, "item = get_item(key='é')\nprint('é', item['prize'])\nprint(get_itme(key='a'))\n"
    )
    code, out, err = atc_("check", path, "--tools", tools)
    assert (code, err) == (1, "2 errors\n")
    first, second = out.strip().split("\n\n")
    head, line, carets = first.splitlines()
    assert head.startswith(f"{path}:2:17: error: ")
    assert head.endswith(" [missing-key]")
    assert "'prize'" in head
    assert "price" in head
    assert line == "   2 | print('é', item['prize'])"
    assert line[carets.index("^") : carets.rindex("^") + 1] == "'prize'"
    assert "unknown-tool" in second
    assert "Did you mean 'get_item'?" in second


def test_an_editor_gets_json_through_a_pipe(
    tools: str, atc_, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "print('é', get_item(kye='a'))"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source.encode()), "utf-8"))
    code, out, _ = atc_("check", "-", "--tools", tools, "--json")
    found = json.loads(out)
    assert (code, found[0]["file"]) == (1, "-")
    assert {"code", "message", "line", "column", "end_column", "suggestion", "certain"} <= found[
        0
    ].keys()
    assert (found[0]["code"], found[0]["line"], found[0]["certain"]) == (
        "unknown-argument",
        1,
        True,
    )
    assert source[found[0]["column"] - 1 : found[0]["end_column"] - 1] == "kye='a'"
    assert found[0]["suggestion"] == "key"


def test_a_file_that_cannot_be_read(tmp_path: Path, tools: str, atc_) -> None:
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\xff\xfe")
    for path, said in (
        (tmp_path / "none.py", "No such file"),
        (binary, "is not UTF-8 text"),
        (tmp_path, "directory"),
    ):
        code, out, err = atc_("check", path, "--tools", tools)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
