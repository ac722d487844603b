"""A whole run: its secrets stand in its journal, and nowhere else."""

from __future__ import annotations

import json
import re

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.store import Store
from protocols.errors import ModelUnavailable, ToolError
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

pytestmark = pytest.mark.usefixtures("shared_sandbox")

PASSWORD, TOKEN = "hunter2 'n' more", 'tok/8Zq+91"x'
TASK = f"Log in as bo with the password {PASSWORD} and tell the balance."
BAD = f"""
session = login(user="bo", password={PASSWORD!r})
print(session["amount"])
"""
AGAIN = """
session = login(user="bo", password="[redacted-str-16-p0.1]")
print(balance(auth=session["token"])["amount"])
"""


@pytest.fixture
def toolbox(sent):
    def login(arguments):
        sent.append(dict(arguments))
        if arguments["password"] != PASSWORD:
            raise ToolError(403, f"wrong password {arguments['password']}")
        return {"token": TOKEN, "name": "Bo"}

    def balance(arguments):
        sent.append(dict(arguments))
        if arguments["auth"] != TOKEN:
            raise ToolError(403, f"unknown token {arguments['auth']}")
        return {"amount": 42}

    given = {"user": "string", "password": "string"}
    return Toolbox([tool("login", login, given), tool("balance", balance, {"auth": "string"})])


@pytest.fixture
def state(own_folders):
    return own_folders / "state"


def solved(toolbox, sandbox, state, *programs, told=None):
    script = ScriptedModel(*(f"```python{program}```" for program in programs))
    config = Config(samples=1, strategy="chain", state_dir=state)
    with Store(state / "runs.sqlite") as store:
        agent = Agent(toolbox, model=script, sandbox=sandbox, config=config, store=store)
        solution = agent.run(TASK, observer=None if told is None else told.append)
    return script, solution


def shows_none(text):
    return "hunter2" not in text and "8Zq" not in text


def test_a_secret_reaches_its_tool_and_nothing_else(toolbox, sandbox, state, sent):
    told = []
    script, solution = solved(toolbox, sandbox, state, BAD, AGAIN, told=told)
    assert (solution.status, solution.answer) == ("solved", "42")
    assert sent == [
        {"user": "bo", "password": PASSWORD},
        {"auth": TOKEN},
    ]  # the journal answers the second login
    repair = "\n".join(message.content for message in script.prompts[1])
    assert shows_none(repair)
    assert "[redacted-str-16-p0.1]" in repair
    assert shows_none(repr(told[2:]))  # the first two events hold the task as it was typed
    assert len(told) > 8


def test_stored_secrets_are_shown_only_when_asked(toolbox, sandbox, state, atc_):
    solved(toolbox, sandbox, state, BAD, AGAIN)
    for command in (
        ["show", "last"],
        ["show", "last", "--prompts"],
        ["show", "last", "--prompts", "--json"],
        ["list"],
    ):
        code, out, _ = atc_("runs", *command)
        assert (code, shows_none(out)) == (0, True)
        assert "redacted-str-16" in out
    document = json.loads(atc_("runs", "show", "last", "--json", "--reveal")[1])
    assert document["attempts"][0]["trace"]["calls"][0]["arguments"]["password"] == PASSWORD
    with Store(state / "runs.sqlite") as store:
        stored = store.load("last")
    assert stored.calls[0].call.result["token"] == TOKEN
    assert shows_none(repr(stored.exchanges[1]))


def test_an_answer_is_the_users_own(toolbox, sandbox, state, atc_):
    asked = f'session = login(user="bo", password={PASSWORD!r})\nprint(session["token"])\n'
    _, solution = solved(toolbox, sandbox, state, f"\n{asked}")
    assert solution.answer == TOKEN
    code, out, _ = atc_("runs", "show", "last")
    assert (code, shows_none(out)) == (0, True)


def test_a_resumed_run_keeps_its_placeholders(toolbox, sandbox, state, sent):
    """Also of a secret that came in a response first, and then in a program that copied it."""

    def copying(messages):
        token = re.search(r"\[redacted-str-12-[^]]+\]", messages[-1].content)[0]
        return f'```python\ntoken = "{token}"\nprint(balance(auth=token)["nothing"])\n```'

    config = Config(samples=1, strategy="chain", state_dir=state)
    script = ScriptedModel(f"```python{BAD}```", copying, ModelUnavailable("the model is down"))
    more = ScriptedModel(f"```python{AGAIN}```")
    with Store(state / "runs.sqlite") as store:
        first = Agent(toolbox, model=script, sandbox=sandbox, config=config, store=store)
        with pytest.raises(ModelUnavailable):
            first.run(TASK)
        solution = Agent(toolbox, model=more, sandbox=sandbox, config=config, store=store).resume(
            "last"
        )
    assert (solution.status, solution.answer) == ("solved", "42")
    assert more.prompts[0][1:] == script.prompts[2][1:]
    assert shows_none(repr(more.prompts))
    assert sent == [{"user": "bo", "password": PASSWORD}, {"auth": TOKEN}]
