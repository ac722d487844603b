"""`Recording`: one execution of a program with all that it was told, so that it can be run again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.errors import AtcError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.limits import Limits
from sandbox.trace import Trace


class InvalidRecording(AtcError):
    """A run file that cannot be read, or a run of which none can be made. `where` is its name."""

    exit_code = 2

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.where, self.problem = where, problem

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def named_in(source: str) -> dict[str, None]:
    """The words of a program, in order: whatever tool it calls is among them."""
    return dict.fromkeys(re.findall(r"[^\W\d]\w*", source))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A program, what its calls were answered, and how it ended: enough to run it again with nothing behind it."""

    run: str
    """Id of the stored run that it was made from."""
    task: str
    status: str
    """That of the run: solved, failed, paused."""
    answer: str | None
    program: str
    tools: Mapping[str, ToolProtocol]
    """By alias, those that the program names: they decide what it gets of a response, and which arguments are good."""
    trace: Trace
    """Its calls in order of issue; those that the journal answered have their results too."""
    limits: Limits = field(default_factory=Limits)
    policy: bool = False
    """Whether the source was reviewed before it ran."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of `atc` and Python, when it was made."""
    secrets: tuple[str, ...] = ()
    """The placeholders that stand in it for sensitive values."""
    edited: tuple[str, ...] = ()
    """Of one that was read from a file: the parts that are not what was recorded."""

    @property
    def toolbox(self) -> Toolbox:
        """The tools under their recorded aliases. None of them can be called."""
        return RecordedTools(self.tools)


class RecordedTools(Toolbox):
    """Tools that cannot be called, whose aliases are settled: in another company they might have been given others."""

    def __init__(self, protocols: Mapping[str, ToolProtocol]) -> None:
        super().__init__()
        self._tools = {alias: Tool(protocol, _nothing_behind_it, alias) for alias, protocol in protocols.items()}


def _nothing_behind_it(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of every Call
    raise AssertionError("a replay answers every call from its recording")
