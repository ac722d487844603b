"""Services that others wrote: how they are run and reached, and where their documents depart from them."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from protocols.errors import SourceUnavailable
from protocols.protocol import ErrorOutcome, HttpBinding, ToolProtocol
from toolflow_bench.probing.part import Options
from toolflow_bench.probing.real_departures import (
    ABSENT,
    ACCEPTED,
    NEEDED,
    NEVER,
    NOT_NEEDED,
    STATUS,
    TYPE,
    UNDECLARED,
    UNDESCRIBED,
    UNREADABLE,
    Observation,
    declared_rate,
    departures,
)
from toolflow_bench.probing.real_passage import Passage, Passed
from toolflow_bench.probing.real_process import free_port, running

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def thing(**properties):
    return {"type": "object", "properties": properties}


def tool(output=None, required=("id",), errors=(), **arguments):
    return ToolProtocol(
        name="get_thing",
        input_schema={**thing(**arguments), "required": list(required)},
        output_schema=output,
        errors=tuple(ErrorOutcome(status=status) for status in errors),
    )


def done(response, by="census", **arguments):
    return Observation(arguments=arguments, done=True, response=response, by=by)


def refused(status, **arguments):
    return Observation(arguments=arguments, done=False, status=status)


def found(declared, *seen, produced=None):
    return {(one.kind, one.where) for one in departures(declared, seen, produced)}


def test_a_document_that_says_what_is_departs_in_nothing():
    declared = tool(thing(name=TEXT, size=WHOLE), id=WHOLE, errors=("404", "4XX", "default"))
    assert found(declared, done({"name": "a", "size": 1}, id=1), refused(404, id=2), refused(503, id=2)) == set()


@pytest.mark.parametrize(
    ("output", "responses", "expected"),
    [
        (None, [{"name": "a"}], {(UNDESCRIBED, "")}),
        (None, [{}, [], None], set()),
        (thing(name=TEXT), [{"name": "a", "tags": [{"id": 1}]}], {(UNDECLARED, "tags: array")}),
        (thing(name=TEXT), [{"name": 5}], {(TYPE, "name: type (integer)")}),
        (thing(a=TEXT, b=thing(c=TEXT)), [{"a": "x"}] * 3, {(NEVER, "b")}),
        (thing(a=TEXT, b=TEXT), [{"a": "x"}] * 2, set()),
        (thing(a={"type": "array", "items": thing(b=TEXT)}, c=TEXT), [{"a": [], "c": ""}] * 3, {(NEVER, "a[]")}),
        ({**thing(a=TEXT), "required": ["a"]}, [{}], {(ABSENT, "in the response")}),
        (thing(a=TEXT, data={"type": "object", "additionalProperties": True}), [{"a": "", "data": {"b": 1}}], set()),
        (thing(rates={"type": "object", "additionalProperties": WHOLE}), [{"rates": {"EUR": 1}}], set()),
        ({"type": "array", "items": thing(a=TEXT)}, [[{"a": "x"}, {"a": 2}]], {(TYPE, "[].a: type (integer/string)")}),
    ],
)
def test_responses_that_depart(output, responses, expected):
    assert found(tool(output, id=WHOLE), *(done(response, id=1) for response in responses)) == expected


def test_what_never_came_in_one_s_calls_may_have_come_in_the_other_s():
    declared = tool(thing(a=TEXT, b=TEXT), id=WHOLE)
    few = [done({"a": "x"}, id=1)] * 3
    assert found(declared, *few) == {(NEVER, "b")}
    assert found(declared, *few, done({"b": "y"}, by="probing", id=1)) == set()


def test_outcomes_that_no_document_tells_of():
    declared = tool(thing(a=TEXT), id=WHOLE, errors=("404",))
    assert found(declared, refused(404), refused(418), refused(200), refused(None)) == {
        (STATUS, "418"),
        (UNREADABLE, ""),
    }


def test_arguments_that_are_otherwise():
    declared = tool(thing(a=TEXT), ("id",), id=WHOLE, size=WHOLE, kind={"enum": ["x", "y"]}, on={"type": "boolean"})
    spelled = done({"a": ""}, id="5", size=" 7 ", kind="x", on="true")
    assert found(declared, spelled) == set()
    assert found(declared, done({"a": ""}, size="big", kind="z", on="maybe")) == {
        (NOT_NEEDED, "id"),
        (ACCEPTED, "size"),
        (ACCEPTED, "kind"),
        (ACCEPTED, "on"),
    }
    assert found(declared, refused(422, id=1), produced=tool(None, ("id", "size"), id=WHOLE, size=WHOLE)) == {
        (STATUS, "422"),
        (NEEDED, "size"),
    }
    assert (NEEDED, "size") not in found(declared, done({"a": ""}, id=1), produced=tool(None, ("size",), size=WHOLE))


def test_whose_calls_show_it():
    declared = tool(None, id=WHOLE)
    (one,) = departures(declared, [done({"a": 1}, id=1), done({"a": 2}, by="probing", id=2)])
    assert one.by == ("census", "probing")
    assert str(one) == f"get_thing: {UNDESCRIBED} (census, probing)"


def test_what_a_document_leaves_open_counts_for_nothing():
    produced = thing(id=TEXT, data=thing(title=TEXT, pages=WHOLE))
    assert declared_rate(produced, None).said == 0
    assert declared_rate(produced, thing()).said == 0
    left_open = thing(id=TEXT, data={"type": "object", "additionalProperties": {}})
    assert declared_rate(produced, left_open).as_json()["precision"] == 1.0
    closed = declared_rate(produced, thing(id=WHOLE, data=thing(title=TEXT)))
    assert (closed.right, closed.said, closed.wanted) == (2, 4, 3)


class Service(ThreadingHTTPServer):
    """A service that notes what reaches it."""

    def __init__(self):
        self.seen = []
        super().__init__(("127.0.0.1", 0), Answering)

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()


class Answering(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.seen.append(self.path)
        answer = json.dumps({"method": self.command, "path": self.path, "body": body, "x": self.headers.get("X")})
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("X-Kept", "yes")
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else answer.encode())

    do_GET = do_HEAD = do_POST = do_DELETE = do  # noqa: N815


def test_a_passage_passes_on_and_hides_what_tells():
    with Service() as service, Passage(service.server_address[1], hides={"/", "/spec.json", "/docs/*"}) as passage:
        answer = requests.post(f"{passage.url}/things?a=1", data="one", headers={"X": "y"}, timeout=10)
        assert (answer.status_code, answer.headers["X-Kept"]) == (201, "yes")
        assert answer.json() == {"method": "POST", "path": "/things?a=1", "body": "one", "x": "y"}
        assert requests.head(f"{passage.url}/things", timeout=10).status_code == 200
        hidden = ["/", "/spec.json", "/spec.json/", "/docs", "/docs/index.html?x=1"]
        assert {requests.get(passage.url + path, timeout=10).status_code for path in hidden} == {404}
        assert requests.get(f"{passage.url}/docs2", timeout=10).status_code == 200
        assert service.seen == ["/things?a=1", "/things", "/docs2"]
        assert passage.requests[0] == Passed(method="POST", path="/things", status=201)
        assert [one.path for one in passage.requests if one.hidden] == [path.partition("?")[0] for path in hidden]


def test_a_service_that_does_not_answer_is_a_502():
    with Passage(free_port(), hides=()) as passage:
        assert requests.get(f"{passage.url}/x", timeout=10).status_code == 502
        assert passage.requests == [Passed(method="GET", path="/x", status=502)]


PARENT = """
import os, subprocess, sys
from http.server import HTTPServer, SimpleHTTPRequestHandler
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
print("here", os.environ["HOME"], flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), SimpleHTTPRequestHandler).serve_forever()
"""


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_service_ends_with_all_that_it_started(tmp_path):
    port = free_port()
    with running([sys.executable, "-c", PARENT, str(port)], port=port, folder=tmp_path):
        assert requests.get(f"http://127.0.0.1:{port}/pids", timeout=10).status_code == 200
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert not any(is_there(pid) for pid in pids)
    assert f"here {tmp_path}" in (tmp_path / "service.log").read_text()


def test_a_service_that_does_not_start_says_why(tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('no such table: things')"]
    begun = running(command, port=free_port(), folder=tmp_path)
    with pytest.raises(SourceUnavailable, match="ended with status 1: no such table: things"):
        begun.__enter__()


def test_httpbin_for_real(tmp_path):
    pytest.importorskip("httpbin", reason="needs the extra 'documents'")
    pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")
    from toolflow_bench.probing.real import measure_real
    from toolflow_bench.probing.real_services import REAL

    (httpbin,) = [one for one in REAL if one.name == "httpbin"]
    only = ("get_uuid", "get_user_agent", "get_base64_by_value", "get_image_png")
    row = measure_real(httpbin, "names", Options(out=tmp_path, per_tool=4, census=30), only=only)
    assert (row["tools"], row["score"]["documented_of_seen"]["share"]) == (4, 1.0)
    assert row["score"]["seen"] == {"right": 2, "said": 2, "wanted": 2, "precision": 1.0, "recall": 1.0}
    assert "/spec.json" in row["requests"]["hidden"]
    assert row["calls"]["max"] <= 4
    kinds = {(one["tool"], one["kind"]) for one in row["departures"]}
    assert ("get_uuid", UNDESCRIBED) in kinds
    assert ("get_image_png", UNREADABLE) in kinds


def test_operations_that_tell_are_not_probed():
    pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")
    from toolflow_bench.probing.real_services import REAL, census_calls, told_paths

    (kinto,) = [one for one in REAL if one.name == "kinto"]
    paths = {"tell": "GET /v1/__api__", "drop": "DELETE /v1/buckets/{id}", "get": "GET /v1/buckets/{id}",
             "make": "PUT /v1/buckets/{id}"}  # fmt: skip
    tools = [
        ToolProtocol(
            name=name,
            input_schema={**thing(**({"id": TEXT} if "{" in path else {})), "required": ["id"] if "{" in path else []},
            binding=HttpBinding(method=path.split()[0], url="http://127.0.0.1:9" + path.split()[1]),
        )
        for name, path in paths.items()
    ]
    assert list(told_paths(kinto, tools)) == ["tell"]
    calls = [name for name, arguments in census_calls(kinto, tools[1:], 100) if arguments["id"] == "one"]
    assert calls[0] == "make"
    assert calls[-1] == "drop"
