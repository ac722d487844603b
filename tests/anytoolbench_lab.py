"""A small world of APIs and the calls of a scripted writer, for the tests of AnyToolBench's construction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from atc.retrieve.document import ToolDocument
from protocols.errors import ToolError
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool
from tests.hierarchy_lab import call, verdict
from toolflow_bench.anytoolbench.construct import Constructor
from toolflow_bench.anytoolbench.pool import Api, ApiPool
from toolflow_bench.anytoolbench.settings import Settings

RESOLVED, KEEP = verdict("resolved", "all is there"), verdict("keep")

QUERY = (
    "I am planning a quiet weekend in the city of Lisbon and would like to know which film with actor Ann Bell is "
    "shown there, how long it runs, and how warm it will be on Saturday evening?"
)
ANSWER = "Ann Bell plays in Harbor Lights, which runs 112 minutes; it will be 21 degrees in Lisbon."
SOLUTION = [
    {"api": "cinema/films", "arguments": {"actor": "Ann Bell"}},
    {"api": "cinema/film", "arguments": {"film_id": 4711}},
    {"api": "sky/forecast", "arguments": {"city": "Lisbon"}},
]


class World:
    """Films, weather and a bakery. `calls` are those that were made; `down` are APIs that do not answer."""

    def __init__(self, **descriptions: str) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.down: dict[str, ToolError] = {}
        self.answers: dict[str, Any] = {
            "cinema/films": [{"id": 4711, "title": "Harbor Lights"}],
            "cinema/film": {"title": "Harbor Lights", "minutes": 112},
            "sky/forecast": {"city": "Lisbon", "degrees": 21.3},
            "bakery/cakes": {"cakes": ["Opera", "Linzer"]},
        }
        self.pool = ApiPool([
            self._api("cinema/films", "Movies", descriptions, actor="string"),
            self._api("cinema/film", "Movies", descriptions, film_id="integer"),
            self._api("sky/forecast", "Weather", descriptions, city="string"),
            self._api("bakery/cakes", "Food", descriptions),
        ])  # fmt: skip

    def _api(self, name: str, category: str, descriptions: Mapping[str, str], **takes: str) -> Api:
        tool, _, own = name.partition("/")
        protocol = ToolProtocol(
            name=name,
            input_schema={
                "type": "object",
                "properties": {argument: {"type": kind} for argument, kind in takes.items()},
                "required": list(takes),
            },
            annotations=Annotations(read_only=True),
        )

        def answer(arguments: Mapping[str, Any]) -> Any:
            self.calls.append((name, arguments))
            if name in self.down:
                raise self.down[name]
            return self.answers[name]

        document = ToolDocument(
            name=name, description=descriptions.get(own, f"Gives {own}."), category=category, collection=tool,
            parameters=dict.fromkeys(takes, ""), required=tuple(takes),
        )  # fmt: skip
        return Api(document, Tool(protocol, answer))

    def constructor(self, **settings: Any) -> Constructor:
        return Constructor(self.pool, Settings(**settings))


ADD = call("add_API_into_API_pool", apis=["cinema/films", "cinema/film", "sky/forecast"])


def finish(query: str = QUERY, answer: str = ANSWER, solution: Any = None) -> str:
    return call("finish", query=query, solution=SOLUTION if solution is None else solution, answer=answer)


def without(name: str) -> list[dict[str, Any]]:
    """The solution without the calls of an API."""
    return [one for one in json.loads(json.dumps(SOLUTION)) if one["api"] != name]
