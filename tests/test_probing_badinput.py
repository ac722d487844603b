"""A whole probing of services that misbehave: each tool's trouble is told of that tool, and the rest is documented."""

import json
import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from probing.output import coverage, write
from probing.probe import known, probe
from protocols.errors import AtcError
from protocols.sources import load_tools
from tests.loopback import Reply, Server, serving
from tests.probing_lab import Lab, lab, tool
from tests.test_probing_caller import limited

USERS = [{"id": f"u{n}", "name": f"Name {n}"} for n in range(4)]
LOGIN = b"<!DOCTYPE html><html><title>Log in</title><form><input type='password'></form></html>"
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
    found = [user for user in USERS if parts == ["get_user"] and ("user_id", user["id"]) in seen.query]
    return Reply(body=found[0]) if found else Reply(404, {"error": "no such user"})


def outcome(probing, **options):
    """Probe to the end, write everything, and give the report by tool."""
    probed = probe(
        probing.toolbox, probing.log, settings=probing.settings, caller=probing.caller, watch=probing.events.append
    )
    written = write(probing.folder, probed)
    return coverage(probed, written.protocols)["coverage"]


def test_every_kind_of_trouble_at_once(tmp_path):
    release, draw = threading.Event(), random.Random(3)

    def answer(seen):
        name = seen.path.strip("/")
        if name == "hang":
            release.wait(30)
        if name == "moody":
            return draw.choice([Reply(body={"a": 1}), Reply(body=[1, "x"]), Reply(body="text"), Reply(500, b"no")])
        return ODD.get(name) or users(seen)

    with serving(answer) as server:
        names = ["hang", "moody", *ODD]
        protocols = [*(tool(server.url, name) for name in names), tool(server.url, "list_users", arguments=())]
        protocols.append(tool(server.url, "get_user", arguments=("user_id",)))
        with Lab(server, tmp_path, protocols, timeout=0.3) as probing:
            report = outcome(probing)
            release.set()
            answered = {name for name, told in report.items() if told["answered"]}
            assert answered >= {"list_users", "get_user"}
            assert not answered & {"hang", "binary", "big", "deep", "login", "denied", "broken"}
            said = {name: " ".join(told["missing"]) for name, told in report.items()}
            for name, words in {
                "hang": "not answered",
                "binary": "not text",
                "big": "over the limit",
                "deep": "nested",
                "login": "HTML page to log in",
                "denied": "401",
                "broken": "500",
            }.items():
                assert words in said[name], (name, said[name])
            assert all(told["calls"] <= 15 for told in report.values())
            # Every file can be read as a source, the odd tools' too.
            assert set(load_tools(str(tmp_path))) >= {"list_users", "get_user", "hang"}
            probing.again()
            again = outcome(probing)
            assert {name for name, told in again.items() if told["answered"]} >= answered
            assert len({seen.target for seen in server.seen}) == len(server.seen)


def test_a_limit_of_one_call_a_second_lets_all_be_documented(tmp_path):
    limits = []

    def answer(seen):
        refused = limits[0](seen)
        return refused if refused.status == 429 else users(seen)

    with serving(answer) as server:
        protocols = [tool(server.url, "list_users", arguments=()), tool(server.url, "get_user", arguments=("user_id",))]
        with Lab(server, tmp_path, protocols) as probing:
            limits.append(limited(probing.clock, seconds=1, header=False))
            report = outcome(probing)
            assert [told["answered"] for told in report.values()] == [True, True]
            assert sum(probing.clock.slept) > len(server.seen) / 2
            assert "429" not in json.dumps(report)


@contextmanager
def mortal(lives):
    """The users, until so many requests were answered; then nobody listens any more."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.seen.append(self.path)
            reply = users(type("Seen", (), {"path": self.path.partition("?")[0], "query": _query(self.path)}))
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(reply.content)
            if len(server.seen) == lives:
                httpd.socket.close()
                threading.Thread(target=httpd.shutdown).start()

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(httpd.server_address)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def _query(target):
    return [tuple(pair.split("=", 1)) for pair in target.partition("?")[2].split("&") if "=" in pair]


def test_a_service_that_dies_half_way(tmp_path):
    def protocols(url):
        reads = [tool(url, "list_users", arguments=()), tool(url, "get_user", arguments=("user_id",))]
        return [*reads, *(tool(url, f"more_{n}") for n in range(5))]

    with mortal(lives=4) as server, Lab(server, tmp_path, protocols(server.url)) as probing:
        report = outcome(probing)
        assert len(server.seen) == 4
        assert report["list_users"]["answered"]
        assert "cannot connect" in " ".join(report["more_4"]["missing"])
        first = list(probing.log.samples)
    with serving(users) as server, Lab(server, tmp_path, protocols(server.url)) as probing:
        report = outcome(probing)
        assert probing.log.samples[: len(first)] == first
        assert report["get_user"]["answered"]
        assert report["more_4"]["outcomes"]["404"] > 0


def test_nobody_is_let_in(tmp_path):
    with lab(tmp_path, lambda _: Reply(401, {"detail": "Not authenticated"}), *"abcdefgh") as probing:
        report = outcome(probing)
        assert not any(told["answered"] for told in report.values())
        assert all("credential" in " ".join(told["missing"]) for told in report.values())
        assert len(probing.asked) < 15


def test_what_is_known_can_be_had_without_a_call(tmp_path):
    with serving(users) as server:
        protocols = [tool(server.url, "list_users", arguments=()), tool(server.url, "get_user", arguments=("user_id",))]
        with Lab(server, tmp_path, protocols) as probing:
            outcome(probing)
            before = len(server.seen)
            facts = known(probing.toolbox, probing.log).facts
            assert facts["get_user"].done
            assert len(server.seen) == before


@pytest.mark.parametrize("content", [{}, {"notes.txt": "hello"}, {"a.json": "{"}, {"a.json": "[]"}])
def test_a_folder_without_tools_is_told_in_a_sentence(tmp_path, content):
    folder = tmp_path / "empty"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    with pytest.raises(AtcError) as error:
        load_tools(str(folder))
    assert "empty" in str(error.value)
    assert "\n" not in str(error.value)
