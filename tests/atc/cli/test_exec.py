"""`atc exec`: a program of the user's own, held to account as in a run, without a model."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from tests.labs.terminal import at_a_terminal, begin, finish
from tests.labs.user import writes

DESK = '''
"""A desk."""
from pathlib import Path


def find(name: str) -> dict:
    """Find a person.

    read_only = True
    """
    return {"email": f"{name}@example.org"}


def send(to: str, text: str) -> dict:
    """Send a message."""
    print("sending")
    with Path("sent.txt").open("a") as file:
        file.write(f"{to}\\n")
    return {"sent": True}
'''
SEND = 'answer = send(to=who, text="Hello")\nprint(answer["sent"])\n'


@pytest.fixture
def desk(own_folders, shared_sandbox, monkeypatch):
    """Return a function that writes a program and returns the words that execute it."""
    monkeypatch.delitem(sys.modules, "desk", raising=False)
    Path("desk.py").write_text(DESK)

    def words(program: str, *more: str) -> list[str]:
        Path("program.py").write_text(program)
        return ["exec", "program.py", "--tools", "desk.py", *more]

    return words


def sent() -> list[str]:
    return Path("sent.txt").read_text().split() if Path("sent.txt").exists() else []


def test_a_program_is_run_and_stored(desk, atc_):
    words = desk("# Ask.\nprint(find(name=name)['email'])\n", "--arg", "name=ann")
    code, out, err = atc_(*words)
    assert (code, out) == (0, "ann@example.org\n"), err
    listed = json.loads(atc_("runs", "list", "--json")[1])
    assert [(one["task"], one["status"], one["model"]) for one in listed] == [
        ("exec program.py name=ann", "solved", "none")
    ]
    assert "1 │ name = 'ann'  # Ask." in atc_("runs", "show", "last")[1]
    assert atc_("runs", "export", "last", "-o", "run.json")[0] == 0
    assert atc_("runs", "replay", "run.json")[:2] == (0, "ann@example.org\n")


def test_json_arguments_keep_their_type(desk, atc_):
    words = desk("print(sum(numbers), type(text).__name__)", "--arg", "numbers:=[1, 2.5]")
    code, out, err = atc_(*words, "--arg", "text=7")
    assert (code, out) == (0, "3.5 str\n"), err


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("# Send.\n\nprint(send(to=who, txt='x'))", 3),
        ("for one in [who]:\n    print(find(name=one)['phone'])\n", 2),
    ],
)
def test_lines_are_those_of_the_file(desk, atc_, program, line):
    code, out, err = atc_(*desk(program, "--arg", "who=bob", "--quiet"))
    assert (code, out) == (1, "")
    assert err.startswith(f"line {line}: ")
    assert sent() == []


def test_only_whole_arguments_count_as_yours(desk, atc_):
    allowed = ("--allow-writes", "send", "--quiet")
    address = "bob@example.org"
    assert atc_(*desk(SEND, "--arg", f"who={address}", *allowed)) == (0, "True\n", "")
    literal = SEND.replace("who", repr(address))
    code, _, err = atc_(*desk(literal, *allowed))
    assert (code, "the program has it as a literal, or computed it" in err) == (1, True), err
    joined = SEND.replace("who", "f'{user}@example.org'")
    assert atc_(*desk(joined, "--arg", "user=bob", *allowed))[0] == 1
    assert sent() == [address]


def test_a_paused_program_resumes_without_a_model(desk, atc_, monkeypatch):
    code, _, err = atc_(*desk(SEND, "--arg", "who=bob@example.org"))
    assert (code, "send may change something and was not allowed" in err) == (1, True), err
    monkeypatch.setattr("atc.cli.wiring.choose_model", None)
    code, out, err = atc_("runs", "resume", "last", "--allow-writes", "send")
    assert (code, out, sent()) == (0, "True\n", ["bob@example.org"]), err


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("who", "write NAME=VALUE, or NAME:=JSON"),
        ("=x", "write NAME=VALUE, or NAME:=JSON"),
        ("who:=bob", "'bob' is not JSON"),
        ("1x=1", "this is no name for a variable; '_1x' would be one"),
        ("send=1", "this is the name of a tool"),
        ("print=1", "this is the name of a function of Python"),
        ("answer=1", "the program sets this variable itself on line 1"),
        ("hwo=1", "the program reads no variable 'hwo'; those that it expects: who"),
    ],
)
def test_a_wrong_argument_is_one_sentence(desk, atc_, word, problem):
    code, out, err = atc_(*desk(SEND, "--arg", word))
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert problem in err
    assert json.loads(atc_("runs", "list", "--json")[1]) == []


def test_a_missing_argument_is_explained(desk, atc_):
    code, _, err = atc_(*desk(SEND, "--quiet"))
    assert code == 1
    assert "line 1: 'who' is not defined anywhere in the program." in err
    assert "A variable that the program only reads is set with: --arg NAME=VALUE\n" in err


def test_quiet_leaves_only_errors(desk, atc_):
    words = desk(SEND, "--arg", "who=bob@example.org", "--allow-writes", "send")
    assert "sending\n" in atc_(*words)[2]
    assert atc_(*words, "--quiet") == (0, "True\n", "")
    code, out, err = atc_(*desk("print([][0])", "--quiet"))
    assert (code, out) == (1, "")
    assert err.startswith("line 1: IndexError")
    assert "program " not in err


WRONG = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/find": {
            "get": {
                "operationId": "find",
                "responses": {
                    "200": {
                        "description": "",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"id": {"type": "string"}},
                                    "additionalProperties": False,
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


def test_a_wrong_response_schema_needs_insistence(user, shop):
    document = user.work / "shop.json"
    document.write_text(json.dumps(WRONG))
    (user.work / "program.py").write_text("print(find()['done'])")
    words = ("exec", "program.py", "--tools", f"{document}@{shop.url}", "--quiet")
    stopped = user.atc(*words)
    assert (stopped.returncode, stopped.stdout, shop.seen) == (1, "", [])
    assert "the same command with --insist\n" in stopped.stderr
    again = user.atc(*words)
    assert (again.returncode, shop.seen) == (1, [])
    done = user.atc(*words, "--insist")
    assert (done.returncode, done.stdout) == (0, "/find\n"), done.stderr


def test_insistence_does_not_excuse_wrong_arguments(desk, atc_):
    code, _, err = atc_(*desk("print(find(nam='bob'))", "--insist", "--quiet"))
    assert (code, "--insist" in err) == (1, False), err


def test_a_program_from_stdin_asks_nobody(user, shop):
    """Neither in a pipe nor when it is typed at a terminal, where a yes could follow."""
    words = ("exec", "-", "--tools", f"{shop.url}/doc")
    process, ours = begin(user.work, user.env, *words)
    os.write(ours, b"print(order()['done'])\ny\n\x04y\ny\n")
    said, code = finish(process, ours)
    assert (code, writes(shop), "[y/N]" in said) == (1, [], False), said
    (user.work / "program.py").write_text("print(order()['done'])")
    words = ("exec", "program.py", "--tools", f"{shop.url}/doc", "--quiet")
    said, code = at_a_terminal(user.work, user.env, *words, typed=[b"y\n"])
    assert (code, writes(shop), "[y/N]" in said) == (0, ["/order"], True), said


def test_a_piped_program_pauses(desk, atc_, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(b"print(send(to=who, text='x'))"))
    monkeypatch.setattr("sys.stdin", piped)
    words = ["exec", "-", *desk("")[2:], "--arg", "who=bob@example.org", "--json"]
    code, out, _ = atc_(*words)
    assert (code, json.loads(out)["status"], sent()) == (1, "paused", [])


def test_a_repeated_command_asks_about_writes(user, shop):
    (user.work / "program.py").write_text("order()\nprint(1 / n)")
    words = ["exec", "program.py", "--tools", f"{shop.url}/doc", "--allow-writes", "order"]
    words += ["--quiet", "--arg"]
    assert user.atc(*words, "n:=0").returncode == 1
    again = user.atc(*words, "n:=0")
    assert (again.returncode, writes(shop)) == (2, ["/order"])
    assert "has failed and has sent 1 write: order()" in again.stderr
    assert user.atc(*words, "n:=1").returncode == 0  # another command


def test_a_secret_argument_is_not_shown(desk, atc_):
    secret = "hunter2-hunter2"
    words = desk("print(len(password))", "--arg", f"password={secret}")
    assert secret not in atc_(*words)[2]
    assert secret not in atc_("runs", "list")[1]
    assert secret not in atc_("runs", "show", "last", "--json")[1]
    assert secret not in atc_("runs", "export", "last")[1]


def test_the_clock_starts_when_told(desk, atc_):
    program = "import datetime\nprint(datetime.date.today())"
    assert atc_(*desk(program, "--now", "2023-11-30", "--quiet"))[:2] == (0, "2023-11-30\n")
    code, _, err = atc_(*desk(program, "--now", "yesterday"))
    assert (code, "now must be a date" in err) == (2, True), err


def test_the_flights_service_answers(own_folders, shared_sandbox, atc_):
    Path("left.py").write_text(
        "# Count the flights that left.\n"
        "print(list_departures(origin=origin, date=date, page_size=1)['total'])\n"
    )
    words = ["exec", "left.py", "--arg", "date=2013-07-04", "--quiet", "--arg"]
    assert atc_(*words, "origin=LGA") == (0, "187\n", "")
    code, out, err = atc_(*words, "origin=BOS")
    assert (code, out) == (1, "")
    assert err.startswith("line 2: argument 'origin' of list_departures must be one of ")
