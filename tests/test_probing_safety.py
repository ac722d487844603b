"""When probing stops asking: nobody is let in, a service dies, a tool hangs; what is no data though it says 200."""

import sys
import threading
import time

import pytest

from probing.gate import Caller, NotCalled
from probing.samples import Log, Note, ProbeSettings
from protocols.invoke import Invoker
from protocols.protocol import PythonBinding, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from tests.loopback import Reply, serving, speaking
from tests.probing_lab import Lab, given, lab, tool

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


def test_a_service_that_lets_nobody_in_is_not_asked_on(tmp_path):
    names = [f"t{n}" for n in range(20)]
    with lab(tmp_path, lambda _: Reply(401, {"detail": "Not authenticated"}), *names) as probing:
        done, stopped = attempts(probing, names)
        assert (done, set(stopped)) == (0, set(names))
        assert "HTTP 401" in stopped["t9"]
        assert "credential" in stopped["t9"]
        assert len(probing.asked) <= 7
        (note,) = [event.text for event in probing.events if isinstance(event, Note)]
        assert note.startswith(probing.server.netloc)


def test_after_a_flood_of_401_the_same_calls_are_made_with_the_credential(tmp_path):
    replies = [Reply(401, {"detail": "no"})]
    names = ["a", "b", "c"]
    with lab(tmp_path, lambda _: replies[0], *names) as probing:
        attempts(probing, names, times=1)
        assert probing.log.samples == []
        replies[0] = Reply(body={"n": 1})
        probing.again()
        assert attempts(probing, names, times=1) == (3, {})
        probing.again()
        assert [sample.done for sample in probing.log.samples] == [True] * 3
        assert probing.log.sent == 6


@pytest.mark.parametrize("order", [["private", "public"], ["public", "private"]])
def test_one_tool_that_is_denied_stops_no_other(tmp_path, order):
    def answer(seen):
        return Reply(403, {"error": "forbidden"}) if seen.path == "/private" else Reply(body=[1])

    with lab(tmp_path, answer, *order) as probing:
        assert attempts(probing, order, times=6) == (6, {})


def test_tools_that_want_a_token_as_an_argument_do_not_stop_the_host(tmp_path):
    def answer(seen):
        if seen.path == "/login":
            return Reply(body={"token": "t0k3n"})
        return Reply(body=1) if ("token", "t0k3n") in seen.query else Reply(401, {"error": "missing token"})

    names = ["account", "balance", "history", "orders"]
    with serving(answer) as server:
        protocols = [tool(server.url, name, arguments=("q", "token")) for name in names]
        with Lab(server, tmp_path, [*protocols, tool(server.url, "login")]) as probing:
            assert attempts(probing, names) == (0, {})
            token = probing.call("login").response["token"]
            assert all(probing.call(name, token=token).done for name in names)


def test_a_credential_that_expires_half_way_stops_the_host(tmp_path):
    state = {"good": True}
    names = ["a", "b", "c", "d"]
    with lab(tmp_path, lambda _: Reply(body=1) if state["good"] else Reply(401, {}), *names) as probing:
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


def test_a_login_page_with_status_200_is_no_data(tmp_path):
    pages = {"/login": LOGIN, "/lost": b"\n <html><body>Nothing here</body></html>", "/get_html": b"<html>x</html>"}

    def answer(seen):
        page = pages.get(seen.path)
        return Reply(body={"n": 1}) if page is None else Reply(200, page, {"Content-Type": "text/html"})

    with lab(tmp_path, answer, "data", "login", "lost", "get_html") as probing:
        assert probing.call("data").done
        login = probing.call("login")
        assert (login.outcome, login.status) == ("refused", 200)
        assert "HTML page to log in" in login.error
        assert login.answer == LOGIN.decode()
        assert probing.call("lost").error == "an HTML page instead of data"
        assert probing.call("get_html").response == "<html>x</html>"
        assert attempts(probing, ["login"])[1] == {}


def nested(levels):
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", "bytes that are not text"),
        (nested(1000), "application/json", "nested"),
        (b'{"a": NaN}', "application/json", "NaN"),
        (b"\xff\xfe\0", "application/json", "expected valid JSON"),
    ],
)
def test_what_cannot_be_read_is_told_of_its_tool_and_the_rest_goes_on(tmp_path, body, kind, said):
    def answer(seen):
        return Reply(200, body, {"Content-Type": kind}) if seen.path == "/odd" else Reply(body=[1])

    with lab(tmp_path, answer, "odd", "even") as probing:
        odd = probing.call("odd")
        assert (odd.outcome, odd.status, odd.response) == ("refused", 200, None)
        assert said in odd.error
        assert probing.call("even").done
        probing.again()
        assert probing.call("odd") == odd


def test_100_megabytes_are_not_taken(tmp_path):
    def script(connection, server):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n[0")
        server.sent = 0
        while server.sent < 100_000_000:
            server.sent += connection.send(b",12345678" * 5000)

    with speaking(script) as server:
        with Lab(server, tmp_path, [tool(server.url, "big")]) as probing:
            assert "over the limit" in probing.call("big").error
        assert server.sent < 60_000_000
    assert (tmp_path / ".probe" / "samples.jsonl").stat().st_size < 2000


def test_a_tool_that_hangs_is_given_up_and_the_rest_goes_on(tmp_path):
    release = threading.Event()

    def answer(seen):
        if seen.path.startswith("/hang"):
            release.wait(30)
        return Reply(body=[1])

    names = ["hang1", "even", "hang2"]
    with lab(tmp_path, answer, *names, timeout=0.2) as probing:
        done, stopped = attempts(probing, names)
        release.set()
        assert done == 3
        assert set(stopped) == {"hang1", "hang2"}
        assert "2 calls in a row were not answered (no complete answer from" in stopped["hang1"]
        assert sum(target.startswith("/hang1") for target in probing.asked) == 2


def test_a_service_that_hangs_altogether_is_given_up_after_a_few_tools(tmp_path):
    names = [f"t{n}" for n in range(12)]
    with (
        speaking(lambda connection, server: server.stop.wait()) as server,
        Lab(server, tmp_path, [tool(server.url, name) for name in names], timeout=0.15) as probing,
    ):
        done, stopped = attempts(probing, names)
        assert (done, len(stopped)) == (0, 12)
        assert len(probing.asked) == 6
        assert probing.log.samples == []  # it says nothing of the tools


def test_a_service_that_dies_half_way_leaves_what_is_known_and_goes_on_when_it_is_back(tmp_path):
    names = [f"t{n}" for n in range(6)]
    with lab(tmp_path, lambda _: Reply(body=[1]), *names) as probing:
        assert attempts(probing, names[:3], times=1)[0] == 3
        server = probing.server
    assert len(server.seen) == 3
    with Lab(server, tmp_path, [tool(server.url, name) for name in names]) as probing:  # nobody listens there now
        done, stopped = attempts(probing, names, times=1)
        assert done == 3  # from the log
        assert set(stopped) == set(names)
        assert "cannot connect to" in stopped["t5"]
        assert [round(wait) for wait in probing.clock.slept] == [1, 2, 4]
        assert probing.log.sent == 3  # nothing reached anybody
    with lab(tmp_path, lambda _: Reply(body=[2]), *names) as probing:
        assert attempts(probing, names, times=1) == (6, {})
        assert [target.partition("?")[0] for target in probing.asked] == ["/t3", "/t4", "/t5"]


def test_a_read_whose_connection_breaks_is_sent_once_more(tmp_path):
    answers = [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n[1]"]
    with (
        speaking(lambda connection, server: connection.sendall(answers.pop(0))) as server,
        Lab(server, tmp_path, [tool(server.url, "find")]) as probing,
    ):
        assert probing.call("find").response == [1]
        assert probing.log.sent == 2


def python_caller(folder, function, **settings):
    protocol = ToolProtocol(name="f", binding=PythonBinding(module="m", function="f"))
    invoker = Invoker()
    toolbox = Toolbox([Tool(protocol=protocol, call=invoker.bind(protocol, {"f": function}))])
    log = Log(folder)
    return Caller(toolbox, log, ProbeSettings(allow_writes=True, **settings)), log


def hang(**_):
    while True:
        try:
            time.sleep(60)
        except Exception:
            continue


def deep(**_):
    value = []
    for _ in range(1000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (hang, "gave no result within 0.1 s"),
        (deep, "nested"),
        (lambda **_: "x" * 9_000_000, "too large to keep"),
        (lambda **_: [{"n": "x" * 1000}] * 9_000, "too large to keep"),
        (lambda **_: sys.exit(3), "SystemExit"),
    ],
)
def test_python_functions_that_go_wrong(tmp_path, function, said):
    caller, log = python_caller(tmp_path, function, timeout_seconds=0.1 if function is hang else 5.0)
    with log:
        sample = caller.call("f", given(q=1), purpose="discover")
        assert (sample.done, sample.response) == (False, None)
        assert said in sample.error
