"""When probing stops asking: nobody is let in, a service dies, a tool hangs; what is no data though it says 200."""

import random
import sys
import threading

import pytest

from probing.caller import Caller, NotCalled
from probing.probe import probe
from probing.report import coverage, write
from probing.samples import Log, ProbeSettings
from protocols.client import Invoker
from protocols.protocol import PythonBinding, ToolProtocol
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, closed_port, serving, speaking
from tests.labs.patience import PATIENCE
from tests.labs.probing_tools import Lab, given, lab, tool

LOGIN = b"<!DOCTYPE html><html><title>Sign in</title><form><input type='password'></form></html>"


def attempts(probing, names, *, times=3):
    """What a probing of these tools comes to: how many calls were done, and which tools were given up."""
    done = 0
    for name in names:
        for value in range(times):
            try:
                done += probing.call(name, q=value).done
            except NotCalled:
                break
    return done, dict(probing.caller.stopped)


def test_a_denying_service_waits_for_credentials(tmp_path):
    names, replies = [f"t{n}" for n in range(20)], [Reply(401, {"detail": "Not authenticated"})]
    with lab(tmp_path, lambda _: replies[0], *names) as probing:
        done, stopped = attempts(probing, names)
        assert (done, set(stopped)) == (0, set(names))
        assert "HTTP 401" in stopped["t9"]
        assert "credential" in stopped["t9"]
        refused = len(probing.asked)
        assert refused <= 7
        (note,) = [event for event in probing.events if isinstance(event, str)]
        assert note.startswith(probing.server.netloc)
        assert probing.log.samples == []
        replies[0] = Reply(body={"n": 1})
        probing.again()
        assert attempts(probing, names, times=1) == (20, {})
        assert probing.log.sent_count == refused + 20


@pytest.mark.parametrize("order", [["private", "public"], ["public", "private"]])
def test_one_tool_that_is_denied_stops_no_other(tmp_path, order):
    def answer(seen):
        return Reply(403, {"error": "forbidden"}) if seen.path == "/private" else Reply(body=[1])

    with lab(tmp_path, answer, *order) as probing:
        assert attempts(probing, order, times=6) == (6, {})


def test_token_arguments_do_not_stop_the_host(tmp_path):
    def answer(seen):
        if seen.path == "/login":
            return Reply(body={"token": "t0k3n"})
        return (
            Reply(body=1)
            if ("token", "t0k3n") in seen.query
            else Reply(401, {"error": "missing token"})
        )

    names = ["account", "balance", "history", "orders"]
    with serving(answer) as server:
        protocols = [tool(server.url, name, arguments=("q", "token")) for name in names]
        with Lab(server, tmp_path, [*protocols, tool(server.url, "login")]) as probing:
            assert attempts(probing, names) == (0, {})
            token = probing.call("login").response["token"]
            assert all(probing.call(name, token=token).done for name in names)


def test_an_expired_credential_stops_the_host(tmp_path):
    state = {"good": True}
    names = ["a", "b", "c", "d"]
    with lab(
        tmp_path, lambda _: Reply(body=1) if state["good"] else Reply(401, {}), *names
    ) as probing:
        assert attempts(probing, names, times=1) == (4, {})
        state["good"] = False
        for name in names:
            for value in "xy":
                try:
                    probing.call(name, q=value)
                except NotCalled:
                    break
        assert set(probing.caller.stopped) == set(names)
        assert "answered before" in probing.caller.stopped["d"]
        assert all(sample.done for sample in probing.log.samples)


def test_a_login_page_is_no_data(tmp_path):
    pages = {
        "/login": LOGIN,
        "/lost": b"\n <html><body>Nothing here</body></html>",
        "/get_html": b"<html>x</html>",
    }
    pages |= {"/broken": b"Database error: no such table"}

    def answer(seen):
        page = pages.get(seen.path)
        return (
            Reply(body={"n": 1})
            if page is None
            else Reply(200, page, {"Content-Type": "text/html"})
        )

    with lab(tmp_path, answer, "data", "login", "lost", "get_html", "broken") as probing:
        assert probing.call("data").done
        assert probing.call("broken").error == "Database error: no such table"
        login = probing.call("login")
        assert (login.outcome, login.status) == ("refused", 200)
        assert "HTML page" in login.error
        assert login.answer == LOGIN.decode()
        assert probing.call("lost").status == 200
        assert probing.call("get_html").response == "<html>x</html>"
        assert attempts(probing, ["login"])[1] == {}


def test_a_hanging_service_is_given_up(tmp_path):
    names = [f"t{n}" for n in range(12)]
    with (
        speaking(lambda connection, server: server.stop.wait()) as server,
        Lab(server, tmp_path, [tool(server.url, name) for name in names], timeout=0.15) as probing,
    ):
        done, stopped = attempts(probing, names)
        assert (done, len(stopped)) == (0, 12)
        assert probing.log.sent_count == 6  # the server may hear of some when nobody waits any more
        assert probing.log.samples == []  # it says nothing of the tools


def test_a_revived_service_is_continued(tmp_path):
    names = [f"t{n}" for n in range(6)]
    with lab(tmp_path, lambda _: Reply(body=[1]), *names) as probing:
        assert attempts(probing, names[:3], times=1)[0] == 3
        server = probing.server
    assert len(server.seen) == 3
    closed_port(int(server.url.rpartition(":")[2]))
    with Lab(
        server, tmp_path, [tool(server.url, name) for name in names]
    ) as probing:  # nobody listens there now
        done, stopped = attempts(probing, names, times=1)
        assert done == 3  # from the log
        assert set(stopped) == set(names)
        assert "cannot connect to" in stopped["t5"]
        assert [round(wait) for wait in probing.clock.slept] == [1] * 5, "six attempts"
        assert probing.log.sent_count == 3  # nothing reached anybody
    with lab(tmp_path, lambda _: Reply(body=[2]), *names) as probing:
        assert attempts(probing, names, times=1) == (6, {})
        assert [target.partition("?")[0] for target in probing.asked] == ["/t3", "/t4", "/t5"]


def test_a_broken_read_is_repeated_once(tmp_path):
    answers = [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n[1]"]
    with (
        speaking(lambda connection, server: connection.sendall(answers.pop(0))) as server,
        Lab(server, tmp_path, [tool(server.url, "find")]) as probing,
    ):
        assert probing.call("find").response == [1]
        assert probing.log.sent_count == 2


def test_a_python_function_that_exits_has_answered(tmp_path):
    protocol = ToolProtocol(name="f", binding=PythonBinding(module="m", function="f"))
    with Invoker() as invoker, Log(tmp_path) as log:
        toolbox = Toolbox(
            [Tool(protocol=protocol, call=invoker.bind(protocol, {"f": lambda **_: sys.exit(3)}))]
        )
        caller = Caller(toolbox, log, ProbeSettings(allow_writes=True))
        sample = caller.call("f", given(q=1), purpose="discover")
    assert (sample.done, sample.response) == (False, None)
    assert "SystemExit" in sample.error


# A whole probing: the trouble of each tool is told of that tool, and the rest is documented.

USERS = [{"id": f"u{n}", "name": f"Name {n}"} for n in range(4)]
ODD = {
    "binary": Reply(200, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {"Content-Type": "image/png"}),
    "big": Reply(200, b'"' + b"x" * 9_000_000 + b'"'),
    "deep": Reply(200, b"[" * 1000 + b"]" * 1000),
    "login": Reply(200, LOGIN, {"Content-Type": "text/html; charset=utf-8"}),
    "denied": Reply(401, {"error": "no"}),
    "broken": Reply(500, b"Traceback (most recent call last):"),
    "empty": Reply(204, b""),
}


def users(seen):
    parts = seen.path.strip("/").split("/")
    if parts == ["list_users"]:
        return Reply(body={"users": USERS})
    found = [
        user for user in USERS if parts == ["get_user"] and ("user_id", user["id"]) in seen.query
    ]
    return Reply(body=found[0]) if found else Reply(404, {"error": "no such user"})


def outcome(probing, **options):
    """Probe to the end, write everything, and give the report by tool."""
    probed = probe(
        probing.toolbox,
        probing.log,
        settings=probing.settings,
        caller=probing.caller,
        watch=probing.events.append,
    )
    written = write(probing.folder, probed)
    return coverage(probed, written.protocols)["coverage"]


def test_every_kind_of_trouble_at_once(tmp_path):
    release, draw = threading.Event(), random.Random(3)

    def answer(seen):
        name = seen.path.strip("/")
        if name == "hang":
            release.wait(PATIENCE)
        if name == "moody":
            return draw.choice(
                [Reply(body={"a": 1}), Reply(body=[1, "x"]), Reply(body="text"), Reply(500, b"no")]
            )
        return ODD.get(name) or users(seen)

    with serving(answer) as server:
        names = ["hang", "moody", *ODD]
        protocols = [
            *(tool(server.url, name) for name in names),
            tool(server.url, "list_users", arguments=()),
        ]
        protocols.append(tool(server.url, "get_user", arguments=("user_id",)))
        with Lab(
            server, tmp_path, protocols, timeout=3.0
        ) as probing:  # nine megabytes take a while
            report = outcome(probing)
            release.set()
            answered = {name for name, told in report.items() if told["answered"]}
            assert answered >= {"list_users", "get_user", "binary", "big"}
            assert not answered & {"hang", "deep", "login", "denied", "broken"}
            said = {name: " ".join(told["missing"]) for name, told in report.items()}
            for name, words in {
                "hang": "not answered",
                "deep": "nested",
                "login": "HTML page",
                "denied": "401",
                "broken": "500",
            }.items():
                assert words in said[name], (name, said[name])
            assert all(told["calls"] <= 15 for told in report.values())
            assert sum(seen.path == "/hang" for seen in server.seen) == 2, "then it is given up"
            # Every file can be read as a source, the odd tools' too.
            assert set(load_tools(str(tmp_path))) >= {"list_users", "get_user", "hang"}
            probing.again()
            again = outcome(probing)
            assert {name for name, told in again.items() if told["answered"]} >= answered
            answered = [seen.target for seen in server.seen if seen.path != "/hang"]
            assert len(set(answered)) == len(answered)
