"""Kill the hosts of programs with concurrent calls at random moments, resume them, and replay them.

Each host is a process of its own that is killed by SIGKILL after a random time. The service runs in
this process: it answers after a random delay, and applies a write once for each idempotency key.
The exit status is 1 if a write was repeated or lost, or a run had another answer.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import click
from pydantic import TypeAdapter

from benchmarks.kills.concurrent_programs import ANSWER, CONCURRENT_PROGRAMS, FLIGHTS
from benchmarks.runner import suite
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.journal_entries import RecordedCall
from sandbox.limits import Limits
from sandbox.lost_writes import WriteRecovery
from sandbox.replay import ReplayDiverged, replay
from sandbox.trace import ToolCall, Trace

LONGEST_DELAY_SECONDS = 0.02
LONGEST_LIFE_SECONDS = 0.15
"""Maximum time after which a host is killed, counted from the start of the program."""
MOST_HOSTS = 5
"""Maximum number of host processes for one run. The last one is not killed."""
_forks = multiprocessing.get_context("forkserver")  # hosts that need not import anything
_calls = TypeAdapter(ToolCall)
_traces = TypeAdapter(Trace)


class _Service(BaseHTTPRequestHandler):
    """Answers a request, which is a POST with a JSON object, after a random delay."""

    notes: list[JsonObject]
    answers: dict[str, JsonObject]
    lock: threading.Lock

    def do_POST(self) -> None:
        """Add a note, or list the notes on a flight."""
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))
        before, after = (random.uniform(0, LONGEST_DELAY_SECONDS) for _ in range(2))
        time.sleep(before)
        with self.lock:
            if self.path == "/add_note":
                reply = self._add(given, self.headers["idempotency-key"])
            else:
                found = [one for one in self.notes if one["flight"] == given["flight"]]
                reply = {"notes": found}
        time.sleep(after)
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _add(self, note: JsonObject, key: str) -> JsonObject:
        if key not in self.answers:
            self.answers[key] = note
            self.notes.append(note)
        return self.answers[key]

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Print nothing about connections of killed hosts."""


@contextmanager
def _serve_notes() -> Iterator[tuple[str, list[JsonObject]]]:
    """Run the service, and yield its address and the list of its notes."""
    notes: list[JsonObject] = []
    shared = {"notes": notes, "answers": {}, "lock": threading.Lock()}
    server = _QuietServer(("127.0.0.1", 0), type("Service", (_Service,), shared))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", notes
    finally:
        server.shutdown()
        server.server_close()


def _tools(address: str) -> Toolbox:
    def make(name: str, parameters: tuple[str, ...], key: str | None) -> Tool:
        def call(arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
            headers = {"idempotency-key": idempotency_key} if idempotency_key else {}
            data = json.dumps(arguments).encode()
            with urlopen(Request(f"{address}/{name}", data, headers), timeout=30) as reply:
                found: Json = json.load(reply)
            return found

        text = {"type": "string"}
        schema = {
            "type": "object",
            "properties": dict.fromkeys(parameters, text),
            "required": [*parameters],
        }
        binding = HttpBinding(method="POST", url=f"{address}/{name}", idempotency_header=key)
        annotations = Annotations(read_only=key is None)
        protocol = ToolProtocol(
            name=name, input_schema=schema, binding=binding, annotations=annotations
        )
        return Tool(protocol, call)

    return Toolbox(
        [
            make("add_note", ("flight", "note"), "Idempotency-Key"),
            make("list_notes", ("flight",), None),
        ]
    )


def be_host(folder: Path, backend: str, address: str, is_ready: Connection) -> None:
    """Run or resume the program in `folder`, and write its trace there. It may be killed."""
    stored = folder / "calls.jsonl"
    lines = stored.read_text().splitlines() if stored.exists() else []
    found: dict[tuple[int, int], RecordedCall] = {}
    for execution, call, complete in map(json.loads, lines):
        one = RecordedCall(
            execution=execution, call=_calls.validate_python(call), complete=complete
        )
        found[execution, one.call.index] = one
    tools = _tools(address)
    with stored.open("a") as file:

        def store(execution: int, call: ToolCall, complete: bool) -> None:
            file.write(json.dumps([execution, asdict(call), complete]) + "\n")
            file.flush()

        journal = Journal(sink=store, run="run", write_recovery=WriteRecovery(tools=tools))
        journal.restore([found[key] for key in sorted(found)], tools)
        with open_sandbox(backend) as sandbox:
            sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
            is_ready.send(None)
            source = (folder / "program.py").read_text()
            trace = sandbox.run(source, tools, limits=Limits(), journal=journal)
    (folder / "trace.json").write_text(json.dumps(asdict(trace)))


def _run_with_kills(source: str, backend: str, draw: random.Random) -> dict[str, Any]:
    """Run a program in hosts that are killed until one finishes, and judge what became of it."""
    with tempfile.TemporaryDirectory() as name, _serve_notes() as (address, notes):
        folder = Path(name)
        (folder / "program.py").write_text(source)
        kills = 0
        for number in range(MOST_HOSTS):
            ready, is_ready = _forks.Pipe(duplex=False)
            host = _forks.Process(target=be_host, args=(folder, backend, address, is_ready))
            host.start()
            is_ready.close()
            ready.recv()
            if number < MOST_HOSTS - 1:
                time.sleep(draw.uniform(0, LONGEST_LIFE_SECONDS))
                host.kill()
            host.join()
            if host.exitcode == 0:
                break
            kills += 1
        trace = _traces.validate_json((folder / "trace.json").read_text())
        written = Counter(str(note["flight"]) for note in notes)
        return {
            "kills": kills,
            "repeated": sum(written.values()) - len(written),
            "lost": len(FLIGHTS) - len(written),
            "right": trace.failure is None and trace.stdout.strip() == ANSWER,
            "replayed": _is_replayed(source, trace, backend, address),
        }


def _is_replayed(source: str, trace: Trace, backend: str, address: str) -> bool:
    with open_sandbox(backend) as sandbox:
        try:
            replay(source, _tools(address), trace, sandbox=sandbox, limits=Limits())
        except ReplayDiverged:
            return False
    return True


@suite
@click.option("--runs", default=60, show_default=True, type=click.IntRange(1))
@click.option("--backend", default="zygote", show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(runs: int, backend: str, seed: int) -> dict[str, Any]:
    """Kill the hosts of programs with concurrent calls at random moments, resume and replay."""
    draw = random.Random(seed)
    _forks.set_forkserver_preload(["benchmarks.runner", "sandbox.zygote"])
    programs = list(CONCURRENT_PROGRAMS.values())
    found = [
        _run_with_kills(programs[number % len(programs)], backend, draw) for number in range(runs)
    ]
    total = {key: sum(one[key] for one in found) for key in found[0]}
    passed = not total["repeated"] + total["lost"] and total["right"] == total["replayed"] == runs
    return {"suite": "concurrent kills", "runs": runs, "seed": seed, **total, "passed": passed}


if __name__ == "__main__":
    main()
