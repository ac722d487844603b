"""Stands in for `atc/models/llama_child.py`, run as a file: the same talk on stdin and stdout, without weights.

The last message says what it does: `die`, `hang`, `overflow`, `grammar`, `reply TEXT`, `cut TEXT`, `circle TEXT` (again
and again, until nobody listens), or it is echoed with the settings and the paths asked so far. A conversation that
holds `long` took long to read. Words to go on from are rendered and continued as llama.cpp does it; the last message is
then the one before them.
"""

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIMINGS = {"cache_n": 5}
paths = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        paths.append(self.path)
        if self.path == "/apply-template":
            reply = {"prompt": json.dumps(body["messages"])}
        elif self.path.startswith("/slots"):
            reply = {}
        else:
            reply = self.answered(body)
        if body.get("stream") and "error" not in reply:
            self.stream(body, reply)
            return
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def stream(self, asked, reply):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        choice = reply["choices"][0]
        text, again = (
            choice["message"]["content"],
            choice["message"]["content"].startswith("circle "),
        )
        timings = reply["timings"]
        if asked.get("return_progress"):
            for done in (5, 517, 1029):
                self.event(
                    {
                        "choices": [],
                        "prompt_progress": {
                            "total": 1029,
                            "cache": 5,
                            "processed": done,
                            "time_ms": done,
                        },
                    }
                )
        while True:
            for start in range(0, len(text), 7):
                piece = text[start : start + 7].removeprefix("circle ")
                timings = timings | {"predicted_n": timings.get("predicted_n", 0) + 1}
                self.event(
                    {
                        "choices": [{"delta": {"content": piece}, "finish_reason": None}],
                        "timings": timings,
                    }
                )
            if not again:
                break
        self.event({"choices": [{"delta": {}, "finish_reason": choice["finish_reason"]}]})
        self.event({"choices": [], "usage": reply["usage"], "timings": reply["timings"]})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, event):
        try:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        except OSError:
            print("nobody listens", file=sys.stderr, flush=True)
            raise

    def answered(self, body):
        messages = json.loads(body["prompt"])[:-1] if "prompt" in body else body["messages"]
        said = messages[-1]["content"]
        if said == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if said == "hang":
            print("hangs", file=sys.stderr, flush=True)
            time.sleep(60)
        refusals = {
            "overflow": {
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 9030,
                "n_ctx": 8192,
            },
            "grammar": {"message": "failed to parse grammar", "type": "invalid_request_error"},
        }
        if said in refusals:
            return {"error": refusals[said]}
        echo = {
            "request": body,
            "settings": settings,
            "authorization": self.headers["Authorization"],
        }
        kind, _, text = said.partition(" ")
        if kind == "circle":
            kind, text = "reply", said
        elif kind not in ("reply", "cut"):
            kind, text = "cut", json.dumps(echo | {"pid": os.getpid(), "paths": paths})
        timings = TIMINGS | ({"prompt_n": 2000} if "long" in said and "prompt" not in body else {})
        return (raw if "prompt" in body else chat)(text, kind == "cut", timings, body)

    def log_message(self, *_):
        pass


def chat(text, is_cut, timings, body):
    choice = {
        "message": {"role": "assistant", "content": text},
        "finish_reason": "length" if is_cut else "stop",
    }
    if "logprobs" in body:
        choice["logprobs"] = {"content": probabilities(text)}
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 5},
    }
    return {"choices": [choice], "usage": usage, "timings": timings}


def raw(text, is_cut, timings, body):
    reply = {
        "content": text,
        "stop_type": "limit" if is_cut else "eos",
        "tokens_evaluated": 7,
        "tokens_predicted": 3,
    }
    if "n_probs" in body:
        reply["completion_probabilities"] = probabilities(text)
    return reply | {"timings": timings}


def probabilities(text):
    """Each byte is a token, and the only likely one."""
    tokens = [{"token": "?", "bytes": [byte], "logprob": -0.5} for byte in text.encode()]
    return [token | {"top_logprobs": [token]} for token in tokens]


settings = json.loads(sys.stdin.readline())
if settings["context_tokens"] == 666:
    sys.exit(3)
if settings["context_tokens"] == 667:
    print(json.dumps({"error": "RuntimeError: no"}), flush=True)
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
os._exit(0)
