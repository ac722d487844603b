"""Reads OpenAPI 3.x and Swagger 2 documents. Lenient, because real documents break the standard."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from protocols.effects import annotate_effects
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.http.path_arguments import without_path_marks
from protocols.protocol import Annotations, ErrorOutcome, Link, Location, ToolProtocol, Verify
from protocols.response_examples import examples_beside
from protocols.schema import JsonObject, all_types, as_mapping, items_of_type
from protocols.sources.document import OpenApiDocument
from protocols.sources.openapi_bodies import add_body
from protocols.sources.openapi_responses import (
    accepted_media,
    describes_error,
    success_statuses,
    text_body,
)
from protocols.sources.openapi_security import (
    Alternatives,
    security_fields,
    sibling_credentials,
)
from protocols.sources.openapi_servers import server_of, swagger_server
from protocols.sources.operation import (
    OperationArguments,
    annotations_of,
    extra_of,
    is_json,
    list_separator,
    operation_names,
    plain_text,
)
from protocols.sources.repeated_parameters import with_list
from protocols.sources.schemas import Schemas
from protocols.sources.shown_formats import with_shown_formats

Hide: TypeAlias = Callable[[ToolProtocol], ToolProtocol]
_Place: TypeAlias = tuple[str, str]
"""The method and path of an operation."""
_METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS")
_USUAL: tuple[Location, ...] = ("path", "query", "header", "cookie")
_LOCATIONS: dict[str, Location] = {**{one: one for one in _USUAL}, "formData": "form"}
"""Argument locations, keyed by their names in OpenAPI and Swagger.

The arguments of a tool are listed in this order of locations.
"""
_NOT_ARGUMENTS = ("accept", "content-type", "authorization", "idempotency-key")
"""Headers that are not arguments. OpenAPI says so for the first three."""
_BODY = "$response.body"


def read_openapi(
    document: JsonObject, *, where: str, base_url: str | None = None, hide: Hide | None = None
) -> list[ToolProtocol]:
    """Return the operations of an OpenAPI 3.x or Swagger 2 document as tools, in its order.

    `where` names the document in messages. If it is a URL, the URLs of servers may be relative to
    it. `base_url` replaces scheme and host of the declared server; if it has a path (even `/`), it
    replaces the path of the server, too. `hide` leaves out the arguments of a tool that the user's
    settings fill; they say nothing about its effect.

    Raises:
        SourceUnavailable: the document is not of this kind, or has no operations.
        InvalidProtocol: a reference is broken or leaves the document, or the host is unknown.
    """
    try:
        return _Reader(document, where, base_url).protocols(hide or (lambda protocol: protocol))
    except RecursionError:
        raise InvalidProtocol(where, "the document is nested too deeply to be read.") from None


class _Reader:
    """Reads the operations of one OpenAPI or Swagger document as tools."""

    def __init__(self, content: JsonObject, where: str, base_url: str | None) -> None:
        self._content = content
        self._where = where
        self._base_url = base_url
        self._document = OpenApiDocument(content, where)
        self._sent = Schemas(self._document, hidden="readOnly")
        self._siblings: Alternatives = []
        self._received = Schemas(self._document, hidden="writeOnly")

    def protocols(self, hide: Hide) -> list[ToolProtocol]:
        """Return all operations of the document as tools, each changed by `hide`."""
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
        self._siblings = sibling_credentials(operations.values())
        named = dict(zip(operation_names(operations), operations.items(), strict=True))
        links = self._links({name: operation for name, (_, operation) in named.items()})
        protocols = [
            hide(self._protocol(name, *found, links.get(name, []))) for name, found in named.items()
        ]
        return annotate_effects(
            protocols,
            written=[
                name for name, (_, found) in named.items() if plain_text(found.get("operationId"))
            ],
        )

    def _modernize_operation(self, raw: JsonObject, item: JsonObject) -> dict[str, Any]:
        """Return an operation in the form of OpenAPI 3, with its references resolved.

        `item` is the path item that contains the operation. Servers and parameters that are
        declared there or for the whole document are added to those of the operation.
        """
        parameters = self._parameters(raw, item)
        body = self._document.follow(raw.get("requestBody")) or self._swagger_body(raw, parameters)
        responses = {
            str(status): self._document.follow(one)
            for status, one in as_mapping(raw.get("responses")).items()
            if isinstance(one, Mapping) and not str(status).startswith("x-")
        }
        if "swagger" in self._content:
            responses = self._swagger_responses(raw, responses)
            servers = [{"url": swagger_server(self._content, self._where)}]
        else:
            parents = (raw, item, self._content)
            servers = [one for parent in parents for one in items_of_type(parent.get("servers"))]
        return {
            **raw,
            "parameters": parameters,
            "requestBody": body,
            "responses": responses,
            "servers": servers,
        }

    def _parameters(self, raw: JsonObject, item: JsonObject) -> list[JsonObject]:
        """Return the parameters of an operation, including those of its path item (`item`).

        If both declare a parameter with the same name and location, that of the operation is used.
        """
        declared = (*items_of_type(item.get("parameters")), *items_of_type(raw.get("parameters")))
        found: dict[tuple[str, str], JsonObject] = {}
        for parameter in map(self._document.follow, declared):
            if name := str(parameter.get("name") or ""):
                found[name, str(parameter.get("in"))] = {**parameter, "name": name}
        return [*found.values()]

    def _swagger_body(self, raw: JsonObject, parameters: list[JsonObject]) -> JsonObject:
        """Return the body of a Swagger operation in the form of OpenAPI 3; {} if it has no body.

        Swagger declares the body as one of the `parameters`.
        """
        parameter = next((one for one in parameters if one.get("in") == "body"), None)
        if parameter is None:
            return {}
        media = items_of_type(raw.get("consumes", self._content.get("consumes")), str)
        schema = {"schema": parameter.get("schema")}
        return {**parameter, "content": dict.fromkeys(media or ["application/json"], schema)}

    def _swagger_responses(
        self, raw: JsonObject, responses: Mapping[str, JsonObject]
    ) -> dict[str, JsonObject]:
        """Return the responses of a Swagger 2 operation in the form of OpenAPI 3.

        Their schemas are keyed by media type.
        """
        found: dict[str, JsonObject] = {}
        produced = items_of_type(raw.get("produces", self._content.get("produces")), str)
        for status, one in responses.items():
            schema = {"schema": one["schema"]} if isinstance(one.get("schema"), Mapping) else {}
            # No schema formally means an empty body; in practice (httpbin) it is undescribed.
            media = produced or (["application/json"] if schema else [])
            shown = as_mapping(one.get("examples"))
            content = {kind: {**schema, "example": shown.get(kind)} for kind in media}
            found[status] = {**one, "content": content}
        return found

    def _protocol(
        self, name: str, place: _Place, operation: JsonObject, links: list[Link]
    ) -> ToolProtocol:
        """Return one operation as a tool. `links` are the links that the document declares."""
        method, path = place
        self._document.at = f"{method} {path}"
        server = server_of(self._document, operation["servers"], self._base_url)
        responses = operation["responses"]
        # AWS's documents distinguish operations by a fragment (`/search#by-name`). It is not sent.
        url, marked = without_path_marks(f"{server}/{path.split('#')[0].removeprefix('/')}")
        arguments = self._arguments(operation, url)
        arguments.mark_paths(marked)
        tags = operation.get("tags")
        verifier = operation.get("x-atc-verified-by")
        success = self._success_status(responses)
        output = self._output(responses)
        hints = Annotations.from_hints(as_mapping(operation.get("x-atc-annotations")))
        protocol = arguments.protocol(
            name,
            method,
            url,
            bound={
                "accept": accepted_media(responses),
                **security_fields(self._document, operation, server, self._siblings),
            },
            title=plain_text(operation.get("summary")),
            description=plain_text(operation.get("description")),
            output_schema={"type": "null"} if method == "HEAD" else output,
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
            extra=extra_of(operation, responses.get(success, {})),
        )
        return replace(protocol, input_schema=self._sent.complete(protocol.input_schema))

    # --- requests

    def _arguments(self, operation: JsonObject, url: str) -> OperationArguments:
        """Return the arguments of an operation.

        Declared parameters come first, those in the path before the others. Undeclared variables of
        the URL follow, then the arguments in the body.
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
            add_body(arguments, operation["requestBody"], self._sent)
        return arguments

    def _parameter(self, parameter: JsonObject, location: Location) -> dict[str, Any]:
        """Return the JSON Schema of an OpenAPI parameter, with its description and examples."""
        # Swagger 2, and documents of 3 that were made from it, write the schema beside the name.
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
        schema = with_shown_formats(schema)
        if location not in ("query", "form"):
            return schema
        schema = with_list(schema, parameter)
        joint = list_separator(parameter)
        if joint in ("[]", "{}") or (joint and "array" in all_types(self._sent.top(schema), {})):
            schema["x-atc-join"] = joint
        return schema

    # --- responses

    def _body(self, response: JsonObject) -> dict[str, Any] | None:
        """Return the JSON Schema of the body of a response, or None if it is unknown."""
        content = as_mapping(response.get("content"))
        media = next(filter(is_json, content), None)
        if media is None:
            return text_body(content, self._received)
        described = as_mapping(content[media])
        raw = described.get("schema")
        top = self._received.top(self._received.convert(raw))
        top = self._received.with_shown_fields(top, examples_beside(described, self._content), raw)
        return {"not": {}} if top is False else self._received.complete(top) or None

    def _success_status(self, responses: JsonObject) -> str:
        """Return the status in the document that describes success, or "" if no status does so.

        It is the lowest 2xx status, or else `default`, unless that describes an error.
        """
        found = success_statuses(responses)
        if found or "default" not in responses:
            return next(iter(found), "")
        default = responses["default"]
        return "" if describes_error(default, self._body(default)) else "default"

    def _output(self, responses: JsonObject) -> dict[str, Any] | None:
        """Return the schema of the body of a successful response, or None if it is unknown.

        If several 2xx statuses have different bodies, the schema has an `anyOf` of them. In it, {}
        stands for a body that is declared without a schema.
        """
        statuses = success_statuses(responses) or [self._success_status(responses)]
        shapes: list[dict[str, Any]] = []
        for status in filter(None, statuses):
            body = self._body(responses[status])
            if status == statuses[0] == "204":
                body = {"type": "null"}
            elif body is None and responses[status].get("content"):
                body = {}
            if body is not None and body not in shapes:
                shapes.append(body)
        if len(shapes) < 2:
            return (shapes[0] or None) if shapes else None
        options = [dict(shape) for shape in shapes]
        for option in options:
            option.pop("$defs", None)
        return self._received.complete({"anyOf": options})

    def _links(self, operations: Mapping[str, JsonObject]) -> dict[str, list[Link]]:
        """Return the links that the document declares, keyed by the tool that uses their values.

        A link says that a field of one tool's response is an argument of another tool. `operations`
        are keyed by the names of their tools.
        """
        tools = {
            plain_text(operation.get("operationId")): name for name, operation in operations.items()
        }
        found: dict[str, list[Link]] = {}
        for name, operation in operations.items():
            self._document.at = f"a link of {name!r}"
            responses = operation["responses"]
            for raw in as_mapping(
                responses.get(self._success_status(responses), {}).get("links")
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
