"""A model's replies kept in a cassette file, so that a run repeats without the model.

A cassette is JSON lines, one exchange each: the whole request, its key, and the reply. Requests hold messages and
sampling options and never a key or an address, so that a cassette may be committed.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from protocols.ask import Ask, Completion, Message
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json


class RecordedModel:
    """Replays the cassette at `path`. With `model`, what is not there is asked of it and appended, durably.

    Raises:
        ModelUnavailable: the cassette is missing (and there is no `model`) or has a line that is no exchange.
    """

    def __init__(self, path: str | Path, model: Ask | None = None) -> None:
        self._path = Path(path)
        self._model = model
        self._lock = threading.Lock()
        self._replies = self._read()
        self.prompt_tokens = model.prompt_tokens if model is not None else 4000

    @property
    def name(self) -> str:
        """The recording model's name, or `recorded`."""
        return self._model.name if self._model is not None else "recorded"

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
        """The recorded reply, with the seconds that it took then. Raises ModelUnavailable where there is none."""
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
            if key not in self._replies:
                self._replies[key] = self._record(key, request, messages, options)
            return self._replies[key]

    def _record(
        self, key: str, request: dict[str, Json], messages: Sequence[Message], options: dict[str, Any]
    ) -> Completion:
        if self._model is None:
            question = (
                next((line for line in messages[-1].content.splitlines() if line.strip()), "") if messages else ""
            )
            raise ModelUnavailable(
                f"the cassette {str(self._path)!r} has no reply to {question[:100]!r} (key {key}); "
                "the prompt or an option changed: record it anew with a model."
            )
        completion = self._model(messages, **options)
        line = json.dumps({"key": key, "request": request, "reply": asdict(completion)}, ensure_ascii=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        return completion

    def _read(self) -> dict[str, Completion]:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError as error:
            if self._model is not None:
                return {}
            raise ModelUnavailable(
                f"there is no cassette {str(self._path)!r}; correct the name, or record one with a model."
            ) from error
        replies = {}
        for number, line in enumerate(lines, start=1):
            try:
                exchange = json.loads(line)
                replies[exchange["key"]] = Completion(**exchange["reply"])
            except (ValueError, TypeError, KeyError) as error:
                raise ModelUnavailable(
                    f"line {number} of the cassette {str(self._path)!r} is no recorded exchange; delete that line."
                ) from error
        return replies
