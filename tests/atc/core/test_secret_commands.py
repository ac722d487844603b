"""Commands that print a secret: they run late, without a shell, and their output is not shown."""

import json
import shlex
import sys

import pytest

from atc import Agent, load_tools
from atc.core import secret_commands
from atc.core.config import Config, InvalidConfig, public
from atc.core.secret_commands import run_command
from atc.core.secret_values import portable
from atc.settings.reading import load_config
from tests.labs.loopback import Reply, serving

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "notes"},
    "security": [{"login": []}],
    "components": {"securitySchemes": {"login": {"type": "http", "scheme": "bearer"}}},
    "paths": {"/me": {"get": {"operationId": "get_me"}}},
}


def python(code):
    return shlex.join([sys.executable, "-c", code])


def test_the_first_line_is_the_secret(tmp_path):
    assert run_command("x", python("print(' s3cret \\nmore')")) == "s3cret"
    code = "import sys; print(sys.argv[1:])"
    assert run_command("x", f"{python(code)} '$HOME' ';' 'a b'") == "['$HOME', ';', 'a b']"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (python("print('s3cret'); raise SystemExit(3)"), "failed with exit status 3"),
        (python("print()"), "is no secret"),
        (python("print('s3cret' * 100_000)"), "failed with exit status -9|is no secret"),
        ("/nonexistent/pass s3cret", "cannot run '/nonexistent/pass'"),
        ("pass 's3cret", "its command cannot be read"),
        ("", "must be followed by a command"),
    ],
)
def test_a_failing_command_is_one_sentence(text, problem):
    with pytest.raises(InvalidConfig, match=problem) as caught:
        run_command("x", text)
    assert "s3cret" not in str(caught.value)


def test_a_slow_command_is_ended(monkeypatch):
    monkeypatch.setattr(secret_commands, "_SECONDS", 0.2)
    waiting = "import os, time; os.fork(); time.sleep(600)"
    with pytest.raises(InvalidConfig, match="did not end within"):
        run_command("x", python(waiting))


def test_it_runs_when_the_credential_is_needed(own_folders, atc_):
    """Once for each process, and not for `config show` or `doctor`."""
    ran = own_folders / "ran"
    code = f"open({str(ran)!r}, 'a').write('x'); print('s3cret-of-command')"
    folder = own_folders / "user" / "atc"
    folder.mkdir(parents=True)

    def answer(request):
        return Reply(body=DOCUMENT if request.path == "/openapi.json" else {"ok": True})

    with serving(answer) as server:
        value = "command:" + python(code)
        lines = f"[credentials.login]\nvalue = {json.dumps(value)}\nhosts = ['{server.netloc}']\n"
        (folder / "config.toml").write_text(lines)
        url = f"{server.url}/openapi.json"
        shown = atc_("config", "show")[1] + atc_("doctor", "--json")[1]
        assert not ran.exists()
        assert "open(" not in shown
        tool = load_tools(url)["get_me"]
        tool.call({})
        tool.call({})
        assert server.last.headers["authorization"] == "Bearer s3cret-of-command"
        assert ran.read_text().count("x") == 1
        assert portable(load_config()).credentials["login"].value == "s3cret-of-command"
        assert "open(" not in str(public(load_config()))


@pytest.mark.parametrize("place", ["trusted", "untrusted", "agent", "config"])
def test_only_the_users_own_file_names_commands(own_folders, atc_, place):
    ran = own_folders / "ran"
    value = "command:" + python(f"open({str(ran)!r}, 'w')")
    table = {"value": value, "hosts": ["api.example.org"]}
    if place in ("trusted", "untrusted"):
        text = f"[credentials.login]\nvalue = '''{value}'''\nhosts = ['api.example.org']\n"
        (own_folders / "atc.toml").write_text(text)
        if place == "trusted":
            assert atc_("config", "trust")[0] == 0
    use = {
        "agent": lambda: Agent([], credentials={"login": table}),
        "config": lambda: Config(credentials={"login": table}),
    }.get(place, load_config)
    with pytest.raises(InvalidConfig, match=r"your own settings file|is not taken from a folder's"):
        use()
    assert not ran.exists()
