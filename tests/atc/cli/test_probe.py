"""`atc probe` at the command line, over HTTP on loopback."""

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from atc.cli import probe
from probing.samples import Log, ProbeSettings
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, Server, closed_port, serving
from tests.labs.probing_tools import tool

USERS = [{"id": f"u{n}", "name": f"Name {n}", "age": 30 + n} for n in range(5)]


def users(seen):
    match seen.path.strip("/").split("/"):
        case ["users"]:
            return Reply(body={"users": USERS})
        case ["users", user] if found := [one for one in USERS if one["id"] == user]:
            return Reply(body=found[0])
    return Reply(404, {"error": "nothing here"})


pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def describe(server: Server | str, *, write: bool = True, **more: str) -> None:
    """The folder `bare` with descriptions of the service."""
    url = server if isinstance(server, str) else server.url
    tools = {"list_users": f"GET {url}/users", "get_user": f"GET {url}/users/{{user_id}}", **more}
    if write:
        tools["add_user"] = f"POST {url}/users"
    folder = Path("bare")
    folder.mkdir(exist_ok=True)
    (folder / "tools.json").write_text(json.dumps(tools))


PROBE = ("probe", "bare", "-o", "out", "--model", "none", "--rate", "1000")


def test_a_dry_run_calls_nothing(atc_):
    with serving(users) as server:
        describe(server)
        code, out, _ = atc_("probe", "bare", "--dry-run", "--per-tool", "4", "--rate", "2")
        assert code == 0
        lines = out.splitlines()
        assert lines[0] == f"list_users  reads   at most 4 calls  (GET {server.url}/users)"
        assert lines[2].startswith(
            "add_user    writes  not called: it may change something (its name says 'add'); --allow"
        )
        assert lines[-2] == f"{server.netloc}: at most 8 calls, no more than 2 in a second"
        assert lines[-1] == "In all at most 8 calls."
        code, out, _ = atc_(
            "probe", "bare", "--dry-run", "--allow-writes", "--budget", "7", "--json"
        )
        plan = json.loads(out)
        assert (code, plan["total"], plan["hosts"]) == (
            0,
            7,
            [{"host": server.netloc, "at_most": 7}],
        )
        assert [tool["at_most"] for tool in plan["tools"]] == [7, 7, 7]
    assert server.seen == []


def test_probing_documents_what_it_can(atc_, tmp_path):
    with serving(users) as server:
        describe(server)
        code, out, err = atc_(*PROBE)
        assert (code, len(server.seen)) == (0, len({seen.target for seen in server.seen}))
        sent = len(server.seen)
        assert out.splitlines()[0].startswith(f"2 of 3 tools documented with {sent} calls: ")
        assert (
            "\n  add_user: it may change something (its name says 'add'); --allow-writes lets it be called\n"
            in out
        )
        assert "1 tool may change something and will not be called" in err
        assert err.splitlines()[-1] == 'Next: atc run "…" --tools out'
        assert "\x1b" not in err
        assert {seen.method for seen in server.seen} == {"GET"}
        assert (tmp_path / "out" / "COVERAGE.md").is_file()
        protocol = load_tools("out")["get_user"].protocol
        assert protocol.output_schema["properties"]["age"] == {"type": "integer"}
        assert [
            (link.tool, link.path) for link in protocol.links if link.support == "observed"
        ] == [("list_users", "users[].id")]
        code, out, err = atc_(*PROBE, "--json")
        report = json.loads(out)
        assert (code, report["totals"]["answered"], report["sent"], report["interrupted"]) == (
            0,
            2,
            sent,
            False,
        )
        assert (report["folder"], report["written"]) == ("out", [])
        assert len(server.seen) == sent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_probing_continues(atc_, tmp_path, number):
    state = {"left": 3}

    def answer(seen):
        state["left"] -= 1
        if not state["left"]:
            os.kill(os.getpid(), number)
        return users(seen)

    with serving(answer) as server:
        describe(server)
        code, out, err = atc_(*PROBE)
        assert code == 130
        assert "Interrupted. The same command goes on; no call is made twice." in err
        assert (tmp_path / "out" / "get_user.json").is_file()
        with Log(tmp_path / "out") as log:
            assert log.intents == {}  # the call under way was waited for
            assert len(log.samples) == 3
        code, out, err = atc_(*PROBE)
        assert (code, out.splitlines()[0].partition(" with ")[0]) == (0, "2 of 3 tools documented")
        assert set(Counter(seen.target for seen in server.seen).values()) == {1}


def test_a_service_that_is_down(atc_, monkeypatch):
    monkeypatch.setattr("probing.host_budget.TOOL_LOSSES", 1)  # less waiting in a test
    describe(f"http://127.0.0.1:{closed_port()}")
    code, out, err = atc_(*PROBE)
    assert code == 3
    assert "cannot connect to 127.0.0.1" in out + err


def test_wrong_usage(atc_, tmp_path):
    describe("http://127.0.0.1:1")
    for arguments, said in [
        (("probe", "bare"), "say where to write the protocols: -o DIR"),
        (("probe", "bare", "-o", "bare"), "'bare' is the source itself"),
        (("probe", "--check", "bare", "-o", "x"), "--check writes nothing"),
        (("probe",), "Missing argument 'SRC...'"),
        (("probe", "bare", "-o", "out", "--rate", "0"), "0.0 is not in the range"),
    ]:
        code, out, err = atc_(*arguments)
        assert (code, out) == (2, ""), arguments
        assert said in err
        assert err.count("\n") == 1
    code, _, err = atc_("probe", "nope.json", "-o", "out")
    assert (code, "no such folder, file or Python module; give a folder" in err) == (3, True)
    (tmp_path / "other.py").write_text(
        "def f(x):\n    '''F.\n\n    read_only = True\n    '''\n    return {'x': x}\n"
    )
    assert atc_("probe", "other.py", "-o", "o", "--model", "none")[0] == 0
    code, out, err = atc_("probe", "bare", "-o", "o", "--model", "none")
    assert (code, "holds a probing of" in err) == (2, True)


def test_printed_text_of_tools_is_no_result(atc_, tmp_path):
    (tmp_path / "loud.py").write_text(
        "print('imported')\n\n\ndef double(number: int) -> dict:\n    '''Twice.\n\n    read_only = True\n    '''\n"
        "    print('called')\n    return {'twice': 2 * number}\n"
    )
    code, out, err = atc_("probe", "loud.py", "-o", "out", "--model", "none", "--json")
    assert code == 0
    assert json.loads(out)["totals"]["answered"] == 1
    assert "imported" in err
    assert "called" in err
    assert err.splitlines()[-1] == 'Next: atc run "…" --tools out --tools loud.py'


def test_a_check_says_what_changed(atc_, tmp_path):
    with serving(users) as server:
        describe(server)
        assert atc_(*PROBE)[0] == 0
        code, out, _ = atc_("probe", "--check", "out", "--rate", "1000")
        assert (code, out.splitlines()[-1].partition(" with ")[0]) == (
            0,
            "no change in 2 of 3 tools",
        )
        files = {
            path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()
        }
        for user in USERS:
            user["label"] = user.pop("name")
        try:
            code, out, _ = atc_("probe", "--check", "out", "--rate", "1000")
            told = json.loads(atc_("probe", "--check", "out", "--rate", "1000", "--json")[1])
        finally:
            for user in USERS:
                user["name"] = user.pop("label")
        assert code == 1
        lines = out.splitlines()
        assert any(line.startswith("breaking  get_user: 'name' is in none of") for line in lines)
        assert lines[-1].startswith(
            "4 changes (2 breaking, 0 risky, 2 harmless) in 2 of 3 tools with "
        )
        assert told["breaking"] is True
        assert {change["severity"] for change in told["changes"]} == {"breaking", "harmless"}
        assert files == {
            path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()
        }


def har(url):
    """A recording of a page that listed the users and looked at one."""

    def entry(path, body):
        content = {"mimeType": "application/json", "text": json.dumps(body)}
        request = {
            "method": "GET",
            "url": f"{url}{path}",
            "headers": [],
            "queryString": [],
            "cookies": [],
        }
        response = {"status": 200, "headers": [], "content": content}
        return {"request": request, "response": response, "time": 5, "_resourceType": "fetch"}

    pairs = [("/users", {"users": USERS}), *((f"/users/{user['id']}", user) for user in USERS[:3])]
    return {"log": {"version": "1.2", "entries": [entry(*pair) for pair in pairs]}}


def test_the_operations_of_a_recording_are_probed(atc_, tmp_path, monkeypatch):
    for number, user in enumerate(USERS):
        monkeypatch.setitem(user, "id", str(1000 + number))
    with serving(users) as server:
        (tmp_path / "traffic.har").write_text(json.dumps(har(server.url)))
        code, out, _ = atc_(
            "probe", "traffic.har", "-o", "out", "--model", "none", "--rate", "1000", "--json"
        )
        report = json.loads(out)
        assert (code, report["totals"]["answered"], report["totals"]["tools"]) == (0, 2, 2)
        assert {"/users", "/users/1000"} <= {seen.target for seen in server.seen}
        assert report["sent"] == len(server.seen)


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_writes_are_asked_about_once(tmp_path, monkeypatch, capsys, answer):
    tools = Toolbox(
        Tool(protocol=tool("https://api.example.org", name, method=method), call=lambda _: None)
        for name, method in [("find", "GET"), ("add", "POST")]
    )
    asked = []
    monkeypatch.setattr(probe, "has_person", lambda: True)
    monkeypatch.setattr(probe, "confirmed", lambda text: asked.append(text) or answer)
    with Log(tmp_path) as log:
        settings = probe.confirm_writes(tools, ProbeSettings(), log)
        assert settings.allow_writes is answer
        assert asked == ["Call these too?"]
        assert (
            "add  writes  at most 15 calls  (POST https://api.example.org/add)"
            in capsys.readouterr().err
        )
        assert probe.confirm_writes(tools, ProbeSettings(allow_writes=True), log).allow_writes
        assert "add  writes  at most 15 calls" in capsys.readouterr().err
        assert len(asked) == 1
