"""OpenAPI 3.x and Swagger 2 documents → protocols. A lenient walk: real documents break their own specification."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from protocols.alias import FreeNames
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.origin import is_url
from protocols.protocol import Annotations, ErrorOutcome, Link, Location, ToolProtocol, Verify
from protocols.schema import types
from protocols.sources import swagger
from protocols.sources.operation import FORM_TYPES, Arguments, annotations_of, is_json, readable_name
from protocols.sources.schemas import Document, Schemas

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_PLACES: tuple[Location, ...] = ("path", "query", "header", "cookie")
_NOT_ARGUMENTS = ("accept", "content-type", "authorization", "idempotency-key")
"""Headers that are no arguments; OpenAPI says so of the first three."""
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "ssv": " ", "pipes": "|", "csv": ","}
_PLAIN_OBJECT = {
    "type", "properties", "required", "title", "description", "additionalProperties", "examples", "default",
}  # fmt: skip
_BODY = "$response.body"


def read_openapi(document: JsonObject, *, where: str, base_url: str | None = None) -> list[ToolProtocol]:
    """The operations of an OpenAPI 3.x or Swagger 2 document, in its order.

    `where` names the document in messages; where it is a URL, relative servers are resolved against it. `base_url`
    takes the place of the declared server: of its scheme and host, and where it has a path itself, be it `/`, of its
    path too.

    Raises:
        SourceUnavailable: the document is no such document, or describes no operation.
        InvalidProtocol: a reference leads nowhere or out of the document, or no host is known.
    """
    try:
        return _Reader(document, where, base_url).protocols()
    except RecursionError:
        raise InvalidProtocol(where, "the document is nested too deeply to be read.") from None


@dataclass
class _Operation:
    """One operation where it stands in its document; references to parameters and responses are followed."""

    method: str
    path: str
    item: JsonObject
    raw: JsonObject
    parameters: list[JsonObject] = field(default_factory=list)
    body: JsonObject = field(default_factory=dict)
    responses: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def at(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def id(self) -> str:
        return _text(self.raw.get("operationId"))

    @property
    def short_id(self) -> str:
        """FastAPI's `list_orders_orders__id__get` → `list_orders`: it puts path and method behind a function's name."""
        return self.id.removesuffix(re.sub(r"\W", "_", self.path) + f"_{self.method}") or self.id

    @property
    def success(self) -> str | None:
        """The lowest 2xx among the statuses; `default` where it stands without any; else `None`."""
        statuses = sorted(status for status in self.responses if re.fullmatch(r"2(\d\d|XX|xx)", status))
        return next(iter(statuses), None) or ("default" if "default" in self.responses else None)


class _Reader:
    def __init__(self, content: JsonObject, where: str, base_url: str | None) -> None:
        self._content, self._where, self._base_url = content, where, base_url
        self._document = Document(content, where)
        self._sent = Schemas(self._document, hidden="readOnly")
        self._received = Schemas(self._document, hidden="writeOnly")

    def protocols(self) -> list[ToolProtocol]:
        operations = []
        for path, raw_item in _mapping(self._content.get("paths")).items():
            self._document.at = f"path {path!r}"
            item = _mapping(self._document.follow(raw_item))
            for method, raw in item.items():
                if method.lower() in _METHODS and isinstance(raw, Mapping):
                    operations.append(self._followed(_Operation(method.lower(), path, item, raw)))
        if not operations:
            raise SourceUnavailable(f"{self._where} describes no operations: its 'paths' are missing or empty.")
        names = _names(operations)
        links = self._links(dict(zip(names, operations, strict=True)))
        return [self._protocol(one, name, links.get(name, [])) for one, name in zip(operations, names, strict=True)]

    def _followed(self, operation: _Operation) -> _Operation:
        self._document.at = operation.at
        found: dict[tuple[str, str], JsonObject] = {}  # the operation's own replace those of the path
        for raw in (*_list(operation.item.get("parameters")), *_list(operation.raw.get("parameters"))):
            parameter = _mapping(self._document.follow(raw))
            if name := str(parameter.get("name") or ""):
                found[name, str(parameter.get("in"))] = {**parameter, "name": name}
        operation.parameters = list(found.values())
        consumes, produces = (
            [media for media in _list(operation.raw.get(key, self._content.get(key))) if isinstance(media, str)]
            for key in ("consumes", "produces")
        )
        body = _mapping(self._document.follow(operation.raw.get("requestBody")))
        operation.body = body or swagger.request_body(operation.parameters, consumes)
        for status, raw in _mapping(operation.raw.get("responses")).items():
            answer = self._document.follow(raw)
            if not str(status).startswith("x-") and isinstance(answer, Mapping):
                upgraded = swagger.response(answer, produces) if "swagger" in self._content else answer
                operation.responses[str(status)] = upgraded
        return operation

    def _protocol(self, operation: _Operation, name: str, links: list[Link]) -> ToolProtocol:
        self._document.at = operation.at
        raw, server = operation.raw, self._server(operation)
        # `/search#by-name` tells operations of one path apart (AWS's documents do so); the fragment is not sent.
        url = f"{server}/{operation.path.split('#')[0].removeprefix('/')}"
        arguments = self._arguments(operation, url)
        credentials = self._credentials(operation)
        schemes = {one: self._scheme(one, server) for names in credentials for one in names}
        headers = {one["name"].lower(): one["name"] for one in operation.parameters if one.get("in") == "header"}
        tags, verifier = raw.get("tags"), raw.get("x-atc-verified-by")
        success = operation.success
        output = self._body(operation.responses[success]) if success else None
        return ToolProtocol(
            name=name,
            title=_text(raw.get("summary")),
            description=_text(raw.get("description")),
            input_schema=self._sent.complete(arguments.input_schema),
            output_schema={"type": "null"} if success == "204" or operation.method == "head" else output,
            annotations=annotations_of(operation.method).heeding(
                Annotations.of(_mapping(raw.get("x-atc-annotations")))
            ),
            binding=arguments.binding(
                operation.method.upper(),
                url,
                credentials=tuple(names[0] if len(names) == 1 else names for names in credentials),
                schemes={one: scheme for one, scheme in schemes.items() if scheme},
                idempotency_header=headers.get("idempotency-key"),
            ),
            errors=tuple(
                ErrorOutcome(status=status, description=_text(one.get("description")), schema=self._body(one))
                for status, one in operation.responses.items()
                if status != success
            ),
            links=tuple(link for link in links if link.argument in arguments.properties),
            verified_by=Verify(tool=verifier) if isinstance(verifier, str) else None,
            category=str(tags[0]) if isinstance(tags, list) and tags else "",
            collection=_text(_mapping(self._content.get("info")).get("title")),
            extra={"deprecated": True} if raw.get("deprecated") is True else {},
        )

    def _server(self, operation: _Operation) -> str:
        """The absolute URL, without a slash at its end, before an operation's path."""
        if "swagger" in self._content:
            declared = swagger.server(self._content, self._where)
        else:
            holders = (operation.raw, operation.item, self._content)
            servers = (server for holder in holders for server in map(_mapping, _list(holder.get("servers"))))
            declared = next((_filled(one) for one in servers if isinstance(one.get("url"), str)), "/")
        url = urljoin(self._where, declared) if is_url(self._where) else declared
        if self._base_url is not None:
            base = urlsplit(self._base_url)
            url = self._base_url if base.path else urlunsplit((base.scheme, base.netloc, urlsplit(url).path, "", ""))
        if not re.match(r"https?://[^{}/?#]+([/?#]|$)", url):
            raise InvalidProtocol(
                self._where,
                f"{operation.at} is served at {declared or '/'!r}, which names no http(s) host.",
                path="host" if "swagger" in self._content else "servers",
                hint=f"Say where the service runs: '{self._where}@https://HOST'.",
            )
        return url.split("#")[0].split("?")[0].rstrip("/")

    # --- what goes in

    def _arguments(self, operation: _Operation, url: str) -> Arguments:
        """The parameters, those in the path first, then the variables of the URL that nobody declared, and the body."""
        arguments = Arguments()
        variables = dict.fromkeys(re.findall(r"\{([^{}]+)\}", url))
        for place in _PLACES:
            for parameter in operation.parameters:
                name, in_path = parameter["name"], place == "path"
                kept_back = name not in variables if in_path else place == "header" and name.lower() in _NOT_ARGUMENTS
                if parameter.get("in") == place and not kept_back:
                    required = in_path or parameter.get("required") is True
                    arguments.add(name, place, self._parameter(parameter, place), required=required)
        for name in variables:
            if arguments.locations.get(name) != "path":
                arguments.add(name, "path", {"type": "string"}, required=True)
        if isinstance(operation.body.get("content"), Mapping):
            self._add_body(arguments, operation.body)
        return arguments

    def _parameter(self, parameter: JsonObject, place: Location) -> dict[str, Any]:
        # Swagger 2, and documents of 3 that were made from it, write the schema beside the name.
        raw = parameter["schema"] if isinstance(parameter.get("schema"), Mapping) else parameter
        converted = self._sent.convert(raw)
        schema: dict[str, Any] = dict(converted) if isinstance(converted, dict) else {}
        if not schema and place == "path":
            schema["type"] = "string"
        if text := _text(parameter.get("description")):
            schema["description"] = text
        if parameter.get("deprecated") is True:
            schema["deprecated"] = True
        if isinstance(example := parameter.get("example"), str | int | float) and "examples" not in schema:
            schema["examples"] = [example]
        if place == "query" and "array" in types(self._sent.top(schema)) and (joint := _separator(parameter)):
            schema["x-atc-join"] = joint
        return schema

    def _add_body(self, arguments: Arguments, body: JsonObject) -> None:
        """An object's properties become arguments where no name clashes, else the body is one argument."""
        media, described = _choose(body["content"])
        location: Location = "form" if media in FORM_TYPES else "body"
        if location == "body" and not is_json(media):
            whole: Any = {"type": "string", "contentMediaType": media}
        else:
            whole = self._sent.convert(described.get("schema", {}))
        top = self._sent.top(whole)
        plain = top and not top.keys() - _PLAIN_OBJECT and types(top) == ("object",)
        named = top.get("properties") if plain and top.get("additionalProperties", True) in (True, False, {}) else {}
        needed = body.get("required", bool(named and top.get("required"))) is True
        if named and (location == "form" or not named.keys() & arguments.properties.keys()):
            for name, schema in named.items():
                arguments.add(name, location, schema, required=needed and name in top.get("required", ()))
            return
        if isinstance(whole, dict) and (text := _text(body.get("description"))):
            whole = {"description": text} | whole
        arguments.add("", "body", whole, required=needed)

    # --- what comes out

    def _body(self, response: JsonObject) -> dict[str, Any] | None:
        content = _mapping(response.get("content"))
        media = next(filter(is_json, content), None)
        if media is None:
            texts = any(one.strip().lower().startswith("text/") or "xml" in one.lower() for one in content)
            return {"type": "string"} if texts else None
        return self._received.self_contained(_mapping(content[media]).get("schema")) or None

    def _links(self, operations: Mapping[str, _Operation]) -> dict[str, list[Link]]:
        """OpenAPI's `links`, turned round: consuming tool → where in a response's body its arguments come from."""
        tools = {operation.id: name for name, operation in operations.items()}
        found: dict[str, list[Link]] = {}
        for name, operation in operations.items():
            self._document.at = operation.at
            answer = operation.responses.get(operation.success or "", {})
            for raw in _mapping(answer.get("links")).values():
                link = _mapping(self._document.follow(raw))
                consumer = tools.get(str(link.get("operationId")), "")
                for argument, expression in _mapping(link.get("parameters")).items():
                    if consumer and str(expression).startswith(_BODY):
                        path = _path(expression.removeprefix(_BODY))
                        made = Link(argument=argument, tool=name, path=path, support="declared")
                        found.setdefault(consumer, []).append(made)
        return found

    # --- credentials

    def _credentials(self, operation: _Operation) -> list[tuple[str, ...]]:
        """The alternatives that `security` offers; one that is empty says that nothing need be sent."""
        declared = operation.raw.get("security", self._content.get("security"))
        offered = [tuple(map(str, one)) for one in _list(declared) if isinstance(one, Mapping)]
        if any(offered):
            return list(dict.fromkeys(offered))
        for one in operation.parameters:
            if one.get("in") == "header" and one["name"].lower() == "authorization" and one.get("required") is True:
                return [("Authorization",)]
        return [()] if declared == [] or offered else []

    def _scheme(self, name: str, server: str) -> dict[str, Any]:
        """How a credential is sent, with the addresses of OAuth absolute; {} where the document does not say."""
        known = _mapping(self._content.get("components")).get("securitySchemes")
        raw = _mapping(self._document.follow(_mapping(known or self._content.get("securityDefinitions")).get(name)))
        if str(raw.get("scheme")).lower() == "bearer":  # as without any scheme
            return {}
        scheme = {key: raw[key] for key in ("type", "in", "name", "scheme") if isinstance(raw.get(key), str)}
        flows = {}
        for flow, one in _mapping(raw.get("flows") or swagger.flows(raw)).items():
            if flow in ("clientCredentials", "authorizationCode") and isinstance(one, Mapping):
                urls = {key: one[key] for key in ("authorizationUrl", "tokenUrl") if isinstance(one.get(key), str)}
                scopes = dict.fromkeys(_mapping(one.get("scopes")), "")
                flows[flow] = {key: urljoin(f"{server}/", url) for key, url in urls.items()} | {"scopes": scopes}
        return scheme | ({"flows": flows} if flows else {})


def _names(operations: list[_Operation]) -> list[str]:
    """Each operation's id, without the path that FastAPI puts behind it, or a name made of method and path."""
    ids = {operation.id for operation in operations}
    short = Counter(operation.short_id for operation in operations)
    free, names = FreeNames(), []
    for operation in operations:
        brief = operation.short_id
        name = brief if short[brief] == 1 and brief not in ids else operation.id
        names.append(free(name or readable_name(operation.method, operation.path)))
    return names


def _separator(parameter: JsonObject) -> str | None:
    """What stands between the items of a list in the query; `None` where its name is repeated for each item."""
    if "type" in parameter and not parameter.keys() & {"style", "explode"}:
        return _SEPARATORS.get(str(parameter.get("collectionFormat", "csv")))
    style = str(parameter.get("style", "form"))
    return "," if style == "form" and parameter.get("explode") is False else _SEPARATORS.get(style)


def _choose(content: JsonObject) -> tuple[str, JsonObject]:
    """The media type that we send best: JSON, then forms, then the first; and what it holds."""
    kinds = {media: media.split(";")[0].strip().lower() for media in content}
    media = min(kinds, key=lambda one: (not is_json(one), kinds[one] not in FORM_TYPES), default="application/json")
    return kinds.get(media, media), _mapping(content.get(media))


def _path(pointer: str) -> str:
    """`#/airports/0/code` → `airports[].code`."""
    path = ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        path += "[]" if key.isdigit() else f".{key}" if path else key
    return path


def _filled(server: JsonObject) -> str:
    """A server's URL with the defaults of its variables, or what else they may be."""
    variables = _mapping(server.get("variables"))

    def value(match: re.Match[str]) -> str:
        variable = _mapping(variables.get(match[1]))
        return str(variable.get("default", next(iter(_list(variable.get("enum"))), match[0])))

    return re.sub(r"\{([^{}]+)\}", value, server["url"])


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []
