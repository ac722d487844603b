"""What can go wrong on our side (`AtcError`), and the one failure that a program may see (`ToolError`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from protocols.naming import LONGEST_COMPARED, closest_meanings

Outcome = Literal["done", "refused", "not_run", "unknown"]
"""What is known of a call. *done*: it took effect and answered. *refused*: the tool said no, nothing happened, it may
be sent again. *not_run*: it never reached the tool. *unknown*: it was sent, and nobody knows whether it took effect."""


class AtcError(Exception):
    """Base of everything that our own side fails at. What a *program* did wrong is data, never an exception."""

    exit_code = 3
    """Of the command line where this error ends it: 2 for wrong usage, 3 for what is missing or down."""
    page = ""
    """The page of the documentation that helps, which the command line names; see `protocols.documentation`."""


@dataclass(eq=False, repr=False)
class InvalidProtocol(AtcError):
    """A document does not describe a tool.

    `where` names the document or tool, `path` the place inside it (`binding.http.url`), `problem` what is wrong there
    and `hint` the next step.
    """

    exit_code = 2
    where: str
    problem: str
    _: KW_ONLY
    path: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: {self.path}" if self.path else self.where
        return f"{place}: {self.problem}" + (f" {self.hint}" if self.hint else "")


class SourceUnavailable(AtcError):
    """A tool source cannot be read: no such file, service down, not a document that we know. Says the next step."""


class UnknownTool(AtcError):
    """No tool of this name; `suggestions` are the nearest names that exist."""

    exit_code = 2

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
    """The model gave no usable reply through no fault of the task: down, refused the key, out of memory.

    It is no verdict on the task, so a run may be repeated. The message is one sentence with the next step.
    """

    page = "start/your-model"


class OutOfTime(ModelUnavailable):
    """The reply did not come before the moment that whoever asked had set; see `atc.core.parallel.wait_until`."""


@dataclass(eq=False, repr=False)
class ToolError(Exception):
    """A call that failed, as a program sees it: `status` (HTTP, `None` where there was no answer) and a short `body`.

    The host alone sees `outcome` (what is known of the call's effect), `curl` (a command that repeats it, secrets
    masked), `retry_after` (seconds that the tool asked to wait) and `answer` (the whole text of the answer's body, its
    first 64 KiB, secrets masked; `None` where there was none).
    """

    status: int | None
    body: str
    _: KW_ONLY
    outcome: Outcome = "refused"
    curl: str | None = None
    retry_after: float | None = None
    answer: str | None = None

    def __str__(self) -> str:
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


class CredentialMissing(ToolError):
    """The user's configuration lacks what the call needs, or has it for other hosts. Nothing was sent."""

    def __init__(self, body: str) -> None:
        super().__init__(None, body, outcome="not_run")
