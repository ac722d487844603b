"""Events of a run. Observers, such as the live view and the store, receive them in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atc.core.program import Program
from atc.core.types import Attempt, Finding
from protocols.model import Completion, Message
from protocols.protocol import ToolProtocol
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """Event: the tools for the task have been chosen."""

    tools: tuple[str, ...]
    """Aliases of the tools that the prompt will describe, best first."""
    total: int
    """Number of tools among which these were chosen."""


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """Event: a prompt is about to be sent to the model.

    `purpose` is what the reply is for, such as `write`, `sample` or `repair`.
    """

    purpose: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """Event: the model has replied to the prompt of the last `ModelAsked`."""

    purpose: str
    completion: Completion


@dataclass(frozen=True, slots=True)
class ProgramWritten:
    """Event: the model has written a program.

    The program is executed next; if it has findings, they are sent back to the model instead.
    """

    attempt: int
    program: Program
    findings: tuple[Finding, ...]
    mended: tuple[Finding, ...] = ()
    """Findings in the program as the model wrote it that were fixed automatically."""


@dataclass(frozen=True, slots=True)
class ToolsNamed:
    """Event: a program that names these tools is about to run."""

    protocols: Mapping[str, ToolProtocol]
    """The protocols (descriptions) of the tools that the program names, keyed by alias."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """Event: a tool call is about to be sent, or is over.

    `complete` is False before the call is sent, and True when it is over.
    """

    execution: int
    """Number of the program execution in the journal of the run."""
    call: ToolCall
    complete: bool = True


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """Event: something is not done as the settings ask, and `sentence` says what.

    The same sentence is sent once per run.
    """

    sentence: str


@dataclass(frozen=True, slots=True)
class ConsentWaived:
    """The run begins or continues without questions to a person about calls (`consent="none"`)."""


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """Event: an attempt, that is, one program with its execution, is over.

    `result.fault` is None if the program gave an answer. The event is sent again if the doubts
    about the answer change.
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
    | ConsentWaived
)
Observer = Callable[[Event], None]
