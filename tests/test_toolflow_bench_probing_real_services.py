"""Services that others wrote: how they are run and reached."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from protocols.errors import SourceUnavailable
from protocols.protocol import HttpBinding, ToolProtocol
from toolflow_bench.probing.part import Options
from toolflow_bench.probing.real import measure_real
from toolflow_bench.probing.real_departures import UNDESCRIBED, UNREADABLE
from toolflow_bench.probing.real_passage import Passage, Passed
from toolflow_bench.probing.real_process import free_port, running
from toolflow_bench.probing.real_services import REAL, census_calls, told_paths


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
    (kinto,) = [one for one in REAL if one.name == "kinto"]
    paths = {"tell": "GET /v1/__api__", "drop": "DELETE /v1/buckets/{id}", "get": "GET /v1/buckets/{id}",
             "make": "PUT /v1/buckets/{id}"}  # fmt: skip
    tools = [
        ToolProtocol(
            name=name,
            input_schema={
                "type": "object",
                "properties": {"id": {"type": "string"}} if "{" in path else {},
                "required": ["id"] if "{" in path else [],
            },
            binding=HttpBinding(method=path.split()[0], url="http://127.0.0.1:9" + path.split()[1]),
        )
        for name, path in paths.items()
    ]
    assert list(told_paths(kinto, tools)) == ["tell"]
    calls = [name for name, arguments in census_calls(kinto, tools[1:], 100) if arguments["id"] == "one"]
    assert calls[0] == "make"
    assert calls[-1] == "drop"
