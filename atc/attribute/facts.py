"""Facts about a call and a place in its response, each one plain sentence that a small model can act on.

Sentences name places as the program writes them (`["flights"][0]`, without the field that was unwrapped); `Fault.path`
names them in the full response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from atc.attribute.paths import EACH, KEY, Path, Place, general, places, text, walk
from atc.attribute.provenance import Origin, origins
from atc.check.report import listed, nearest
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, shape, type_name, types
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

MOST_KEYS = 20
_SNIPPET = 160
_ON_THE_WAY = 500
"""Places that are held against the schema at each step of a path."""
_ARTICLE = {"object": "an object", "integer": "an integer", "null": "None"}


def snippet(value: Json, *, most: int = _SNIPPET) -> str:
    """A value as one short line of JSON."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if len(line) <= most else line[: most - 1] + "…"


def a_type(value: Json) -> str:
    """`a list of 3`, `None`, `a string`."""
    kind = type_name(value)
    if kind == "array":
        return f"a list of {len(value)}" if value else "an empty list"
    return _ARTICLE.get(kind, f"a {kind}")


def invocation(call: ToolCall) -> str:
    """`get_flights(origin="JFK", page=1)`."""
    given = ", ".join(f"{name}={snippet(value, most=60)}" for name, value in call.arguments.items())
    return f"{call.tool}({given})"


def keys_there(value: Json) -> str:
    """`its keys are a, b, c`, or what the value is where it has none."""
    if isinstance(value, Mapping):
        return f"its keys are {listed(map(str, value), most=MOST_KEYS)}" if value else "it is an empty object"
    return f"it is {a_type(value)}"


@dataclass(frozen=True)
class Facts:
    """What there is to say about calls of these tools."""

    tools: Toolbox

    def prefix(self, call: ToolCall) -> Path:
        """The step of a path that the program does not see, since the response was unwrapped."""
        tool = self.tools.get(call.tool)
        wrapper = tool.wrapper if tool is not None else None
        return (wrapper,) if wrapper and isinstance(call.result, Mapping) and wrapper in call.result else ()

    def lost_wrapper(self, call: ToolCall) -> bool:
        """Whether a response lacks the one field that programs are given of it, so that they got all of it instead."""
        tool = self.tools.get(call.tool)
        wrapper = tool.wrapper if tool is not None else None
        return wrapper is not None and isinstance(call.result, Mapping) and wrapper not in call.result

    def departure(self, call: ToolCall, path: Path) -> Place | None:
        """The first place on the way along a path of the full response where that departs from its schema."""
        if self.lost_wrapper(call):
            return Place((), call.result, self.tools[call.tool].wrapper)
        for length in range(len(path) + 1) if call.drift else ():
            for place in islice(places(call.result, path[:length]), _ON_THE_WAY):
                on_the_way = length < len(path) and place.missing is None
                if self._wrong_type(call, place) if on_the_way else self.breaks(call, place):
                    return place
        return None

    def breaks(self, call: ToolCall, place: Place) -> bool:
        """Whether the response departs from its schema at a place; one that is no text leads nowhere there."""
        missing = place.missing if isinstance(place.missing, str) else None
        return self.broken_promise(call, place.path, place.value, missing=missing)

    def place(self, call: ToolCall, path: Path) -> str:
        """A path of the full response as the program writes it: `[0]["name"]`; empty for all that it sees."""
        hidden = self.prefix(call)
        seen = path[len(hidden) :] if path[: len(hidden)] == hidden else path
        written = {EACH: "[i]", KEY: ".keys()"}
        return "".join(written[s] if s is EACH or s is KEY else f"[{json.dumps(s, ensure_ascii=False)}]" for s in seen)

    def result_of(self, call: ToolCall, path: Path = ()) -> str:
        """`["flights"][0]` of the result of get_flights (call 2)."""
        whole = f"the result of {call.tool} (call {call.index})"
        place = self.place(call, path)
        return f"`{place}` of {whole}" if place else whole

    def answer(self, call: ToolCall) -> str:
        """What the program got of a response, as one short line."""
        hidden = self.prefix(call)
        return snippet(call.result[hidden[0]] if hidden else call.result)

    def about_place(self, call: ToolCall, path: Path, value: Json) -> Iterator[str]:
        """What stands at the place: its shape and a piece of it."""
        where = self.result_of(call, path)
        if isinstance(value, Mapping | list):
            yield f"The shape of {where} is {shape(value)}."
        yield f"The value of {where} is {snippet(value)}."

    def about_key(self, call: ToolCall, path: Path, value: JsonObject, key: str) -> Iterator[str]:
        """Where a key that is not there may have been meant: the nearest key, and the same key elsewhere."""
        near = nearest(key, map(str, value))
        if near is not None:
            yield f"The nearest key to {key!r} is {near!r}."
        elsewhere = [found for found, _ in walk(call.result) if found and found[-1] == key]
        if elsewhere:
            here = general(path)
            closest = max(elsewhere, key=lambda found: (_shared(general(found), here), -len(found)))
            yield f"A key {key!r} exists in the same result at `{self.place(call, general(closest))}`."

    def about_schema(self, call: ToolCall, path: Path) -> Iterator[str]:
        """The schema's clause for a place: type, whether it may be null or absent, description."""
        found, required = clause(self.tools, call.tool, path)
        if found is None or not self.place(call, path):
            return
        named = types(found) or tuple(t for b in (*found.get("anyOf", ()), *found.get("oneOf", ())) for t in types(b))
        kinds = " or ".join(named) if named else "of any type"
        optional = "" if required else ", and may be absent"
        enum = f", one of {listed(map(repr, found['enum']), most=8)}" if "enum" in found else ""
        description = " ".join(str(found.get("description", "")).split()).rstrip(".")
        told = f": {description[:_SNIPPET]}" if description else ""
        place = self.place(call, general(path))
        yield f"The schema of {call.tool} says that `{place}` is {kinds}{enum}{optional}{told}."

    def broken_promise(self, call: ToolCall, path: Path, value: Json, *, missing: str | None = None) -> bool:
        """Whether the response departs, at this place, from its schema: the tool changed, the program did as told.

        `value` stands at `path`; `missing` is a key that it lacks.
        """
        if not call.drift:
            return False
        if missing is not None:
            found, required = clause(self.tools, call.tool, (*path, missing))
            return found is not None and required
        found, _ = clause(self.tools, call.tool, path)
        wrong = self._wrong_type(call, Place(path, value))
        here = text(general(path))
        named = any(re.sub(r"\[\d+\]", "[]", said).startswith(f"{here}:") for said in call.drift)
        return wrong or (found is not None and named)

    def _wrong_type(self, call: ToolCall, place: Place) -> bool:
        found, _ = clause(self.tools, call.tool, place.path)
        allowed = types(found) if found is not None else ()
        kind = type_name(place.value)
        return bool(allowed) and kind not in allowed and not (kind == "integer" and "number" in allowed)

    def about_origin(self, name: str, call: ToolCall, origin: Origin, made: ToolCall, *, others: int = 0) -> str:
        """Where an argument's value came from. `made` is the origin's call."""
        also = f" (an equal value stands in {others} other places)" if others else ""
        where = self.result_of(made, origin.steps)
        return f"Argument {name!r} = {snippet(call.arguments.get(name), most=80)} came from {where}{also}."

    def about_arguments(self, call: ToolCall, calls: Sequence[ToolCall]) -> Iterator[str]:
        """Where each argument of a call came from, as far as equal values tell."""
        before = {other.index: other for other in calls if other.index < call.index}
        for name, value in call.arguments.items():
            found = origins(value, before.values())
            if found:
                yield self.about_origin(name, call, found[0], before[found[0].call])
            elif not isinstance(value, list | Mapping):
                yield f"Argument {name!r} = {snippet(value, most=80)} is in no earlier result: the program chose it."


def _shared(one: Path, other: Path) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def clause(tools: Toolbox, alias: str, path: Path) -> tuple[JsonObject | None, bool]:
    """What the response schema says of a place, and whether it must be there; None where it says nothing."""
    tool = tools.get(alias)
    root = tool.protocol.output_schema if tool is not None else None
    if not isinstance(root, Mapping):
        return None, False
    current: JsonObject | None = resolve(root, root)
    required = True
    for step in path:
        if current is None:
            return None, False
        current, required = _descend(current, step, root)
    return current, required


def _descend(schema: JsonObject, step: object, root: JsonObject) -> tuple[JsonObject | None, bool]:
    branches = [resolve(b, root) for key in ("allOf", "anyOf", "oneOf") for b in schema.get(key, ())]
    for branch in (schema, *branches):
        if isinstance(step, str):
            inner = branch.get("properties", {}).get(step) or branch.get("additionalProperties")
            required = step in branch.get("required", ())
        else:
            inner, required = branch.get("items"), True
        if isinstance(inner, Mapping):
            return resolve(inner, root), required
    return None, False
