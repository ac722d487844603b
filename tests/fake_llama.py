"""Stands in for `atc/models/llama_child.py`, run as a file: the same talk on stdin and stdout, without weights.

The last message says what it does: `die`, `hang`, `overflow`, `grammar`, or it is echoed with the settings.
"""

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = body["messages"][-1]["content"]
        if said == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if said == "hang":
            print("hangs", file=sys.stderr, flush=True)
            time.sleep(60)
        reply = {
            "overflow": {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 9030, "n_ctx": 8192}},
            "grammar": {"error": {"message": "failed to parse grammar", "type": "invalid_request_error"}},
        }.get(said, completion(body, self.headers["Authorization"]))
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def completion(body, authorization):
    text = json.dumps({"request": body, "settings": settings, "authorization": authorization, "pid": os.getpid()})
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "length"}
    return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "timings": {"cache_n": 5}}


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
