"""A starlette application and its OpenAPI 3.1 document, made from the same list of operations."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from protocols.jsontypes import JsonObject
from toolflow_bench.services.operation import Arguments, Operation, Refusal, check, read_texts

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

REMEMBERED_REQUESTS = 10_000
"""How many of the latest requests `app.state.requests` keeps."""

_PROBLEM = {
    "type": "object",
    "description": "Why there is no result.",
    "properties": {"detail": {"type": "string", "description": "What was wrong and what is allowed, in one sentence."}},
    "required": ["detail"],
    "additionalProperties": False,
}


class RequestRecord(NamedTuple):
    """One answered request, the document's own included. `query` is the raw query string."""

    method: str
    path: str
    query: str
    status: int


def build_app(
    operations: Sequence[Operation],
    *,
    context: Any,
    info: JsonObject,
    schemas: Mapping[str, JsonObject],
    close: Callable[[], None],
) -> Starlette:
    """The service. `context` reaches every handler as its first argument; `close` runs when the service stops.

    `app.state.requests` holds the latest requests as `RequestRecord`s, oldest first.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        close()

    async def openapi(request: Request) -> Response:
        server = str(request.base_url).rstrip("/")
        return JSONResponse(document(operations, info=info, schemas=schemas, server=server))

    async def refused(_request: Request, error: Exception) -> Response:
        # 404 and 405 of the router itself, in the shape of every other refusal
        assert isinstance(error, HTTPException)
        return JSONResponse({"detail": str(error.detail)}, error.status_code, headers=error.headers)

    # Concrete paths before templates: /airlines/search is no airline code.
    ordered = sorted(operations, key=lambda operation: "{" in operation.path)
    routes = [Route(o.path, _recorded(_endpoint(o, context)), methods=[o.method], name=o.id) for o in ordered]
    routes.append(Route("/openapi.json", _recorded(openapi), methods=["GET"]))
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: refused})
    app.state.requests = deque(maxlen=REMEMBERED_REQUESTS)
    return app


_Endpoint = Callable[["Request"], Awaitable["Response"]]


def _recorded(endpoint: _Endpoint) -> _Endpoint:
    async def answer(request: Request) -> Response:
        response = await endpoint(request)
        record = RequestRecord(request.method, request.url.path, request.url.query, response.status_code)
        request.app.state.requests.append(record)
        return response

    return answer


def _endpoint(operation: Operation, context: Any) -> _Endpoint:
    from starlette.responses import JSONResponse

    async def answer(request: Request) -> Response:
        # On the event loop: a handler is an indexed query of well under a millisecond, less than a thread costs.
        try:
            result = operation.handler(context, await _arguments(operation, request))
        except Refusal as refusal:
            return JSONResponse({"detail": refusal.detail}, refusal.status)
        return JSONResponse(result, operation.success)

    return answer


async def _arguments(operation: Operation, request: Request) -> Arguments:
    in_body = [p for p in operation.parameters if operation.location(p) == "body"]
    in_text = [p for p in operation.parameters if p not in in_body]
    arguments = read_texts(in_text, [*request.path_params.items(), *request.query_params.multi_items()])
    if not operation.has_body:
        return arguments
    try:
        body = await request.json()
    except ValueError:
        raise Refusal(422, "the body must be JSON; it is not.") from None
    if not isinstance(body, dict):
        raise Refusal(422, "the body must be a JSON object of arguments.")
    return arguments | check(in_body, body)


def document(
    operations: Sequence[Operation], *, info: JsonObject, schemas: Mapping[str, JsonObject], server: str
) -> dict[str, Any]:
    """The OpenAPI 3.1 document of `operations`, served at `server` (a URL without trailing slash)."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": dict(info),
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": {**schemas, "Problem": _PROBLEM}},
    }


def _describe(operation: Operation) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "The result.", "content": _json(operation.returns)}
    if operation.links:
        success["links"] = _links(operation)
    responses = {str(operation.success): success}
    if operation.missing:
        responses["404"] = {"description": operation.missing, "content": _json("Problem")}
    refused = "An argument is missing, unknown or not allowed; `detail` names it and says what is allowed."
    responses["422"] = {"description": refused, "content": _json("Problem")}
    described: dict[str, Any] = {"operationId": operation.id, "description": operation.description}
    if operation.tag:
        described["tags"] = [operation.tag]
    in_body = [p for p in operation.parameters if operation.location(p) == "body"]
    described["parameters"] = [
        {
            "name": parameter.name,
            "in": operation.location(parameter),
            "required": parameter.required,
            "description": parameter.description,
            "schema": dict(parameter.schema),
        }
        for parameter in operation.parameters
        if parameter not in in_body
    ]
    if in_body:
        schema = {
            "type": "object",
            "properties": {p.name: {**p.schema, "description": p.description} for p in in_body},
            "required": [p.name for p in in_body if p.required],
            "additionalProperties": False,
        }
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    described["responses"] = responses
    return described


def _links(operation: Operation) -> dict[str, Any]:
    links: dict[str, Any] = {}
    for pointer, uses in operation.links:
        for consumer, parameter in uses:
            # Two fields of one response may feed one argument: the field's name keeps the link's name unique.
            name = f"{pointer.rsplit('/', 1)[-1]}.{consumer}.{parameter}"
            links[name] = {"operationId": consumer, "parameters": {parameter: f"$response.body#{pointer}"}}
    return links


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
