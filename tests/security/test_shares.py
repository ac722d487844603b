"""What one client of a gateway costs another, and learns of it: `atc serve --http` and clients that want it all."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import threading
import time
from contextlib import closing, suppress

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

from benchmarks.local import free_port
from tests.labs import commands
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

TOOLS = '''
import time
from pathlib import Path

HERE = Path(__file__).parent

def wait(who: str) -> int:
    """Wait until it is let go.

    read_only = True
    """
    (HERE / f"waits-{who}-{time.monotonic_ns()}").touch()
    while not (HERE / "go").exists():
        time.sleep(0.01)
    return 1

def add_note(text: str) -> dict:
    """Write a note down."""
    with (HERE / "notes").open("a") as file:
        file.write(text + "\\n")
    return {"note": text}

def rooms():
    """Rooms.

    read_only = True
    """
    return [{"name": "red", "floor": 2, "bjones": "guest"}]

def ill():
    """Who is ill.

    read_only = True
    """
    return {"Alice Miller": {"diagnosis": "F32.1"}, "bjones": {"diagnosis": "B20"}}

def vault():
    """What is in it.

    read_only = True
    """
    return {"correcthorsebatterystaple": True, "hunter2": "x", "K7QX-99AB": "valid", "DE89370400440532013000": 1}

def ward():
    """Who lies there.

    read_only = True
    """
    return {"Will": {"diagnosis": "F32.1"}, "Bill": {"diagnosis": "B20"}, "June": {"diagnosis": "B20"}}

def door():
    """What opens it.

    read_only = True
    """
    return {"trustno1": "x"}
'''
DATA = ("Alice", "Miller", "bjones", "correcthorse", "hunter2", "K7QX", "DE8937")
EVIDENT = tuple(text for text in DATA if text != "bjones")
"""What is no field of one's own shapes either; `bjones` may be one, as `msrp` is, where it stands in a record."""
LIKE_FIELDS = ("Will", "Bill", "June", "trustno1")
VERSION = "2025-06-18"


class Client:
    """One session of a token, in plain HTTP; it can ask its person."""

    def __init__(self, port, token):
        self.port, self.token, self.session = port, token, None
        self.numbers = itertools.count(1)
        about = {"protocolVersion": VERSION, "capabilities": {"elicitation": {}}}
        status, headers, _ = self.send(
            "initialize", {**about, "clientInfo": {"name": "raw", "version": "1"}}
        )
        assert status == 200
        self.session = headers["mcp-session-id"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def head(self):
        own = (
            {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": VERSION}
            if self.session
            else {}
        )
        accepted = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        return {**accepted, **own, "Authorization": f"Bearer {self.token}"}

    def post(self, message, on_question=lambda question: None):
        """Status, headers and reply; each question on the way is shown to `on_question`."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            connection.request("POST", "/mcp", json.dumps(message), self.head())
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            if "event-stream" not in headers.get("content-type", ""):
                return response.status, headers, response.read().decode()
            for line in response:
                found = (
                    json.loads(line[5:]) if line[5:].strip() and line.startswith(b"data:") else {}
                )
                if "method" in found:
                    on_question(found)
                elif found:
                    return response.status, headers, found
        return 0, {}, None

    def send(self, method, params, **how):
        return self.post(
            {"jsonrpc": "2.0", "id": next(self.numbers), "method": method, "params": params}, **how
        )

    def tool(self, name, *, on_question=lambda question: None, **arguments):
        """The text that the client's model reads."""
        _, _, reply = self.send(
            "tools/call", {"name": name, "arguments": arguments}, on_question=on_question
        )
        return reply["result"]["content"][0]["text"]

    def run(self, source, **how):
        return json.loads(self.tool("run_program", source=source, **how))

    def answer(self, question, content):
        return self.post(
            {
                "jsonrpc": "2.0",
                "id": question["id"],
                "result": {"action": "accept", "content": content},
            }
        )


class Served:
    """A gateway on loopback with the tokens `one` and `two`."""

    def __init__(self, folder, port):
        self.folder, self.port, self.threads = folder, port, []

    def client(self, token):
        return Client(self.port, token)

    def begin(self, work, *arguments, **how):
        """Do something in a thread whose end nobody waits for."""

        def quietly():
            with suppress(Exception):
                work(*arguments, **how)

        self.threads.append(threading.Thread(target=quietly, daemon=True))
        self.threads[-1].start()

    def waiting(self, who):
        return len(list(self.folder.glob(f"waits-{who}-*")))


def until(holds, seconds=PATIENCE):
    """Wait until something holds that others bring about."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)


@pytest.fixture
def serve(tmp_path):
    """Start a gateway with these options."""
    (tmp_path / "shop.py").write_text(TOOLS)
    own = {
        "ATC_SERVE_TOKEN": "one two",
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(tmp_path),
    }
    own["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    started = []

    def start(*options):
        port = free_port()
        words = [
            "serve",
            "--tools",
            "shop.py",
            "--http",
            f"127.0.0.1:{port}",
            *options,
        ]
        started.append(commands.in_background(words, port=port, folder=tmp_path, env=own))
        started[-1].__enter__()
        return Served(tmp_path, port)

    yield start
    (tmp_path / "go").touch()
    for one in started:
        one.__exit__(None, None, None)


def test_a_token_has_one_share(serve):
    served = serve()
    sessions = [served.client("one") for _ in range(3)]
    for number in range(24):
        served.begin(sessions[number % 3].run, "print(wait(who='one'))")
    until(lambda: served.waiting("one") >= 10)
    other = served.client("two")
    for _ in range(6):
        served.begin(other.run, "print(wait(who='two'))")
    until(lambda: served.waiting("two") == 6)  # all places that one client leaves to the others
    assert served.waiting("one") == 10


def test_waiting_programs_keep_no_place(serve):
    served = serve()
    sessions = [served.client("one") for _ in range(2)]
    questions, replies = {}, {}

    def ask(number):
        client, source = sessions[number % 2], f"print(add_note(text='{number}'))"
        replies[number] = client.run(
            source, on_question=lambda question: questions.update({number: question})
        )

    for number in range(20):
        served.begin(ask, number)
    until(lambda: len(questions) == 20)
    assert served.client("two").run("print(6 * 7)")["answer"] == 42
    until(
        lambda: len(replies) == 12
    )  # eight stay open; the others gave way to them, and their clients are told
    assert {reply["status"] for reply in replies.values()} == {"paused"}
    assert all("may have 8 open" in reply["question"] for reply in replies.values())
    assert not (served.folder / "notes").exists()
    still = min(questions.keys() - replies.keys())
    sessions[still % 2].answer(
        questions[still],
        {"allow": questions[still]["params"]["requestedSchema"]["properties"]["allow"]["enum"][1]},
    )
    until(lambda: still in replies)
    assert replies[still]["status"] == "solved", replies[still]
    assert (served.folder / "notes").read_text() == f"{still}\n"


def test_the_longest_idle_session_gives_way(serve):
    served = serve()
    other, first = served.client("two"), served.client("one")
    more = [served.client("one") for _ in range(32)]
    until(lambda: first.send("ping", {})[0] == 404)
    assert "opened more than 32" in first.send("ping", {})[2]
    assert more[-1].run("print(1)")["answer"] == other.run("print(1)")["answer"] == 1
    other.token = "one"
    status, _, said = other.send("ping", {})
    assert (status, "no such session" in said) == (404, True)  # a session is its token's alone


def test_the_longest_idle_connection_gives_way(serve):
    served = serve()
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer one\r\nContent-Length: 9\r\n"
    connections = []
    for _ in range(129):
        connections.append(socket.create_connection(("127.0.0.1", served.port), timeout=60))
        connections[-1].sendall(f"{head}\r\n".encode())  # and never the nine bytes
    said = b"".join(iter(lambda: connections[0].recv(4096), b"")).decode()
    assert said.startswith("HTTP/1.1 503"), said
    assert "more than 128 connections" in said
    assert served.client("two").run("print(1)")["answer"] == 1
    for connection in connections:
        connection.close()


def test_what_one_request_may_name_is_limited(serve):
    client = serve().client("one")
    assert "101 tools are named, more than 100" in client.tool(
        "describe_tools", names=[f"t{n}" for n in range(101)]
    )
    assert "more than 2,000" in client.tool("search_tools", query="a note " * 300)
    said = client.tool("describe_tools", names=["add_not", "x" * 500_000])
    assert len(said) < 1_000
    assert "did you mean add_note?" in said


@pytest.mark.parametrize("shared", [False, True])
def test_shapes_are_private_and_hold_no_data(serve, shared):
    served = serve(*(["--share-learned"] if shared else []))
    one, two = served.client("one"), served.client("two")
    for _ in range(2):
        said = one.run("print(len(rooms()), len(ill()), len(vault()), len(ward()), len(door()))")
        assert said["answer"] == "1 2 4 3 1"
    own = one.tool("describe_tools", names=["rooms", "ill", "vault"])
    others = two.tool("describe_tools", names=["rooms", "ill", "vault", "ward", "door"])
    resource = two.send("resources/read", {"uri": "atc://protocols/rooms"})[2]["result"][
        "contents"
    ][0]["text"]
    assert "floor" in own
    assert "diagnosis" in own
    assert ("floor" in others, "floor" in resource) == (shared, shared)
    assert not [text for text in EVIDENT if text in own]
    assert not [text for text in DATA + LIKE_FIELDS if text in others + resource]


def test_runs_learn_no_key_that_is_data(own_folders, atc_):
    (own_folders / "shop.py").write_text(TOOLS)
    program = (
        "```python\nprint(len(rooms()), len(ill()), len(vault()), len(ward()), len(door()))\n```"
    )
    (own_folders / "replies.json").write_text(json.dumps([program]))
    code, _, err = atc_(
        "run", "How many?", "--tools", "shop.py", "--model", "scripted:replies.json"
    )
    assert code == 0, err
    atc_("tools", "import", "shop.py", "-o", "out")
    written = "".join(path.read_text() for path in (own_folders / "out").glob("*.json"))
    learned = "".join(
        path.read_text() for path in (own_folders / "state" / "learned").rglob("*.json")
    )
    assert "diagnosis" in written
    assert "diagnosis" in learned
    assert not [text for text in EVIDENT if text in learned]
    assert not [text for text in DATA + LIKE_FIELDS if text in written]
