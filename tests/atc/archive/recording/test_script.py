"""Scripts made of solved runs: they send what the run sent, and give the answer it gave."""

from __future__ import annotations

import ast
import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import pytest

from atc.archive.recording import InvalidRecording, Recording
from atc.archive.recording.script import to_script
from atc.core.task import TaskContext
from protocols.protocol import Annotations, HttpBinding, McpBinding, PythonBinding, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import Trace
from tests.labs.loopback import Reply, serving

pytestmark = pytest.mark.usefixtures("shared_sandbox")


def protocol(
    name="act",
    method="GET",
    url="/",
    *,
    properties=None,
    required=(),
    output=None,
    more=False,
    **binding,
):
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
    tools = {
        tool.alias: tool.protocol for tool in Toolbox(Tool(p, print) for p in protocols).values()
    }
    return Recording(
        run="20261122-010203-abcd",
        task=task,
        answer=stdout.strip() or json.dumps(value),
        program=program,
        tools=tools,
        trace=Trace(stdout=stdout, value=value, backend="zygote"),
    )


def output(script, *given, code=0, **variables):
    """What a script prints, run in this process. It must end with the exit status `code`."""
    printed = StringIO()
    compiled = compile(script, "script.py", "exec", dont_inherit=True)
    with redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["script.py", *given])
        with pytest.raises(SystemExit) as end:
            exec(compiled, {"__name__": "__main__"})
    assert end.value.code == code
    return printed.getvalue()


def data_of(script):
    """The one JSON text of a script, which is all that is not ours."""
    texts = [node.value for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Constant)]
    [text] = [text for text in texts if "{" in text]
    return json.loads(text)


def script_of(program, *protocols, **about):
    return to_script(recorded(program, *protocols, **about))


PROGRAMS = {
    "the value of the last expression": ("rows = act()\nmax(rows, key=len)\n", "", "ccc", "ccc\n"),
    "top-level await": (
        ("import asyncio\n\ntext = '''two\nlines'''\n"
        "rows = await asyncio.gather(*[asyncio.to_thread(act) for _ in range(3)])\nprint(len(rows), repr(text))\n"),
        "x", None, "3 'two\\nlines'\n",
    ),
    "a global beside an await": (
        ("import asyncio\ncount = 0\ndef add():\n    global count\n    count += 1\nadd()\n"
        "await asyncio.sleep(0)\nprint(count, f'''{\n count}\n''')"),
        "x", None, "1 1\n",
    ),
    "imports from the future": (
        "# first\nfrom __future__ import annotations\ndef f(x: nowhere): return x\nprint(f(act()[0]))", "x", None, "a\n"
    ),
    "line ends of another system": ("print(act()[0])\r\nprint(2)\r\n", "x", None, "a\n2\n"),
    "quotes and names of the script's own": (
        "PROGRAM = TOOLS = act()\nprint(act()[1], \"\"\"'\"\\n\"\"\".strip())", "x", None, "ccc '\"\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("program", "stdout", "value", "printed"), PROGRAMS.values(), ids=PROGRAMS.keys()
)
def test_a_program_runs_as_a_script(program, stdout, value, printed):
    with serving(lambda _: Reply(body=["a", "ccc"])) as server:
        script = script_of(program, protocol(url=f"{server.url}/x"), stdout=stdout, value=value)
        assert output(script) == printed


def test_only_arguments_of_a_program_are_trusted(tmp_path):
    """The task of such a run only names it: neither its words nor parts of an argument count."""
    text = {"type": "string"}
    with serving(lambda _: Reply(body={"ok": True})) as server:
        send = protocol("send", "POST", f"{server.url}/x", properties={"to": text, "text": text})
        program = "print(send(to=who, text='x')['ok'])\n"
        context = TaskContext(
            arguments={"who": "ann@example.org", "note": "not bob@example.org"}, names_program=True
        )
        for address, code in [("ann@example.org", 0), ("bob@example.org", 1)]:
            run = recorded(f"who = '{address}'\n{program}", send, task="exec a.py bob@example.org")
            script = to_script(replace(run, context=context))
            assert data_of(script)["task"] == ""
            output(script, "--allow-writes", code=code, XDG_STATE_HOME=str(tmp_path))
        assert len(server.seen) == 1


def test_credentials_come_from_the_configuration(tmp_path):
    with serving() as server:
        (tmp_path / "atc").mkdir()
        (tmp_path / "atc" / "config.toml").write_text(
            f'[credentials.token]\nvalue = "env:NOTES_TOKEN"\nhosts = ["{server.netloc}"]\nname = "X-Key"\n'
        )
        tool = protocol(url=f"{server.url}/x", credentials=("unused", "token"))
        script = script_of("print(act()['ok'])", tool)
        assert data_of(script)["credentials"] == ["unused", "token"]
        assert output(script, NOTES_TOKEN="s3cret", XDG_CONFIG_HOME=str(tmp_path)) == "True\n"
        assert server.last.headers["x-key"] == "s3cret"


@pytest.mark.parametrize(
    "text", ['"""\nimport os', "a\rimport os; os.abort()", "a\x0cb\x00c", "# \u2028import os", "\\"]
)
def test_texts_of_a_run_are_never_code(text):
    with serving() as server:
        tool = replace(protocol(url=f"{server.url}/x"), description=text, title=text)
        script = to_script(replace(recorded("print(act()['ok'])", tool, task=text), answer=text))
        assert output(script) == "True\n"
    assert data_of(script)["task"] == data_of(script)["answer"] == text


def test_a_write_is_sent_under_a_key():
    with serving() as server:
        tool = protocol(method="POST", url=f"{server.url}/x", idempotency_header="Idempotency-Key")
        assert output(script_of("print(act()['ok'])", tool), "--allow-writes") == "True\n"
        assert len(server.last.headers["idempotency-key"]) == 32


def test_uncallable_tools_and_missing_answers_are_refused():
    for binding in (
        None,
        McpBinding(server="s", tool="t"),
        PythonBinding(module="maths", function="act"),
    ):
        with pytest.raises(InvalidRecording, match="so a script cannot call it"):
            script_of("act()", ToolProtocol(name="act", binding=binding))
    with pytest.raises(InvalidRecording, match="it has no answer"):
        to_script(replace(recorded("1 / 0"), answer=None))


def test_a_script_names_its_missing_value_and_stops(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["script.py"])
    recording = replace(
        recorded("print('[redacted-str-8-p0.1]')"), secrets=("[redacted-str-8-p0.1]",)
    )
    script = to_script(recording)
    assert data_of(script)["redacted"] == ["[redacted-str-8-p0.1]"]
    with pytest.raises(SystemExit) as end:
        exec(compile(script, "script.py", "exec"), {"__name__": "__main__"})
    assert end.value.code == 2
    assert "'[redacted-str-8-p0.1]' stands for a value that was left out" in capsys.readouterr().err
    assert output(script.replace('redacted-str-8-p0.1]\\u0027)"', 'x]\\u0027)"')) == "[x]\n"
