"""How `atc run` prints the end of a run."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from atc.core.types import Solution
from atc.store.stored import StoredRun
from tests.labs import commands
from tests.labs.paths import ROOT
from tests.labs.user import User

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


DESK = '''
def look_up() -> int:
    """Look it up.

    read_only = True
    """
    return 1


def find() -> list[dict]:
    """Find all.

    read_only = True
    """
    return [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
'''


@pytest.fixture
def run(atc_):
    """Run a program over two tools; return exit status, stdout and stderr."""
    Path("desk.py").write_text(DESK)

    def run(program: str, *words: str) -> tuple[int, str, str]:
        Path("script.json").write_text(json.dumps([f"```python\n{program}\n```"] * 4))
        model = ("--model", "scripted:script.json", "--strategy", "chain")
        return atc_("run", "What?", "--tools", "desk.py", *model, *words)

    return run


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("print({'n': [look_up(), None]})", {"n": [1, None]}),
        ("print('6')", "6"),
        ("print(6)", 6),
        ("import json\nprint(json.dumps([True]))", [True]),
    ],
)
def test_json_has_the_printed_object(run, atc_, program, answer):
    code, out, err = run(program, "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["answer"]) == (0, 1, answer), err
    assert type(document["answer"]) is type(answer)
    for words in (("show", document["run_id"]), ("list",)):
        stored = json.loads(atc_("runs", *words, "--json")[1])
        assert (stored[0] if words == ("list",) else stored)["answer"] == answer


def test_every_key_of_the_json_is_documented():
    page = (ROOT / "docs/reference/json.md").read_text()
    missing = {key for kind in (Solution, StoredRun) for key in _keys(kind)}
    missing -= {*re.findall(r"`(\w+)`", page), "summary"}  # whose keys are those of the document
    assert not missing


def _keys(kind: Any) -> Iterator[str]:
    """Yield the keys of the JSON of a dataclass of `atc`, and of the dataclasses in it."""
    for inner in get_args(kind):
        yield from _keys(inner)
    if is_dataclass(kind) and kind.__module__.startswith(("atc.", "sandbox.", "protocols.model")):
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            if not field.compare:
                continue  # no part of the document
            yield field.name
            if field.name in ("protocols", "lease"):
                continue  # empty in this document, and only for atc itself
            yield from _keys(hints[field.name])


ROWS = "print([{'n': look_up()}, {'n': 2, 'name': 'b'}])"


def test_a_list_of_records_is_printed_as_csv(run):
    assert run(ROWS, "--csv")[:2] == (0, "n,name\n1,\n2,b\n")
    assert run(ROWS, "--table")[:2] == (0, "n   name\n────────\n1\n2   b\n")
    code, _, err = run("print(find())", "--csv")
    assert (code, "doubt" in err) == (0, False), "records are what is asked for"
    code, out, err = run("print([])", "--csv")
    assert (code, out, "no record" in err) == (0, "", True)


def test_an_answer_without_a_table_is_kept(run):
    code, out, err = run("print(look_up(), 'two')", "--csv")
    assert (code, out) == (1, "")
    assert "--csv needs a list of records, and the answer is a text" in err
    assert "The answer: 1 two" in err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--csv", "--table"), "--csv and --table exclude each other"),
        (("--json", "--csv"), "--json and --csv exclude each other"),
        (("--dry-run", "--table"), "leave --table out"),
        (("--output-type", "text"), "'text' is no type"),
    ],
)
def test_options_that_exclude_each_other_are_refused(run, words, problem):
    code, out, err = run(ROWS, *words)
    assert (code, problem in out + err) == (2, True), (out, err)
    assert len(err.splitlines()) == 1


def test_only_a_terminal_gets_a_label(tmp_path):
    user = User(tmp_path)
    (user.work / "desk.py").write_text("def look_up() -> int:\n    return 1\n")
    replies = ["```python\nprint('first\\n\\x1b[2Jsecond')\n```"]
    (user.work / "script.json").write_text(json.dumps(replies))
    ours, theirs = pty.openpty()
    words = ("run", "Say it.", "--tools", "desk.py", "--model", "scripted:script.json")
    commands.run(
        words,
        cwd=user.work,
        env=user.env | {"NO_COLOR": "1", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux reports the end of a terminal's output so
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    plain = re.sub(r"\x1b\[\d*m", "", shown.decode())
    assert plain == "answer    first\r\n          \\x1b[2Jsecond\r\n"
