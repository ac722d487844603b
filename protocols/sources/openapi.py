"""OpenAPI 3.x and Swagger 2 documents → protocols. A lenient walk: real documents break their own specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ErrorOutcome, HttpBinding, Link, ToolProtocol, Verify
from protocols.sources.arguments import Arguments, is_json, media_of
from protocols.sources.declared import declared_links
from protocols.sources.dereference import Schemas
from protocols.sources.operations import careful_annotations, hints_of, readable_name, success_status
from protocols.sources.server import server_url
from protocols.sources.swagger import upgrade_body, upgrade_response

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


class _Operation(NamedTuple):
    """One operation where it stands in its document."""

    method: str
    path: str
    item: JsonObject
    raw: JsonObject

    @property
    def at(self) -> str:
        return f"{self.method.upper()} {self.path}"


def read_openapi(document: JsonObject, *, where: str, base_url: str | None = None) -> list[ToolProtocol]:
    """The operations of an OpenAPI 3.x or Swagger 2 document, in its order.

    `where` names the document in messages; where it is a URL, relative servers are resolved against it. `base_url`
    takes the place of the declared server: of its scheme and host, and where it has a path itself, of its path too.

    Raises:
        SourceUnavailable: the document is no such document, or describes no operation.
        InvalidProtocol: a reference leads nowhere or out of the document, two operations have one name, no host is
            known.
    """
    try:
        plain = _with_text_keys(document)
        if not isinstance(plain, Mapping) or not isinstance(plain.get("paths"), Mapping):
            raise SourceUnavailable(f"{where} is not an OpenAPI document: it holds {describe(plain)}.")
        return _Reader(plain, where, base_url).protocols()
    except RecursionError:
        raise InvalidProtocol(where, "the document is nested too deeply to be read.") from None


def describe(document: Json) -> str:
    """What was found where an OpenAPI document was expected, in a few words."""
    match document:
        case Mapping() if "paths" in document or "openapi" in document or "swagger" in document:
            return "an OpenAPI document without 'paths'"
        case Mapping():
            keys = ", ".join(repr(str(key)) for key in list(document)[:5])
            return f"an object with the keys {keys}" if keys else "an empty object"
        case list():
            return f"a list of {len(document)} items"
        case None:
            return "nothing"
        case _:
            return f"the {type(document).__name__} {str(document)[:40]!r}"


class _Reader:
    def __init__(self, document: JsonObject, where: str, base_url: str | None) -> None:
        self._document, self._where, self._base_url = document, where, base_url
        self._schemas = Schemas(document, where=where)
        info = document.get("info")
        self._title = str(info.get("title", "")).strip() if isinstance(info, Mapping) else ""

    def protocols(self) -> list[ToolProtocol]:
        operations = list(self._operations())
        if not operations:
            raise SourceUnavailable(f"{self._where} describes no operations: its 'paths' are empty.")
        names = self._names(operations)
        links = self._links(operations, names)
        return [
            self._protocol(operation, name, links.get(name, []))
            for operation, name in zip(operations, names, strict=True)
        ]

    def _operations(self) -> Iterator[_Operation]:
        for path, raw_item in self._document["paths"].items():
            item = self._schemas.follow(raw_item, at=f"path {path!r}")
            for method, raw in item.items() if isinstance(item, Mapping) else ():
                if method.lower() in METHODS and isinstance(raw, Mapping):
                    yield _Operation(method.lower(), path, item, raw)

    def _names(self, operations: list[_Operation]) -> list[str]:
        declared = [str(o.raw.get("operationId") or "").strip() for o in operations]
        first: dict[str, _Operation] = {}
        for name, operation in zip(declared, operations, strict=True):
            if name in first:
                raise InvalidProtocol(
                    self._where,
                    f"two operations are named {name!r}: {first[name].at} and {operation.at}.",
                    path="operationId",
                    hint="Rename one of them in a copy of the document.",
                )
            if name:
                first[name] = operation
        names: list[str] = []
        taken = dict.fromkeys(first, 1)  # each with the number that was last tried after it
        for name, operation in zip(declared, operations, strict=True):
            base = name or readable_name(operation.method, operation.path)
            candidate = base
            while not name and candidate in taken:
                taken[base] += 1
                candidate = f"{base}_{taken[base]}"
            taken.setdefault(candidate, 1)
            names.append(candidate)
        return names

    def _protocol(self, operation: _Operation, name: str, links: list[Link]) -> ToolProtocol:
        raw = operation.raw
        url = server_url(
            self._document, operation.item, raw, at=operation.at, where=self._where, base_url=self._base_url
        ) + _path(operation.path)
        arguments = self._arguments(operation, url)
        credentials = self._credentials(raw, arguments)
        output, errors = self._outcomes(operation)
        tags = raw.get("tags")
        return ToolProtocol(
            name=name,
            title=_text(raw.get("summary")),
            description=_text(raw.get("description")),
            input_schema=arguments.input_schema,
            output_schema=output,
            annotations=careful_annotations(operation.method, hints_of(raw.get("x-atc-annotations"))),
            binding=HttpBinding(
                method=operation.method.upper(),
                url=url,
                locations=arguments.locations,
                wire_names=arguments.wire_names,
                body_argument=arguments.body_argument,
                credentials=credentials,
                credential_places={name: place for name in credentials if (place := self._place(name))},
                idempotency_header=arguments.idempotency_header,
            ),
            errors=errors,
            links=tuple(link for link in links if link.argument in arguments.properties),
            verified_by=Verify(tool=verifier) if isinstance(verifier := raw.get("x-atc-verified-by"), str) else None,
            category=str(tags[0]) if isinstance(tags, list) and tags else "",
            collection=self._title,
            extra={"deprecated": True} if raw.get("deprecated") is True else {},
        )

    def _arguments(self, operation: _Operation, url: str) -> Arguments:
        arguments = Arguments(self._schemas, operation.at)
        parameters = self._parameters(operation)
        order = {"path": 0, "query": 1, "header": 2, "cookie": 3}
        for parameter in sorted(parameters, key=lambda p: order.get(str(p.get("in")), 1)):
            if parameter.get("in") not in ("body", "formData"):
                arguments.add_parameter(parameter, url=url)
        arguments.add_missing(url)
        consumes = operation.raw.get("consumes", self._document.get("consumes"))
        body = self._schemas.follow(operation.raw.get("requestBody"), at=operation.at)
        body = body or upgrade_body(parameters, consumes if isinstance(consumes, list) else [])
        if isinstance(body, Mapping) and body.get("content"):
            arguments.add_body(body)
        return arguments

    def _parameters(self, operation: _Operation) -> list[JsonObject]:
        """The path's parameters and the operation's own, which replace those of the same name and place."""
        found: dict[tuple[str, str], JsonObject] = {}
        for raw in (*_list(operation.item.get("parameters")), *_list(operation.raw.get("parameters"))):
            parameter = self._schemas.follow(raw, at=operation.at)
            if isinstance(parameter, Mapping):
                found[str(parameter.get("name")), str(parameter.get("in"))] = parameter
        return list(found.values())

    def _responses(self, operation: _Operation) -> dict[str, JsonObject]:
        responses = operation.raw.get("responses")
        found: dict[str, JsonObject] = {}
        for status, raw in responses.items() if isinstance(responses, Mapping) else ():
            response = self._schemas.follow(raw, at=operation.at)
            if not status.startswith("x-") and isinstance(response, Mapping):
                if "swagger" in self._document:
                    produces = operation.raw.get("produces", self._document.get("produces"))
                    response = upgrade_response(response, produces if isinstance(produces, list) else [])
                found[status] = response
        return found

    def _outcomes(self, operation: _Operation) -> tuple[dict[str, Any] | None, tuple[ErrorOutcome, ...]]:
        responses = self._responses(operation)
        success = success_status(responses)
        errors = tuple(
            ErrorOutcome(
                status=status, description=_text(response.get("description")), schema=self._body(response, operation)
            )
            for status, response in responses.items()
            if status != success
        )
        if success == "204" or operation.method == "head":
            return {"type": "null"}, errors
        return (self._body(responses[success], operation) if success else None), errors

    def _body(self, response: JsonObject, operation: _Operation) -> dict[str, Any] | None:
        content = response.get("content")
        media = media_of(list(content)) if isinstance(content, Mapping) else None
        if media is None or not isinstance(content, Mapping):
            return None
        if not is_json(media):
            return {"type": "string"}
        schema = content[media].get("schema") if isinstance(content[media], Mapping) else None
        return self._schemas.self_contained(schema, "response", at=operation.at) or None

    def _credentials(self, raw: JsonObject, arguments: Arguments) -> tuple[str, ...]:
        """The schemes that `security` names, alternatives included; none where one of them is to send nothing."""
        offered = [o for o in _list(raw.get("security", self._document.get("security"))) if isinstance(o, Mapping)]
        names = dict.fromkeys(str(name) for o in offered for name in o) if all(offered) else {}
        return tuple(names) or (("Authorization",) if arguments.needs_authorization else ())

    def _place(self, scheme: str) -> dict[str, str]:
        """Where requests carry a credential, as the user's configuration says it; {} for a bearer token."""
        components = self._document.get("components", self._document.get("securityDefinitions"))
        known = components.get("securitySchemes", components) if isinstance(components, Mapping) else {}
        match known.get(scheme) if isinstance(known, Mapping) else None:
            case {"type": "apiKey", "in": "header" | "query" | "cookie" as place, "name": str(name)} if (
                name and name.lower() != "authorization"
            ):
                return {"place": place, "name": name}
            case {"type": "basic"} | {"type": "http", "scheme": "basic" | "Basic"}:
                return {"prefix": "Basic "}
        return {}

    def _links(self, operations: list[_Operation], names: list[str]) -> dict[str, list[Link]]:
        """OpenAPI's `links`, turned round: consuming tool → where its arguments come from."""
        by_reference = {
            f"#/paths/{o.path.replace('~', '~0').replace('/', '~1')}/{o.method}": name
            for o, name in zip(operations, names, strict=True)
        } | {name: name for name in names}
        found: dict[str, list[Link]] = {}
        for operation, name in zip(operations, names, strict=True):
            responses = self._responses_with_links(operation)
            for raw in responses:
                link = self._schemas.follow(raw, at=operation.at)
                for consumer, made in declared_links(link, producer=name, operations=by_reference):
                    if made not in found.setdefault(consumer, []):
                        found[consumer].append(made)
        return found

    def _responses_with_links(self, operation: _Operation) -> list[Json]:
        responses = self._responses(operation)
        success = success_status(responses)
        links = responses[success].get("links") if success else None
        return list(links.values()) if isinstance(links, Mapping) else []


def _path(path: str) -> str:
    # `/search#by-name` tells operations of one path apart (AWS's documents do so); the fragment is not sent.
    bare = path.split("#")[0]
    return bare if bare.startswith("/") else f"/{bare}"


def _with_text_keys(value: Json) -> Json:
    """YAML reads `200:` as a number and `on:` as a truth; every key is text here."""
    if isinstance(value, Mapping):
        return {_key(k): _with_text_keys(v) for k, v in value.items()}
    return [_with_text_keys(v) for v in value] if isinstance(value, list) else value


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) or key is None else str(key)


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []
