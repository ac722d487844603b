"""Runs llama.cpp in a child process, and sends requests to it.

The library, xllamacpp, could also run in this process. But its constructor holds the interpreter's
lock (8 s were measured, during which Ctrl-C has no effect), and if this process exits while the
model generates, a segmentation fault or a deadlock follows (both were observed). A child process
can be killed, stops generating when the connection is closed, and has its own stderr, which is
discarded.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from atc.core.parallel import seconds_to_wait
from atc.models.wire import ReadingProgress, collect_stream
from protocols.errors import ModelUnavailable, OutOfTime

_CHILD = Path(__file__).resolve().with_name("llama_child.py")
_REPLY_SECONDS = 1800.0
"""Maximum seconds that the child may be silent; after that, it is stuck. Reading the longest prompt
on one core takes less.
"""


def free_cores() -> int:
    """Return the number of cores that this process may use.

    Containers, `taskset` and OMP_NUM_THREADS (which Ray sets) are taken into account.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(wanted)) if wanted.isdecimal() and int(wanted) else cores


def require_runtime() -> None:
    """Raise ModelUnavailable unless xllamacpp is installed."""
    if find_spec("xllamacpp") is None:
        raise ModelUnavailable(
            "the embedded model needs 'xllamacpp', which is not installed: pip install"
            ' "automatic-tool-chain[local]"'
            ", or set OPENAI_API_KEY to use an OpenAI-compatible endpoint."
        )


class LlamaProcess:
    """A child process that runs llama.cpp with the weights in the file `path`.

    Its server is at `address`, `http://127.0.0.1:PORT`. If `api_key` is empty, every local process
    can use the server. `states` is the folder in which the states of prompts (KV caches) may be
    saved; if it is empty, none are saved. `stop()` kills the child at any time, and so does garbage
    collection of this object.

    Raises:
        ModelUnavailable: xllamacpp is missing, the file is not a model, or the child ended, for
            instance because there is too little memory.
    """

    def __init__(
        self,
        path: str,
        *,
        name: str,
        threads: int,
        context_tokens: int,
        api_key: str = "",
        states: str = "",
    ) -> None:
        require_runtime()
        self._path = path
        self._key = api_key
        sizes = {"threads": threads, "context_tokens": context_tokens}
        self._child = subprocess.Popen(  # noqa: S603 - our own file and interpreter
            [sys.executable, "-P", str(_CHILD)],
            # Not the working folder: llama.cpp would load backends from it.
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Spinning threads starve each other on a busy machine.
            env={
                **os.environ,
                "OMP_WAIT_POLICY": "passive",
            },
            start_new_session=True,  # the parent handles Ctrl-C
        )
        self.stop = weakref.finalize(self, _end, self._child, os.getpid())
        try:
            self.address = self._start(
                {"path": path, "name": name, "api_key": api_key, "states": states, **sizes}
            )
        except BaseException:
            self.stop()
            raise

    def _start(self, settings: dict[str, str | int]) -> str:
        """Send the settings to the child, and wait until it has loaded the model's weights.

        Return the address of its server.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        # A broken pipe means that the child has ended. It then gives no answer.
        with suppress(BrokenPipeError):
            self._child.stdin.write(json.dumps(settings).encode() + b"\n")
            self._child.stdin.flush()
        answer: dict[str, str] = json.loads(self._child.stdout.readline() or b"{}")
        if answer.get("error", "").startswith("ImportError"):
            raise ModelUnavailable(
                f"the runtime of the embedded model cannot be loaded ({answer['error']}); install"
                " what it lacks (on Debian: apt install libgomp1), or set OPENAI_API_KEY to use an"
                " OpenAI-compatible endpoint."
            )
        if "error" in answer:
            raise ModelUnavailable(
                f"llama.cpp cannot load {self._path!r}: there is no such file, or it is no GGUF"
                f" model, damaged or of an unknown architecture ({answer['error']}); name another"
                " with --model or ATC_MODEL_PATH."
            )
        if not answer:
            raise ModelUnavailable(self._explain_end())
        return answer["address"]

    def _explain_end(self) -> str:
        """Return a sentence that says how the child ended, and what to do."""
        try:
            code = self._child.wait(5)
        except subprocess.TimeoutExpired:
            return (
                "the local model's process closed the connection without an answer; run the"
                " command again."
            )
        how = (
            f"was killed by {signal.Signals(-code).name}"
            if code < 0
            else f"ended with exit status {code}"
        )
        memory = (
            ": probably too little memory, the model needs 2 GB" if code == -signal.SIGKILL else ""
        )
        return (
            f"the local model's process {how}{memory}; free some memory, or set OPENAI_API_KEY to"
            " use an endpoint."
        )

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one request to the child's server, and return the JSON of the reply.

        An interrupt (Ctrl-C) kills the child. Error replies are returned, too: llama.cpp describes
        the error under `error`.
        """
        with self._request(path, body) as response:
            reply: dict[str, Any] = json.loads(response.read())
        return reply

    def chat(
        self,
        body: dict[str, Any],
        *,
        enough: Callable[[str], bool],
        reading: ReadingProgress | None = None,
    ) -> dict[str, Any]:
        """Send a chat completion request and return the reply.

        `enough` is called with the text of the reply so far. If it returns True, the model is
        stopped. The reply then looks as if the token limit had cut it. `reading` is called with the
        progress of reading the prompt.
        """
        body = body | {
            "stream": True,
            "stream_options": {"include_usage": True},
            "timings_per_token": True,
        }
        body["return_progress"] = reading is not None
        with self._request("/v1/chat/completions", body) as response:
            if response.headers.get_content_type() != "text/event-stream":
                refusal: dict[str, Any] = json.loads(response.read())
                return refusal
            return collect_stream(_events(response), enough=enough, reading=reading)

    @contextmanager
    def _request(self, path: str, body: dict[str, Any]) -> Iterator[http.client.HTTPResponse]:
        seconds = seconds_to_wait(_REPLY_SECONDS)
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=seconds)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            yield connection.getresponse()
        except KeyboardInterrupt:
            # Closing the connection would stop it, too, but only after up to 512 more prompt
            # tokens.
            self.stop()
            raise
        except TimeoutError as error:
            # Closing the connection ends the generation and keeps the weights loaded.
            if seconds < _REPLY_SECONDS:
                raise OutOfTime(
                    "the local model's reply did not come in the time that was left."
                ) from error
            self.stop()
            raise ModelUnavailable(
                f"the local model was silent for {_REPLY_SECONDS:.0f} s; give it more threads or a"
                " shorter prompt."
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelUnavailable(self._explain_end()) from error
        finally:
            connection.close()

    @property
    def running(self) -> bool:
        """True if the child process is alive."""
        return self._child.poll() is None


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the JSON of each server-sent event in a reply, up to the event `[DONE]`."""
    for line in response:
        seconds_to_wait(_REPLY_SECONDS)
        name, _, data = line.decode("utf-8").rstrip("\r\n").partition(": ")
        if data == "[DONE]":
            return
        if name in ("data", "error"):
            event = json.loads(data)
            yield {"error": event} if name == "error" else event


def _end(child: subprocess.Popen[bytes], owner: int) -> None:
    """Kill the child process and wait for its end, but only in the process `owner`.

    `owner` is the id of the process that started the child. In a forked process, do nothing, since
    the parent still needs the child.
    """
    if os.getpid() == owner:
        child.kill()
        child.wait()
        for pipe in filter(None, (child.stdin, child.stdout)):
            pipe.close()
