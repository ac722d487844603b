"""Events of a run, which observers such as the live view and the store receive in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atc.core.types import Attempt, Finding, Program
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """Retrieval is done."""

    tools: tuple[str, ...]
    """Aliases of the tools that the prompt will describe, best first."""
    total: int
    """Number of tools that they were chosen from."""


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A prompt is about to be sent to the model. `purpose` is write, sample or repair."""

    purpose: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model has replied to the last `ModelAsked`."""

    purpose: str
    completion: Completion


@dataclass(frozen=True, slots=True)
class ProgramWritten:
    """The model has written a program.

    It runs next, or goes back to the model if it has findings.
    """

    attempt: int
    program: Program
    findings: tuple[Finding, ...]
    mended: tuple[Finding, ...] = ()
    """Findings in the model's version of the program that were corrected automatically."""


@dataclass(frozen=True, slots=True)
class ToolsNamed:
    """A program is about to run."""

    protocols: Mapping[str, ToolProtocol]
    """The current protocols of the tools that it names, by alias."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A call is about to be sent or, if `complete`, has an outcome."""

    execution: int
    """Number of the execution in the journal."""
    call: ToolCall
    complete: bool = True


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """A sentence about something that is not done as configured. Sent once in a run."""

    sentence: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt is over; its fault is None if it gave an answer.

    The event is sent again if the doubts about the answer change.
    """

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
