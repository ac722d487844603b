"""The types of `--output-type`."""

import json
import re
from pathlib import Path

import click
import pytest

from atc.cli.answer_type import read_output_type
from atc.run.output_type import WrongForm

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")
CONTEXT = click.Context(click.Command("run"))
OPTION = click.Option(["--output-type"])


def read(text):
    return read_output_type(CONTEXT, OPTION, text)


@pytest.mark.parametrize(
    ("type_", "right", "wrong"),
    [
        ("int", 6, 6.5),
        ("int", 6, True),
        ("float", 6, "six"),
        ("date", "2013-07-04", "2013-13-04"),
        ("list[str]", ["a"], [1]),
        ("dict[str, list[int | None]]", {"a": [1, None]}, {"a": ["1"]}),
        ("bool | None", None, 0),
        ("Literal['a', 1]", 1, "b"),
    ],
)
def test_a_type_admits_its_values_only(type_, right, wrong):
    assert read(type_).read_answer(right, "") == right
    with pytest.raises(WrongForm):
        read(type_).read_answer(wrong, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("text", "'text' is no type; write int"),
        ("list[", "'list[' is no type"),
        ("__import__('os').getcwd()", "is no type"),
        ("dict[int, str]", "is no type"),
        ("[" * 900, "is no type"),
        ("x" * 1001, "at most 1,000 characters"),
        ("missing.json", "cannot read 'missing.json' (No such file"),
        ("bad.json", "'bad.json' is not JSON"),
        ("list.json", "'list.json' is no JSON Schema"),
        ("odd.json", "'odd.json' is not a valid JSON Schema"),
        ("large.json", "more than 20,000 characters"),
    ],
)
def test_another_text_is_refused(text, problem):
    Path("bad.json").write_text("{")
    Path("list.json").write_text("[]")
    Path("odd.json").write_text('{"type": "text"}')
    Path("large.json").write_text(json.dumps({"description": "x" * 20_000}))
    with pytest.raises(click.BadParameter, match=re.escape(problem)):
        read(text)


def test_a_stored_run_keeps_its_type(atc_):
    """Also one that paused: the program that goes on must give an answer of the type."""
    Path("desk.py").write_text("def book() -> str:\n    return 'seat 7'\n")
    Path("seat.json").write_text('{"type": "object", "properties": {"seat": {"type": "integer"}}}')
    programs = ["print(book())", "print({'seat': int(book().split()[1])})"]
    replies = [f"```python\n{program}\n```" for program in programs]
    Path("script.json").write_text(json.dumps(replies))
    words = ("--model", "scripted:script.json", "--json")
    begun = ("run", "Book.", "--tools", "desk.py", "--output-type", "seat.json", *words)
    code, out, err = atc_(*begun, "--strategy", "chain")
    assert (code, json.loads(out)["status"]) == (1, "paused"), err
    Path("script.json").write_text(json.dumps(replies[1:]))
    code, out, err = atc_("runs", "resume", "last", "--allow-writes", "book", *words)
    document = json.loads(out)
    assert (code, document["answer"], document["repairs"]) == (0, {"seat": 7}, 1), err
    assert "has not the form" in document["attempts"][0]["fault"]["message"]


def test_a_text_of_json_becomes_the_type(atc_):
    Path("desk.py").write_text("def look() -> int:\n    return 1\n")
    Path("script.json").write_text(json.dumps(["```python\nprint('6')\n```"]))
    words = ("--model", "scripted:script.json", "--strategy", "chain", "--json")
    code, out, err = atc_("run", "?", "--tools", "desk.py", "--output-type", "int", *words)
    assert (code, json.loads(out)["answer"]) == (0, 6), err
    for verb in ("show", "list"):
        stored = json.loads(atc_("runs", verb, *["last"][: verb == "show"], "--json")[1])
        assert (stored if verb == "show" else stored[0])["answer"] == 6
