"""`Ask`, the interface of a language model. Its implementations are in `atc.models`."""

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
    """The reply of a model, and its cost.

    `input_tokens` counts the whole prompt; `cached_tokens` of these were cached. `truncated`: the
    text was cut at the token limit.
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
    """Constraints that an endpoint can enforce on replies. An unknown endpoint enforces none."""

    schema: bool = False
    """A JSON Schema is enforced and not only described in the prompt."""
    strict: bool = False
    """A schema is enforced only if its objects require all their keys (OpenAI)."""
    lark: bool = False
    """A grammar in llguidance's Lark is enforced. Its text begins with `%llguidance`."""
    continues: bool = False
    """If the last message is the assistant's, the reply continues it, even within a line."""
    parallel: bool = False
    """Several requests are answered at the same time."""


def powers(ask: Ask) -> Powers:
    """Return what `ask` can enforce: its attribute `powers`, or nothing."""
    found = getattr(ask, "powers", None)
    return found if isinstance(found, Powers) else Powers()


def forget(ask: Ask) -> None:
    """Clear the prompt cache of `ask`, if it has one.

    Measurements do this before each task, so that their cost does not depend on earlier tasks.
    """
    if callable(clear := getattr(ask, "forget", None)):
        clear()


class Ask(Protocol):
    """A model that continues a conversation."""

    @property
    def name(self) -> str:
        """Name of the model in run records, such as `local` or `gpt-5-mini`."""

    @property
    def prompt_tokens(self) -> int:
        """Most tokens of tool stubs in a prompt to this model."""

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
        """Return the next message. It is JSON for `schema`, or a sentence of `grammar`, if given.

        `powers` says if this is enforced. If the last message is the assistant's, the reply
        continues it and does not repeat it.

        Raises:
            ModelUnavailable: there is no reply. This says nothing about the task.
        """
