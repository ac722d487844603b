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

from atc.core.replies import is_repeating
from atc.models import lark
from atc.models.fetch import fetch
from atc.models.llama import LlamaProcess, free_cores, require_runtime
from atc.models.model_files import LOCAL_MODELS, QWEN, cache_folder, own_file
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
from protocols.model import Completion, Message, Powers
from protocols.private_files import NotPrivate, private_folder, write_whole
from protocols.render import Docs
from protocols.schema import Json

_LONG_PROMPT = 1000
"""The state of a prompt is saved on disk if the model had to read at least this many tokens of the
prompt, which takes about twenty seconds.
"""
_LONG_REPLY = 120
"""If the token limit of a reply is higher than this, the reply is checked for endless repetition.
Shorter replies end soon anyway.
"""
_HELD = frozenset({"grammar", "response_format", "logprobs"})
"""Request options that exempt a reply from the check for endless repetition, since a reply that
must match a grammar or schema ends by itself.
"""
CONTEXT_TOKENS = 8192
"""Maximum number of tokens of prompt and reply together. The KV cache takes 28 KB per token, 235 MB
in all.
"""
_WORTH_LOADING = 4_000
"""A saved state is loaded only if it covers at least this many more characters of the prompt than
the state in memory (about 1,100 tokens). Loading it for fewer would not save time.
"""
_MOST_STATES = 3
"""Maximum number of states on disk. The least recently used ones are deleted. The state of a prompt
of full length takes about 120 MB.
"""


class LocalModel:
    """The embedded model, with the interface `protocols.model.Ask`.

    The weights are loaded at the first call, and stay in memory until `close` is called or the
    process ends. `path` is a GGUF file, or a name in `LOCAL_MODELS`, whose file is downloaded into
    `folder` (see `fetch`). By default it is ATC_MODEL_PATH, or else `local`. `threads` is by
    default the number of cores that this process may use. Concurrent calls wait for each other.

    After reading a prompt, llama.cpp has a state (its KV cache), from which it can continue. The
    state of the last prompt is kept in memory, and states of long prompts are saved below `folder`
    (see `PromptStates`). So if a later prompt begins like an earlier one, only the rest of it must
    be read. A reply that repeats itself endlessly is cut, as if it had reached the token limit.
    `on_reading` is called with the progress of reading a long prompt.
    """

    prompt_tokens = 2500
    docs: Docs = "compact"
    """How prompts describe tools. It reads a line in half the time that a stub takes."""
    samples = 4
    """Maximum number of replies that are requested for one prompt until one differs from earlier
    replies. They are cheap, since the prompt is read only once.
    """

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
        """llama.cpp's measurements of the last reply: `cache_n` and `prompt_n` (the prompt tokens
        found in the cache and those read), `prompt_per_second`, `predicted_per_second` …
        """
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
        """The constraints on a reply that the model can enforce.

        Lark grammars require llguidance in this process, too, to test them first: llama.cpp
        silently ignores an invalid grammar.
        """
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
        """Return the model's reply to `messages`, see `protocols.model.Ask`.

        The library llguidance makes the reply conform to `schema` or `grammar`. If it does not
        support some keywords of the schema, it ignores them and enforces the rest. If it cannot use
        the schema at all, the schema is only described in the prompt.

        Raises:
            ModelUnavailable: the model cannot be used, or llguidance refuses the grammar.
        """
        # llama.cpp treats the largest seed, 2**32 - 1, as "random".
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
        """Return llama.cpp's reply to a request with these options, and the completion in it.

        `in_words` is a schema that is described in the messages, since it cannot be enforced.

        Raises:
            ModelUnavailable: the model cannot be used.
        """
        messages = drop_empty_prefill(messages)
        body = {"messages": to_api_messages(messages, in_words), **options}
        is_streamed = options["max_tokens"] > _LONG_REPLY or self._on_reading is not None
        with self._lock:
            started = time.perf_counter()
            process = self._load()
            prompt = "\n".join("{role}: {content}".format(**turn) for turn in body["messages"])
            if self._forgotten:
                body["cache_prompt"] = False
                self._forgotten = False
            else:
                self._recall(process, prompt)
            if is_continuation(messages):
                reply = request_continuation(process.post, body)
            elif is_streamed and not options.keys() & _HELD:
                reply = process.chat(body, enough=is_repeating, reading=self._on_reading)
            else:
                reply = process.post("/v1/chat/completions", body)
            seconds = time.perf_counter() - started
            self.timings = reply.get("timings", {})
            self._keep(process, prompt)
        if "error" in reply:
            raise refusal(reply["error"])
        return reply, completion_of(reply, model=self.name, seconds=seconds)

    def read_ahead(self, messages: Sequence[Message]) -> Completion:
        """Read a prompt and save its state, so that prompts that begin alike need less time.

        Raises:
            ModelUnavailable: the model cannot be used.
        """
        return self.reply(messages, {"temperature": 0.0, "seed": 0, "max_tokens": 1})[1]

    def forget(self) -> None:
        """Make the model read the next prompt from its beginning, without a cached state.

        See `protocols.model.forget`.
        """
        self._forgotten = True

    def close(self) -> None:
        """Free the memory. The next call loads the weights again."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _recall(self, process: LlamaProcess, prompt: str) -> None:
        """Load the saved KV cache of a prompt that begins like `prompt`, if it saves much time."""
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
        """Note that the KV cache in memory is that of `prompt`. Save it if the prompt was long."""
        self._read = prompt
        if self._states is not None and self.timings.get("prompt_n", 0) >= _LONG_PROMPT:
            name = self._states.file_for(prompt)
            if "error" not in process.post("/slots/0?action=save", {"filename": name}):
                self._states.note_saved(name, prompt)

    def _load(self) -> LlamaProcess:
        if self._process is None or not self._process.running:
            # Checked before 1.1 GB are downloaded.
            require_runtime()
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
        """Return the folder of saved KV caches for this model file, runtime and context size.

        Return None if nothing can be saved there.
        """
        try:
            private_folder(self._states_folder)
            status = path.stat()
        except (OSError, NotPrivate):
            return None
        kind = (
            f"{status.st_size} {status.st_mtime_ns} {version('xllamacpp')} {self._context_tokens}"
        )
        return PromptStates(self._states_folder, kind=kind)


class PromptStates:
    """A folder with saved states of llama.cpp (KV caches), one for each long prompt it has read.

    Reading 4,000 tokens takes a minute on a CPU, while loading a state takes almost no time.
    Prompts for the same toolbox begin alike (rules, an example, descriptions of tools) and differ
    in the task at their end. So a later process can use the state of a prompt with the same
    beginning. `kind` identifies the model, the runtime and the context size, since a state can be
    read only if these are the same.
    """

    def __init__(self, folder: Path, *, kind: str) -> None:
        self.folder = folder
        self._kind = hashlib.sha256(kind.encode()).hexdigest()[:12]

    def find_nearest(self, prompt: str, *, held: str = "") -> str | None:
        """Return the file name of the state whose prompt shares the longest prefix with `prompt`.

        The state in memory, which is that of the prompt `held`, may be nearly as good. So the
        shared prefix must be at least `_WORTH_LOADING` characters longer than the one that `prompt`
        shares with `held`. Return None if there is no such state.
        """
        best = None
        most = shared_prefix_length(held, prompt) + _WORTH_LOADING
        if most > len(prompt):
            # Do not search the disk while a conversation continues from the state in memory.
            return None
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
        """Return the name of the file for the state (KV cache) of `prompt`."""
        return f"{self._kind}-{hashlib.sha256(prompt.encode()).hexdigest()[:12]}.state"

    def note_saved(self, name: str, prompt: str) -> None:
        """Record that the file `name` contains the state of `prompt`.

        If there are more than `_MOST_STATES` states, the least recently used ones are deleted.
        """
        # If the cache cannot be written, only time is lost.
        with contextlib.suppress(OSError):
            note = (self.folder / name).with_suffix(".json")
            write_whole(note, json.dumps({"prompt": prompt}))
            states = sorted(
                self.folder.glob("*.state"), key=lambda path: path.stat().st_mtime, reverse=True
            )
            for stale in states[_MOST_STATES:]:
                self.drop(stale.name)

    def drop(self, name: str) -> None:
        """Delete the state in the file `name`, for instance because it cannot be read."""
        for path in (self.folder / name, (self.folder / name).with_suffix(".json")):
            path.unlink(missing_ok=True)


def forget_prompts(tasks: Sequence[str], *, folder: Path) -> None:
    """Delete the saved states (KV caches) of all prompts that contain one of these tasks.

    A task may contain a secret. `folder` is the folder of the downloaded models.
    """
    for note in (folder / "states").glob("*.json"):
        with contextlib.suppress(OSError, ValueError):
            prompt = json.loads(note.read_text(encoding="utf-8")).get("prompt", "")
            if any(task in prompt for task in tasks):
                note.with_suffix(".state").unlink(missing_ok=True)
                note.unlink()


def shared_prefix_length(left: str, right: str) -> int:
    """Return the number of characters in the common prefix of two texts."""
    return len(os.path.commonprefix((left, right)))  # noqa: RUF071 - characters are what is meant
