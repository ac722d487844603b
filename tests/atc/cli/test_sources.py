"""Sources on the command line: consent to commands, servers of the settings, and what the documentation shows."""

import os
import pty
import re
import shlex
import subprocess
import sys
from contextlib import suppress

import pytest
import yaml

from atc.core.config import public
from atc.settings.reading import read_settings
from protocols.sources.folder import read_protocols
from tests.labs import commands
from tests.labs.paths import LABS, ROOT
from tests.labs.patience import PATIENCE

COMMAND = (sys.executable, "-I", "-S", str(LABS / "mcp_service.py"))
SOURCE = f"mcp:{shlex.join(COMMAND)}"


@pytest.fixture
def sdk():
    pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")


def atc(tmp_path, *words, **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ATC_", "XDG_"))}
    env |= {
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    more = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    return commands.Command(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True, **more)


def settings(folder, text):
    """The file of the user's settings."""
    file = folder / "user" / "atc" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3)])
def test_a_person_sees_the_command_and_decides(sdk, tmp_path, answer, code):
    ours, theirs = pty.openpty()
    with atc(tmp_path, "tools", "list", "--tools", SOURCE, stdin=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = ""
        while (
            "Start it? [y/N]: " not in said
        ):  # what is typed before the question is there is no answer
            said += os.read(ours, 65_536).decode()
        os.write(ours, f"{answer}\n".encode())
        stdout = process.stdout.read()
        assert process.wait(PATIENCE) == code
    with suppress(OSError):  # at its end: one reading may give a part
        while True:
            said += os.read(ours, 65_536).decode()
    os.close(ours)
    assert shlex.join(COMMAND) in said
    assert "Start it? [y/N]" in said
    assert ("list_notes" in stdout) == (code == 0)


def test_a_server_of_the_settings_may_be_trusted(sdk, own_folders, atc_):
    settings(
        own_folders,
        f"[mcp.notes]\ncommand = {list(COMMAND)!r}\ntrusted = true\nenv = {{A = 'b'}}\n",
    )
    code, stdout, stderr = atc_("tools", "list", "--tools", "mcp:notes")
    named = "The MCP server 'notes': the input schema of 'get_broken' has mistakes"
    assert (code, stderr[: len(named)], stderr.count("\n")) == (0, named, 1)
    assert "weather            reads" in stdout, stdout
    unset = "[mcp.notes]\ncommand = ['x']\nenv = { K = 'env:NOT_THERE' }\n[credentials.other]\nvalue = 'env:NOR_THIS'\n"
    settings(own_folders, unset + "hosts = ['api.example.org']\n")
    code, _, stderr = atc_("tools", "list", "--tools", "mcp:notes")
    assert (code, stderr.count("\n")) == (3, 1)
    assert "mcp.notes.env.K: the variable NOT_THERE is not set" in stderr


def test_servers_are_read_and_shown_without_secrets(own_folders, monkeypatch):
    servers = "[mcp.a]\ncommand = 'npx -y \"a b\"'\nenv = { K = 'secret', L = 'env:L' }\n[mcp.b]\nurl = 'https://h/m'\n"
    user = settings(own_folders, servers)
    monkeypatch.setenv("ATC_START_SERVERS", "1")
    config, origins, _ = read_settings()
    assert config.mcp["a"].command == ("npx", "-y", "a b")
    assert config.start_servers
    assert origins["mcp.b"] == str(user)
    shown = public(config)["mcp"]
    assert shown["a"]["env"] == {"K": "***", "L": "env:L"}
    assert "secret" not in repr(config)


def test_the_documented_bare_descriptions_are_some():
    (block,) = re.findall(
        r"## Bare descriptions\n.*?```yaml\n(.*?)```",
        (ROOT / "docs/reference/protocols.md").read_text(),
        re.DOTALL,
    )
    document = yaml.safe_load(block)
    names = [protocol.name for protocol in read_protocols(document, where="doc")]
    assert names == ["get_user", "find_users", "add_note"]
