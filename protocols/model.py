"""`Ask`, the interface of a language model. Its implementations are in `atc.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model, from the user, the assistant or the system."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The reply of a model, and its cost.

    `input_tokens` counts the whole prompt, including the `cached_tokens` that the provider had in
    its cache. `truncated` is True if the text was cut at the token limit.
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
    """Features that a model endpoint supports. All are False if the endpoint is unknown."""

    schema: bool = False
    """True if the endpoint forces replies to match a JSON Schema that is sent with the request."""
    strict: bool = False
    """True if a schema is enforced only when its objects require all their keys (OpenAI)."""
    lark: bool = False
    """True if a grammar in llguidance's Lark is enforced. Its text begins with `%llguidance`."""
    continues: bool = False
    """True if the model can continue an unfinished assistant's message at the end of the prompt."""
    parallel: bool = False
    """True if several requests are answered at the same time."""


def powers(ask: Ask) -> Powers:
    """Return the features of a model, its attribute `powers`, or `Powers()` if it has none."""
    found = getattr(ask, "powers", None)
    return found if isinstance(found, Powers) else Powers()


def forget(ask: Ask) -> None:
    """Clear the prompt cache of `ask`, if it has one.

    Benchmarks do this before each task, so that the cost of a task does not depend on earlier ones.
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
        """Maximum number of tokens that the tool stubs may take in a prompt to this model."""

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
        """Return the model's next message in the conversation.

        If there is a `schema`, the reply should be JSON that conforms to it. If there is a
        `grammar`, the reply should be a text that the grammar accepts. The attribute `powers` says
        if the endpoint enforces this. If the last message is the assistant's, the reply continues
        it and does not repeat it.

        Raises:
            ModelUnavailable: the model gave no reply. This says nothing about the task.
        """
