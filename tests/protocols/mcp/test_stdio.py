"""MCP servers: their tools as protocols, calls of them, what is known when they fail, and what is left behind."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import SourceUnavailable, ToolError
from protocols.files import file_of_bytes
from protocols.protocol import McpBinding
from protocols.settings import McpServer
from protocols.sources import load_tools
from tests.labs.paths import LABS, ROOT
from tests.labs.patience import PATIENCE

SCRIPT = str(LABS / "mcp_service.py")
COMMAND = f"mcp:{shlex.join([sys.executable, '-I', '-S', SCRIPT])}"


def settings(**more):
    return InvokeSettings(
        **{"confirm_start": lambda server: True, "timeout_seconds": 120.0, **more}
    )


@pytest.fixture(scope="module")
def notes():
    secret = {"t": Credential(value="s3cret-t0ken-value", hosts=())}
    with Invoker(settings(credentials=secret, trust_annotations=True)) as invoker:
        yield load_tools(COMMAND, invoker=invoker)


def failure(tool, **arguments):
    with pytest.raises(ToolError) as caught:
        tool.call(arguments)
    return caught.value


def gone(pid):
    """Whether a process has ended; waits for it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_the_tools_of_all_pages_are_protocols(notes):
    assert len(notes) == 10
    assert {tool.source for tool in notes.values()} == {"Notes_Server"}
    note = notes["get_note"].protocol
    assert note.binding == McpBinding(server="Notes_Server", tool="get_note")
    assert note.output_schema["required"] == ["title"]
    assert notes["list_notes"].protocol.output_schema is None
    assert notes["get_broken"].protocol.parameters == {"a": {}}, (
        "a schema that is none leaves the names"
    )
    writing = {name for name, tool in notes.items() if tool.protocol.writes}
    assert writing == {"get_broken", "write_anything", "write_file"}, "a trusted server is believed"


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ('{"a": [1]}', {"a": [1]}),
        ("{broken", "{broken"),
        ("several", [{"a": 1}, "plain", file_of_bytes(bytes(3), "image.png", "image/png")]),
        ("blob", file_of_bytes(b"\0\1\2\3", "x.bin", "application/x")),
        ("structured", {"structured": {"result": [1, 2]}, "text": "no"}),
        ("odd", 1),
        ("nothing", None),
        ("noise", "noise"),
        ("secret", {"echo": "***"}),
    ],
)
def test_what_a_result_is(notes, what, expected):
    assert notes["get_anything"].call({"what": what}) == expected


def test_blocks_with_bytes_are_files(notes):
    response = notes["get_anything"].send({"what": "several"})
    assert {path: file.whole() for path, file in response.files.items()} == {(2,): bytes(3)}
    blob = notes["get_anything"].send({"what": "blob"})
    assert blob.files[()].whole() == b"\0\1\2\3"


def test_a_departing_result_is_passed_on(notes):
    assert notes["get_note"].call({"id": "n1"}) == {"titel": "departs"}


@pytest.mark.parametrize(
    ("what", "read", "write", "says"),
    [
        ("refused", "refused", "refused", r"no such\\x1b\[31m note"),
        ("unsure", "refused", "unknown", "status code 503"),
        ("reset", "refused", "unknown", "read ECONNRESET"),
        ("code", "refused", "refused", '{"code": ?"E42"}'),
    ],
)
def test_what_is_known_of_a_failure(notes, what, read, write, says):
    reading, writing = (
        failure(notes["get_anything"], what=what),
        failure(notes["write_anything"], what=what),
    )
    assert (reading.status, reading.outcome, writing.outcome) == (None, read, write)
    for error in (reading, writing):
        assert re.search(says, error.body), error.body
    assert notes["get_anything"].call({"what": "still there"}) == "still there"


def test_arguments_that_are_not_json_are_not_sent(notes):
    for value in ("\ud800", float("nan"), {1, 2}):
        error = failure(notes["get_anything"], what=value)
        assert (error.outcome, "are not JSON" in error.body) == ("not_run", True)
    given = {"what": "echo", "none": None, "deep": {"none": None, "list": [None]}}
    assert notes["get_anything"].call(given) == given
    assert notes["list_notes"].call({"limit": None}) == [{"id": "n1"}, {"id": "n2"}]


def test_calls_from_several_threads(notes):
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda n: notes["get_anything"].call({"what": f"{n}"}), range(20)))
    assert found == [*map(str, range(20))]


def test_a_command_gets_a_clean_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
    given = {"WANTED": "yes", "NOTES_API_KEY": "k-1234567890ab"}
    servers = {"notes": McpServer(command=(sys.executable, "-I", "-S", SCRIPT), env=given)}
    with Invoker(InvokeSettings(servers=servers)) as invoker:
        seen = load_tools("mcp:notes", invoker=invoker)["get_environment"].call({})
    ours = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} & os.environ.keys()
    assert seen.keys() - {"LC_CTYPE"} == ours | {"WANTED", "NOTES_API_KEY"}, (
        "Python itself adds LC_CTYPE"
    )
    assert (seen["WANTED"], seen["NOTES_API_KEY"]) == ("yes", "***"), (
        "what a secret's variable holds is masked"
    )


@pytest.mark.parametrize(
    "file",
    [
        "atc/core/setting_tables.py",
        "protocols/settings.py",
        "docs/reference/configuration.md",
        "docs/reference/protocols.md",
    ],
)
def test_what_a_command_inherits_is_documented(file):
    *first, last = DEFAULT_INHERITED_ENV_VARS
    text = " ".join((ROOT / file).read_text(encoding="utf-8").split())
    assert f"inherits only {', '.join(first)} and {last}" in text


@pytest.mark.parametrize("confirm", [None, lambda server: False])
def test_a_command_is_not_started_without_consent(tmp_path, confirm):
    with (
        Invoker(InvokeSettings(confirm_start=confirm)) as invoker,
        pytest.raises(SourceUnavailable) as caught,
    ):
        load_tools(f"{COMMAND} {tmp_path / 'pid'}", invoker=invoker)
    assert "was not started: nobody agreed to it" in str(caught.value)
    assert SCRIPT in str(caught.value)
    assert ("--start-servers" if confirm else "InvokeSettings(confirm_start=...)") in str(
        caught.value
    )
    assert not (tmp_path / "pid").exists()


def test_no_shell_reads_the_command(tmp_path):
    with Invoker(settings()) as invoker, pytest.raises(SourceUnavailable, match="gives no tools"):
        load_tools(f"mcp:echo '$(touch {tmp_path}/x)' ; touch {tmp_path}/y", invoker=invoker)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mcp:", "names no MCP server; write 'mcp:COMMAND ARGS'"),
        ("mcp:'open", "No closing quotation"),
        ("mcp:no-such-command-here --x", "No such file or directory: 'no-such-command-here'"),
        ("mcp:https://user@host/mcp", "is not an http(s) URL with a plain host"),
        ("mcp:sh -c 'echo bad luck >&2; exit 3'", "(it said: bad luck)"),
    ],
)
def test_a_server_that_is_none(source, message):
    with (
        Invoker(settings(start_seconds=PATIENCE)) as invoker,
        pytest.raises(SourceUnavailable) as caught,
    ):
        load_tools(source, invoker=invoker)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_command_that_never_answers(tmp_path):
    began = time.monotonic()
    with (
        Invoker(settings(start_seconds=0.5)) as invoker,
        pytest.raises(SourceUnavailable, match="did not answer in time"),
    ):
        load_tools(f"mcp:sleep 60{'0' * 300}", invoker=invoker)
    assert time.monotonic() - began < PATIENCE


def test_ctrl_c_ends_a_servers_start():
    host = (
        "import os, signal, threading\nfrom protocols.client import *\nfrom protocols.sources import load_tools\n"
        "import mcp.client\n"  # takes its time
        "with Invoker(InvokeSettings(confirm_start=lambda s: True, start_seconds=3600)) as invoker:\n"
        "    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    load_tools('mcp:sleep 3600', invoker=invoker)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", host], cwd=ROOT, timeout=PATIENCE, capture_output=True, text=True
    )
    assert done.stderr.strip().endswith("KeyboardInterrupt")


def test_python_ends_although_nobody_closed_the_server():
    host = (
        "from protocols.client import *\nfrom protocols.sources import load_tools\n"
        "invoker = Invoker(InvokeSettings(confirm_start=lambda s: True))\n"
        f"print(len(load_tools({COMMAND!r}, invoker=invoker)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", host], cwd=ROOT, timeout=PATIENCE, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr, done.stdout > "1") == (0, "", True)


def test_a_timeout_is_unknown_and_calls_continue(tmp_path):
    with Invoker(settings(timeout_seconds=0.5)) as invoker:
        box = load_tools(COMMAND, invoker=invoker)
        error = failure(box["get_anything"], what="hang")
        assert (error.outcome, "no answer within 0.5 s" in error.body) == ("unknown", True)


def test_a_server_that_dies_is_started_again(tmp_path):
    journal = tmp_path / "notes"
    with Invoker(settings()) as invoker:
        box = load_tools(f"{COMMAND} {journal}", invoker=invoker)
        error = failure(box["write_anything"], what="die")
        assert error.outcome == "unknown"
        assert "out of paper" in error.body
        assert box["get_anything"].call({"what": "x"}) == "x"
    pids = [line for line in journal.read_text().split() if line.isdigit()]
    assert len(pids) == 2
    assert all(map(gone, pids))
    assert journal.read_text().count("write_anything") == 1, "no call is sent twice"


def test_a_server_that_left_is_started_again(tmp_path):
    journal = tmp_path / "notes"
    with Invoker(settings(trust_annotations=True)) as invoker:
        box = load_tools(f"{COMMAND} {journal}", invoker=invoker)
        for number, name in enumerate(["get_anything", "write_anything"]):
            assert box["get_anything"].call({"what": "leave"}) == "leave"
            assert gone([line for line in journal.read_text().split() if line.isdigit()][number])
            wait_for_end(invoker)
            assert box[name].call({"what": "x"}) == "x"
        error = failure(box["get_anything"], what="die")
        assert "out of paper" in error.body
    assert journal.read_text().split("\n").count("get_anything") == 5, "a read is repeated once"
    assert journal.read_text().count("write_anything") == 1


def wait_for_end(invoker):
    """Wait until the connection of the only server has noticed that it has ended."""
    [entry] = invoker.servers._known.values()
    deadline = time.monotonic() + PATIENCE
    while not entry.connection.has_ended and time.monotonic() < deadline:
        time.sleep(0.02)


def test_closing_leaves_no_process_thread_or_descriptor(tmp_path):
    journal = tmp_path / "notes"
    with Invoker(settings()) as first:
        load_tools(COMMAND, invoker=first)
    # Sets, not counts: what earlier tests left may go meanwhile.
    descriptors, threads = {*Path("/proc/self/fd").iterdir()}, {*threading.enumerate()}
    with Invoker(settings()) as invoker:
        box = load_tools(f"{COMMAND} {journal}", invoker=invoker)
        assert {*threading.enumerate()} - threads
    assert {*Path("/proc/self/fd").iterdir()} <= descriptors
    assert {*threading.enumerate()} <= threads
    assert gone(journal.read_text().split()[0])
    assert box["list_notes"].protocol.name == "list_notes"


def test_filed_protocols_use_the_configured_server(tmp_path):
    (tmp_path / "n.json").write_text(
        json.dumps({"name": "notes", "binding": {"mcp": {"server": "mine", "tool": "list_notes"}}})
    )
    error = failure(load_tools(str(tmp_path))["notes"])
    assert (error.outcome, "[mcp.mine]" in error.body) == ("not_run", True)
    servers = {"mine": McpServer(command=(sys.executable, "-I", "-S", SCRIPT))}
    with Invoker(InvokeSettings(servers=servers)) as invoker:
        assert load_tools(str(tmp_path), invoker=invoker)["notes"].call({"limit": 1}) == [
            {"id": "n1"}
        ]
