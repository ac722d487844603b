"""One difference between a tool and its protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from protocols.jsontypes import Json

Severity = Literal["breaking", "risky", "harmless"]
"""*breaking*: a program that uses it as the protocol says fails. *risky*: it may fail on some answers, or the evidence
is thin. *harmless*: no program can notice."""

ChangeKind = Literal[
    "removed", "optional", "type", "nullable", "enum", "format", "new_field",
    "argument_required", "argument_unknown", "argument_enum", "argument_refused",
    "gone", "denied", "not_found", "refused", "unreadable",
]  # fmt: skip
"""Of responses: a field that is gone, or not always there any more; another type; null; a value that was not listed;
another format; a field more. Of arguments: one that must be given now, that is not known any more, whose values
changed, whose value is refused. Of calls that were answered before: the tool is gone, it lets us in no more, the thing
is not there, it refuses them, its answer is no data."""


@dataclass(frozen=True, slots=True)
class Change:
    """What changed: `path` is a response path (`airports[].code`), or the argument's name for kinds `argument_…`.

    `text` says it in a clause, with the counts that support it. `values` are new values of an enum. `everywhere`: every
    value that came shows it.
    """

    tool: str
    path: str
    kind: ChangeKind
    severity: Severity
    text: str
    values: tuple[Json, ...] = ()
    everywhere: bool = True

    def __hash__(self) -> int:
        return hash((self.tool, self.path, self.kind, self.text))
