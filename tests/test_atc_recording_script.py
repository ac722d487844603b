"""Scripts made of solved runs: they send what the run sent, and give the answer it gave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest

from atc.recording.recording import InvalidRecording, Recording
from atc.recording.script import to_script
from protocols.errors import ToolError
from protocols.invoke import Credential, Invoker, InvokeSettings
from protocols.protocol import Annotations, HttpBinding, McpBinding, PythonBinding, ToolProtocol
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace
from tests.loopback import Reply, serving

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def protocol(name="act", method="GET", url="/", *, properties=None, required=(), output=None, more=False, **binding):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    if more:
        schema["additionalProperties"] = True
    return ToolProtocol(
        name=name,
        input_schema=schema,
        output_schema=output,
        annotations=Annotations(read_only=method == "GET"),
        binding=HttpBinding(method=method, url=url, **binding),
    )


def recorded(program, *protocols, stdout="x\n", value=None, task="A task."):
    tools = {tool.alias: tool.protocol for tool in Toolbox(Tool(p, print) for p in protocols).values()}
    return Recording(
        run="20261122-010203-abcd",
        task=task,
        status="solved",
        answer=stdout.strip() or json.dumps(value),
        program=program,
        tools=tools,
        trace=Trace(stdout=stdout, value=value, backend="zygote"),
    )


def output(script, **variables):
    """What a script prints, run in this process."""
    printed = StringIO()
    with redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        exec(compile(script, "script.py", "exec", dont_inherit=True), {"__name__": "__main__"})
    return printed.getvalue()


def script_of(program, *protocols, credentials=None, **about):
    return to_script(recorded(program, *protocols, **about), credentials=credentials or {}, modules={})


SENT = {
    "query": (
        {"properties": {"q": TEXT, "n": WHOLE, "on": {"type": "boolean"}, "x": {"type": "number"}}},
        {"q": "a b&c=é/☃", "n": 3, "on": True, "x": 0.5},
    ),
    "nothing given": ({"properties": {"q": TEXT}}, {}),
    "none is left out": ({"properties": {"q": TEXT, "n": WHOLE}}, {"q": None, "n": None}),
    "a whole float": ({"properties": {"n": WHOLE}}, {"n": 3.0}),
    "lists and objects": (
        {"properties": {"ids": {"type": "array"}, "where": {"type": "object"}}},
        {"ids": ["a", 2, None], "where": {"k": "v", "l": [1, 2]}},
    ),
    "a joined list": ({"properties": {"ids": {"type": "array", "x-atc-join": "|"}}}, {"ids": ["a", "b c"]}),
    "path": (
        {"url": "/users/{id}/notes/{note-id}", "properties": {"id": TEXT, "note-id": WHOLE}, "required": ["id"]},
        {"id": "a/../b?c", "note-id": 7},
    ),
    "a list in the path": ({"url": "/of/{ids}", "properties": {"ids": {"type": "array"}}}, {"ids": ["a,b", 2]}),
    "a query in the template": (
        {"url": "/s?kind=a&by={by}", "properties": {"by": TEXT, "q": TEXT}},
        {"by": "x y", "q": "z"},
    ),
    "headers and cookies": (
        {
            "properties": {"trace": TEXT, "lang": TEXT},
            "locations": {"trace": "header", "lang": "cookie"},
            "wire_names": {"trace": "X-Trace"},
        },
        {"trace": "t1", "lang": "de"},
    ),
    "body": (
        {"method": "POST", "properties": {"text": TEXT, "from": TEXT}, "wire_names": {"from": "sender"}},
        {"text": 'é "x"', "from": "me"},
    ),
    "an empty body": ({"method": "POST", "properties": {"text": TEXT}}, {}),
    "null in a body": (
        {"method": "PATCH", "properties": {"text": {"type": ["string", "null"]}, "stars": WHOLE}},
        {"text": None, "stars": None},
    ),
    "form": (
        {"method": "POST", "properties": {"a": TEXT, "b": WHOLE}, "locations": {"a": "form", "b": "form"}},
        {"a": "x y&z", "b": 2},
    ),
    "a whole body": (
        {"method": "PUT", "properties": {"it": {}, "q": TEXT}, "body_argument": "it"},
        {"it": [1, {"a": None}], "q": "z"},
    ),
    "a body of text": (
        {
            "method": "POST",
            "properties": {"it": {"type": "string", "contentMediaType": "text/csv"}},
            "body_argument": "it",
        },
        {"it": "a;b\nc;d"},
    ),
    "delete": (
        {"method": "DELETE", "url": "/n/{id}", "properties": {"id": TEXT, "why": TEXT}},
        {"id": "5", "why": "x"},
    ),
    "more than was declared": ({"properties": {"q": TEXT}, "more": True}, {"q": "a", "z": "b"}),
}


@pytest.mark.parametrize(("how", "arguments"), SENT.values(), ids=SENT.keys())
def test_a_script_sends_what_atc_sends(how, arguments):
    with serving() as server, Invoker() as invoker, open_sandbox("trusted") as sandbox:
        tool = protocol(**{**how, "url": server.url + how.get("url", "/things")})
        toolbox = Toolbox([Tool(tool, invoker.bind(tool))])
        aliases = {name: alias for alias, name in toolbox["act"].arguments.items()}
        given = {aliases.get(name, name): value for name, value in arguments.items()}
        program = f"print(act(**{given!r})['ok'])"
        trace = sandbox.run(program, toolbox, limits=Limits(), journal=Journal())
        assert trace.stdout == "True\n", trace
        assert output(script_of(program, tool)) == "True\n"
        by_atc, by_script = server.seen
    assert by_script.method == by_atc.method
    assert (by_script.path, by_script.query, by_script.body) == (by_atc.path, by_atc.query, by_atc.body) or (
        json.loads(by_script.body) == json.loads(by_atc.body) and by_script.target == by_atc.target
    )
    for name in ("content-type", "accept", "cookie", "x-trace"):
        assert by_script.headers.get(name) == by_atc.headers.get(name)


WRAPPED = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
GIVEN = {
    "unwrapped": (Reply(body={"rows": [1, 2]}), WRAPPED),
    "whole": (Reply(body={"rows": [1, 2], "next": None}), None),
    "json without saying so": (Reply(body=b"[1, 2.0, null]", headers={"Content-Type": "text/plain"}), None),
    "text": (Reply(body="12 é".encode(), headers={"Content-Type": "text/plain; charset=utf-8"}), TEXT),
    "text that looks like a number": (Reply(body=b"12", headers={"Content-Type": "text/plain"}), TEXT),
    "latin": (Reply(body="é".encode("latin-1"), headers={"Content-Type": "text/plain; charset=iso-8859-1"}), TEXT),
    "nothing": (Reply(status=204, body=b""), None),
}


@pytest.mark.parametrize(("reply", "schema"), GIVEN.values(), ids=GIVEN.keys())
def test_a_script_reads_what_atc_reads(reply, schema):
    with serving(lambda _: reply) as server, Invoker() as invoker:
        tool = Tool(protocol(url=f"{server.url}/x", output=schema), print)
        value = tool.unwrap(invoker.bind(tool.protocol)({}))
        assert output(script_of("print(repr(act()))", tool.protocol)) == f"{value!r}\n"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404, body={"detail": "no such thing"}),
        Reply(status=400, body={"error": {"message": "bad"}}),
        Reply(status=500, body=b"oh dear", headers={"Content-Type": "text/plain"}),
        Reply(status=200, body=b"{cut"),
    ],
)
def test_a_script_fails_where_atc_fails(reply):
    with serving(lambda _: reply) as server, Invoker() as invoker:
        tool = protocol(method="POST", url=f"{server.url}/x")
        with pytest.raises(ToolError) as caught:
            invoker.bind(tool)({})
        program = "try:\n    act()\nexcept ToolError as error:\n    print(error.status, error.body)"
        status, _, body = output(script_of(program, tool)).partition(" ")
    assert status == str(caught.value.status)
    assert body.strip() == caught.value.body or reply.status == 200


def test_a_read_of_a_busy_service_is_asked_again():
    replies = iter([Reply(status=503), Reply(body={"ok": 1})])
    with serving(lambda _: next(replies)) as server:
        assert output(script_of("print(act())", protocol(url=f"{server.url}/x"))) == "{'ok': 1}\n"
        assert len(server.seen) == 2


PROGRAMS = {
    "the value of the last expression": ("rows = act()\nmax(rows, key=len)\n", "", "ccc", "ccc\n"),
    "a value that is not text": ("{'n': len(act()),  # é\n 'first': act()[0]}", "", {}, '{"n": 2, "first": "a"}\n'),
    "two statements on a line": ("rows = act(); len(rows)", "", 2, "2\n"),
    "top-level await": (
        ("import asyncio\n\ntext = '''two\nlines'''\n"
        "rows = await asyncio.gather(*[asyncio.to_thread(act) for _ in range(3)])\nprint(len(rows), repr(text))\n"),
        "x", None, "3 'two\\nlines'\n",
    ),
    "a global beside an await": (
        ("import asyncio\ncount = 0\ndef add():\n    global count\n    count += 1\nadd()\n"
        "await asyncio.sleep(0)\nprint(count, f'''{\n count}\n''')"),
        "x", None, "1 1\n\n",
    ),
    "an awaited last expression": ("import asyncio\nawait asyncio.to_thread(act)", "", [], '["a", "ccc"]\n'),
    "imports from the future": (
        "# first\nfrom __future__ import annotations\ndef f(x: nowhere): return x\nprint(f(act()[0]))", "x", None, "a\n"
    ),
    "line ends of another system": ("print(act()[0])\r\nprint(2)\r\n", "x", None, "a\n2\n"),
    "names of the script's own": ("json = requests = quote = act()\nprint(act()[1])", "x", None, "ccc\n"),
}  # fmt: skip


@pytest.mark.parametrize(("program", "stdout", "value", "printed"), PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_runs_as_a_script(program, stdout, value, printed):
    with serving(lambda _: Reply(body=["a", "ccc"])) as server:
        script = script_of(program, protocol(url=f"{server.url}/x"), stdout=stdout, value=value)
        assert output(script) == printed


CREDENTIALS = {
    "token": {"value": "env:NOTES_TOKEN", "place": "header", "name": "Authorization", "prefix": "Bearer "},
    "key": {"value": "***", "place": "query", "name": "api_key", "prefix": ""},
    "jar": {"value": "file:x", "place": "cookie", "name": "sid", "prefix": ""},
}


@pytest.mark.parametrize("name", CREDENTIALS)
def test_credentials_come_from_the_environment(name):
    with serving() as server:
        entry = CREDENTIALS[name] | {"hosts": [server.netloc]}
        tool = protocol(url=f"{server.url}/x", credentials=("unused", name))
        script = script_of("print(act()['ok'])", tool, credentials={name: entry})
        variable = "NOTES_TOKEN" if name == "token" else name.upper()
        assert f"environment variable {variable} (sent to {server.netloc})" in script
        assert output(script, **{variable: "s3cret"}) == "True\n"
        settings = {"place": entry["place"], "name": entry["name"], "prefix": entry["prefix"]}
        credential = Credential(value="s3cret", hosts=(server.netloc,), **settings)
        with Invoker(InvokeSettings(credentials={name: credential})) as invoker:
            invoker.bind(tool)({})
        by_script, by_atc = server.seen
        assert by_script.target == by_atc.target
        assert [by_script.headers.get(n) for n in ("authorization", "cookie")] == [
            by_atc.headers.get(n) for n in ("authorization", "cookie")
        ]
        with pytest.raises(SystemExit, match=f"set {variable}"):
            output(script, **{variable: ""})


def test_a_credential_does_not_follow_a_redirect():
    with serving() as other:
        with serving(lambda _: Reply(status=302, headers={"Location": f"{other.url}/taken"})) as server:
            entry = CREDENTIALS["token"] | {"name": "X-Key", "hosts": [server.netloc]}
            tool = protocol(url=f"{server.url}/x", credentials=("token",))
            program = "try:\n    act()\nexcept ToolError as error:\n    print(error.status)"
            script = script_of(program, tool, credentials={"token": entry})
            assert output(script, NOTES_TOKEN="s3cret") == "302\n"
        assert other.seen == []


def test_a_credential_goes_to_no_other_host():
    tool = protocol(url="https://b.example/x", credentials=("token",))
    with pytest.raises(InvalidRecording, match=r"would send a credential to b\.example"):
        script_of("act()", tool, credentials={"token": CREDENTIALS["token"] | {"hosts": ["a.example"]}})


@pytest.mark.parametrize(
    "text",
    ['"""\nimport os', "a\nimport os; os.abort()", "a\rimport os", "a\x0cb\x00c", "# \u2028import os", "\\", "é☃"],
)
def test_nothing_that_a_task_or_an_answer_says_is_code(text):
    with serving() as server:
        tool = replace(protocol(url=f"{server.url}/x"), description=text, title=text)
        script = to_script(
            replace(recorded("print(act()['ok'])", tool, task=text), answer=text), credentials={}, modules={}
        )
        assert output(script) == "True\n"
    assert not [line for line in script.splitlines() if line.startswith("import os;")]


def test_a_write_is_sent_under_a_key_and_the_script_warns():
    with serving() as server:
        tool = protocol(method="POST", url=f"{server.url}/x", idempotency_header="Idempotency-Key")
        script = script_of("print(act()['ok'])", tool)
        assert output(script) == "True\n"
        assert len(server.last.headers["idempotency-key"]) == 32
    assert "# It changes things: each run does so again." in script


def test_functions_of_a_python_module_are_loaded(tmp_path):
    (tmp_path / "maths.py").write_text(
        "import datetime\n\ndef twice(number: int, day: datetime.date) -> dict:\n"
        "    return {'result': 2 * number, 'day': day}\n"
    )
    tools = load_tools(str(tmp_path / "maths.py"))
    recording = recorded("print(twice(number=4, day='2026-01-02'))", tools["twice"].protocol)
    script = to_script(recording, credentials={}, modules={"maths": str(tmp_path / "maths.py")})
    assert "# Needs Python 3.11, automatic-tool-chain." in script
    assert output(script) == "{'result': 8, 'day': '2026-01-02'}\n"


@pytest.mark.parametrize(
    ("binding", "problem"),
    [
        (None, "has no binding, so a script cannot call it"),
        (McpBinding(server="s", tool="t"), "belongs to an MCP server"),
    ],
)
def test_a_tool_that_no_script_can_call(binding, problem):
    with pytest.raises(InvalidRecording, match=problem):
        script_of("act()", ToolProtocol(name="act", binding=binding))


def test_a_run_without_an_answer_has_no_script():
    recording = replace(recorded("1 / 0"), answer=None)
    with pytest.raises(InvalidRecording, match="it has no answer"):
        to_script(recording, credentials={}, modules={})


def test_a_redacted_value_is_named():
    recording = replace(recorded("print('[redacted-str-8-p0.1]')"), secrets=("[redacted-str-8-p0.1]",))
    script = to_script(recording, credentials={}, modules={})
    assert "# [redacted-str-8-p0.1] stands for a value that was redacted; put it in." in script


def test_it_runs_by_itself_in_a_process_of_its_own(tmp_path):
    rows = [{"id": "a", "stars": 3}, {"id": "b", "stars": 5}]
    with serving(lambda seen: Reply(body={"rows": rows} if seen.path == "/notes" else rows[1])) as server:
        tools = [
            protocol("list_notes", url=f"{server.url}/notes", output=WRAPPED),
            protocol("get-note", url=f"{server.url}/notes/{{id}}", properties={"id": TEXT}, required=["id"]),
        ]
        program = "best = max(list_notes(), key=lambda note: note['stars'])\nprint(get_note(id=best['id'])['stars'])"
        script = tmp_path / "solved.py"
        script.write_text(script_of(program, *tools, stdout="5\n"))
        (tmp_path / "atc").mkdir()
        (tmp_path / "atc" / "__init__.py").write_text("raise ImportError('a script needs none of it')")
        done = subprocess.run(
            [sys.executable, script],
            capture_output=True, text=True, cwd=tmp_path, timeout=60,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert (done.stdout, done.stderr, done.returncode) == ("5\n", "", 0)
        assert [seen.path for seen in server.seen] == ["/notes", "/notes/b"]


def test_a_python_binding_without_a_source_is_loaded_by_its_module_name():
    tool = ToolProtocol(name="act", binding=PythonBinding(module="some.module", function="act"))
    assert "_tools = load_tools('some.module')" in script_of("act()", tool)
