"""The mock of one API: reads an OpenAPI document and answers every operation in it over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from protocols.jsontypes import Json, JsonObject
from toolflow_bench.restbench.document import Document, Operation
from toolflow_bench.restbench.entities import Entities, Entity
from toolflow_bench.restbench.kinds import Kinds, home_of
from toolflow_bench.restbench.listing import Asked
from toolflow_bench.restbench.render import Renderer
from toolflow_bench.restbench.words import is_parameter, singular
from toolflow_bench.restbench.writing import Refused, Writer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What a benchmark assumes of the account that it is run with: the same for each of its tasks."""

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Kind → names of the first things of that kind that belong to the user."""
    facts: Mapping[str, Json] = field(default_factory=dict)
    """Properties of the state (`is_playing`)."""


class Mock:
    """Answers of one document, and the state behind them, which `reset` brings back to the beginning."""

    def __init__(self, document: Document, *, seed: int = 0, preset: Preset | None = None) -> None:
        self.document, self.preset = document, preset or Preset()
        self.kinds = Kinds(document)
        self.entities = Entities(self.kinds, seed=seed, preset=self.preset.names)
        self.contexts = _contexts(document, self.kinds)
        self.reset()

    def reset(self) -> None:
        """Forget every search and every write."""
        self.entities.reset()
        for context in self.contexts:
            for name, value in self.preset.facts.items():
                self.entities.changes.facts[context, name] = value

    def answer(
        self, operation: Operation, path: Mapping[str, str], query: Mapping[str, str], body: Json, *, url: str = ""
    ) -> tuple[int, Json]:
        """HTTP status and body. `path` and `query` are texts as they came, `body` is what the JSON said."""
        arguments: dict[str, Json] = {**query}
        given = body if isinstance(body, dict) else {}
        try:
            self._require(operation, {**arguments, **path}, given)
            home = home_of(self.kinds, operation)
            owner = self._owner(operation, path, home)
            asked = Asked(
                operation=operation,
                arguments=arguments,
                owner=owner,
                at_home=bool(home),
                kinds=self.kinds_named({**arguments, **path}, operation),
                context=next((c for c in self.contexts if f"{operation.path}/".startswith(f"{c}/")), ""),
                url=url,
            )
            renderer = Renderer(self.document, self.kinds, self.entities, asked)
            if operation.method != "GET":
                return operation.status, Writer(renderer, asked, given).answer()
            return operation.status, renderer.answer()
        except Refused as refused:
            return refused.status, self._refusal(operation, refused)

    def app(self) -> Starlette:
        """The service. `/openapi.json` has the document, with the service's own address."""
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def openapi(request: Request) -> Response:
            return JSONResponse(self.document.served(str(request.base_url).rstrip("/")))

        operations = sorted(self.document.operations.values(), key=lambda operation: operation.path.count("{"))
        routes = [Route(o.path, self._endpoint(o), methods=[o.method]) for o in operations]
        return Starlette(routes=[*routes, Route("/openapi.json", openapi, methods=["GET"])])

    def _endpoint(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        from starlette.responses import JSONResponse, Response

        async def endpoint(request: Request) -> Response:
            body: Json = None
            if await request.body():
                try:
                    body = await request.json()
                except ValueError:
                    refused = Refused(400, "the body must be JSON; it is not.")
                    return JSONResponse(self._refusal(operation, refused), refused.status)
            url = str(request.base_url).rstrip("/")
            query: dict[str, str] = {}
            for name, value in request.query_params.multi_items():
                query[name] = f"{query[name]},{value}" if name in query else value
            path = {name: str(value) for name, value in request.path_params.items()}
            status, answer = self.answer(operation, path, query, body, url=url)
            return Response(status_code=status) if status == 204 else JSONResponse(answer, status)

        return endpoint

    def _require(self, operation: Operation, arguments: Mapping[str, Json], body: JsonObject) -> None:
        for parameter in operation.parameters:
            name, schema = parameter.get("name"), parameter.get("schema", {})
            value = arguments.get(str(name))
            if parameter.get("required") and value in (None, "") and name not in body:
                raise Refused(400, f"the argument {name!r} is missing; give it.")
            shape = self.document.shape(schema)
            if value is not None and (choices := shape.schema.get("enum")) and value not in map(str, choices):
                raise Refused(400, f"{name!r} must be one of {', '.join(map(str, choices))}, got {value!r}.")
            if value is not None and shape.type == "integer" and not str(value).lstrip("-").isdecimal():
                raise Refused(400, f"{name!r} must be a whole number, got {value!r}.")
        shape = self.document.shape(operation.body)
        for name in shape.schema.get("required", ()):
            if name not in body and name not in arguments:
                raise Refused(400, f"the body's field {name!r} is missing; give it.")

    def _owner(self, operation: Operation, path: Mapping[str, str], home: str) -> Entity | None:
        """The last entity that the path names."""
        owner = self.entities.me[home] if home else None
        for segment in operation.segments:
            name = segment[1:-1]
            kind = self.kinds.parameters.get((operation.path, name)) if is_parameter(segment) else None
            if kind is None:
                continue
            text = path.get(name, "")
            if kind in self.kinds.parts and owner is not None:
                count = self.entities.count(owner, kind)
                if not text.isdecimal() or not 1 <= int(text) <= count:
                    raise Refused(404, f"there is no {kind} {text!r}; it has 1 to {count}.")
                owner = self.entities.part(owner, kind, int(text))
                continue
            found = self.entities.find(text)
            if found is None or found.kind != kind:
                raise Refused(404, f"there is no {kind} with the id {text!r}.")
            owner = found
        return owner

    def kinds_named(self, arguments: Mapping[str, Json], operation: Operation) -> tuple[str, ...]:
        """Kinds that are the value of an argument with fixed choices (`type=artist`)."""
        found: list[str] = []
        for parameter in operation.parameters:
            name, shape = str(parameter.get("name")), self.document.shape(parameter.get("schema", {}))
            choices = shape.schema.get("enum") or self.document.shape(shape.items).schema.get("enum")
            if choices:
                given = arguments.get(name) or ""
                texts = given if isinstance(given, list) else str(given).split(",")
                found += [singular(str(text).strip()) for text in texts]
        return tuple(kind for kind in found if kind in self.kinds.properties)

    def _refusal(self, operation: Operation, refused: Refused) -> Json:
        """In the API's own shape: every text says what was wrong, every number is the status."""

        def fill(schema: Any) -> Json:
            shape = self.document.shape(schema)
            if shape.properties:
                return {name: fill(value) for name, value in shape.properties.items()}
            return refused.status if shape.type in ("integer", "number") else refused.detail

        return fill(operation.refusal) if operation.refusal else {"detail": refused.detail}


def _contexts(document: Document, kinds: Kinds) -> list[str]:
    """Paths of states that are no entity and no list (`/me/player`), outer ones only."""
    found: list[str] = []
    for operation in sorted(document.operations.values(), key=lambda operation: len(operation.path)):
        fixed = operation.method == "GET" and "{" not in operation.path
        if not fixed or kinds.answered(operation, operation.response):
            continue
        shape = document.shape(operation.response)
        lists = any(document.shape(value).items is not None for value in shape.properties.values())
        one = any(kinds.options(value, name=name) for name, value in shape.properties.items())
        inside = any(operation.path.startswith(f"{context}/") for context in found)
        if one and not lists and not inside:
            found.append(operation.path)
    return found
