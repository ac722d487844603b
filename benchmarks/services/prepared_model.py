"""A model on loopback that gives one prepared program, for a command that asks a real endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "prepared"


class PreparedModel:
    """An OpenAI-compatible endpoint that answers every request with the same program.

    A model that repeats its program after a doubt stands by it. `prompts` has the text of each
    request so far.
    """

    def __init__(self, program: str) -> None:
        self.prompts: list[str] = []
        self.url = ""
        self._reply = f"```python\n{program.strip()}\n```"

    def respond(self, request: Mapping[str, Any]) -> bytes:
        """Return the body of the response to a chat request, as JSON or as a stream of events."""
        self.prompts.append("\n\n".join(str(one.get("content")) for one in request["messages"]))
        head = {"id": "1", "created": 1, "model": MODEL}
        message = {"role": "assistant", "content": self._reply}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
            return json.dumps(head | whole).encode()
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        kind = {"object": "chat.completion.chunk"}
        events = [json.dumps(head | kind | chunk) for chunk in chunks]
        return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


@contextmanager
def serve_program(program: str) -> Iterator[PreparedModel]:
    """Serve a model that knows only this program, while the context is open."""
    model = PreparedModel(program)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            kind = "text/event-stream" if request.get("stream") else "application/json"
            self._send(model.respond(request), kind)

        def do_GET(self) -> None:
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            self._send(json.dumps(listed).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing: the command's own messages matter."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield model
        finally:
            server.shutdown()
