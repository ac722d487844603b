"""The trace of an execution: its calls, output and failure.

Only the host writes it, so a program cannot falsify it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from protocols.errors import Outcome
from protocols.files import FileInfo, FilePath
from protocols.schema import Json, JsonObject

FailureKind = Literal["syntax", "policy", "exception", "limit", "paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call that a program made, with its result or error."""

    index: int  # position among the calls of the execution, from 0
    tool: str  # the tool's alias, as the program wrote it
    arguments: JsonObject  # keyed by alias, as the program passed them
    line: int  # line of the program that made the call, from 1
    query: JsonObject = field(default_factory=dict)  # more of the query, from a next address
    continues: int | None = None  # index of the call whose next page this is, in `pages(…)`
    result: Json = None  # the full response, before unwrapping; None when `error` is set
    headers: Mapping[str, str] = field(default_factory=dict)  # those that belong to the result
    files: tuple[FilePath, ...] = ()  # the paths in `result` at which a file is described
    error: str | None = None  # error message of the tool, or about its arguments
    status: int | None = None  # HTTP status of a failed call, where there was one
    outcome: Outcome = "done"
    drift: tuple[str, ...] = ()  # rules of the output schema that the response violated
    curl: str | None = None  # a command that repeats a failed HTTP call, secrets masked
    remedy: str | None = None  # what a person must do where no program helps, see `ToolError`
    reused: bool = False  # answered by the journal instead of being made again
    earlier: float | None = None  # Unix time at which the run that this one follows made it
    baseline: Json = None  # response of the verifying tool before a write, in a list
    note: str | None = None  # a sentence on how a lost answer was recovered
    within: str | None = None  # the saved tool that made it; `line` is where it was called
    started: float = 0.0  # seconds since the run began
    seconds: float = 0.0

    def follows(self, other: ToolCall) -> bool:
        """Return True if `other` had its outcome when the program made this call.

        Only then may this call depend on that outcome. Both are calls of one execution.
        """
        return self.index > other.index and self.started >= other.started + other.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One level of a traceback: a line of the program, and the function that contains the line."""

    line: int
    function: str = "<module>"
    column: int | None = None
    """Column on `line` where the evaluated expression starts, from 0, in UTF-8 bytes.

    None if it is unknown."""
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueHint:
    """A report that a part of a failing expression got its value from a tool's response.

    The program's process makes the report. The host accepts it only if the recorded response has
    the same value at the path `path`. So a manipulated program can at most name a wrong path in its
    own responses.
    """

    frame: int  # index of the level in `Failure.frames`
    line: int
    column: int
    end_line: int
    end_column: int
    call: int
    path: tuple[str | int, ...]  # in the full response, as it was before unwrapping
    mark: int = 0  # `sandbox.frames.fingerprint` of the value that the process found


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why a program did not finish."""

    kind: FailureKind
    type: str  # the exception's class (`KeyError`), or the limit's name (`wall_seconds`)
    message: str
    frames: tuple[
        Frame, ...
    ] = ()  # frames within the program, outermost first; the last one is where it failed
    call: int | None = None
    """Index of the tool call that the failure is about, for example after a `ToolError`.

    None if the failure is not about a call, or if the call is unknown."""
    hints: tuple[ValueHint, ...] = ()

    @property
    def line(self) -> int | None:
        """The line at which the program failed; None if it is unknown."""
        return self.frames[-1].line if self.frames else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Clock, random seed and time zone of a run, fixed so that a repeated run behaves the same."""

    seed: int = 0
    """Seed of the random numbers in `random`, `uuid` and `secrets`."""
    clock: float = 0.0  # Unix time that the program's clock starts at
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One execution of a program: its calls, output, value, looked-at values and failure."""

    calls: tuple[ToolCall, ...] = ()
    stdout: str = ""
    value: Json = None
    """Value of the program's last expression as JSON, or its `repr` if it is not JSON.

    None if the program does not end with an expression."""
    printed: tuple[Json, ...] = ()
    """The object, other than a text, that the only `print` of the program got, as JSON.

    It is one item. There is none if the program printed a text, several objects, or in several
    steps: `stdout` is then all that is known."""
    looked: tuple[Json, ...] = ()
    """Values that the program passed to `look`, in order, each as JSON or as its `repr`.

    They are for whoever wrote the program, and no part of its answer."""
    files: tuple[FileInfo, ...] = ()
    """The files that the program printed or returned, each once, in order."""
    failure: Failure | None = None
    seconds: float = 0.0
    backend: str = ""
    pins: Pins = field(default_factory=Pins)
