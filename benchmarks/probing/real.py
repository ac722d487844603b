"""The suite `real`: services that others wrote, run here, probed with their own documents hidden.

Each runs as a process on loopback and is probed through a passage that answers 404 where it tells of itself and notes
every request.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
import yaml

from benchmarks.probing.runs import (
    Options,
    Probing,
    Suite,
    run_probing,
    strip,
    table,
    total_by_setting,
    unit_folder,
)
from benchmarks.probing.score import Row, added, links_of, percent, rate, score_tool, share
from benchmarks.probing.toolflow import TruthLeaked
from probing.replies import refusal_in
from protocols.errors import SourceUnavailable
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.sources.openapi import read_openapi

KINTO = """[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = throw-away
kinto.bucket_create_principals = system.Everyone
kinto.bucket_read_principals = system.Everyone
kinto.bucket_write_principals = system.Everyone
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = %(http_port)s
"""
_FORBIDDEN = r"being told which|not told which|one record, which it would|ends what others"
_ONE_HOP = frozenset({"connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})


def command(name: str, folder: Path, port: int) -> list[str]:
    """How a service is started."""
    python = [sys.executable, "-W", "ignore"]
    if name == "httpbin":
        return [*python, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--threads", "8", "httpbin:app"]
    if name == "glances":
        quiet = ["--disable-autodiscover", "--disable-check-update"]
        return [*python, "-m", "glances", "-w", "-p", str(port), "-B", "127.0.0.1", *quiet]
    (folder / "kinto.ini").write_text(KINTO, encoding="utf-8")
    begin = "import sys; from kinto.__main__ import main; sys.exit(main())"
    return [*python, "-c", begin, "start", "--ini", "kinto.ini", "--port", str(port)]


@cache
def services() -> Mapping[str, Any]:
    """What `real.yaml` says of each service."""
    found: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("real.yaml").read_text(encoding="utf-8"))
    return found


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(arguments: Sequence[str], *, port: int, folder: Path, seconds: float = 90.0) -> Iterator[None]:
    """Run a command with `folder` as its home and working folder, from the moment that it listens on `port`.

    What it says goes to `service.log` there. Its whole process group is ended at the end.

    Raises:
        SourceUnavailable: it ended, or did not listen within `seconds`.
    """
    log = folder / "service.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, cwd=folder, env={**os.environ, "HOME": str(folder)}, stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
                break
            time.sleep(0.05)
        else:
            raise SourceUnavailable(f"the service on port {port} ended or did not listen in time; see {log}.")
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Passage(ThreadingHTTPServer):
    """Listens on a free port of loopback and passes on to `port`; a context manager.

    `hides` are paths that are answered 404 without asking the service, and so is all below those that end in `/*`.
    `passed` has the path and the status of each request that the service saw.
    """

    request_queue_size = 64

    def __init__(self, port: int, hides: Collection[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port, self._hides, self.passed = port, frozenset(hides), list[tuple[str, int]]()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, name="passage", daemon=True).start()

    def hides(self, path: str) -> bool:
        """Whether a request for this path is answered 404 here."""
        plain = path.rstrip("/") or "/"
        below = any(rule.endswith("/*") and f"{plain}/".startswith(rule[:-1]) for rule in self._hides)
        return plain in self._hides or below

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Passage
    timeout = 60

    def log_message(self, *_: object) -> None:
        pass

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        status, headers, answered = self._answer(urlsplit(self.path).path, body)
        with suppress(OSError):  # nobody waits any more
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status not in (204, 304):
                self.send_header("Content-Length", str(len(answered)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answered)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = pass_on  # noqa: N815

    def _answer(self, path: str, body: bytes | None) -> tuple[int, dict[str, str], bytes]:
        if self.server.hides(path):
            return 404, {"Content-Type": "text/plain"}, b"not found"
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        sent = {name: value for name, value in self.headers.items() if name.lower() not in _ONE_HOP}
        try:
            connection.request(self.command, self.path, body=body, headers=sent)
            response = connection.getresponse()
            headers = {name: value for name, value in response.headers.items() if name.lower() not in _ONE_HOP}
            found = response.status, headers, response.read()
        except (OSError, HTTPException) as error:
            found = 502, {"Content-Type": "text/plain"}, f"the service gave no answer: {error}".encode()
        finally:
            connection.close()
        self.server.passed.append((path, found[0]))
        return found


def measure_real(unit: str, options: Options) -> Row:
    """Probe one service and score what came of it.

    Raises:
        SourceUnavailable: it does not start.
        TruthLeaked: it answered where it tells of itself.
    """
    name, _, setting = unit.rpartition("-")
    service, folder = services()[name], unit_folder("real", unit, options)
    with _started(name, folder / "run") as port, Passage(port, service["told"]) as passage:
        document = requests.get(f"http://127.0.0.1:{port}{service['document']}", timeout=60).json()
        tools = [tool for tool in _tools(name, document, passage.url) if service["writes"] or not tool.writes]
        given = strip(tools, setting)
        probing = run_probing(given, folder / "probing", name=name, writes=service["writes"], options=options)
        shown = [path for path, _ in passage.passed if passage.hides(path)]
        told = [passage.url + path for path in service["told"] if not path.endswith("*")]
        shown += [url for url in told if requests.get(url, timeout=60).status_code != 404]
        if shown:
            raise TruthLeaked(f"{name} answered {', '.join(shown)}; its figures are worth nothing.")
    return row_of(name, setting, probing, tools)


def row_of(name: str, setting: str, probing: Probing, declared: Sequence[ToolProtocol]) -> Row:
    """Probed protocols against their own document."""
    told = {sample.tool for sample in probing.samples if sample.done and not refusal_in(sample.response)}
    # What must not be called is not told which record is meant, writes over a single one, or ends what others rest on.
    unsent = probing.stopped.keys() - {sample.tool for sample in probing.samples}
    whole = {tool.name for tool in declared if _takes_all(tool)}
    forbidden = sorted(tool for tool in unsent if tool in whole or re.search(_FORBIDDEN, probing.stopped[tool]))
    scores = {}
    for tool in declared:
        score = score_tool(probing.protocols.get(tool.name), tool)
        documented = bool(score["documented"]["right"]) and tool.name in told  # not where all it said were refusals
        callable_ = share([] if tool.name in forbidden else [documented])
        scores[tool.name] = score | {"documented": share([documented]), "documented_of_callable": callable_}
    return {
        "name": name,
        "setting": setting,
        "tools": len(declared),
        "score": added(list(scores.values())),
        "links": rate(links_of(probing.protocols.values()), ()),
        "calls": probing.calls,
        "seconds": probing.seconds,
        "cpu_seconds": probing.cpu_seconds,
        "forbidden": forbidden,
        "stopped": dict(probing.stopped),
        "undocumented": {
            tool: [f"{s.plain} → {s.status or s.outcome} {s.error[:120]}" for s in probing.samples if s.tool == tool][
                -4:
            ]
            for tool, score in scores.items()
            if not score["documented"]["right"]
        },
    }


def real_lines(rows: Sequence[Row], total: Row) -> list[str]:
    """The table, and what is documented of the tools that may be called."""
    told = []
    for row in rows:
        documented = percent(row["score"]["documented_of_callable"]["share"])
        not_to_be_called = ", ".join(row["forbidden"]) or "none"
        told.append(
            f"{row['name']} ({row['setting']}): {documented} but for those not to be called: {not_to_be_called}"
        )
    return [*table(rows, total), *told]


@contextmanager
def _started(name: str, folder: Path) -> Iterator[int]:
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    with running(command(name, folder, port), port=port, folder=folder):
        yield port


def _tools(name: str, document: Any, url: str) -> list[ToolProtocol]:
    told = services()[name]["told"]
    protocols = read_openapi(document, where=f"the document of {name}", base_url=url)
    return [protocol for protocol in protocols if urlsplit(_http(protocol).url).path.rstrip("/") not in told]


def _takes_all(tool: ToolProtocol) -> bool:
    """Whether a tool takes a whole list away."""
    binding = tool.binding
    return isinstance(binding, HttpBinding) and binding.method == "DELETE" and not binding.url.endswith("}")


def _http(protocol: ToolProtocol) -> HttpBinding:
    assert isinstance(protocol.binding, HttpBinding)
    return protocol.binding


SUITE = Suite(
    name="real",
    summary="services that others wrote: httpbin, kinto, glances",
    units=lambda options: [f"{n}-{setting}" for setting in options.settings for n in services() if find_spec(n)],
    measure=measure_real,
    total=total_by_setting,
    lines=real_lines,
)
