"""The embedded model: a GGUF file run by llama.cpp in a child process. Also: the same model as an HTTP endpoint."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from atc.models.fetch import cache_folder, fetch
from atc.models.llama import LlamaProcess, LlamaSettings, free_cores, require_runtime
from atc.models.states import PromptStates
from protocols.ask import Completion, Message
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json

_LONG_PROMPT = 1000
"""Tokens read anew from which on a prompt's state is kept on disk: twenty seconds of reading."""
CONTEXT_TOKENS = 8192
"""Prompt and reply together; the KV cache takes 28 KB a token, 235 MB in all."""


class LocalModel:
    """The embedded model as an `Ask`. Weights are loaded at the first call and stay until `close` or the process ends.

    `path` is a GGUF file of one's own, by default ATC_MODEL_PATH; else the pinned model is fetched into `folder` (see
    `fetch`). `threads` defaults to the cores that this process may use. Calls from several threads wait for each other.
    The state of the last prompt is kept, and long ones are kept on disk below `folder` (see `states.py`): a prompt that
    begins alike is read only from where it differs, by a later process too.
    """

    prompt_tokens = 4000

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        threads: int | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        folder: Path | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        on_message: Callable[[str], None] | None = None,
    ) -> None:
        self._path = _own_path(path)
        self.name = self._path.name if self._path else "local"
        self.timings: Mapping[str, float] = {}
        """llama.cpp's figures for the last reply: `cache_n` and `prompt_n` (prompt tokens found and read),
        `prompt_per_second`, `predicted_per_second` …"""
        self._threads = threads or free_cores()
        self._context_tokens = context_tokens
        self._fetch = partial(fetch, folder=folder, on_progress=on_progress, on_message=on_message)
        self._states_folder = (folder or cache_folder()) / "states"
        self._states: PromptStates | None = None
        self._held = ""
        self._process: LlamaProcess | None = None
        self._lock = threading.Lock()

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 1024,
    ) -> Completion:
        """Continue `messages`, see `protocols.ask.Ask`."""
        body: dict[str, Json] = {
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": temperature,
            "seed": seed % (2**32 - 1),  # the value left out means "random" to llama.cpp
            "max_tokens": max_tokens,
        }
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
        elif grammar is not None:
            body["grammar"] = grammar
        with self._lock:
            started = time.perf_counter()
            process, prompt = self._loaded(), "\n".join(f"{m.role}: {m.content}" for m in messages)
            self._recall(process, prompt)
            reply = process.post("/v1/chat/completions", body)
            seconds = time.perf_counter() - started
            self.timings = reply.get("timings", {})
            self._keep(process, prompt)
        if "error" in reply:
            raise ModelUnavailable(_refusal(reply["error"]))
        return _completion(reply, name=self.name, seconds=seconds)

    def load(self) -> None:
        """Load the weights now (2 to 10 s), fetching them first where they are missing."""
        with self._lock:
            self._loaded()

    def close(self) -> None:
        """Give the memory back; the next call loads again."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _recall(self, process: LlamaProcess, prompt: str) -> None:
        """Load the kept state that spares most of reading `prompt`, if one does."""
        if self._states is not None and (name := self._states.nearest(prompt, held=self._held)) is not None:
            restored = process.post("/slots/0?action=restore", {"filename": name})
            if "error" in restored:
                self._states.drop(name)

    def _keep(self, process: LlamaProcess, prompt: str) -> None:
        """Keep the state of a prompt that took long to read."""
        self._held = prompt
        if self._states is not None and self.timings.get("prompt_n", 0) >= _LONG_PROMPT:
            name = self._states.file_for(prompt)
            if "error" not in process.post("/slots/0?action=save", {"filename": name}):
                self._states.saved(name, prompt)

    def _loaded(self) -> LlamaProcess:
        if self._process is None or not self._process.running:
            require_runtime()  # before 1.1 GB are fetched in vain
            path = self._path or self._fetch()
            self._states, self._held = self._states_for(path), ""
            self._process = LlamaProcess(
                LlamaSettings(
                    path=path,
                    name=self.name,
                    threads=self._threads,
                    context_tokens=self._context_tokens,
                    api_key=os.urandom(16).hex(),
                    states=self._states.folder if self._states is not None else None,
                )
            )
        return self._process

    def _states_for(self, path: Path) -> PromptStates | None:
        """Where states of prompts to this very file, runtime and context are kept; None where nothing can be."""
        try:
            self._states_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            weights = path.stat()
        except OSError:
            return None
        runtime = version("xllamacpp")
        return PromptStates(
            self._states_folder, kind=f"{weights.st_size} {weights.st_mtime_ns} {runtime} {self._context_tokens}"
        )


def _completion(reply: Mapping[str, Any], *, name: str, seconds: float) -> Completion:
    choice, usage = reply["choices"][0], reply["usage"]
    return Completion(
        text=choice["message"].get("content") or "",
        model=name,
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        seconds=seconds,
        truncated=choice["finish_reason"] == "length",
    )


def _refusal(error: Mapping[str, Any]) -> str:
    """One sentence for an error that llama.cpp answers with."""
    if error.get("type") == "exceed_context_size_error":
        asked, held = error["n_prompt_tokens"], error["n_ctx"]
        return (
            f"the prompt is {asked - held:,} tokens too long for the local model: it has {asked:,}, the context holds "
            f"{held:,}; shorten the task, offer fewer tools, or set OPENAI_API_KEY to use a larger model."
        )
    message = " ".join(str(error.get("message", error)).split())[:300]
    return f"the local model refuses the request: {message}; check the schema or grammar that goes with it."


def _own_path(path: str | Path | None) -> Path | None:
    own = path or os.environ.get("ATC_MODEL_PATH")
    return Path(own).expanduser() if own else None


@contextmanager
def serve_openai(
    path: str | Path | None = None,
    *,
    threads: int | None = None,
    context_tokens: int = CONTEXT_TOKENS,
    api_key: str = "",
) -> Iterator[str]:
    """The local model as an OpenAI-compatible endpoint on loopback, a free port; gives the base URL (ends in `/v1`).

    Raises:
        ModelUnavailable: as for `LocalModel`.
    """
    own = _own_path(path)
    process = LlamaProcess(
        LlamaSettings(
            path=own or fetch(),
            name=own.name if own else "local",
            threads=threads or free_cores(),
            context_tokens=context_tokens,
            api_key=api_key,
        )
    )
    try:
        yield f"{process.address}/v1"
    finally:
        process.stop()
