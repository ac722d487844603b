"""The events of a run, in the order in which they happen. Observers such as the live view and the
store get them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atc.core.types import Attempt, Finding, Program
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """Retrieval is done. `aliases` are the tools that the prompt will describe, best first, out of
    `total` tools.
    """

    tools: tuple[str, ...]
    total: int


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
    """The model has written a program. It is run next, or given back to the model if it has
    findings.
    """

    attempt: int
    program: Program
    findings: tuple[Finding, ...]
    mended: tuple[Finding, ...] = ()
    """Findings of the program as the model wrote it that were corrected automatically."""


@dataclass(frozen=True, slots=True)
class ToolsNamed:
    """A program is about to run. `tools` are the tools that it names, by alias, as they are now."""

    protocols: Mapping[str, ToolProtocol]


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A call is about to be sent, or, if `complete`, it has an outcome."""

    execution: int
    """The journal's number of the execution that makes the call."""
    call: ToolCall
    complete: bool = True


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """A sentence about something that is done differently from the settings. Sent once in a run."""

    sentence: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt is over. Its fault is None if it gave an answer. Sent again if its doubts
    change.
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
