"""`atc runs save`: a solved program becomes a tool, offered and held to account as the others."""

from __future__ import annotations

import json
import sys

import pytest

from atc.cli.wiring import open_agent, open_store
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.serve.gateway import Gateway

pytestmark = pytest.mark.usefixtures("shared_sandbox")

SHOP = '''
"""A shop."""
import json
from pathlib import Path

SENT = Path(__file__).with_name("sent.txt")
ORDERS = [
    {"id": 1, "city": "Bonn", "total": 20.5, "items": ["tea", "cup"]},
    {"id": 2, "city": "Bonn", "total": 4.0, "items": ["pen"]},
    {"id": 3, "city": "Oslo", "total": 7.5, "items": []},
]


def list_orders(city: str, page: int = 1) -> list[dict]:
    """The orders of a city.

    read_only = True
    """
    if city == "Nowhere":
        raise ValueError("no such city")
    return [order for order in ORDERS if order["city"] == city]


def add_note(text: str) -> dict:
    """Write a note down."""
    with SENT.open("a") as file:
        file.write(text + "\\n")
    return {"id": 7}
'''
TASK = "What do the orders of Bonn above 10 cost?"
PROGRAM = """\
total = 0.0
for order in list_orders(city="Bonn"):
    if order["total"] > 10:
        total += order["total"]
print(total)
"""


@pytest.fixture
def config(own_folders, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    (tmp_path / "shop.py").write_text(SHOP)
    return Config(state_dir=tmp_path / "state", cache_dir=tmp_path / "cache", tools=("shop.py",))


@pytest.fixture
def atc_(config, atc_, monkeypatch):
    """Runs `atc`; `replies` are what the model says."""

    def run(*arguments, replies=()):
        programs = [f"```python\n{reply}```" for reply in replies]
        monkeypatch.setattr(
            "atc.cli.wiring.choose_model", lambda *_, **__: ScriptedModel(*programs)
        )
        return atc_(*arguments)

    return run


@pytest.fixture
def solved(atc_):
    def run(program=PROGRAM, task=TASK, *more):
        code, out, err = atc_(
            "run", task, "--tools", "shop.py", "--strategy", "chain", *more, replies=[program]
        )
        assert code == 0, err
        return out

    return run


@pytest.fixture
def saved(solved, atc_):
    """Saves a program as a tool, and gives its protocol."""

    def save(
        name="spent",
        *more,
        program=PROGRAM,
        task=TASK,
        parameters=("city=Bonn", "least=10"),
        writes=(),
    ):
        solved(program, task, *writes)
        given = [part for one in parameters for part in ("--parameter", one)]
        code, out, err = atc_("runs", "save", "last", "--as-tool", name, *given, "--json", *more)
        assert code == 0, err
        return json.loads(out)["protocol"]

    return save


@pytest.fixture
def execute(config):
    """Runs a program of the caller's own over the shop and the saved tools."""

    def run(source, *, continues=None, **changed):
        settings = {"state_dir": config.state_dir, "tools": ("shop.py",), **changed}
        with open_agent(Config(**settings), with_model=False) as agent:
            return agent.execute(source, continues=continues)

    return run


def sent(tmp_path):
    file = tmp_path / "sent.txt"
    return file.read_text().split() if file.exists() else []


def test_other_programs_call_a_saved_program(saved, atc_):
    protocol = saved()
    assert protocol["description"] == "What do the orders of <city> above <least> cost?"
    assert protocol["inputSchema"]["required"] == ["city", "least"]
    assert protocol["inputSchema"]["properties"]["least"]["type"] == "integer"
    assert protocol["outputSchema"] == {"type": "number"}
    assert protocol["annotations"] == {"readOnlyHint": True}
    code, out, err = atc_("tools", "list", "--tools", "shop.py")
    assert "spent" in out, err
    program = 'print(spent(city="Oslo", least=2) + spent(city="Bonn", least=1))\n'
    question = "What do the orders of Oslo above 2 and Bonn above 1 cost?"
    how = ("--tools", "shop.py", "--strategy", "chain", "--allow-writes", "spent")
    code, out, err = atc_("run", question, *how, replies=[program])
    assert (code, out.strip()) == (0, "32.0"), err
    code, out, err = atc_("tools", "export", "--tools", "shop.py")
    assert code == 0, err
    assert "spent" not in out


def test_failures_name_the_saved_tool_and_line(saved, execute):
    saved()
    program = '# of two cities\na = spent(city="Oslo", least=2)\nb = spent(\n    city="Bonn", least=1)\nprint(a + b)\n'
    calls = execute(program).attempts[-1].trace.calls
    assert [(c.tool, c.line, c.within) for c in calls] == [
        ("list_orders", 2, "spent"),
        ("list_orders", 3, "spent"),
    ]
    unknown = execute('print(spent(town="Bonn", least=1))').attempts[-1]
    assert (unknown.trace, "town" in unknown.findings[0].message) == (None, True)
    fault = (
        execute('print(1)\nspent(city="Bonn", least=1)\nspent(city="Nowhere", least=1)\n')
        .attempts[-1]
        .fault
    )
    assert (fault.line, fault.tool) == (3, "list_orders")
    assert any("'spent'" in fact.text for fact in fault.evidence)
    program = (
        'n = list_orders(city="Bonn")\nx = spent(city="Bonn", least=n[0]["items"])\nprint(x)\n'
    )
    inner = execute(program).attempts[-1].trace.failure
    assert inner.message.endswith("(within the saved tool 'spent')")
    assert inner.line == 2
    program = 'x = spent(city="Bonn", least=1)\ny = 1\nlist_orders(city="Bonn")[int(x)]\nspent(city="Oslo", least=1)\n'
    own = execute(program)
    assert own.attempts[-1].trace.failure.line == 3


def test_the_gateway_searches_describes_and_runs_saved_tools(saved, config):
    saved()
    with open_agent(config, with_model=False) as agent:
        shop = Gateway(agent)
        assert any(
            "def spent(*, city: str, least: int)" in line
            for line in shop.search_tools("cost of orders")["tools"]
        )
        stub = shop.describe_tools(["spent"])
        assert "def spent(*, city: str, least: int) -> float:" in stub
        assert "Such as 'Bonn'." in stub
        reply = shop.run_program('print(spent(city="Bonn", least=1))')
        assert (reply["status"], reply["answer"]) == ("solved", 24.5)
        assert reply["calls"][0].startswith('line 1: spent: list_orders(city="Bonn")')
        # As a plain tool of MCP its answer is what the program gives, and a bad argument is refused.
        assert shop.call("spent", {"city": "Oslo", "least": 1})["result"] == 7.5
        assert "least" in shop.call("spent", {"city": "Oslo"})["error"]
        assert "no such city" in shop.call("spent", {"city": "Nowhere", "least": 1})["error"]


NOTE = 'note = add_note(text="tea")\nprint({"note": note["id"], "said": "tea"})\n'


def test_an_inner_write_asks_and_is_sent_once(saved, execute, tmp_path):
    protocol = saved(
        "note_down",
        program=NOTE,
        task="Note tea down.",
        parameters=["text=tea"],
        writes=("--allow-writes", "add_note"),
    )
    assert protocol["annotations"]["readOnlyHint"] is False
    assert sent(tmp_path) == ["tea"]
    paused = execute('note_down(text="milk")\nprint(missing)\n')
    assert paused.status == "failed"  # the check finds it
    paused = execute('x = note_down(text="milk")\nprint(x["note"] // (x["note"] - 7))\n')
    assert paused.status == "paused"
    assert "add_note may change something" in paused.attempts[-1].trace.failure.message
    assert sent(tmp_path) == ["tea"]
    failed = execute(
        paused.attempts[-1].program.source, continues=paused.run_id, allow_writes=("add_note",)
    )
    assert failed.status == "failed"
    assert sent(tmp_path) == ["tea", "milk"]
    program = 'y = 1\nx = note_down(text="milk")\nprint(x["note"])\n'
    corrected = execute(program, continues=failed.run_id, allow_writes=("add_note",))
    assert (corrected.status, corrected.answer) == ("solved", "7")
    assert corrected.attempts[-1].trace.calls[0].reused
    assert sent(tmp_path) == ["tea", "milk"]


@pytest.mark.parametrize(
    ("program", "answer", "again"),
    [
        ('print("Bonn:", len(list_orders(city="Bonn")))', "Bonn: 2", "'Bonn: 1'"),
        ('n = len(list_orders(city="Bonn"))\nprint(f"{n}")', "2", "'1'"),
        ('for o in list_orders(city="Bonn"):\n    print(o["id"])', "1\n2", "3"),
    ],
)
def test_a_saved_tool_returns_what_its_program_prints(saved, execute, program, answer, again):
    saved("told", program=program, task="How many orders are in Bonn?", parameters=["city=Bonn"])
    solution = execute('print(repr(told(city="Oslo")))\n')
    assert solution.attempts[-1].fault is None
    assert solution.answer == again


def test_a_saved_tool_is_called_without_model(saved, atc_):
    saved()
    shop = ("--tools", "shop.py")
    code, out, err = atc_("tools", "call", "spent", "city=Oslo", "least=2", *shop)
    assert (code, out, err) == (0, "7.5\n", "")
    code, out, _ = atc_("tools", "call", "spent", "city=Bonn", "least=1", *shop, "--json")
    report = json.loads(out)
    assert (code, report["result"], report["outcome"]) == (0, 24.5, "done")
    (run,) = json.loads(atc_("runs", "list", "--json", "--limit", "1")[1])
    assert (run["run_id"], run["task"]) == (report["run_id"], "spent(city='Bonn', least=1)")
    shown = atc_("tools", "show", "spent", *shop)[1]
    assert "What do the orders of <city> above <least> cost?" in shown
    assert "city: Such as 'Bonn'." in shown
    for word, said in [("least=x", "'least' must be an integer"), ("town=x", "no argument 'town'")]:
        code, out, err = atc_("tools", "call", "spent", "city=Oslo", word, *shop)
        assert (code, out, err.count("\n"), said in err) == (2, "", 1, True), err
    code, out, err = atc_("tools", "call", "spent", "city=Nowhere", "least=1", *shop, "--json")
    assert (code, "no such city" in json.loads(out)["error"]) == (1, True), err


def test_a_called_saved_tool_asks_for_consent(saved, atc_, tmp_path):
    allowed = ("--allow-writes", "add_note")
    saved("note_down", program=NOTE, task="Note tea down.", parameters=["text=tea"], writes=allowed)
    words = ("tools", "call", "note_down", "text=milk", "--tools", "shop.py")
    code, out, err = atc_(*words)
    assert (code, out, sent(tmp_path)) == (1, "", ["tea"])
    assert "add_note may change something and was not allowed" in err
    assert atc_("runs", "resume", "last", *allowed)[0] == 0
    assert sent(tmp_path) == ["tea", "milk"]
    assert atc_(*words, *allowed)[0] == 0
    assert sent(tmp_path) == ["tea", "milk", "milk"]


def test_a_docstring_describes_a_program(config, atc_):
    program = '"""Count the orders of a city."""\n\nprint(len(list_orders(city=city)))\n'
    (config.state_dir.parent / "count.py").write_text(program)
    assert atc_("exec", "count.py", "--tools", "shop.py", "--arg", "city=Bonn")[:2] == (0, "2\n")
    saving = ("runs", "save", "last", "--as-tool", "count_orders", "--parameter", "city=Bonn")
    code, out, err = atc_(*saving, "--json")
    assert code == 0, err
    assert json.loads(out)["protocol"]["description"] == "Count the orders of a city."
    words = ("tools", "call", "count_orders", "city=Oslo", "--tools", "shop.py")
    assert atc_(*words)[:2] == (0, "1\n")


@pytest.mark.parametrize("backend", ["docker", "monty"])
def test_every_sandbox_runs_a_saved_tool(saved, execute, backend, monkeypatch):
    from sandbox.choose import availability

    if reason := availability(backend).reason:
        pytest.skip(reason)
    monkeypatch.setenv("ATC_SANDBOX", backend)
    saved("spent")
    program = 'a = spent(city="Oslo", least=2)\nspent(city="Bonn", least=1)\nspent(city="Nowhere", least=1)\n'
    last = execute(program, sandbox=backend).attempts[-1]
    assert last.trace.backend == backend
    assert [(call.tool, call.line, call.within) for call in last.trace.calls] == [
        ("list_orders", line, "spent") for line in ((0, 0, 0) if backend == "monty" else (1, 2, 3))
    ]
    assert last.fault.line == 3
    assert execute('print(spent(city="Bonn", least=10))', sandbox=backend).answer == "20.5"


def test_a_refused_save_says_the_next_step(saved, execute, atc_, config):
    saved()
    for arguments, said in [
        (["--as-tool", "list_orders"], "is the name of a tool"),
        (["--as-tool", "no-name"], "'no_name' would be one"),
        (["--as-tool", "spent"], "--force"),
        (
            ["--as-tool", "more", "--parameter", "city=Rome"],
            "has no literal 'Rome'; those that it has: 'Bonn', 10",
        ),
        (["--as-tool", "more", "--parameter", "city"], "NAME=LITERAL"),
        (["--as-tool", "more", "--parameter", "list_orders=Bonn"], "would hide"),
        (["--as-tool", "more", "--parameter", "order=Bonn"], "sets 'order' to something else"),
        (["--as-tool", "more", "--parameter", "a=Bonn", "--parameter", "b=Bonn"], "same literal"),
    ]:
        code, _, err = atc_("runs", "save", "last", *arguments)
        assert (code, said in err) == (2, True), err
    for source, said in [
        ("print(1 / 0)", "is failed; only a solved run becomes a tool"),
        ('print(spent(city="Bonn", least=10))', "calls 'spent', which is itself a saved tool"),
    ]:
        execute(source)
        code, _, err = atc_("runs", "save", "last", "--as-tool", "more")
        assert (code, said in err) == (2, True), err
    assert [path.name for path in (config.state_dir / "saved-tools").iterdir()] == ["spent.json"]


def test_sources_bring_no_saved_tool(saved, atc_, config, tmp_path):
    saved()
    (tmp_path / "other.py").write_text('def ping() -> str:\n    """Ping."""\n    return "pong"\n')
    _, out, err = atc_("tools", "list", "--tools", "other.py")
    assert "spent" not in out
    assert "spent.json is not offered: it calls list_orders, which is not among these tools" in err
    (config.state_dir / "saved-tools").rename(tmp_path / "given")
    code, _, err = atc_("tools", "list", "--tools", tmp_path / "given", "--tools", "shop.py")
    assert (code, "it is a saved program" in err) == (2, True)


def test_a_saved_tool_contains_no_secret(solved, atc_, config):
    key = "sk-abcdefghijklmnopqrstuvwxyz012345"
    program = f'token = "{key}"\nprint(len(list_orders(city="Bonn")), len(token))\n'
    solved(program, "How many orders has Bonn?")
    code, _, err = atc_("runs", "save", "last", "--as-tool", "counted")
    assert code == 2
    assert "make it a parameter" in err
    assert key not in err
    code, out, err = atc_(
        "runs", "save", "last", "--as-tool", "counted", "--parameter", f"token={key}", "--json"
    )
    assert code == 0, err
    assert key not in out


def test_without_parameters_it_says_which_there_could_be(solved, atc_):
    solved()
    code, _, err = atc_("runs", "save", "last", "--as-tool", "spent")
    assert (code, "What can be a --parameter of it: 'Bonn', 10." in err) == (0, True), err


def test_a_run_with_saved_tools_replays(saved, execute, atc_, tmp_path, config):
    saved()
    execute('print(spent(city="Bonn", least=10))')
    with open_store(config) as store:
        assert store.load("last").summary.status == "solved"
    (config.state_dir / "saved-tools" / "spent.json").unlink()
    code, _, err = atc_("runs", "export", "last", "-o", "run.json")
    assert code == 0, err
    code, out, err = atc_("runs", "replay", "run.json")
    assert code == 0, err
    assert "20.5" in out
