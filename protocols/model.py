"""The shape of a language model: `Ask`. Who implements it (`atc.models`) is not known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model wrote, and what it took.

    `input_tokens` counts the whole prompt, `cached_tokens` of them were not read again; `truncated` says that the token
    limit cut the text.
    """

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    truncated: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What an endpoint holds its model's replies to while they are written. Nothing of it is assumed of one unknown."""

    schema: bool = False
    """A JSON Schema is enforced, not only asked for in words."""
    strict: bool = False
    """Only a schema whose objects require all their keys is enforced (OpenAI)."""
    lark: bool = False
    """A grammar is enforced that is written in llguidance's Lark, its text beginning with `%llguidance`."""
    continues: bool = False
    """A conversation that ends with the assistant's words is gone on with, in the middle of a line."""
    parallel: bool = False
    """Several requests are answered at the same time."""


def powers(ask: Ask) -> Powers:
    """What `ask` can hold a reply to: its `powers`, none where it has no such attribute."""
    found = getattr(ask, "powers", None)
    return found if isinstance(found, Powers) else Powers()


def forget(ask: Ask) -> None:
    """Have the next prompt read from its beginning, where `ask` keeps what it has read.

    A measurement does so before each task: else what one takes depends on which were asked before it.
    """
    if callable(clear := getattr(ask, "forget", None)):
        clear()


class Ask(Protocol):
    """A model that continues a conversation."""

    @property
    def name(self) -> str:
        """What the run's record calls the model, e.g. `local` or `gpt-5-mini`."""

    @property
    def prompt_tokens(self) -> int:
        """How many tokens of tool stubs a prompt to this model should hold at most."""

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
        """Continue `messages`; the text is JSON valid under `schema`, or a sentence of `grammar`, where given.

        Whether that is enforced, `powers` tells. Where the last message is the assistant's, the reply goes on from it,
        and the completion's text does not repeat it.

        Raises:
            ModelUnavailable: no reply could be had; nothing is learned about the task.
        """
