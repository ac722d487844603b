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
from atc.core.messages import describe_result_headers, find_nearest, format_list, snippet
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
    """Builder of facts: sentences that say what happened in calls of `tools`."""

    tools: Toolbox

    def prefix(self, call: ToolCall) -> JsonPath:
        """Return the path from a call's full response to the value that the program gets.

        It is one key if the toolbox unwrapped the response, that is, passed on only the field with
        this key; else it is empty.
        """
        wrapper = self.tools[call.tool].wrapper
        return (
            (wrapper,)
            if wrapper and isinstance(call.result, Mapping) and wrapper in call.result
            else ()
        )

    def format_subscripts(self, call: ToolCall, path: JsonPath) -> str:
        """Return a path in a call's full response as the program writes it: `[0]["name"]`.

        Return "" for the path of the whole value that the program gets.
        """
        hidden = self.prefix(call)
        seen = path[len(hidden) :] if path[: len(hidden)] == hidden else path
        special: dict[PathStep, str] = {EACH: "[i]", KEY: ".keys()"}
        return "".join(special.get(s) or f"[{json.dumps(s, ensure_ascii=False)}]" for s in seen)

    def result_of(self, call: ToolCall, path: JsonPath = ()) -> str:
        """Return words for a position in a call's response.

        An example is "`[0]` of the result of get_flights (call 2)".
        """
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

    def about_location(self, call: ToolCall) -> Iterator[Fact]:
        """Yield a fact if a call has its result in a header instead of a body."""
        if sentence := describe_result_headers(call):
            yield self.fact("call", call, sentence)

    def about_origin(
        self, call: ToolCall, name: str, origin: tuple[ToolCall, JsonPath] | None
    ) -> Fact:
        """Return a fact that says from which earlier response the value of an argument comes.

        `origin` is the earlier call with the path in its response, or None if no earlier response
        has the value; the program then wrote the value itself.
        """
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
        """Yield facts about the key `key`, which the object `value` at `path` does not have.

        They name the most similar key of the object, and where else in the response the key exists.
        """
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
        """Yield a fact that says what the tool's response schema declares for the value at `path`.

        Yield nothing if the schema does not describe this value.
        """
        found, required = self._clause(call, path)
        if found is not None and self.format_subscripts(call, path):
            place = self.format_subscripts(call, generalize(path))
            declared = describe_schema(found, absent=not required)
            sentence = f"The schema of {call.tool} says that `{place}` is {declared}."
            yield self.fact("schema", call, sentence, path)

    def about_drift(self, call: ToolCall, path: JsonPath = ()) -> Iterator[Fact]:
        """Return facts that say how a response violates its schema.

        If `path` is not empty, only violations at this path, or at a value that contains it, are
        included.
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
        """Return the path of the outermost value on `path` that violates the response schema.

        The value has a type that the schema does not allow, or is missing although it is required.
        Return None if neither the value at `path` nor one that contains it violates the schema.
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

        The schema is the part of the tool's response schema that applies to the value. Return
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
    """Return a short text about a schema: its type, allowed values, format and description.

    `absent` is True if the field with this schema may be missing.
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
