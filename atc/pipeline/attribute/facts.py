"""Facts about a call and a value in its response, as sentences that a small model can act on.

Sentences write the path to a value as the program does (`["flights"][0]`). If the toolbox unwrapped
the response, that is, passed on only one field of it, sentences leave out this field. The `path` of
a fact or fault always starts at the full response.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from atc.core.json_paths import (
    EACH,
    KEY,
    JsonPath,
    PathStep,
    count_shared_steps,
    format_json_path,
    generalize,
    get_at_path,
    walk,
)
from atc.core.messages import find_nearest, format_list, snippet
from atc.core.types import Fact, FactKind, Fault, FaultKind
from protocols.schema import JsonObject, resolve, type_name, types
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_SNIPPET = 160
_CLAUSES = {
    "format": "in format",
    "pattern": "matching",
    "minimum": "at least",
    "maximum": "at most",
}


@dataclass(frozen=True)
class Facts:
    """Builder of facts, sentences that say what happened in calls of `tools`."""

    tools: Toolbox

    def prefix(self, call: ToolCall) -> JsonPath:
        """Return the path from the full response to the value that the program gets.

        It is one key if the toolbox unwrapped the response, else empty.
        """
        wrapper = self.tools[call.tool].wrapper
        return (
            (wrapper,)
            if wrapper and isinstance(call.result, Mapping) and wrapper in call.result
            else ()
        )

    def format_subscripts(self, call: ToolCall, path: JsonPath) -> str:
        """Return a path of the full response as the program writes it: `[0]["name"]`.

        "" for the whole value that the program gets.
        """
        hidden = self.prefix(call)
        seen = path[len(hidden) :] if path[: len(hidden)] == hidden else path
        special: dict[PathStep, str] = {EACH: "[i]", KEY: ".keys()"}
        return "".join(special.get(s) or f"[{json.dumps(s, ensure_ascii=False)}]" for s in seen)

    def result_of(self, call: ToolCall, path: JsonPath = ()) -> str:
        """Return a description of a value: "`[0]` of the result of get_flights (call 2)"."""
        whole = f"the result of {call.tool} (call {call.index})"
        place = self.format_subscripts(call, path)
        return f"`{place}` of {whole}" if place else whole

    def fact(
        self,
        kind: FactKind,
        call: ToolCall,
        sentence: str,
        path: JsonPath = (),
        names: Iterable[str] = (),
    ) -> Fact:
        """Build a fact about the value at `path` in a call's response."""
        return Fact(
            kind=kind,
            text=sentence,
            call=call.index,
            path=format_json_path(path),
            names=tuple(names),
        )

    def about_origin(
        self, call: ToolCall, name: str, origin: tuple[ToolCall, JsonPath] | None
    ) -> Fact:
        """Return a fact that says where the value of an argument comes from."""
        value = f"Argument {name!r} = {snippet(call.arguments[name], most=80)}"
        if origin is None:
            sentence = f"{value} is in no earlier result: the program wrote it itself."
            return Fact(kind="origin", text=sentence, call=call.index, path=name)
        return self.fact(
            "origin", origin[0], f"{value} came from {self.result_of(*origin)}.", origin[1]
        )

    def about_key(
        self, call: ToolCall, path: JsonPath, value: JsonObject, key: str
    ) -> Iterator[Fact]:
        """Yield facts about a missing key: the most similar key, and the same key elsewhere."""
        if (near := find_nearest(key, map(str, value))) is not None:
            yield self.fact(
                "nearest", call, f"The nearest key to {key!r} is {near!r}.", path, [near]
            )
        elsewhere = [found for found, _ in walk(call.result) if found and found[-1] == key]
        if elsewhere:
            here = generalize(path)
            closest = max(
                elsewhere,
                key=lambda found: (count_shared_steps(generalize(found), here), -len(found)),
            )
            place = self.format_subscripts(call, generalize(closest))
            yield self.fact(
                "elsewhere", call, f"A key {key!r} exists in the same result at `{place}`.", closest
            )

    def about_schema(self, call: ToolCall, path: JsonPath) -> Iterator[Fact]:
        """Yield a fact with the response schema of the value at `path`, if there is one."""
        found, required = self._clause(call, path)
        if found is not None and self.format_subscripts(call, path):
            place = self.format_subscripts(call, generalize(path))
            declared = describe_schema(found, absent=not required)
            sentence = f"The schema of {call.tool} says that `{place}` is {declared}."
            yield self.fact("schema", call, sentence, path)

    def about_drift(self, call: ToolCall, path: JsonPath = ()) -> Iterator[Fact]:
        """Return facts that say how a response violates its schema.

        If `path` is not empty, only violations at this path or at a beginning of it are included.
        """
        head = f"The response of {call.tool} departs from its schema"
        way = [
            "the response",
            *(format_json_path(path[: length + 1]) for length in range(len(path))),
        ]
        return (
            self.fact("drift", call, f"{head}: {s}.")
            for s in call.drift
            if not path or s.split(": ")[0] in way
        )

    def departure(self, call: ToolCall, path: JsonPath) -> JsonPath | None:
        """Return the shortest beginning of `path` at which the full response violates its schema.

        Such a violation is called a departure. None if there is none at any position on the path.
        """
        tool = self.tools[call.tool]
        if not call.drift or tool.protocol.output_schema is None or call.error is not None:
            return None
        if tool.wrapper and isinstance(call.result, Mapping) and tool.wrapper not in call.result:
            return (tool.wrapper,)
        for length in range(len(path) + 1):
            found, required = self._clause(call, path[:length])
            above = get_at_path(call.result, path[: length - 1]) if length else None
            gone = required and isinstance(above, Mapping) and path[length - 1] not in above
            allowed = set(types(found) if found is not None else ())
            kind = type_name(get_at_path(call.result, path[:length]))
            if gone or (allowed and not {kind, "number" if kind == "integer" else kind} & allowed):
                return path[:length]
        return None

    def _clause(self, call: ToolCall, path: JsonPath) -> tuple[JsonObject | None, bool]:
        """Return the schema of the value at `path`, and True if the response must have this value.

        `(None, False)` if the response schema does not describe the value.
        """
        root = self.tools[call.tool].protocol.output_schema
        if not root:
            return None, False
        current = resolve(root, root)
        required = True
        for step in path:
            branches = [
                resolve(b, root)
                for key in ("allOf", "anyOf", "oneOf")
                for b in current.get(key, ())
            ]
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


def build_fault(
    kind: FaultKind,
    message: str,
    line: int | None,
    call: ToolCall | None,
    path: str | None,
    evidence: Iterable[Fact],
) -> Fault:
    """Build a fault that blames `call`, or no call if it is None. Duplicate facts are dropped."""
    index, tool = (call.index, call.tool) if call is not None else (None, None)
    kept = tuple(dict.fromkeys(evidence))
    return Fault(
        kind=kind, message=message, call=index, tool=tool, path=path, line=line, evidence=kept
    )


def describe_schema(schema: JsonObject, *, absent: bool = False) -> str:
    """Return a description of a schema: its type, values, format and own description.

    `absent` is True if the described field may be missing.
    """
    named = types(schema) or tuple(
        t for b in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) for t in types(b)
    )
    kinds = [" or ".join(named) if named else "of any type"]
    kinds += (
        [f"one of {format_list(map(repr, schema['enum']), most=8)}"] if "enum" in schema else []
    )
    kinds += [f"{word} {schema[key]}" for key, word in _CLAUSES.items() if key in schema]
    kinds += ["and may be absent"] if absent else []
    text = " ".join(str(schema.get("description", "")).split())[:_SNIPPET].rstrip(".")
    return ", ".join(kinds) + (f": {text}" if text else "")
