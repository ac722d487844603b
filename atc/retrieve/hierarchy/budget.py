"""What a query may take: tokens shared by all agents and everything else that asks the model for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from atc.types import Usage
from protocols.ask import Completion, Message
from protocols.render import token_estimate


class Budget:
    """Tokens, of prompts and replies together, that calls are charged to, by one thread."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.usage = Usage()

    @property
    def spent(self) -> int:
        """Tokens so far; more than the budget where calls were under way when it was used up."""
        return self.usage.input_tokens + self.usage.output_tokens

    @property
    def left(self) -> int:
        """Tokens that may still be used, 0 at least."""
        return max(0, self.tokens - self.spent)

    def charge(self, completion: Completion, messages: Sequence[Message]) -> None:
        """Count one call. Where an endpoint tells no numbers they are estimated: else nothing would ever be spent."""
        self.usage = replace(
            self.usage,
            model_calls=self.usage.model_calls + 1,
            input_tokens=self.usage.input_tokens + (completion.input_tokens or prompt_tokens(messages)),
            output_tokens=self.usage.output_tokens + (completion.output_tokens or tokens_of(completion.text)),
            model_seconds=self.usage.model_seconds + completion.seconds,
        )


def tokens_of(text: str) -> int:
    """About how many tokens a text has, on the safe side for scripts in which a character is a token or more."""
    return token_estimate(text) + sum(not character.isascii() for character in text)


def prompt_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens a conversation has."""
    return sum(tokens_of(message.content) + 4 for message in messages)
