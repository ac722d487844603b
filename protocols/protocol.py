"""`ToolProtocol`, the description of a tool, and its JSON document.

The document is an MCP tool with more fields.
"""

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
McpMethod = Literal["tools/call", "resources/read", "resources/list"]
"""What a tool of an MCP server asks of the server."""
BODYLESS = ("GET", "HEAD", "OPTIONS", "DELETE")
"""HTTP methods whose arguments go into the query by default."""
_CAMEL = ConfigDict(alias_generator=to_camel)  # as documents spell keys
_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """MCP's three hints on the effect of a call. A hint is None if the source does not give it."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    @classmethod
    def from_hints(cls, hints: JsonObject) -> Annotations:
        """Return annotations from MCP's hints. Values that are not booleans are ignored."""
        return cls(
            **{
                ours: hints[theirs]
                for ours, theirs in _HINTS.items()
                if isinstance(hints.get(theirs), bool)
            }
        )

    def with_stricter_hints(self, hints: Annotations) -> Annotations:
        """Return these annotations, changed by each of the `hints` that asks for more care.

        Other hints are ignored: an untrusted one must not turn a write into a read, because reads
        need no consent.
        """
        return Annotations(
            read_only=False if hints.read_only is False else self.read_only,
            destructive=True if hints.destructive else self.destructive,
            idempotent=False if hints.idempotent is False else self.idempotent,
        )

    @property
    def to_hints(self) -> dict[str, bool]:
        """These annotations as MCP's hints, without those that are None."""
        given = {theirs: getattr(self, ours) for ours, theirs in _HINTS.items()}
        return {hint: value for hint, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBinding:
    """The HTTP request with which a tool is called.

    `url` is a template (`https://api.example.org/users/{id}`). Its scheme and host are literal,
    never from an argument. `locations` maps an argument to a part of the request (path, query, …),
    and `wire_names` maps it to its name in the request if that is different. If `body_argument` is
    set, that argument is the whole body. `media` is the media type of the body if it is neither
    JSON nor a URL-encoded form. `accept` lists the media types of the response, which the request
    asks for before JSON; it is empty if JSON or plain text is among them. `idempotency_header` is
    the header for an idempotency key, which makes it safe to repeat a write; None if the tool has
    none.

    `credentials` lists alternatives. Each is the name of a credential, or several names of
    credentials to send together; an empty one means that no credential is needed. The user's
    configuration maps a name to a value and to the hosts that may see it. `schemes` maps a name to
    its OpenAPI security scheme, which says how the credential is sent.

    `sibling_credentials` is set if the document declares nothing about this tool, but credentials
    for most others. They are sent only if the user agreed.
    """

    __pydantic_config__ = _CAMEL
    method: str
    url: str
    locations: Mapping[str, Location] = field(default_factory=dict)
    wire_names: Mapping[str, str] = field(default_factory=dict)
    body_argument: str | None = None
    media: str = ""
    accept: tuple[str, ...] = ()
    credentials: tuple[str | tuple[str, ...], ...] = ()
    sibling_credentials: tuple[str | tuple[str, ...], ...] = ()
    schemes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    idempotency_header: str | None = None

    def wire_name(self, argument: str) -> str:
        """Return the name under which an argument is sent in the request."""
        return self.wire_names.get(argument, argument)

    def location(self, argument: str) -> Location:
        """Return the part of the request (path, query, …) in which an argument is sent.

        If none is declared, an argument that is a variable of the URL goes into the path. Other
        arguments go into the query or the body, depending on the method.
        """
        usual: Location = "query" if self.method in BODYLESS or self.body_argument else "body"
        return self.locations.get(
            argument, "path" if f"{{{self.wire_name(argument)}}}" in self.url else usual
        )

    @property
    def credential_names(self) -> tuple[str, ...]:
        """Names of all credentials in `credentials`, without duplicates."""
        sets = ((names,) if isinstance(names, str) else names for names in self.credentials)
        return tuple(dict.fromkeys(name for names in sets for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonBinding:
    """A call of a Python function. Allowed only if the user named `module` as a tool source."""

    module: str
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpBinding:
    """A request to the MCP server with the name `server` in the configuration.

    By default it calls the server's tool `tool`. With another `method` of MCP it reads or lists the
    server's resources, and `tool` is only a name.
    """

    server: str
    tool: str
    method: McpMethod = "tools/call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBinding:
    """A call of a saved program. It runs where its caller runs.

    `source` is Python code that defines one function with keyword arguments. `tools` maps the
    aliases of the tools that it calls to their identities (`Tool.identity`). If one of these tools
    is missing, the program is not offered as a tool.
    """

    source: str
    tools: Mapping[str, str]


Binding = HttpBinding | PythonBinding | McpBinding | ProgramBinding


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorOutcome:
    """A declared error response: its `status` (404, 4XX, default), meaning and body schema."""

    status: str
    description: str = ""
    schema: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example call: the question, the program, the arguments and the redacted result."""

    question: str = ""
    program: str = ""
    arguments: JsonObject = field(default_factory=dict)
    result: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Says that a response of the tool `tool` has values for an argument of this tool.

    `argument` is the name of the argument, and `path` is the path of the values in the response
    (`airports[].code`).
    """

    argument: str
    tool: str
    path: str
    support: EvidenceLevel = "guessed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """Names the read-only tool that shows what a write has changed.

    It is called if no response to the write arrived.
    """

    tool: str
    support: EvidenceLevel = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The basis of a tool's description: a document, observed responses, or a guess.

    `observations` is the number of observed calls. `fields` has, for each path in a response, the
    number of responses that contain it.
    """

    level: EvidenceLevel = "declared"
    observations: int = 0
    fields: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProtocol:
    """The description of one tool: its purpose, arguments, response, errors and links.

    `name` is the name in the source; programs use the alias from a `Toolbox`. Schemas are
    self-contained JSON Schema 2020-12 (each `$ref` points into the same schema). `output_schema` is
    None if it is unknown. `extra` keeps unknown keys, so that a document survives a round trip.
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
        """Schema of each argument, in declared order."""
        properties: Mapping[str, JsonObject] = self.input_schema.get("properties", {})
        return properties

    @property
    def required(self) -> frozenset[str]:
        """Names of the required arguments."""
        return frozenset(self.input_schema.get("required", ()))

    @property
    def writes(self) -> bool:
        """True if a call may change something, that is, unless it is declared to be read-only."""
        return self.annotations.read_only is not True


def format_binding(binding: Binding | None) -> str:
    """Return a short text for a binding, which says how a tool is called; "" for None.

    Examples: `GET https://api.example.org/users/{id}`, `Python shop:find`, `MCP git:git_log`.
    """
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
"""JSON Schema of a protocol document.

Unknown keys are kept at the top level and in annotations, and refused elsewhere.
"""
_VALIDATOR = jsonschema_rs.validator_for(DOCUMENT_SCHEMA)
_BINDINGS = {
    "http": HttpBinding,
    "python": PythonBinding,
    "mcp": McpBinding,
    "program": ProgramBinding,
}
_ADAPTER = TypeAdapter(ToolProtocol)


def load(document: Json, *, where: str = "protocol") -> ToolProtocol:
    """Return the tool that a JSON document describes. `where` names the document in messages.

    Raises:
        InvalidProtocol: the document does not conform to `DOCUMENT_SCHEMA`. The message has the
            path of the invalid part and the rule.
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
        extra["annotations"] = unknown  # such as MCP's `title` and `openWorldHint`
    # The kind of binding is not needed: no two kinds have the same required keys.
    binding = next(iter(known.pop("binding", {}).values()), None)
    return _ADAPTER.validate_python(
        {**known, "binding": binding, "annotations": Annotations.from_hints(hints), "extra": extra}
    )


def dump(protocol: ToolProtocol) -> dict[str, Any]:
    """Return a tool's description as a JSON document, from which `load` reads it again.

    Fields with default values are left out.
    """
    document: dict[str, Any] = _ADAPTER.dump_python(
        protocol, mode="json", by_alias=True, exclude_defaults=True
    )
    document["inputSchema"] = dict(protocol.input_schema)
    extra: dict[str, Any] = document.pop("extra", {})
    for kind, binding_class in _BINDINGS.items():
        if isinstance(protocol.binding, binding_class):
            document["binding"] = {kind: document["binding"]}
    if hints := protocol.annotations.to_hints | extra.pop("annotations", {}):
        document["annotations"] = hints
    return document | extra
