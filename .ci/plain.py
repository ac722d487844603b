"""Installs the package without extras into a fresh virtual environment, and runs every command.

    plain.py [ARTIFACT]         a wheel or an sdist that `.ci/build` made; by default this checkout

The environment is made with the Python that runs this file. Of an sdist only a few commands are
run. A command that needs an extra must name it in one sentence and exit with status 3. No command
may report "a bug in atc".
"""

import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import threading
import venv
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "tickets = list_tickets()\nprint(len(tickets))"


class Stub(BaseHTTPRequestHandler):
    """An HTTP handler that stands in for a service with one tool, and for a model endpoint.

    The service has an OpenAPI document; the model replies to every request with `program`.
    """

    program = PROGRAM

    def do_GET(self):
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        ticket = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
        answer = {"schema": {"type": "array", "items": ticket}}
        get = {
            "operationId": "list_tickets",
            "summary": "All open tickets.",
            "responses": {
                "200": {"description": "The tickets.", "content": {"application/json": answer}}
            },
        }
        documents = {
            "/openapi.json": {
                "openapi": "3.1.0",
                "info": {"title": "Tickets", "version": "1"},
                "servers": [{"url": here}],
                "paths": {"/tickets": {"get": get}},
            },
            "/tickets": [{"id": 1}, {"id": 2}],
            "/v1/models": {"data": [{"id": "stub", "owned_by": "ci"}]},
        }
        self.answer(documents.get(self.path))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": f"```python\n{self.program}\n```"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        self.answer(
            {
                "id": "1",
                "object": "chat.completion",
                "model": "stub",
                "choices": [choice],
                "usage": usage,
            }
        )

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_server(handler):
    """Start an HTTP server on this machine, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def main(artifact):
    """Install `artifact`, the path of a wheel, an sdist or a checkout, and run every command."""
    url = start_server(Stub)
    with tempfile.TemporaryDirectory(prefix="atc-plain-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", artifact], check=True)  # noqa: S603
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("ATC_", "OPENAI_", "PYTHON"))
        }
        here = {"ATC_STATE_DIR": "state", "ATC_CACHE_DIR": "cache", "XDG_CONFIG_HOME": "config"}
        endpoint = {"OPENAI_BASE_URL": f"{url}/v1"}
        environment = kept | {key: str(folder / value) for key, value in here.items()}
        tools = f"--tools {url}/openapi.json"
        (folder / "program.py").write_text(PROGRAM)
        (folder / "wrong.py").write_text("print(list_tickets()[0]['identifier'])")

        def atc(line, *, code=0, said="", model=True):
            """Run one command; its exit code must be `code`, and its output must contain `said`.

            The model endpoint is configured only if `model` is True.
            """
            done = subprocess.run(  # noqa: S603
                [folder / "venv" / "bin" / "atc", *shlex.split(line)],
                capture_output=True,
                text=True,
                cwd=folder,
                env=environment | (endpoint if model else {}),
                timeout=60,
                check=False,
            )
            shown = done.stdout + done.stderr
            wrong = [text for text in ("a bug in atc", "Traceback") if text in shown]
            if done.returncode != code or said not in shown or wrong:
                sys.exit(
                    f"atc {line}\nexit status {done.returncode}, expected {code} and"
                    f" {said!r}:\n{shown}"
                )
            return done.stdout

        if artifact.endswith(".tar.gz"):
            few(atc, tools)
        else:
            everything(atc, tools, url)
    print(f"{Path(artifact).name} on Python {platform.python_version()}: installed, and atc works")


def few(atc, tools):
    """Run a few commands: enough for an sdist, from which pip builds the same wheel."""
    checks = {check["name"]: check for check in json.loads(atc("doctor --json"))}
    assert checks["sandbox"]["state"] == "ok", checks
    atc(f"run 'How many tickets are open?' {tools}", said="2")


def everything(atc, tools, url):
    """Run every command that works without extras, then those that must name the missing one."""
    checks = {check["name"]: check for check in json.loads(atc("doctor --json"))}
    assert checks["sandbox monty"]["state"] == "missing", checks
    assert json.loads(atc(f"tools list {tools} --json"))[0]["name"] == "list_tickets"
    atc(f"tools show list_tickets {tools}", said="def list_tickets")
    atc(f"tools call list_tickets {tools}", said='"id": 2')
    atc(f"tools export {tools} --format mcp", said="list_tickets")
    atc(f"tools import {url}/openapi.json -o imported")
    atc("tools list --tools imported", said="list_tickets")
    atc(f"check program.py {tools}", said="nothing found")
    atc(f"check wrong.py {tools}", code=1, said="missing-key")
    atc(f"run 'How many tickets are open?' {tools} --dry-run", said="list_tickets()")
    assert json.loads(atc(f"run 'How many tickets are open?' {tools} --json"))["answer"] == 2
    atc(f"run 'How many tickets are open?' {tools} --output-type int", said="2")
    atc("run 'And how many tickets are there now?' --after last", said="2")
    atc("runs purge last --yes", said="Deleted 1 run")
    atc("runs purge last --yes", said="Deleted 1 run")
    atc("runs list", said="How many tickets are open?")
    atc("runs show last", said="solved")
    atc("runs export last -o run.json")
    atc("runs export last --python", said="tickets = list_tickets()")
    atc("runs replay run.json", said="the same answer")
    atc("runs test run.json", said="1 of 1")
    atc("runs resume last", code=2, said="nothing to resume")
    atc("runs purge last --yes", said="Deleted 1 run")
    atc(f"exec program.py {tools}", said="2", model=False)
    atc(f"exec wrong.py {tools}", code=1, said="--insist", model=False)
    atc(f"exec program.py {tools} --arg n=1", code=2, said="reads no variable 'n'", model=False)
    atc(f"probe {url}/openapi.json -o probed", said="1 of 1 tool documented", model=False)
    atc("probe --check probed", said="no change", model=False)
    atc("models list", said="(endpoint)")
    atc("models test", said="list_tickets")
    atc("config show", said="max_repairs")
    atc("config set max_repairs 5", said="max_repairs")
    atc("config set max_repairs many", code=2)
    atc("completion bash", said="complete")
    atc("bench list", said="toolflow")
    atc("tools list --json", code=3, said="'automatic-tool-chain[toolflow]'")
    atc("run x --json", code=3, said="'automatic-tool-chain[toolflow]'")
    atc(f"run x {tools}", code=3, said="or set OPENAI_API_KEY", model=False)
    atc(f"run x {tools} --sandbox monty", code=3, said="'automatic-tool-chain[monty]'")
    atc(f"run x {tools} --sandbox docker", code=3, said="'automatic-tool-chain[docker]'")
    atc("tools list --tools mcp:true --start-servers", code=3, said="'automatic-tool-chain[mcp]'")
    atc(f"serve {tools}", code=3, said="'automatic-tool-chain[mcp]'")
    atc(f"serve {tools} --print-config claude", said="claude mcp add atc")
    atc(f"tools search tickets {tools}", code=3, said="'automatic-tool-chain[retrieval]'")
    atc(f"tools index {tools}", code=3, said="'automatic-tool-chain[retrieval]'")
    atc("bench run toolflow", code=3, said="automatic-tool-chain[toolflow]")
    atc("bench check", code=2, said="run this in a checkout")
    atc("bench serve", code=3, said="automatic-tool-chain[toolflow]")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(ROOT))
