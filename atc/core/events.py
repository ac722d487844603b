"""What a run tells whoever watches it (the live view, the store), in the order it happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atc.core.types import Attempt, Finding, Program
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """Retrieval is over: the aliases that the prompt will hold, best first, out of `total`."""

    tools: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A prompt is about to go to the model. `purpose`: write, sample or repair."""

    purpose: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The reply to the last `ModelAsked`."""

    purpose: str
    completion: Completion


@dataclass(frozen=True, slots=True)
class ProgramWritten:
    """A program that is going to be executed (or, with findings, given back to the model)."""

    attempt: int
    program: Program
    findings: tuple[Finding, ...]
    mended: tuple[Finding, ...] = ()
    """What was found in the program as the model wrote it, and mended."""


@dataclass(frozen=True, slots=True)
class ToolsNamed:
    """A program is about to run that names these tools: what they were when it ran, by alias."""

    protocols: Mapping[str, ToolProtocol]


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A call: its intent, before it is sent, and then, `complete`, its outcome."""

    execution: int
    """The journal's number of the execution that makes it."""
    call: ToolCall
    complete: bool = True


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """Something is done otherwise than the settings ask for: a sentence, told once a run."""

    sentence: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt is over; its fault is None when it gave an answer. Told again where its doubts became others."""

    attempt: int
    result: Attempt


Event = (
    ToolsChosen
    | ModelAsked
    | ModelReplied
    | ProgramWritten
    | ToolsNamed
    | ToolCalled
    | AttemptEnded
    | NoteAdded
)
Observer = Callable[[Event], None]
