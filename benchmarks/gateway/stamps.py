"""A service with one operation, in a process of its own: prints the address of its document, ends with its stdin."""

import sys

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from toolflow_bench.services.serve import serve

WHOLE = {"type": "integer"}
ANSWER = {"type": "object", "properties": {"mark": {"type": "string"}, "at": WHOLE}, "required": ["mark"]}
ASKED = [{"name": name, "in": "query", "required": True, "schema": WHOLE} for name in ("client", "number")]


async def stamp(request: Request) -> JSONResponse:
    return JSONResponse({"mark": "{client}-{number}".format(**request.query_params), "at": 1})


async def document(request: Request) -> JSONResponse:
    content = {"application/json": {"schema": ANSWER}}
    operation = {"operationId": "stamp", "summary": "A mark of two numbers.", "parameters": ASKED}
    operation["responses"] = {"200": {"description": "The mark.", "content": content}}
    head = {
        "openapi": "3.1.0",
        "info": {"title": "Stamps", "version": "1"},
        "servers": [{"url": str(request.base_url)}],
    }
    return JSONResponse(head | {"paths": {"/stamp": {"get": operation}}})


with serve(Starlette(routes=[Route("/stamp", stamp), Route("/openapi.json", document)])) as service:
    print(service.document_url, flush=True)
    sys.stdin.read()
