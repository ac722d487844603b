"""Exceptions for failures on our side (`AtcError`), and `ToolError`, which programs may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from protocols.naming import LONGEST_COMPARED, closest_meanings

Outcome = Literal["done", "refused", "not_run", "unknown"]
"""What is known about a call.

*done*: it took effect and returned. *refused*: the tool rejected it, nothing happened, and it may
be sent again. *not_run*: it was not sent. *unknown*: it was sent, but nobody knows if it took
effect.
"""


class AtcError(Exception):
    """Base class of all exceptions for failures of atc, or of something on which it depends.

    Mistakes of a generated program are not raised: they are returned as data.
    """


@dataclass(eq=False, repr=False)
class InvalidProtocol(AtcError):
    """A document is not a valid description of a tool.

    `where` names the document or tool, `path` is the path of the invalid part (`binding.http.url`),
    `problem` describes the mistake, and `hint` says what to do next.
    """

    where: str
    problem: str
    _: KW_ONLY
    path: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: {self.path}" if self.path else self.where
        return f"{place}: {self.problem}" + (f" {self.hint}" if self.hint else "")


class SourceUnavailable(AtcError):
    """A tool source cannot be read. The message says what to do next.

    For example the file is missing, the service is down, or the format is unknown.
    """


class UnknownTool(AtcError):
    """There is no tool with this name. `suggestions` are the nearest existing names."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(name)
        self.name = name
        self.suggestions = tuple(closest_meanings(name, known, most=3, cutoff=0.5))

    def __str__(self) -> str:
        hint = (
            f"did you mean {', '.join(self.suggestions)}?"
            if self.suggestions
            else "'atc tools list' shows all."
        )
        name = (
            self.name if len(self.name) <= LONGEST_COMPARED else f"{self.name[:LONGEST_COMPARED]}…"
        )
        return f"no tool named {name!r}; {hint}"


class ModelUnavailable(AtcError):
    """The model gave no usable reply, for example because it is down or rejected the key.

    This says nothing about the task, so the run may be repeated. The message contains the next
    step.
    """


class PromptTooLong(ModelUnavailable):
    """The prompt does not fit into the model's context.

    `share` is the part of the prompt that would fit, at most 1, or None if the endpoint does not
    say how long the prompt may be.
    """

    def __init__(self, message: str, *, share: float | None = None) -> None:
        super().__init__(message)
        self.share = share


class OutOfTime(ModelUnavailable):
    """The model's reply did not arrive before the caller's deadline.

    See `atc.core.parallel.wait_until`.
    """


@dataclass(eq=False, repr=False)
class ToolError(Exception):
    """A failed call of a tool. A program sees only the HTTP `status`, if any, and the text `body`.

    The other fields are for the process that runs the program. `outcome` is what is known about the
    effect of the call. `curl` is a command that repeats the call. `retry_after` is the number of
    seconds that the tool asked to wait. `answer` is the first 64 KiB of the response body. Secrets
    are masked in `curl` and `answer`. `remedy` is set if no change of the program helps: it says
    what failed, and what a person must do so that the same call can succeed.
    """

    status: int | None
    body: str
    _: KW_ONLY
    outcome: Outcome = "refused"
    curl: str | None = None
    retry_after: float | None = None
    answer: str | None = None
    remedy: str | None = None

    def __str__(self) -> str:
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


class CredentialMissing(ToolError):
    """The call needs a credential that is not configured, or is configured for other hosts only.

    Nothing was sent.
    """

    def __init__(self, body: str) -> None:
        super().__init__(None, body, outcome="not_run", remedy=body)
