"""A model that returns prepared replies in order, for tests without weights and network."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Self, TypeAlias

from atc.core.parallel import ModelRequest
from atc.core.text import count
from protocols.errors import AtcError, ModelUnavailable
from protocols.model import Completion, Message, Powers

ScriptedReply: TypeAlias = str | Exception | Callable[[Sequence[Message]], str]
"""A prepared reply: its text, an exception to raise, or a function that is called with the messages
and returns the text.
"""


class ScriptEnded(AtcError):
    """The model was called more often than its script has replies."""


class ScriptedModel:
    """A model that returns its prepared replies in order, one per call.

    Words are counted as tokens, so that counts are reproducible. `prompts` contains the messages of
    each call so far, and `options` the other arguments of each call. `powers` are the constraints
    that the model claims to enforce, but its replies are returned unchanged.

    Raises:
        TypeError: a reply is something else, such as a list of replies.
    """

    prompt_tokens = 4000

    def __init__(
        self,
        *replies: ScriptedReply,
        name: str = "scripted",
        powers: Powers = Powers(),  # noqa: B008
    ) -> None:
        for number, reply in enumerate(replies, start=1):
            if not (isinstance(reply, str | Exception) or callable(reply)):
                raise TypeError(
                    f"reply {number} of a ScriptedModel must be a text, an exception or a function,"
                    f" got {shortened(reply)}; of a list of texts write ScriptedModel(*texts)."
                )
        self.name = name
        self.powers = powers
        self.prompts: list[list[Message]] = []
        self.options: list[dict[str, Any]] = []
        self._replies = replies

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load a script from a file with a JSON array of strings.

        Raises:
            ModelUnavailable: there is no such file, or its content is something else.
        """
        try:
            replies = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"the script {str(path)!r} cannot be read ({error}); name a JSON file."
            ) from error
        if not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies):
            raise ModelUnavailable(
                f"the script {str(path)!r} must be a JSON array of texts, one a reply."
            )
        return cls(*replies)

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        """Return the next reply.

        Raises:
            ScriptEnded: there are no replies left.
            Exception: the exception that is in the script in place of a reply.
        """
        turn = len(self.prompts)
        self.prompts.append(list(messages))
        self.options.append(ModelRequest(messages, **options)._asdict())
        if turn >= len(self._replies):
            raise ScriptEnded(
                f"the model {self.name!r} has a script of {count(len(self._replies), 'turn')} and"
                f" was asked {count(turn + 1, 'time')}; give its script another."
            )
        reply = self._replies[turn]
        if isinstance(reply, Exception):
            raise reply
        text = reply if isinstance(reply, str) else reply(messages)
        read = sum(len(message.content.split()) for message in messages)
        return Completion(
            text=text, model=self.name, input_tokens=read, output_tokens=len(text.split())
        )
