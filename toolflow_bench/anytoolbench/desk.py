"""What the writer of a query may call: the functions of the exploring agents, and those that try out and hand in.

Results are text for the model; what cannot be done is a `Mistake`, whose text tells what can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from atc.retrieve.hierarchy import listing
from atc.retrieve.hierarchy.acts import Mistake
from atc.retrieve.hierarchy.agent import Agent
from atc.retrieve.hierarchy.functions import FUNCTIONS
from atc.retrieve.hierarchy.options import Options
from atc.retrieve.hierarchy.search import Search
from atc.retrieve.hierarchy.tree import nearest, spelled
from atc.retrieve.replies import json_object
from protocols.abridge import abridged, clipped
from protocols.ask import Ask
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.anytoolbench.handing_in import Gate, read_written
from toolflow_bench.anytoolbench.pool import ApiPool, CallFailed
from toolflow_bench.anytoolbench.settings import Settings
from toolflow_bench.anytoolbench.solution import Made, Refusal, Written

EXPLORING = ("get_tools_in_category", "get_tool_descriptions", "get_APIs_in_tool", "get_API_detail")
_THOUGHT = 200
_LONGEST_TEXT = 1500
_LETTERS = 3
"""Characters of a response for each token that it may take."""


class Function(NamedTuple):
    """What a function takes (None where it can do nothing now), and what it does."""

    takes: Callable[[], JsonObject | None]
    act: Callable[[JsonObject], str]


class Desk:
    """The state of one query in the making.

    `explored` counts the exploring calls, `tested` those of `test_API`; `refusals` are why what was handed in was not
    taken; `written` and `made` are what was, in the end.
    """

    def __init__(self, pool: ApiPool, ask: Ask, settings: Settings, gate: Gate, categories: list[str]) -> None:
        self.pool, self.settings = pool, settings
        options = Options(pool=settings.pool)
        self.search = Search("", pool.hierarchy, ask, options=options)
        places = pool.hierarchy.places(categories)
        apis = pool.hierarchy.apis(places)
        self.agent = Agent(number=0, role="flat", history=[], categories=tuple(categories), places=places, apis=apis)
        self.explored = self.tested = 0
        self.refusals: list[Refusal] = []
        self.written: Written | None = None
        self.made: tuple[Made, ...] = ()
        self._gate = gate
        self.functions = self._functions()

    @property
    def ended(self) -> bool:
        """Whether a query was taken, or may be handed in no more."""
        return self.written is not None or len(self.refusals) >= self.settings.finishes

    def schema(self) -> JsonObject:
        """What a reply must look like: a thought, and a call of a function that can do something now."""
        calls: list[Json] = []
        for name, function in self.functions.items():
            takes = function.takes()
            if takes is not None:
                calls += [_call_schema(name, {**takes, **more}) for more in self._variants(name)]
        return {
            "type": "object",
            "properties": {"thought": {"type": "string", "maxLength": _THOUGHT}, "call": {"anyOf": calls}},
            "required": ["thought", "call"],
            "additionalProperties": False,
        }

    def perform(self, text: str) -> tuple[str, str]:
        """Do what a reply asks for: the call as a line, and its result, or an error line."""
        reply = json_object(text)
        call = reply.get("call", reply)
        name = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(name, str):
            return "no call", 'error: reply with one JSON object of a thought and a "call": {"function": …}'
        arguments = {key: value for key, value in call.items() if key not in ("function", "thought")}
        line = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        function = self.functions.get(name)
        if function is None:
            return line, f"error: there is no function {name!r}; there are {', '.join(self.functions)}"
        try:
            return line, function.act(arguments)
        except Mistake as mistake:
            return line, f"error: {mistake}"

    def _functions(self) -> dict[str, Function]:
        exploring = {name: Function(self._explorable(name), self._exploring(name)) for name in EXPLORING}
        adding = FUNCTIONS["flat"]["add_API_into_API_pool"]
        return {
            **exploring,
            "add_API_into_API_pool": Function(
                lambda: adding.takes(self.search, self.agent),
                lambda arguments: adding.act(self.search, self.agent, arguments),
            ),
            "remove_API_from_API_pool": Function(self._removable, self._remove),
            "test_API": Function(lambda: {} if self.search.pool else None, self._test),
            "finish": Function(self._finishable, self._finish),
        }

    def _explorable(self, name: str) -> Callable[[], JsonObject | None]:
        function = FUNCTIONS["flat"][name]
        return lambda: function.takes(self.search, self.agent) if self.explored < self.settings.explore else None

    def _exploring(self, name: str) -> Callable[[JsonObject], str]:
        function = FUNCTIONS["flat"][name]

        def act(arguments: JsonObject) -> str:
            if self.explored >= self.settings.explore:
                raise Mistake(
                    f"all {self.settings.explore} exploring calls are made; choose among what you have seen, or finish"
                )
            self.explored += 1
            return function.act(self.search, self.agent, arguments)

        return act

    def _removable(self) -> JsonObject | None:
        names = self.search.pool
        return {"apis": {"type": "array", "items": {"enum": list(names)}, "minItems": 1}} if names else None

    def _remove(self, arguments: JsonObject) -> str:
        given = arguments.get("apis")
        names = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        found = {one for name in names if isinstance(name, str) and (one := spelled(name, self.search.pool))}
        if not found:
            raise Mistake(f"none of these is in the pool; it holds {', '.join(self.search.pool) or 'nothing'}")
        self.search.pool = [name for name in self.search.pool if name not in found]
        return f"removed: {', '.join(sorted(found))}\nthe pool holds {len(self.search.pool)} APIs"

    def _test(self, arguments: JsonObject) -> str:
        name = self._in_pool(arguments.get("api"))
        given = arguments.get("arguments", {})
        if not isinstance(given, dict):
            raise Mistake("'arguments' must be an object of the API's arguments")
        self.tested += 1
        try:
            response = self.pool[name].call(given)
        except CallFailed as failed:
            raise Mistake(clipped(listing.plain(str(failed)), self._room)) from None
        return f"response: {abridged(response, most=self._room)}"

    def _finishable(self) -> JsonObject | None:
        categories = self.pool.categories(self.search.pool)
        if len(categories) < self.settings.least_categories:
            return None
        call = {"anyOf": [_properties(variant) for variant in self._variants("test_API")]}
        text = {"type": "string", "minLength": 1, "maxLength": _LONGEST_TEXT}
        solution = {"type": "array", "items": call, "minItems": 1, "maxItems": self.settings.calls}
        return {"query": text, "solution": solution, "answer": text}

    def _finish(self, arguments: JsonObject) -> str:
        """Hand in a query: its calls are made again; what a rule sees is told, so that it can be mended."""
        written = read_written(arguments, self._in_pool)
        made = self._gate.checked(written, self.pool, self.settings)
        if not isinstance(made, Refusal):
            self.written, self.made = written, made
            return "handed in"
        self.refusals.append(made)
        raise Mistake(f"{made.kind}: {clipped(listing.plain(made.detail), self._room)}")

    def _in_pool(self, name: Json) -> str:
        found = spelled(name, self.search.pool) if isinstance(name, str) else None
        if found is None:
            near = nearest(name, self.search.pool) if isinstance(name, str) else []
            held = ", ".join(near or self.search.pool) or "nothing"
            raise Mistake(f"the pool has no API {clipped(repr(name), 80)}; it holds {held}; add it first")
        return found

    def _variants(self, name: str) -> list[Mapping[str, Json]]:
        """Of `test_API` one for each API of the pool, since each takes other arguments."""
        if name != "test_API":
            return [{}]
        return [{"api": {"enum": [api]}, "arguments": self.pool[api].schema} for api in self.search.pool]

    @property
    def _room(self) -> int:
        return self.search.room.result * _LETTERS


def _call_schema(name: str, takes: Mapping[str, Json]) -> JsonObject:
    return _properties({"function": {"type": "string", "enum": [name]}, **takes})


def _properties(properties: Mapping[str, Json]) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name != "page"],
        "additionalProperties": False,
    }
