"""Reads OpenAPI 3.x and Swagger 2 documents. Lenient, because real documents break the standard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from protocols.effects import annotate_effects
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.http.path_arguments import without_path_marks
from protocols.protocol import Annotations, ErrorOutcome, Link, Location, ToolProtocol, Verify
from protocols.schema import (
    ANNOTATIONS,
    JsonObject,
    as_mapping,
    is_file,
    items_of_type,
    types,
)
from protocols.sources.document import OpenApiDocument
from protocols.sources.openapi_security import credentials_of, scheme_of
from protocols.sources.openapi_servers import server_of, swagger_server
from protocols.sources.operation import (
    FORM_TYPES,
    OperationArguments,
    annotations_of,
    is_json,
    list_separator,
    operation_names,
    plain_text,
)
from protocols.sources.schemas import Schemas

_Place: TypeAlias = tuple[str, str]
"""The method and path of an operation."""
_METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS")
_USUAL: tuple[Location, ...] = ("path", "query", "header", "cookie")
_LOCATIONS: dict[str, Location] = {**{one: one for one in _USUAL}, "formData": "form"}
"""Argument locations by OpenAPI's and Swagger's names, in the order of the arguments."""
_NOT_ARGUMENTS = ("accept", "content-type", "authorization", "idempotency-key")
"""Headers that are not arguments. OpenAPI says so for the first three."""
_JSONS = {"application/json": 0, "application/json-patch+json": 2}
"""Preference among JSON media types, lowest first. Few documents describe a patch as a list."""
_PLAIN_OBJECT = ANNOTATIONS | {"type", "properties", "required", "additionalProperties"}
_BODY = "$response.body"


def read_openapi(
    document: JsonObject, *, where: str, base_url: str | None = None
) -> list[ToolProtocol]:
    """Return the operations of an OpenAPI 3.x or Swagger 2 document, in its order.

    `where` names the document in messages. If it is a URL, relative servers are resolved against
    it. `base_url` replaces scheme and host of the declared server. If it has a path (even `/`), it
    also replaces its path.

    Raises:
        SourceUnavailable: it is not such a document, or has no operations.
        InvalidProtocol: a reference is broken or leaves the document, or the host is unknown.
    """
    try:
        return _Reader(document, where, base_url).protocols()
    except RecursionError:
        raise InvalidProtocol(where, "the document is nested too deeply to be read.") from None


class _Reader:
    """Reads one document."""

    def __init__(self, content: JsonObject, where: str, base_url: str | None) -> None:
        self._content = content
        self._where = where
        self._base_url = base_url
        self._document = OpenApiDocument(content, where)
        self._sent = Schemas(self._document, hidden="readOnly")
        self._received = Schemas(self._document, hidden="writeOnly")

    def protocols(self) -> list[ToolProtocol]:
        """Return the protocols of all operations."""
        operations: dict[_Place, JsonObject] = {}
        for path, raw_item in as_mapping(self._content.get("paths")).items():
            self._document.at = f"path {path!r}"
            item = self._document.follow(raw_item)
            for method, raw in item.items():
                if method.upper() in _METHODS and isinstance(raw, Mapping):
                    self._document.at = f"{method.upper()} {path}"
                    operations[method.upper(), path] = self._modernize_operation(
                        self._document.follow(raw), item
                    )
        if not operations:
            raise SourceUnavailable(
                f"{self._where} describes no operations: its 'paths' are missing or empty."
            )
        named = dict(zip(operation_names(operations), operations.items(), strict=True))
        links = self._links({name: operation for name, (_, operation) in named.items()})
        protocols = [
            self._protocol(name, *found, links.get(name, [])) for name, found in named.items()
        ]
        return annotate_effects(
            protocols,
            written=[
                name for name, (_, found) in named.items() if plain_text(found.get("operationId"))
            ],
        )

    def _modernize_operation(self, raw: JsonObject, item: JsonObject) -> dict[str, Any]:
        """Return an operation in the form of OpenAPI 3.

        References are resolved, and all its servers are listed.
        """
        follow = self._document.follow
        content = self._content
        # The operation's own parameters replace those of the path.
        found: dict[tuple[str, str], JsonObject] = {}
        for parameter in map(
            follow, (*items_of_type(item.get("parameters")), *items_of_type(raw.get("parameters")))
        ):
            if name := str(parameter.get("name") or ""):
                found[name, str(parameter.get("in"))] = {**parameter, "name": name}
        parameters = [*found.values()]
        body = follow(raw.get("requestBody"))
        for one in parameters:
            if one.get("in") == "body" and not body:
                media = items_of_type(raw.get("consumes", content.get("consumes")), str) or [
                    "application/json"
                ]
                body = {**one, "content": {kind: {"schema": one.get("schema")} for kind in media}}
        responses = {
            str(status): follow(one)
            for status, one in as_mapping(raw.get("responses")).items()
            if isinstance(one, Mapping) and not str(status).startswith("x-")
        }
        servers = [
            *items_of_type(raw.get("servers")),
            *items_of_type(item.get("servers")),
            *items_of_type(content.get("servers")),
        ]
        if "swagger" in content:
            for status, one in responses.items():
                schema = {"schema": one["schema"]} if isinstance(one.get("schema"), Mapping) else {}
                # No schema formally means an empty body; in practice (httpbin) it is undescribed.
                media = items_of_type(raw.get("produces", content.get("produces")), str)
                media = media or (["application/json"] if schema else [])
                responses[status] = {**one, "content": dict.fromkeys(media, schema)}
            servers = [{"url": swagger_server(content, self._where)}]
        return {
            **raw,
            "parameters": parameters,
            "requestBody": body,
            "responses": responses,
            "servers": servers,
        }

    def _protocol(
        self, name: str, place: _Place, operation: JsonObject, links: list[Link]
    ) -> ToolProtocol:
        """Return the protocol of one operation."""
        method, path = place
        self._document.at = f"{method} {path}"
        server = server_of(self._document, operation["servers"], self._base_url)
        responses = operation["responses"]
        # AWS's documents distinguish operations by a fragment (`/search#by-name`). It is not sent.
        url, marked = without_path_marks(f"{server}/{path.split('#')[0].removeprefix('/')}")
        arguments = self._arguments(operation, url)
        arguments.mark_paths(marked)
        credentials = credentials_of(self._content, operation)
        schemes = {
            one: scheme_of(self._document, one, server) for names in credentials for one in names
        }
        headers = {
            one["name"].lower(): one["name"]
            for one in operation["parameters"]
            if one.get("in") == "header"
        }
        tags = operation.get("tags")
        verifier = operation.get("x-atc-verified-by")
        success = _success_status(responses)
        output = self._body(responses[success]) if success else None
        hints = Annotations.from_hints(as_mapping(operation.get("x-atc-annotations")))
        protocol = arguments.protocol(
            name,
            method,
            url,
            bound={
                "credentials": tuple(
                    names[0] if len(names) == 1 else names for names in credentials
                ),
                "schemes": {one: scheme for one, scheme in schemes.items() if scheme},
                "idempotency_header": headers.get("idempotency-key"),
            },
            title=plain_text(operation.get("summary")),
            description=plain_text(operation.get("description")),
            output_schema={"type": "null"} if success == "204" or method == "HEAD" else output,
            annotations=annotations_of(method).with_stricter_hints(hints),
            errors=tuple(
                ErrorOutcome(
                    status=status,
                    description=plain_text(one.get("description")),
                    schema=self._body(one),
                )
                for status, one in responses.items()
                if status != success
            ),
            links=tuple(link for link in links if link.argument in arguments.properties),
            verified_by=Verify(tool=verifier) if isinstance(verifier, str) else None,
            category=str(tags[0]) if isinstance(tags, list) and tags else "",
            collection=plain_text(as_mapping(self._content.get("info")).get("title")),
            extra={"deprecated": True} if operation.get("deprecated") is True else {},
        )
        return replace(protocol, input_schema=self._sent.complete(protocol.input_schema))

    # --- requests

    def _arguments(self, operation: JsonObject, url: str) -> OperationArguments:
        """Return the arguments of an operation.

        Parameters in the path come first, then undeclared variables of the URL, then the body.
        """
        arguments = OperationArguments()
        variables = dict.fromkeys(re.findall(r"\{([^{}]+)\}", url))
        for place, location in _LOCATIONS.items():
            for parameter in operation["parameters"]:
                name = parameter["name"]
                in_path = location == "path"
                passed = (
                    name not in variables
                    if in_path
                    else location == "header" and name.lower() in _NOT_ARGUMENTS
                )
                if parameter.get("in") == place and not passed:
                    required = in_path or parameter.get("required") is True
                    arguments.add(
                        name, location, self._parameter(parameter, location), required=required
                    )
        for name in variables:
            if arguments.locations.get(name) != "path":
                arguments.add(name, "path", {"type": "string"}, required=True)
        if isinstance(operation["requestBody"].get("content"), Mapping):
            self._add_body(arguments, operation["requestBody"])
        return arguments

    def _parameter(self, parameter: JsonObject, location: Location) -> dict[str, Any]:
        # Swagger 2, and documents of 3 that were made from it, write the schema beside the name.
        """Return the schema of a parameter."""
        content = as_mapping(next(iter(as_mapping(parameter.get("content")).values()), None))
        raw = next(
            (raw for one in (parameter, content) if isinstance(raw := one.get("schema"), Mapping)),
            parameter,
        )
        schema = dict(as_mapping(self._sent.convert(raw)))
        if text := plain_text(parameter.get("description")):
            schema["description"] = text
        if parameter.get("deprecated") is True:
            schema["deprecated"] = True
        if (
            isinstance(example := parameter.get("example"), str | int | float)
            and "examples" not in schema
        ):
            schema["examples"] = [example]
        named = map(as_mapping, as_mapping(parameter.get("examples")).values())
        if "examples" not in schema and (
            values := [one["value"] for one in named if "value" in one]
        ):
            schema["examples"] = values
        joint = list_separator(parameter) if location in ("query", "form") else None
        if joint in ("[]", "{}") or (joint and "array" in types(self._sent.top(schema))):
            schema["x-atc-join"] = joint
        return schema

    def _add_body(self, arguments: OperationArguments, body: JsonObject) -> None:
        """Add the arguments of a body: its properties if no name clashes, else one argument.

        Of several media types JSON is preferred (but not a JSON patch), then a form, then the first
        one. A body with a file becomes a multipart form.
        """
        kinds = {media: media.split(";")[0].strip().lower() for media in body["content"]} or {
            "": "application/json"
        }
        schemas = {
            one: self._sent.convert(as_mapping(body["content"].get(one)).get("schema"))
            for one in kinds
        }
        chosen = min(
            kinds,
            key=lambda one: (
                not is_json(one),
                kinds[one] not in FORM_TYPES,
                _JSONS.get(kinds[one], 1),
            ),
        )
        for one in (one for one in kinds if kinds[one] == FORM_TYPES[1]):
            fields = self._sent.complete(as_mapping(self._sent.top(schemas[one])))
            if any(is_file(part, fields) for part in fields.get("properties", {}).values()):
                chosen = one
        media = kinds[chosen]
        location: Location = "form" if media in FORM_TYPES else "body"
        if location == "body" and not is_json(media):
            whole: Any = {"type": "string", "contentMediaType": media}
        else:
            whole = schemas[chosen]
        top = self._sent.top(whole)
        plain = top and not top.keys() - _PLAIN_OBJECT and types(top) == ("object",)
        named = (
            top.get("properties")
            if plain and top.get("additionalProperties", True) in (True, False, {})
            else {}
        )
        needed = body.get("required", bool(named and top.get("required"))) is True
        if plain and not named and not needed and top.get("additionalProperties") is False:
            return  # it takes nothing
        if (
            (named or location == "body")
            and "*" not in media
            and media not in ("application/json", FORM_TYPES[0])
        ):
            arguments.media = media
        styles = as_mapping(as_mapping(body["content"].get(chosen)).get("encoding"))
        if named and (location == "form" or not named.keys() & arguments.properties.keys()):
            for name, schema in named.items():
                if (
                    isinstance(schema, Mapping)
                    and as_mapping(styles.get(name)).get("style") == "deepObject"
                ):
                    schema = {**schema, "x-atc-join": "[]"}
                elif media == "multipart/form-data" and "object" in types(
                    as_mapping(self._sent.top(schema))
                ):
                    schema = {**schema, "x-atc-join": "{}"}
                arguments.add(
                    name, location, schema, required=needed and name in top.get("required", ())
                )
            return
        if isinstance(whole, dict) and (text := plain_text(body.get("description"))):
            whole = {"description": text} | whole
        arguments.add("", "body", whole, required=needed)

    # --- responses

    def _body(self, response: JsonObject) -> dict[str, Any] | None:
        """Return the schema of a response body, or None if it is unknown."""
        content = as_mapping(response.get("content"))
        media = next(filter(is_json, content), None)
        if media is None:
            texts = any(
                one.strip().lower().startswith("text/") or "xml" in one.lower() for one in content
            )
            return {"type": "string"} if texts else None
        top = self._received.top(self._received.convert(as_mapping(content[media]).get("schema")))
        return {"not": {}} if top is False else self._received.complete(top) or None

    def _links(self, operations: Mapping[str, JsonObject]) -> dict[str, list[Link]]:
        """Return OpenAPI's `links` by the tool that uses the values."""
        tools = {
            plain_text(operation.get("operationId")): name for name, operation in operations.items()
        }
        found: dict[str, list[Link]] = {}
        for name, operation in operations.items():
            self._document.at = f"a link of {name!r}"
            responses = operation["responses"]
            for raw in as_mapping(
                responses.get(_success_status(responses), {}).get("links")
            ).values():
                link = self._document.follow(raw)
                consumer = tools.get(str(link.get("operationId")), "")
                for argument, expression in as_mapping(link.get("parameters")).items():
                    if consumer and str(expression).startswith(
                        _BODY
                    ):  # `#/airports/0/code` → `airports[].code`
                        path = expression.removeprefix(_BODY).lstrip("#/").replace("/", ".")
                        path = (
                            re.sub(r"(^|\.)\d+(?=\.|$)", "[]", path)
                            .replace("~1", "/")
                            .replace("~0", "~")
                        )
                        made = Link(argument=argument, tool=name, path=path, support="declared")
                        found.setdefault(consumer, []).append(made)
        return found


def _success_status(responses: JsonObject) -> str:
    """Return the lowest 2xx status, else `default` if it is declared, else ""."""
    found = sorted(status for status in responses if re.fullmatch(r"2(\d\d|XX|xx)", status))
    return next(iter(found), "default" if "default" in responses else "")
