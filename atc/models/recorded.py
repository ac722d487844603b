"""A model's replies kept in a cassette file, so that a run repeats without the model.

A cassette is JSON lines, one exchange each: the whole request, its key, and the reply. Requests hold messages and
sampling options and never a key or an address, so that a cassette may be committed. Secrets in them become
placeholders; a request that is replayed brings their characters along.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from atc.redaction import Redactor
from protocols.ask import Ask, Completion, Message, Powers, powers
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json
from protocols.placeholder import PLACEHOLDER, in_literal, length


class _Exchange(NamedTuple):
    """A reply, and the texts of the request's messages: as recorded, that is, with placeholders."""

    asked: Sequence[str]
    reply: Completion


class RecordedModel:
    """Replays the cassette at `path`. With `model`, what is not there is asked of it and appended, durably.

    `redact` knows the secrets of the run that is recorded. Those that a text or a program of the model shows to be
    secrets are replaced without it.

    Raises:
        ModelUnavailable: the cassette is missing (and there is no `model`) or has a line that is no exchange.
    """

    def __init__(self, path: str | Path, model: Ask | None = None, *, redact: Redactor | None = None) -> None:
        self._path = Path(path)
        self._model = model
        self._redact = redact or Redactor()
        self._lock = threading.Lock()
        self._powers: Powers | None = None
        self._exchanges = self._read()
        self.prompt_tokens = model.prompt_tokens if model is not None else 4000

    @property
    def name(self) -> str:
        """The recording model's name, or `recorded`."""
        return self._model.name if self._model is not None else "recorded"

    @property
    def powers(self) -> Powers:
        """Those of the model, or those recorded: as its first question found them. Likeliest tokens are not kept."""
        if self._model is not None:
            self._powers = replace(powers(self._model), tops=False)
        return self._powers or Powers()

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
        """The recorded reply, with the seconds that it took then.

        Raises:
            ModelUnavailable: there is none, or it needs the characters of a secret that the request does not have.
        """
        options: dict[str, Any] = {
            "schema": schema,
            "grammar": grammar,
            "temperature": float(temperature),
            "seed": seed,
            "max_tokens": max_tokens,
        }
        request = {"messages": [asdict(message) for message in messages], **options}
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:32]
        with self._lock:
            if key not in self._exchanges:
                self._exchanges[key] = self._record(key, request, messages, options)
            return self._with_characters(self._exchanges[key], messages)

    def _record(
        self, key: str, request: dict[str, Json], messages: Sequence[Message], options: dict[str, Any]
    ) -> _Exchange:
        if self._model is None:
            question = (
                next((line for line in messages[-1].content.splitlines() if line.strip()), "") if messages else ""
            )
            raise ModelUnavailable(
                f"the cassette {str(self._path)!r} has no reply to {question[:100]!r} (key {key}); "
                "the prompt or an option changed: record it anew with a model."
            )
        completion = self._model(messages, **options)
        exchange = {"key": key, **self._redacted(request, completion)}
        if self._powers is not None:  # whoever asked for them asks otherwise by them
            exchange["powers"] = asdict(self._powers) | {"grammars": sorted(self._powers.grammars)}
        line = json.dumps(exchange, ensure_ascii=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        return _Exchange((), completion)

    def _redacted(self, request: dict[str, Json], completion: Completion) -> dict[str, Json]:
        """The exchange without secrets, those that its own texts show to be some included."""
        texts = [*(message["content"] for message in request["messages"]), completion.text]
        for text in texts:
            self._redact.learn_text(text)
            self._redact.learn_reply(text)
        messages = [{**message, "content": self._redact(message["content"])} for message in request["messages"]]
        reply = {**asdict(completion), "text": self._redact(completion.text)}
        return {"request": {**request, "messages": messages}, "reply": reply}

    def _with_characters(self, exchange: _Exchange, messages: Sequence[Message]) -> Completion:
        """The reply, with secrets that the request holds in the places where the recording has a placeholder."""
        given = [message.content for message in messages]
        needed = {name for name in PLACEHOLDER.findall(exchange.reply.text) if not any(name in text for text in given)}
        if not needed or not exchange.asked:
            return exchange.reply
        characters: dict[str, str] = {}
        for recorded, text in zip(exchange.asked, given, strict=True):
            characters |= _filled(recorded, text)
        if missing := sorted(needed - characters.keys()):
            raise ModelUnavailable(
                f"the cassette {str(self._path)!r} diverged: redacted. A reply needs characters of a secret that the"
                f" model made up, and only {missing[0]} was recorded; record it anew with a model."
            )
        text = PLACEHOLDER.sub(
            lambda name: in_literal(characters[name[0]]) if name[0] in needed else name[0], exchange.reply.text
        )
        return replace(exchange.reply, text=text)

    def _read(self) -> dict[str, _Exchange]:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError as error:
            if self._model is not None:
                return {}
            raise ModelUnavailable(
                f"there is no cassette {str(self._path)!r}; correct the name, or record one with a model."
            ) from error
        exchanges = {}
        for number, line in enumerate(lines, start=1):
            try:
                exchange = json.loads(line)
                asked = [message["content"] for message in exchange["request"]["messages"]]
                exchanges[exchange["key"]] = _Exchange(asked, Completion(**exchange["reply"]))
                if self._powers is None and (known := exchange.get("powers")) is not None:
                    self._powers = Powers(**known | {"grammars": frozenset(known["grammars"])})
            except (ValueError, TypeError, KeyError) as error:
                raise ModelUnavailable(
                    f"line {number} of the cassette {str(self._path)!r} is no recorded exchange; delete that line."
                ) from error
        return exchanges


def _filled(recorded: str, given: str) -> dict[str, str]:
    """What stands in `given` where `recorded`, which is otherwise the same text, has placeholders."""
    between = PLACEHOLDER.split(recorded)
    found: dict[str, str] = {}
    start = len(between[0])
    for name, after in zip(PLACEHOLDER.findall(recorded), between[1:], strict=True):
        end = start + length(name)
        if given.startswith(after, end):  # else it was spelled in another way than it is (within JSON, or a URL)
            found[name] = given[start:end]
        else:
            end = given.find(after, start)
        start = end + len(after)
    return found
