"""The embedded model: a GGUF file run by llama.cpp in a child process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from atc.models import lark
from atc.models.fetch import LOCAL_MODELS, QWEN, cache_folder, fetch, own_file
from atc.models.llama import LlamaProcess, free_cores, require_runtime
from atc.models.wire import (
    ReadingProgress,
    completion_of,
    drop_empty_prefill,
    is_continuation,
    refusal,
    request_continuation,
    strip_fence,
    to_api_messages,
)
from protocols.errors import ModelUnavailable
from protocols.model import Completion, Message, Powers
from protocols.private_files import NotPrivate, private_folder, write_whole
from protocols.schema import Json

_LONG_PROMPT = 1000
"""Tokens read anew from which on a prompt's state is kept on disk: twenty seconds of reading."""
_LONG_REPLY = 120
"""Tokens from which on a reply is watched: a shorter one is over before it has run in circles for long."""
_HELD = frozenset({"grammar", "response_format", "logprobs"})
"""Options of replies that are not watched: those that are held end by themselves."""
CONTEXT_TOKENS = 8192
"""Prompt and reply together; the KV cache takes 28 KB a token, 235 MB in all."""
_WORTH_LOADING = 4_000
"""Characters that a kept state must share with a prompt beyond what the process already holds: some 1,100 tokens."""
_MOST_STATES = 3
"""Kept at a time, the latest used; 28 KB a token, so some 120 MB each for a full prompt."""
_SHORTEST = 240
"""Characters that repeat, at least: rules of dashes and rows of zeros are shorter."""
_TIMES = 6
_LONGEST_PERIOD = 200


class LocalModel:
    """The embedded model as an `Ask`. Weights are loaded at the first call and stay until `close` or the process ends.

    `path` is a GGUF file of one's own, by default ATC_MODEL_PATH, or a name of `LOCAL_MODELS` (else `local`), which is
    fetched into `folder` (see `fetch`). `threads` defaults to the cores that this process may use. Calls from several
    threads wait for each other. The state of the last prompt is kept, and long ones are kept on disk below `folder`
    (`PromptStates`): a prompt that begins alike is read only from where it differs, by a later process too. A reply
    that runs in circles is cut, as by its token limit. `on_reading` is told how far a long prompt has been read.
    """

    prompt_tokens = 4000
    samples = 4
    """Replies that are drawn to one prompt until one is new: they cost little, as the prompt is read once."""

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        threads: int | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        folder: Path | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        on_message: Callable[[str], None] | None = None,
        on_reading: ReadingProgress | None = None,
    ) -> None:
        model = str(path) if path is not None else "local"
        self._own = own_file(model)
        self.name = self._own.name if self._own else model
        self.timings: Mapping[str, float] = {}
        """llama.cpp's figures for the last reply: `cache_n` and `prompt_n` (prompt tokens found and read),
        `prompt_per_second`, `predicted_per_second` …"""
        self._threads = threads or free_cores()
        self._context_tokens = context_tokens
        self._fetch = partial(
            fetch,
            LOCAL_MODELS.get(model, QWEN),
            folder=folder,
            on_progress=on_progress,
            on_message=on_message,
        )
        self._states_folder = (folder or cache_folder()) / "states"
        self._states: PromptStates | None = None
        self._read = ""
        self._forgotten = False
        self._on_reading = on_reading
        self._process: LlamaProcess | None = None
        self._lock = threading.Lock()

    @property
    def powers(self) -> Powers:
        """Lark needs llguidance in this process too: the runtime passes over a grammar that is wrong in silence."""
        return Powers(schema=True, lark=lark.is_installed(), continues=True)

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
        """Continue `messages`, see `protocols.model.Ask`.

        A schema that llguidance knows only in part is enforced in that part, and one that it cannot use asked for in
        words.

        Raises:
            ModelUnavailable: also where llguidance refuses the grammar.
        """
        # the seed that is left out means "random" to llama.cpp
        options: dict[str, Json] = {
            "temperature": temperature,
            "seed": seed % (2**32 - 1),
            "max_tokens": max_tokens,
        }
        if schema is not None:
            if (usable := lark.to_usable_schema(schema)) is None:
                completion = self.reply(messages, options, in_words=schema)[1]
                return replace(completion, text=strip_fence(completion.text))
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": usable},
            }
        elif grammar is not None:
            options["grammar"] = lark.require_compilable(grammar)
        return self.reply(messages, options)[1]

    def reply(
        self,
        messages: Sequence[Message],
        options: Mapping[str, Json],
        *,
        in_words: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Json], Completion]:
        """llama.cpp's reply to options of its own, and what it says; a schema `in_words` is asked for in the messages.

        Raises:
            ModelUnavailable: as a call.
        """
        messages = drop_empty_prefill(messages)
        body = {"messages": to_api_messages(messages, in_words), **options}
        with self._lock:
            started = time.perf_counter()
            process = self._load()
            prompt = "\n".join("{role}: {content}".format(**turn) for turn in body["messages"])
            if self._forgotten:
                body["cache_prompt"], self._forgotten = False, False
            else:
                self._recall(process, prompt)
            if is_continuation(messages):
                reply = request_continuation(process.post, body)
            elif options["max_tokens"] > _LONG_REPLY and not options.keys() & _HELD:
                reply = process.chat(body, enough=is_repeating, reading=self._on_reading)
            else:
                reply = process.post("/v1/chat/completions", body)
            seconds = time.perf_counter() - started
            self.timings = reply.get("timings", {})
            self._keep(process, prompt)
        if "error" in reply:
            raise ModelUnavailable(refusal(reply["error"]))
        return reply, completion_of(reply, model=self.name, seconds=seconds)

    def forget(self) -> None:
        """Read the next prompt from its beginning, whatever was read before: see `protocols.model.forget`."""
        self._forgotten = True

    def close(self) -> None:
        """Give the memory back; the next call loads again."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _recall(self, process: LlamaProcess, prompt: str) -> None:
        """Load the kept state that spares most of reading `prompt`, if one does."""
        name = (
            self._states.find_nearest(prompt, held=self._read) if self._states is not None else None
        )
        if (
            self._states
            and name
            and "error" in process.post("/slots/0?action=restore", {"filename": name})
        ):
            self._states.drop(name)

    def _keep(self, process: LlamaProcess, prompt: str) -> None:
        """Keep the state of a prompt that took long to read."""
        self._read = prompt
        if self._states is not None and self.timings.get("prompt_n", 0) >= _LONG_PROMPT:
            name = self._states.file_for(prompt)
            if "error" not in process.post("/slots/0?action=save", {"filename": name}):
                self._states.note_saved(name, prompt)

    def _load(self) -> LlamaProcess:
        if self._process is None or not self._process.running:
            require_runtime()  # before 1.1 GB are fetched in vain
            path = self._own or self._fetch()
            self._states = self._states_for(path)
            self._read = ""
            self._process = LlamaProcess(
                str(path.absolute()),
                name=self.name,
                threads=self._threads,
                context_tokens=self._context_tokens,
                api_key=os.urandom(16).hex(),
                states=str(self._states.folder.absolute()) if self._states is not None else "",
            )
        return self._process

    def _states_for(self, path: Path) -> PromptStates | None:
        """Where states of prompts to this very file, runtime and context are kept; None where nothing can be."""
        try:
            private_folder(self._states_folder)
            status = path.stat()
        except (OSError, NotPrivate):
            return None
        kind = (
            f"{status.st_size} {status.st_mtime_ns} {version('xllamacpp')} {self._context_tokens}"
        )
        return PromptStates(self._states_folder, kind=kind)


def is_repeating(text: str) -> bool:
    """Whether `text` ends in one piece, of 200 characters at most, that stands there six times or more in a row.

    A small model that has begun to repeat itself goes on so to the last token.
    """
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _TIMES) + 1):
        tail = max(_SHORTEST, _TIMES * period)
        if (
            len(text) >= tail
            and text[-1] == text[-1 - period]
            and text[-tail:-period] == text[period - tail :]
        ):
            return True
    return False


class PromptStates:
    """What llama.cpp computed for prompts, kept in a folder: reading 4,000 tokens takes a CPU a minute, loading none.

    The prompts of one toolbox begin alike (rules, worked example, stubs) and differ in the task at their end. So the
    state of a long prompt is worth keeping for the next process that begins so. `kind` tells what wrote them: only the
    same model and runtime can read them.
    """

    def __init__(self, folder: Path, *, kind: str) -> None:
        self.folder = folder
        self._kind = hashlib.sha256(kind.encode()).hexdigest()[:12]

    def find_nearest(self, prompt: str, *, held: str = "") -> str | None:
        """The file of the state that shares enough of its beginning with `prompt`, more than `held` does; or None."""
        best = None
        most = shared_prefix_length(held, prompt) + _WORTH_LOADING
        if most > len(prompt):
            return None  # nothing is looked for on the disk while a conversation goes on from what is held
        for note in self.folder.glob(f"{self._kind}-*.json"):
            with contextlib.suppress(OSError, ValueError):
                common = shared_prefix_length(
                    json.loads(note.read_text(encoding="utf-8"))["prompt"], prompt
                )
                if common >= most and note.with_suffix(".state").exists():
                    best = note.with_suffix(".state")
                    most = common
        if best is not None:
            with contextlib.suppress(OSError):
                os.utime(best)
        return best.name if best is not None else None

    def file_for(self, prompt: str) -> str:
        """The name under which the state of `prompt` is to be saved."""
        return f"{self._kind}-{hashlib.sha256(prompt.encode()).hexdigest()[:12]}.state"

    def note_saved(self, name: str, prompt: str) -> None:
        """Note that `name` now holds the state of `prompt`, and drop the states not used for longest."""
        with contextlib.suppress(OSError):  # a cache that cannot be kept costs time, nothing else
            note = (self.folder / name).with_suffix(".json")
            write_whole(note, json.dumps({"prompt": prompt}))
            states = sorted(
                self.folder.glob("*.state"), key=lambda path: path.stat().st_mtime, reverse=True
            )
            for stale in states[_MOST_STATES:]:
                self.drop(stale.name)

    def drop(self, name: str) -> None:
        """Delete a state, one that cannot be read for instance."""
        for path in (self.folder / name, (self.folder / name).with_suffix(".json")):
            path.unlink(missing_ok=True)


def forget_prompts(tasks: Sequence[str], *, folder: Path) -> None:
    """Delete what models of `folder` kept of prompts with these tasks, in which a secret may have been typed."""
    for note in (folder / "states").glob("*.json"):
        with contextlib.suppress(OSError, ValueError):
            prompt = json.loads(note.read_text(encoding="utf-8")).get("prompt", "")
            if any(task in prompt for task in tasks):
                note.with_suffix(".state").unlink(missing_ok=True)
                note.unlink()


def shared_prefix_length(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    return len(os.path.commonprefix((left, right)))  # noqa: RUF071 - characters are what is meant
