"""What a tool is: one immutable `ToolProtocol`, read from and written to one JSON document (an MCP Tool and more)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from protocols.errors import InvalidProtocol
from protocols.jsontypes import Json, JsonObject

EvidenceLevel = Literal["declared", "observed", "guessed"]
Location = Literal["path", "query", "header", "cookie", "body", "form"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What calling the tool may do to the world; `None` where nobody said (MCP's three hints)."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBinding:
    """A call over HTTP.

    `url` is a template (`https://api.example.org/users/{id}`): scheme and host stand in it literally and are never
    taken from an argument. `locations` says where each argument goes, `wire_names` what it is called there where that
    differs. With `body_argument` set, that one argument *is* the request body. `credentials` are names only; the
    user's configuration maps a name to a value and to the hosts that may see it. `credential_places` is advice for that
    configuration (`{"key": {"place": "query", "name": "api_key"}}`) where a document knows better than its defaults; a
    call does not look at it. `idempotency_header` names the header that makes a repeated write harmless, where the tool
    has one.
    """

    method: str
    url: str
    locations: Mapping[str, Location] = field(default_factory=dict)
    wire_names: Mapping[str, str] = field(default_factory=dict)
    body_argument: str | None = None
    credentials: tuple[str, ...] = ()
    credential_places: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    idempotency_header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBinding:
    """A call of `function` in `module`. Honoured only for a module that the user named."""

    module: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpBinding:
    """A call of `tool` on the MCP server that the configuration calls `server`."""

    server: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBinding:
    """A call of a saved program: `source` defines one function of keyword arguments, which runs where its caller runs.

    `tools` are those that it calls: alias → identity (`Tool.identity`), without which it is not offered.
    """

    source: str
    tools: Mapping[str, str]


Binding = HttpBinding | PythonBinding | McpBinding | ProgramBinding


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorOutcome:
    """An outcome besides success: `status` (404, 4XX, default), when it happens, and the shape of its body."""

    status: str
    description: str = ""
    schema: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One use: the question it answers, the program, the arguments and the (redacted) result."""

    question: str = ""
    program: str = ""
    arguments: JsonObject = field(default_factory=dict)
    result: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where values of `argument` come from: `path` (`airports[].code`) in the response of the tool named `tool`."""

    argument: str
    tool: str
    path: str
    support: EvidenceLevel = "guessed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """The read, named `tool`, whose response shows what a write wrote, so that a lost answer need not be guessed."""

    tool: str
    support: EvidenceLevel = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How the protocol is known: declared in a document, observed in `observations` replies, or guessed.

    `fields` counts, for each response path, in how many replies it was seen.
    """

    level: EvidenceLevel = "declared"
    observations: int = 0
    fields: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProtocol:
    """One tool: what it does, what it takes, what it gives, how it fails, where its arguments come from.

    `name` is the source's own; programs use the alias that a `Toolbox` derives from it. Schemas are JSON Schema
    2020-12, self-contained (`$ref`s point into the same schema). `output_schema` is `None` where nobody said.
    `extra` keeps keys that we do not know, so that a document survives being read and written.
    """

    name: str
    title: str = ""
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: JsonObject | None = None
    annotations: Annotations = Annotations()
    binding: Binding | None = None
    errors: tuple[ErrorOutcome, ...] = ()
    examples: tuple[Example, ...] = ()
    links: tuple[Link, ...] = ()
    verified_by: Verify | None = None
    category: str = ""
    collection: str = ""
    evidence: Evidence = Evidence()
    extra: JsonObject = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, JsonObject]:
        """Each argument's schema, in declared order."""
        properties: Mapping[str, JsonObject] = self.input_schema.get("properties", {})
        return properties

    @property
    def required(self) -> frozenset[str]:
        """Names of the arguments that a call must give."""
        return frozenset(self.input_schema.get("required", ()))

    @property
    def writes(self) -> bool:
        """Whether a call may change something. What nobody declared to be read-only counts as a write."""
        return self.annotations.read_only is not True


def dump(protocol: ToolProtocol) -> dict[str, Any]:
    """The protocol as its JSON document, without keys that say nothing. `load(dump(p)) == p`."""
    from protocols.documents import to_document

    return to_document(protocol)


def load(document: Json, *, where: str = "protocol") -> ToolProtocol:
    """Read one JSON document; `where` names it in messages.

    Raises:
        InvalidProtocol: the document breaks the format; the message has the path and the clause.
    """
    from protocols.documents import from_document

    return from_document(document, where=where)


__all__ = [
    "Annotations",
    "Binding",
    "ErrorOutcome",
    "Evidence",
    "EvidenceLevel",
    "Example",
    "HttpBinding",
    "InvalidProtocol",
    "Link",
    "Location",
    "McpBinding",
    "ProgramBinding",
    "PythonBinding",
    "ToolProtocol",
    "Verify",
    "dump",
    "load",
]
