"""OpenAPI 3.x and Swagger 2 documents → protocols. A lenient walk: real documents break their own specification."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

from protocols.alias import FreeNames
from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.jsontypes import Json, JsonObject
from protocols.origin import is_url
from protocols.protocol import Annotations, ErrorOutcome, HttpBinding, Link, ToolProtocol, Verify
from protocols.sources.arguments import Arguments, is_json, upgrade_body, upgrade_response
from protocols.sources.schemas import Schemas

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_BODY = "$response.body"
_SWAGGER_FLOWS = {"application": "clientCredentials", "accessCode": "authorizationCode"}


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
        return _Reader(_with_text_keys(document), where, base_url).protocols()
    except RecursionError:
        raise InvalidProtocol(where, "the document is nested too deeply to be read.") from None


class _Operation(NamedTuple):
    """One operation where it stands in its document."""

    method: str
    path: str
    item: JsonObject
    raw: JsonObject

    @property
    def at(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def id(self) -> str:
        return str(self.raw.get("operationId") or "").strip()

    @property
    def short_id(self) -> str:
        """FastAPI's `list_orders_orders__id__get` → `list_orders`: it puts path and method behind a function's name."""
        return self.id.removesuffix(re.sub(r"\W", "_", self.path) + f"_{self.method}") or self.id


class _Reader:
    def __init__(self, document: JsonObject, where: str, base_url: str | None) -> None:
        self._document, self._where, self._base_url = document, where, base_url
        self._schemas = Schemas(document, where=where)
        self._title = str(_mapping(document.get("info")).get("title", "")).strip()

    def protocols(self) -> list[ToolProtocol]:
        operations = []
        for path, raw_item in _mapping(self._document.get("paths")).items():
            item = self._schemas.follow(raw_item, at=f"path {path!r}")
            for method, raw in _mapping(item).items():
                if method.lower() in METHODS and isinstance(raw, Mapping):
                    operations.append(_Operation(method.lower(), path, item, raw))
        if not operations:
            raise SourceUnavailable(f"{self._where} describes no operations: its 'paths' are missing or empty.")
        names = self._names(operations)
        links = self._links(operations, names)
        return [self._protocol(one, name, links.get(name, [])) for one, name in zip(operations, names, strict=True)]

    def _names(self, operations: list[_Operation]) -> list[str]:
        """Each operation's id, without the path that FastAPI puts behind it, or a name made of method and path."""
        ids = {operation.id for operation in operations}
        short = Counter(operation.short_id for operation in operations)
        free, names = FreeNames(), []
        for operation in operations:
            brief = operation.short_id
            name = brief if short[brief] == 1 and brief not in ids else operation.id
            names.append(free(name or readable_name(operation.method, operation.path)))
        return names

    def _protocol(self, operation: _Operation, name: str, links: list[Link]) -> ToolProtocol:
        raw = operation.raw
        server = self._server(operation)
        # `/search#by-name` tells operations of one path apart (AWS's documents do so); the fragment is not sent.
        url = f"{server}/{operation.path.split('#')[0].removeprefix('/')}"
        arguments = self._arguments(operation, url)
        output, errors = self._outcomes(operation)
        tags, verifier = raw.get("tags"), raw.get("x-atc-verified-by")
        binding = HttpBinding(
            method=operation.method.upper(),
            url=url,
            locations=arguments.locations,
            wire_names=arguments.wire_names,
            body_argument=arguments.body_argument,
            credentials=self._credentials(raw, arguments),
            idempotency_header=arguments.idempotency_header,
        )
        found = {name: scheme for name in binding.credential_names if (scheme := self._scheme(name, server))}
        return ToolProtocol(
            name=name,
            title=_text(raw.get("summary")),
            description=_text(raw.get("description")),
            input_schema=arguments.input_schema,
            output_schema=output,
            annotations=annotations_of(operation.method).heeding(
                Annotations.of(_mapping(raw.get("x-atc-annotations")))
            ),
            binding=replace(binding, schemes=found),
            errors=errors,
            links=tuple(link for link in links if link.argument in arguments.properties),
            verified_by=Verify(tool=verifier) if isinstance(verifier, str) else None,
            category=str(tags[0]) if isinstance(tags, list) and tags else "",
            collection=self._title,
            extra={"deprecated": True} if raw.get("deprecated") is True else {},
        )

    def _server(self, operation: _Operation) -> str:
        """The absolute URL, without a slash at its end, before an operation's path."""
        declared = self._declared_server(operation)
        url = urljoin(self._where, declared) if is_url(self._where) else declared
        if self._base_url is not None:
            base = urlsplit(self._base_url)
            url = urlunsplit((base.scheme, base.netloc, urlsplit(url).path, "", ""))
            url = self._base_url if base.path else url
        if not re.match(r"https?://[^{}/?#]+([/?#]|$)", url):
            raise InvalidProtocol(
                self._where,
                f"{operation.at} is served at {declared or '/'!r}, which names no http(s) host.",
                path="servers" if "swagger" not in self._document else "host",
                hint=f"Say where the service runs: '{self._where}@https://HOST'.",
            )
        return url.split("#")[0].split("?")[0].rstrip("/")

    def _declared_server(self, operation: _Operation) -> str:
        if "swagger" not in self._document:
            for holder in (operation.raw, operation.item, self._document):
                for server in _list(holder.get("servers")):
                    if isinstance(server, Mapping) and isinstance(server.get("url"), str):
                        return _filled(server["url"], server.get("variables"))
            return "/"
        host, path = self._document.get("host"), f"/{str(self._document.get('basePath') or '').removeprefix('/')}"
        if not isinstance(host, str) or not host:
            return path
        offered = [scheme for scheme in _list(self._document.get("schemes")) if scheme in ("http", "https")]
        usual = urlsplit(self._where).scheme if is_url(self._where) else "https"
        return f"{'https' if 'https' in offered else next(iter(offered), usual)}://{host}{path}"

    def _arguments(self, operation: _Operation, url: str) -> Arguments:
        found: dict[tuple[str, str], JsonObject] = {}  # the operation's own replace those of the path
        for raw in (*_list(operation.item.get("parameters")), *_list(operation.raw.get("parameters"))):
            parameter = self._schemas.follow(raw, at=operation.at)
            if isinstance(parameter, Mapping):
                found[str(parameter.get("name")), str(parameter.get("in"))] = parameter
        consumes = _list(operation.raw.get("consumes", self._document.get("consumes")))
        body = self._schemas.follow(operation.raw.get("requestBody"), at=operation.at)
        body = body or upgrade_body(list(found.values()), consumes)
        arguments = Arguments(self._schemas, operation.at, url)
        arguments.add_parameters(list(found.values()))
        if isinstance(body, Mapping) and isinstance(body.get("content"), Mapping):
            arguments.add_body(body)
        return arguments

    def _responses(self, operation: _Operation) -> dict[str, JsonObject]:
        found: dict[str, JsonObject] = {}
        for status, raw in _mapping(operation.raw.get("responses")).items():
            response = self._schemas.follow(raw, at=operation.at)
            if not status.startswith("x-") and isinstance(response, Mapping):
                if "swagger" in self._document:
                    produces = _list(operation.raw.get("produces", self._document.get("produces")))
                    response = upgrade_response(response, produces)
                found[status] = response
        return found

    def _outcomes(self, operation: _Operation) -> tuple[dict[str, Any] | None, tuple[ErrorOutcome, ...]]:
        responses = self._responses(operation)
        success = _success(responses)
        errors = tuple(
            ErrorOutcome(status=status, description=_text(one.get("description")), schema=self._body(one, operation))
            for status, one in responses.items()
            if status != success
        )
        if success == "204" or operation.method == "head":
            return {"type": "null"}, errors
        return (self._body(responses[success], operation) if success else None), errors

    def _body(self, response: JsonObject, operation: _Operation) -> dict[str, Any] | None:
        content = _mapping(response.get("content"))
        media = next(filter(is_json, content), None)
        if media is None:
            texts = any(one.strip().lower().startswith("text/") or "xml" in one.lower() for one in content)
            return {"type": "string"} if texts else None
        schema = _mapping(content[media]).get("schema")
        return self._schemas.self_contained(schema, "response", at=operation.at) or None

    def _credentials(self, raw: JsonObject, arguments: Arguments) -> tuple[str | tuple[str, ...], ...]:
        """The alternatives that `security` offers; one that is empty says that nothing need be sent."""
        declared = raw.get("security", self._document.get("security"))
        offered = [tuple(map(str, one)) for one in _list(declared) if isinstance(one, Mapping)]
        if not any(offered):
            return ("Authorization",) if arguments.needs_authorization else ((),) if declared == [] or offered else ()
        return tuple(names[0] if len(names) == 1 else names for names in dict.fromkeys(offered))

    def _scheme(self, name: str, server: str) -> dict[str, Any]:
        """How a credential is sent, with the addresses of OAuth absolute; {} where the document does not say."""
        components = _mapping(self._document.get("components", self._document.get("securityDefinitions")))
        known = _mapping(components.get("securitySchemes", components))
        raw = self._schemas.follow(known.get(name), at="security")
        if not isinstance(raw, Mapping) or str(raw.get("scheme")).lower() == "bearer":  # as without any scheme
            return {}
        scheme = {key: raw[key] for key in ("type", "in", "name", "scheme") if isinstance(raw.get(key), str)}
        flows = raw.get("flows")
        if (flow := _SWAGGER_FLOWS.get(str(raw.get("flow")))) and not isinstance(flows, Mapping):
            flows = {flow: raw}
        usable = {}
        for flow, one in _mapping(flows).items():
            if flow in ("clientCredentials", "authorizationCode") and isinstance(one, Mapping):
                urls = {key: one[key] for key in ("authorizationUrl", "tokenUrl") if isinstance(one.get(key), str)}
                scopes = dict.fromkeys(map(str, _mapping(one.get("scopes"))), "")
                usable[flow] = {key: urljoin(f"{server}/", url) for key, url in urls.items()} | {"scopes": scopes}
        return scheme | ({"flows": usable} if usable else {})

    def _links(self, operations: list[_Operation], names: list[str]) -> dict[str, list[Link]]:
        """OpenAPI's `links`, turned round: consuming tool → where in a response's body its arguments come from."""
        tools = {operation.id: name for operation, name in zip(operations, names, strict=True)}
        found: dict[str, list[Link]] = {}
        for operation, name in zip(operations, names, strict=True):
            responses = self._responses(operation)
            success = _success(responses)
            links = _mapping(responses[success].get("links")) if success else {}
            for raw in links.values():
                link = _mapping(self._schemas.follow(raw, at=operation.at))
                consumer = tools.get(str(link.get("operationId")))
                for argument, expression in _mapping(link.get("parameters")).items() if consumer else ():
                    if str(expression).startswith(_BODY):
                        path = ""
                        for part in expression.removeprefix(_BODY).split("/")[1:]:
                            key = part.replace("~1", "/").replace("~0", "~")
                            path += "[]" if key.isdigit() else f".{key}" if path else key
                        made = Link(argument=argument, tool=name, path=path, support="declared")
                        found.setdefault(str(consumer), []).append(made)
        return found


def readable_name(method: str, path: str) -> str:
    """A name for an operation that has none: `GET /users/{id}/posts` → `get_users_posts_by_id`."""
    variables = re.findall(r"\{([^{}]+)\}", path)
    fixed = re.sub(r"\{[^{}]*\}", "", path)
    words = [w for w in re.split(r"[^A-Za-z0-9]+", fixed) if w] or ([] if variables else ["root"])
    by = ["by", *(re.sub(r"[^A-Za-z0-9]+", "_", v).strip("_") for v in variables)] if variables else []
    return "_".join([method, *words, *by])


def annotations_of(method: str) -> Annotations:
    """What HTTP says of a method."""
    match method.upper():
        case "GET" | "HEAD" | "OPTIONS":
            return Annotations(read_only=True)
        case "PUT":
            return Annotations(read_only=False, idempotent=True)
        case "DELETE":
            return Annotations(read_only=False, destructive=True, idempotent=True)
        case _:
            return Annotations(read_only=False)


def _success(responses: JsonObject) -> str | None:
    """The lowest 2xx among the statuses; `default` where it stands without any; else `None`."""
    successes = sorted(s for s in responses if re.fullmatch(r"2(\d\d|XX)", s, re.IGNORECASE))
    return next(iter(successes), None) or ("default" if "default" in responses else None)


def _filled(url: str, variables: Any) -> str:
    def value(match: re.Match[str]) -> str:
        variable = _mapping(_mapping(variables).get(match[1]))
        offered = [variable.get("default"), *_list(variable.get("enum"))]
        return next((str(one) for one in offered if one is not None), match[0])

    return re.sub(r"\{([^{}]+)\}", value, url)


def _with_text_keys(value: Json) -> Json:
    """YAML reads `200:` as a number and `on:` as a truth; every key is text here."""
    if isinstance(value, Mapping):
        return {
            str(k).lower() if isinstance(k, bool) or k is None else str(k): _with_text_keys(v) for k, v in value.items()
        }
    return [_with_text_keys(v) for v in value] if isinstance(value, list) else value


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []
