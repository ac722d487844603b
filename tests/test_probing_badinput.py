"""A whole probing of services that misbehave: each tool's trouble is told of that tool, and the rest is documented."""

import random
import threading

from probing.output import coverage, write
from probing.probe import probe
from protocols.sources import load_tools
from tests.loopback import Reply, serving
from tests.probing_lab import Lab, tool

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
