from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from protocols.sources import load_tools
from tests.labs.paths import DATA

MODULE = '''
from typing import Literal

def find_person(name: str, limit: int = 10, tags: list[str] | None = None) -> list[dict[str, str]]:
    """People whose name contains a text.

    read_only = True
    """
    return [{"id": "p1", "name": name, "tags": " ".join(tags or [])}][:limit]

def rename(person: str, name: str) -> str:
    """Change the name of a person."""
    return f"{person} is {name}"

def echo(value: int | str | None, ratio: float = 1.0, deep: bool = False, kind: Literal["a", "b"] = "a") -> str:
    """What was given.

    read_only = True
    """
    return repr((value, ratio, deep, kind))

def hostile() -> str:
    """Clears \\x1b[2J the screen.

    read_only = True
    """
    return "\\x1b]0;title\\x07"

def broken(name: str) -> int:
    """Fails, or gives what it does not promise.

    read_only = True
    """
    if name == "x":
        raise ValueError("no such thing")
    return name
'''


@pytest.fixture(autouse=True)
def _people(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_folders / "people.py").write_text(MODULE)
    monkeypatch.setenv("ATC_TOOLS", "people.py")


def test_list(atc_) -> None:
    code, out, err = atc_("tools", "list")
    assert (code, err) == (0, "")
    assert "find_person  reads   People whose name contains a text.\n" in out
    assert "rename       writes  Change the name of a person.\n" in out
    assert "hostile      reads   Clears \\x1b[2J the screen.\n" in out
    found = json.loads(atc_("tools", "list", "--json")[1])
    assert {tool["alias"]: tool["writes"] for tool in found}["rename"] is True
    assert found[0]["required"] == ["name"]


def test_show_tells_errors_and_where_ids_come_from(atc_) -> None:
    bookshop = DATA / "bookshop.json"
    code, out, _ = atc_("tools", "show", "listBooksOfWriter", "--tools", bookshop)
    assert code == 0
    assert out.splitlines()[-3:] == [
        "# 404: There is none.",
        "# writer_id: from searchWriters at results[].id (guessed)",
        "# writer_id: from listWriters at writers[].id (guessed)",
    ]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["value=5"], "(5, 1.0, False, 'a')"),
        (["value=5x"], "('5x', 1.0, False, 'a')"),
        (['value:="5"'], "('5', 1.0, False, 'a')"),
        (["value=", "ratio=2"], "('', 2.0, False, 'a')"),
        (["value=a=b", "ratio=2.5", "deep=true", "kind=b"], "('a=b', 2.5, True, 'b')"),
        (["value=NaN"], "('NaN', 1.0, False, 'a')"),
    ],
)
def test_arguments_are_read_as_their_schemas_say(atc_, words: list[str], value: str) -> None:
    code, out, err = atc_("tools", "call", "echo", *words)
    assert (code, err) == (0, "")
    assert json.loads(out) == value


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "find_person: argument 'name' is missing; "),
        (["nam=x"], "find_person: no argument 'nam'; did you mean 'name'?\n"),
        (["name=x", "name=y"], "an argument is given twice; write a list as NAME:=JSON"),
        (["name=x", "limit:=many"], "'limit': 'many' is not JSON ("),
        (["name:=5"], "find_person: argument 'name' must be a string, got 5; "),
    ],
)
def test_wrong_arguments_are_usage_errors(atc_, words: list[str], said: str) -> None:
    code, out, err = atc_("tools", "call", "find_person", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"atc: {said}")
    assert err.count("\n") == 1


def test_prints_of_a_tool_are_no_result(atc_, tmp_path: Path) -> None:
    source = (
        'def shout(word: str) -> str:\n    """Repeat a word.\n\n    read_only = True\n    """\n'
    )
    (tmp_path / "noisy.py").write_text(source + "    print('noise')\n    return word * 2\n")
    words = ("tools", "call", "shout", "word=a", "--tools", tmp_path / "noisy.py")
    code, out, err = atc_(*words)
    assert (code, json.loads(out), "noise" in err) == (0, "aa", True)


def test_a_write_needs_consent(atc_, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        code, out, err = atc_("tools", "call", "rename", "person=p1", "name=Jo")
        assert (code, out) == (1, "")
        assert "nothing was sent. Allow it with --allow-writes rename" in err
        assert err.count("\n") == 1
        for allowed in ("rename", "all"):
            code, out, _ = atc_(
                "tools", "call", "rename", "person=p1", "name=Jo", "--allow-writes", allowed
            )
            assert (code, json.loads(out)) == (0, "p1 is Jo")
        code, _, err = atc_(
            "tools", "call", "rename", "person=p1", "name=Jo", "--allow-writes", "renam"
        )
        assert (code, "no tool named 'renam'" in err) == (1, True)
        refused = json.loads(atc_("tools", "call", "rename", "person=p1", "name=Jo", "--json")[1])
        assert (refused["outcome"], refused["result"]) == ("not_run", None)


def test_a_failed_call_and_a_departing_response(atc_) -> None:
    code, out, err = atc_("tools", "call", "broken", "name=x")
    assert (code, out) == (1, "")
    assert "no such thing" in err
    report = json.loads(atc_("tools", "call", "broken", "name=x", "--json")[1])
    assert "no such thing" in report["error"]
    code, out, err = atc_("tools", "call", "broken", "name=y")
    assert (code, json.loads(out)) == (0, "y")
    assert "The response departs from its protocol: " in err


def test_imported_tools_are_the_same_tools(atc_, tmp_path: Path) -> None:
    code, out, err = atc_("tools", "import", "people.py", "-o", "out/tools")
    assert (code, out) == (0, "")
    assert "5 tools written to out/tools; use them with: --tools out/tools\n" in err
    assert sorted(path.stem for path in (tmp_path / "out/tools").iterdir()) == sorted(
        load_tools("people.py")
    )
    assert json.loads((tmp_path / "out/tools/rename.json").read_text())["name"] == "rename"
    code, _, err = atc_("tools", "import", "people.py", "-o", "out/tools")
    assert code == 2
    assert "exists; give --force to replace it" in err
    code, out, _ = atc_("tools", "import", "people.py", "-o", "out/tools", "--force", "--json")
    assert (code, len(json.loads(out))) == (0, 5)


def test_export_in_each_format(atc_, tmp_path: Path) -> None:
    document = json.loads(atc_("tools", "export")[1])
    assert (document["openapi"], len(document["paths"])) == ("3.1.0", 5)
    assert {tool["name"] for tool in json.loads(atc_("tools", "export", "--format", "mcp")[1])} >= {
        "rename"
    }
    code, out, err = atc_("tools", "export", "-o", "sub/openapi.json")
    assert (code, out, err) == (0, "", "5 tools written to sub/openapi.json\n")
    assert json.loads((tmp_path / "sub/openapi.json").read_text()) == document
    code, _, err = atc_("tools", "export", "-o", "people.py/x.json")
    assert code == 3
    assert "cannot write 'people.py/x.json'" in err
