"""How turn-based strategies ask the model for a call: held to the tools alike, and sampled alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from atc.config import Config
from atc.decode.call import Sampling, Written
from atc.decode.errors import Undecodable
from atc.meter import Meter
from protocols.ask import Ask, Message
from protocols.toolbox import Toolbox


class Write(Protocol):
    """`write_turn` or `write_call` of `atc.decode.call`, or one of them with its form."""

    def __call__(
        self,
        ask: Ask,
        messages: Sequence[Message],
        tools: Toolbox,
        *,
        decoding: Literal["off", "calls"],
        sampling: Sampling,
        within: Toolbox | None,
    ) -> Written:
        """A call in reply to `messages`."""


def decoding_of(config: Config) -> Literal["off", "calls"]:
    """Whether calls are held to the tools: so they are for every strategy alike, unless decoding is off."""
    return "off" if config.decoding == "off" else "calls"


def sampling_of(config: Config, number: int = 0) -> Sampling:
    """How replies of the `number`-th try of a run are sampled: those of the first are greedy."""
    return Sampling(temperature=config.temperature if number else 0.0, again=config.temperature, seed=10 * number)


def held(
    write: Write,
    messages: Sequence[Message],
    tools: Toolbox,
    *,
    config: Config,
    meter: Meter,
    purpose: str = "act",
    number: int = 0,
    within: Toolbox | None = None,
) -> Written:
    """What the model writes; freely, and that noted, where a tool's schema is too much for a grammar.

    `within` are the tools as a grammar holds calls to them, where they are narrower than `tools`.

    Raises:
        BudgetSpent: no time or tokens are left.
        ModelUnavailable: the model gave no reply.
    """
    ask, sampling = meter.asker(purpose), sampling_of(config, number)
    try:
        written = write(ask, messages, tools, decoding=decoding_of(config), sampling=sampling, within=within)
    except Undecodable as error:
        meter.note(f"decoding: {error}; calls are written freely.")
        return write(ask, messages, tools, decoding="off", sampling=sampling, within=None)
    if written.how == "resampled" and config.decoding == "calls":
        meter.note(f"decoding: {written.note} Calls are written freely, checked, and sampled again.")
    return written
