"""What a tool is: one immutable `ToolProtocol`, read from and written to one JSON document (an MCP Tool and more)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs
from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from protocols.documentation import docs_page
from protocols.errors import InvalidProtocol
from protocols.schema import Json, JsonObject
from protocols.validate import first_error

EvidenceLevel = Literal["declared", "observed", "guessed"]
Location = Literal["path", "query", "header", "cookie", "body", "form"]
BODYLESS = ("GET", "HEAD", "OPTIONS", "DELETE")
"""Methods whose arguments go into the query where nobody says otherwise."""
_CAMEL = ConfigDict(alias_generator=to_camel)  # as documents spell keys
_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What calling the tool may do to the world; `None` where nobody said (MCP's three hints)."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    @classmethod
    def from_hints(cls, hints: JsonObject) -> Annotations:
        """From MCP's hints, as far as they are truth values."""
        return cls(
            **{
                ours: hints[theirs]
                for ours, theirs in _HINTS.items()
                if isinstance(hints.get(theirs), bool)
            }
        )

    def with_stricter_hints(self, hints: Annotations) -> Annotations:
        """These, with those of `hints` that ask for more care.

        What comes from elsewhere must not be able to pass a write off as a read, and so past the user's consent.
        """
        return Annotations(
            read_only=False if hints.read_only is False else self.read_only,
            destructive=True if hints.destructive else self.destructive,
            idempotent=False if hints.idempotent is False else self.idempotent,
        )

    @property
    def to_hints(self) -> dict[str, bool]:
        """As MCP's hints."""
        given = {theirs: getattr(self, ours) for ours, theirs in _HINTS.items()}
        return {hint: value for hint, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBinding:
    """A call over HTTP.

    `url` is a template (`https://api.example.org/users/{id}`): scheme and host stand in it literally and are never
    taken from an argument. `locations` says where each argument goes, `wire_names` what it is called there where that
    differs. With `body_argument` set, that one argument *is* the request body. `media` is the body's media type, where
    it is another kind of JSON or form than the usual, or nobody knows a field of the body. `idempotency_header` names
    the header that makes a repeated write harmless, where the tool has one.

    `credentials` are names only, one alternative each: a name, or several that go together; an empty one says that
    nothing need be sent. The user's configuration maps a name to a value and to the hosts that may see it. `schemes`
    says how a named one is sent, as an OpenAPI security scheme.
    """

    __pydantic_config__ = _CAMEL
    method: str
    url: str
    locations: Mapping[str, Location] = field(default_factory=dict)
    wire_names: Mapping[str, str] = field(default_factory=dict)
    body_argument: str | None = None
    media: str = ""
    credentials: tuple[str | tuple[str, ...], ...] = ()
    schemes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    idempotency_header: str | None = None

    def wire_name(self, argument: str) -> str:
        """What an argument is called in the request."""
        return self.wire_names.get(argument, argument)

    def location(self, argument: str) -> Location:
        """Where an argument goes: where the binding says, else the path that has its name, else query or body."""
        usual: Location = "query" if self.method in BODYLESS or self.body_argument else "body"
        return self.locations.get(
            argument, "path" if f"{{{self.wire_name(argument)}}}" in self.url else usual
        )

    @property
    def credential_names(self) -> tuple[str, ...]:
        """The names in all alternatives."""
        sets = ((one,) if isinstance(one, str) else one for one in self.credentials)
        return tuple(dict.fromkeys(name for names in sets for name in names))


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

    __pydantic_config__ = _CAMEL
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


def format_binding(binding: Binding | None) -> str:
    """`GET https://api.example.org/users/{id}`, `Python shop:find`, `MCP git:git_log`; empty where there is none."""
    match binding:
        case HttpBinding():
            return f"{binding.method} {binding.url}"
        case McpBinding():
            return f"MCP {binding.server}:{binding.tool}"
        case PythonBinding():
            return f"Python {binding.module}:{binding.function}"
        case ProgramBinding():
            return f"a saved program that calls {', '.join(binding.tools) or 'no tool'}"
        case None:
            return ""


# --- the JSON document

DOCUMENT_SCHEMA: dict[str, Any] = json.loads(
    Path(__file__).with_name("protocol.schema.json").read_text()
)
"""JSON Schema of a protocol document. Unknown keys are kept at the top level and in annotations, refused elsewhere."""
_VALIDATOR = jsonschema_rs.validator_for(DOCUMENT_SCHEMA)
_BINDINGS = {
    "http": HttpBinding,
    "python": PythonBinding,
    "mcp": McpBinding,
    "program": ProgramBinding,
}
_ADAPTER = TypeAdapter(ToolProtocol)


def load(document: Json, *, where: str = "protocol") -> ToolProtocol:
    """Read one JSON document; `where` names it in messages.

    Raises:
        InvalidProtocol: the document breaks the format; the message has the path and the clause.
    """
    error = first_error(_VALIDATOR, document)
    if error is not None:
        path = ".".join(str(part) for part in error.instance_path)
        hint = f"The format: {docs_page('reference/protocols#the-format')}."
        raise InvalidProtocol(where, f"{error.message}.", path=path, hint=hint)
    known = {key: value for key, value in document.items() if key in DOCUMENT_SCHEMA["properties"]}
    extra = {key: value for key, value in document.items() if key not in known}
    hints = known.pop("annotations", {})
    if unknown := {key: value for key, value in hints.items() if key not in _HINTS.values()}:
        extra["annotations"] = (
            unknown  # of other makers (MCP's `title`, `openWorldHint`), kept as they came
        )
    binding = next(
        iter(known.pop("binding", {}).values()), None
    )  # no two kinds require the same keys
    return _ADAPTER.validate_python(
        {**known, "binding": binding, "annotations": Annotations.from_hints(hints), "extra": extra}
    )


def dump(protocol: ToolProtocol) -> dict[str, Any]:
    """The protocol as its JSON document, without keys that say nothing. `load(dump(p)) == p`."""
    document: dict[str, Any] = _ADAPTER.dump_python(
        protocol, mode="json", by_alias=True, exclude_defaults=True
    )
    document["inputSchema"] = dict(protocol.input_schema)
    extra: dict[str, Any] = document.pop("extra", {})
    for kind, of in _BINDINGS.items():
        if isinstance(protocol.binding, of):
            document["binding"] = {kind: document["binding"]}
    if hints := protocol.annotations.to_hints | extra.pop("annotations", {}):
        document["annotations"] = hints
    return document | extra
