"""Facts about a call and a place in its response, each with a plain sentence that a small model can act on.

Sentences name places as the program writes them (`["flights"][0]`, without the field that was unwrapped); `path` of a
fact or fault names them in the full response.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from atc.attribute.paths import EACH, KEY, Path, Step, at, general, text, walk
from atc.findings import listed, nearest
from atc.types import Fact, FactKind
from protocols.jsontypes import Json, JsonObject
from protocols.schema import resolve, shape, type_name, types
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

MOST_KEYS = 20
_SNIPPET = 160
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

    def written(self, call: ToolCall, path: Path) -> str:
        """A path of the full response as the program writes it: `[0]["name"]`; empty for all that it sees."""
        hidden = self.prefix(call)
        seen = path[len(hidden) :] if path[: len(hidden)] == hidden else path
        special: dict[Step, str] = {EACH: "[i]", KEY: ".keys()"}
        return "".join(special.get(s) or f"[{json.dumps(s, ensure_ascii=False)}]" for s in seen)

    def result_of(self, call: ToolCall, path: Path = ()) -> str:
        """`["flights"][0]` of the result of get_flights (call 2)."""
        whole = f"the result of {call.tool} (call {call.index})"
        place = self.written(call, path)
        return f"`{place}` of {whole}" if place else whole

    def fact(self, kind: FactKind, call: ToolCall, sentence: str, path: Path = (), names: Iterable[str] = ()) -> Fact:
        """A fact about a place in a call's response."""
        return Fact(kind=kind, text=sentence, call=call.index, path=text(path), names=tuple(names))

    def about_place(self, call: ToolCall, path: Path, value: Json) -> Iterator[Fact]:
        """What stands at the place: its shape and a piece of it."""
        where = self.result_of(call, path)
        if isinstance(value, Mapping | list):
            yield self.fact("shape", call, f"The shape of {where} is {shape(value)}.", path)
        yield self.fact("value", call, f"The value of {where} is {snippet(value)}.", path)

    def about_key(self, call: ToolCall, path: Path, value: JsonObject, key: str) -> Iterator[Fact]:
        """Where a key that is not there may have been meant: the nearest key, and the same key elsewhere."""
        if (near := nearest(key, map(str, value))) is not None:
            yield self.fact("nearest", call, f"The nearest key to {key!r} is {near!r}.", path, [near])
        elsewhere = [found for found, _ in walk(call.result) if found and found[-1] == key]
        if elsewhere:
            here = general(path)
            closest = max(elsewhere, key=lambda found: (_shared(general(found), here), -len(found)))
            place = self.written(call, general(closest))
            yield self.fact("elsewhere", call, f"A key {key!r} exists in the same result at `{place}`.", closest)

    def about_schema(self, call: ToolCall, path: Path) -> Iterator[Fact]:
        """The schema's clause for a place: type, whether it may be null or absent, description."""
        found, required = clause(self.tools, call.tool, path)
        if found is None or not self.written(call, path):
            return
        named = types(found) or tuple(t for b in (*found.get("anyOf", ()), *found.get("oneOf", ())) for t in types(b))
        kinds = " or ".join(named) if named else "of any type"
        optional = "" if required else ", and may be absent"
        enum = f", one of {listed(map(repr, found['enum']), most=8)}" if "enum" in found else ""
        said = " ".join(str(found.get("description", "")).split()).rstrip(".")
        place, end = self.written(call, general(path)), f": {said[:_SNIPPET]}" if said else ""
        yield self.fact(
            "schema", call, f"The schema of {call.tool} says that `{place}` is {kinds}{enum}{optional}{end}.", path
        )

    def about_drift(self, call: ToolCall) -> Iterator[Fact]:
        """How a response departs from its schema."""
        for said in call.drift[:3]:
            yield self.fact("drift", call, f"The response of {call.tool} departs from its schema: {said}.")

    def departure(self, call: ToolCall, path: Path) -> Path | None:
        """Where on the way to a place of the full response that departs from its schema; None where it does not."""
        tool = self.tools.get(call.tool)
        if not call.drift or tool is None or tool.protocol.output_schema is None or call.error is not None:
            return None
        if tool.wrapper and isinstance(call.result, Mapping) and tool.wrapper not in call.result:
            return (tool.wrapper,)
        for length in range(len(path) + 1):
            here = path[:length]
            found, required = clause(self.tools, call.tool, here)
            if length and required and isinstance(path[length - 1], str):
                above = at(call.result, here[:-1])
                if isinstance(above, Mapping) and here[-1] not in above:
                    return here
            value = at(call.result, here)
            allowed = types(found) if found is not None else ()
            kind = type_name(value)
            if allowed and kind not in allowed and not (kind == "integer" and "number" in allowed):
                return here
        return None


def _shared(one: Path, other: Path) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def clause(tools: Toolbox, alias: str, path: Path) -> tuple[JsonObject | None, bool]:
    """What the response schema says of a place, and whether it must be there; None where it says nothing."""
    tool = tools.get(alias)
    root = (tool.protocol.output_schema if tool is not None else None) or {}
    current: JsonObject | None = resolve(root, root) if root else None
    required = True
    for step in path:
        if current is None:
            return None, False
        branches = [resolve(b, root) for key in ("allOf", "anyOf", "oneOf") for b in current.get(key, ())]
        for branch in (current, *branches):
            named = branch.get("properties", {}).get(step) or branch.get("additionalProperties")
            inner = named if isinstance(step, str) else branch.get("items")
            required = step in branch.get("required", ()) if isinstance(step, str) else True
            if isinstance(inner, Mapping):
                current = resolve(inner, root)
                break
        else:
            return None, False
    return current, required
