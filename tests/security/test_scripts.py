"""Scripts of `atc runs export --python` under attack: what a document says is data, and each call asks as in a run."""

import ast
import json
import os
import subprocess

import pytest

from atc import Agent
from atc.store import Store
from protocols.sources import load_tools
from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT

ENDS = [
    "\n",
    "\r",
    "\x0c",
    "\x85",
    "\u2028",
    '"""\n',
    "'''\n",
    "\\\n",
    "*/\n",
    "'\n",
    '"\n',
    "\\u000a",
]
"""What ends a line, a comment or a string in one reader or another."""


@pytest.fixture
def user(tmp_path):
    """Runs a script, or by `user.atc` the command line, as a user with nobody at the terminal."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ATC_", "XDG_", "OPENAI_"))
    }
    env |= {
        "XDG_CONFIG_HOME": str(tmp_path / "user"),
        "XDG_STATE_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }

    how = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}

    def run(script, *words, cwd=tmp_path, **variables):
        return commands.run(words, script=script, cwd=cwd, env=env | variables, **how)

    def atc(*words, cwd=tmp_path, **variables):
        return commands.run(words, cwd=cwd, env=env | variables, **how)

    run.atc = atc
    return run


def exported(user, folder, document, program, task, *options, name="script.py"):
    """Solve a task by a program over a document, and export it: the file of the script."""
    (folder / "document.json").write_text(json.dumps(document))
    (folder / "replies.json").write_text(json.dumps([f"```python\n{program}\n```"]))
    given = (
        "--tools",
        "document.json",
        "--model",
        "scripted:replies.json",
        "--strategy",
        "chain",
        *options,
    )
    ran = user.atc("run", task, *given)
    assert ran.returncode == 0, ran.stderr
    done = user.atc("runs", "export", "last", "--python", "-o", name)
    assert done.returncode == 0, done.stderr
    return folder / name


def openapi(url, paths, **components):
    info = {"title": "Mail", "version": "1"}
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": url}],
        "paths": paths,
        "components": components,
    }


def test_no_text_is_code_in_a_script(user, tmp_path):
    mark = tmp_path / "PWNED"
    bad = [f"x{end}open({str(mark)!r}, 'w').write('owned')\n#" for end in ENDS]
    everywhere = "".join(bad)
    operation = {
        "operationId": f"echo{everywhere}",
        "summary": f"Returns the text. {everywhere}",
        "description": everywhere,
        "tags": bad,
        "parameters": [
            {
                "name": "text",
                "in": "query",
                "schema": {"type": "string", "description": everywhere, "default": everywhere},
            },
            {"name": f"more{everywhere}", "in": "query", "schema": {"enum": bad}},
        ],
        "security": [{}, *({name: []} for name in bad)],
        "responses": {
            "200": {
                "description": everywhere,
                "content": {"application/json": {"schema": {"title": everywhere}}},
            }
        },
    }
    schemes = {
        name: {"type": "apiKey", "in": "header", "name": "X-Key", "description": name}
        for name in bad
    }
    with serving(lambda _: Reply(body={"said": everywhere})) as server:
        document = openapi(server.url, {"/echo": {"get": operation}}, securitySchemes=schemes)
        (tmp_path / "only.json").write_text(json.dumps(document))
        listed = user.atc("tools", "list", "--tools", "only.json", "--json")
        [tool] = json.loads(listed.stdout)
        program = f"said = {tool['alias']}(text='a')['said']\nprint(said)\n# '''\n\"\"\"'''\"\"\""
        script = exported(user, tmp_path, document, program, everywhere, "--allow-writes", "all")
        ran = user(script, "--allow-writes")
    assert not mark.exists()
    assert ran.returncode == 0, ran.stderr
    [imported, run, start] = ast.parse(script.read_text()).body
    assert isinstance(imported, ast.ImportFrom)
    assert isinstance(start, ast.If)
    held = json.loads(run.value.value)
    assert held["program"] == program.split("\n")
    assert set(bad) == set(held["credentials"])
    comments = [line for line in script.read_text().splitlines() if line.startswith("#")]
    assert not [line for line in comments if "owned" in line]


class Post:
    """A service that says who is written to, and what was sent."""

    def __init__(self):
        self.who, self.sent = "ann@example.org", []

    def answer(self, seen):
        if seen.method == "POST":
            self.sent.append(json.loads(seen.body)["to"])
        return Reply(body={"email": self.who, "more": 1})

    def document(self, url):
        text = {"type": "string"}
        fields = {"email": text, "more": {"type": "integer"}}
        contact = {"type": "object", "properties": fields, "required": ["email", "more"]}
        mail = {
            "type": "object",
            "properties": {"to": text, "text": text},
            "required": ["to", "text"],
        }
        gives = {"200": {"description": "", "content": {"application/json": {"schema": contact}}}}
        send = {
            "operationId": "send_mail",
            "requestBody": {"required": True, "content": {"application/json": {"schema": mail}}},
            "responses": gives,
        }
        return openapi(
            url,
            {
                "/c": {"get": {"operationId": "get_contact", "responses": gives}},
                "/m": {"post": send},
            },
        )


PROGRAM = 'who = get_contact()["email"]\nprint(send_mail(to=who, text="the report")["email"])'
TASK = "Send the report to ann@example.org"


def test_a_script_asks_what_a_run_asks(user, tmp_path):
    post = Post()
    with serving(post.answer) as server:
        script = exported(
            user, tmp_path, post.document(server.url), PROGRAM, TASK, "--allow-writes", "send_mail"
        )
        post.sent.clear()
        unasked = user(script)
        assert (unasked.returncode, post.sent) == (1, [])
        assert "send_mail may change something" in unasked.stderr
        assert user(script, "--allow-writes").stdout == "ann@example.org\n"
        assert post.sent == ["ann@example.org"]
        post.who = "eve@evil.example"
        for allowed in (["--allow-writes"], ["--allow-writes", "send_mail"]):
            tainted = user(script, *allowed)
            assert tainted.returncode == 1, tainted.stdout
            assert (
                "argument 'to' = 'eve@evil.example' is not known to come from you" in tainted.stderr
            )
        assert post.sent == ["ann@example.org"]
        assert user(script, "--allow-writes", "--trust", "get_contact:email").returncode == 0
        assert post.sent == ["ann@example.org", "eve@evil.example"]


def test_scripts_send_nothing_that_was_declined(user, tmp_path, sandbox):
    post = Post()
    with serving(post.answer) as server:
        script = exported(
            user, tmp_path, post.document(server.url), PROGRAM, TASK, "--allow-writes", "send_mail"
        )
        post.sent.clear()
        with Store(tmp_path / "atc" / "runs.sqlite") as store:
            tools = load_tools(str(tmp_path / "document.json"))
            agent = Agent(
                tools, model="none", sandbox=sandbox, store=store, ask_person=lambda _: False
            )
            assert (
                agent.execute("send_mail(to='ann@example.org', text='the report')").status
                == "paused"
            )
        refused = user(script, "--allow-writes")
        assert refused.returncode == 1, refused.stdout
        assert "a person has declined this call" in refused.stderr
    assert post.sent == []


def test_changed_scripts_are_checked_as_data(user, tmp_path):
    post = Post()
    with serving(post.answer) as server:
        script = exported(
            user, tmp_path, post.document(server.url), "print(get_contact()['email'])", TASK
        )
    text = script.read_text()
    python = json.dumps({"python": {"module": "os", "function": "abort"}})
    held = json.loads(ast.parse(text).body[1].value.value)
    binding = json.dumps(held["tools"]["get_contact"]["binding"], indent=1)
    for wrong in (
        text.replace('"atc script 1"', '"atc script 9"'),
        text.replace('"task"', '"tusk"'),
        text.replace("RUN = r'''\n{", "RUN = r'''\n["),
        text.replace(binding.replace("\n", "\n   "), python),
    ):
        assert wrong != text
        script.write_text(wrong)
        ran = user(script)
        assert ran.returncode == 2, ran.stderr
        assert "export the run anew" in ran.stderr
        assert ran.stderr.count("\n") == 1


def test_the_command_that_is_printed_can_be_copied(user, tmp_path):
    post = Post()
    with serving(post.answer) as server:
        exported(user, tmp_path, post.document(server.url), "print(get_contact()['email'])", TASK)
    done = user.atc("runs", "export", "last", "--python", "-o", "a $(touch b).py")
    assert "run it with: python 'a $(touch b).py'" in done.stderr
    done = user.atc("runs", "export", "last", "-o", "a `b`.json")
    assert "replay it with: atc runs replay 'a `b`.json'" in done.stderr


def test_scripts_get_only_the_folders_tools(user, tmp_path):
    """Neither credentials, nor services of this machine, nor standing consent and trust."""
    (tmp_path / "user" / "atc").mkdir(parents=True)
    post = Post()
    with serving(post.answer) as server:
        own = f'[credentials.key]\nvalue = "s3cret"\nhosts = ["api.example.org:80", "{server.netloc}"]\nname = "X-Key"\n'
        (tmp_path / "user" / "atc" / "config.toml").write_text(own)
        (tmp_path / "user" / "atc" / "config.toml").chmod(0o600)
        read = {
            "operationId": "list_items",
            "summary": "List the items.",
            "responses": {"200": {"description": "ok"}},
        }
        far = tmp_path / "far"
        far.mkdir()
        (far / "document.json").write_text(
            json.dumps(openapi("http://api.example.org", {"/items": {"get": read}}))
        )
        (far / "atc.toml").write_text('tools = ["document.json"]\n')
        program = "try:\n    print(list_items()['email'])\nexcept ToolError:\n    print('nothing')"
        (far / "replies.json").write_text(json.dumps([f"```python\n{program}\n```"]))
        solve = ("run", "List", "--model", "scripted:replies.json", "--strategy", "chain")
        env = {"http_proxy": server.url, "no_proxy": ""}
        assert user.atc(*solve, cwd=far, **env).returncode == 0
        script = far / "script.py"
        assert user.atc("runs", "export", "last", "--python", "-o", script).returncode == 0
        before = len(server.seen)
        ran = user(script, **env)
        assert (ran.returncode, ran.stdout) == (0, "ann@example.org\n"), ran.stderr
        near = script.read_text().replace("http://api.example.org", server.url)
        script.write_text(near)
        refused = user(script)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), "one cause, one sentence"
        assert "near_hosts is off" in refused.stderr
    assert [seen.headers.get("x-key") for seen in server.seen] == [None] * (before + 1)


def test_standing_consent_covers_its_tool_in_scripts(user, tmp_path):
    settings = tmp_path / "user" / "atc" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("allow_writes = ['send_mail']\n")
    mine, other = Post(), Post()
    with serving(mine.answer) as here, serving(other.answer) as there:
        script = exported(user, tmp_path, mine.document(here.url), PROGRAM, TASK)
        assert user(script).returncode == 0
        mine.sent.clear()
        script.write_text(script.read_text().replace(here.url, there.url))
        taken = user(script)
        assert (taken.returncode, mine.sent, other.sent) == (1, [], []), taken
        assert "was given for another tool" in taken.stderr


def test_scripts_believe_no_read_only_posts(user, tmp_path):
    post = Post()
    with serving(post.answer) as server:
        script = exported(
            user, tmp_path, post.document(server.url), PROGRAM, TASK, "--allow-writes", "send_mail"
        )
        post.sent.clear()
        script.write_text(
            script.read_text().replace('"readOnlyHint": false', '"readOnlyHint": true')
        )
        ran = user(script)
    assert (ran.returncode, post.sent, "send_mail may change something" in ran.stderr) == (
        1,
        [],
        True,
    ), ran
