"""What of a sample may be told: shapes always, values where they are asked for, secrets never."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from probing.facts import ToolFacts
from probing.sample import Value
from protocols.jsontypes import Json, JsonObject
from protocols.placeholder import conceals_nothing, placeholder, spellings
from protocols.schema import resolve
from protocols.secrecy import covered
from protocols.secret_names import fits, kind_of
from protocols.secret_parts import secrets_of, with_parts, within

_SHORTEST = 4
"""Characters from which a secret is looked for in other texts: shorter ones are also words."""
_SHORT = 2
_LISTED, _LONGEST = 2, 200
"""Elements of a list, and characters of a text, that an example shows."""
_NOT_OURS = frozenset({"given", "enum", "error", "generated"})
"""Origins of values that are nobody's data: the tool's own description and replies, and what we made up."""
_HOLDS_VALUES = ("enum", "const", "examples", "example", "default", "pattern")
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]{1,80})\1")


class Telling:
    """Values and texts of one tool as a document may show them.

    Without `keep_values` each text and number becomes a placeholder of its type and length; equal ones the same, so
    that one sees where an argument comes back. Kept are values that the schema lists, and arguments that are nobody's
    data. A secret is replaced in either case.
    """

    def __init__(self, facts: ToolFacts, *, keep_values: bool) -> None:
        self._keep = keep_values
        self._input, self._output = facts.protocol.input_schema, facts.protocol.output_schema
        self._marks: dict[str, str] = {}
        self._names = frozenset(facts.arguments)
        self._listed: frozenset[str] = frozenset()
        self._keys: frozenset[str] = frozenset()
        self._secrets: dict[str, str] = {}
        for sample in facts.samples:
            self._learn([*secrets_of(sample.plain, self._input), *secrets_of(sample.response, self._output)])
            self._learn([*within(sample.error), *within(sample.answer or "")])

    def schemas(self, *schemas: JsonObject | None) -> None:
        """Take the schemas whose listed values and property names may be shown."""
        self._listed |= frozenset(text for schema in schemas for text in _listed_in(schema))
        self._keys |= frozenset(key for schema in schemas for key in _keys_in(schema))

    def text(self, text: str) -> str:
        """A text without secrets."""
        for secret in within(text):
            self._learn([secret])
        for spelled, instead in self._secrets.items():
            if spelled in text:
                text = text.replace(spelled, instead)
        return text

    def words(self, text: str, arguments: Mapping[str, Value]) -> str:
        """A tool's own words, with `{name}` for what they repeat of the arguments, and `…` for other quoted values."""
        for name, given in sorted(arguments.items(), key=lambda pair: -len(str(pair[1].value))):
            text = _named(text, name, given.value)
        text = self.text(text)
        return text if self._keep else _QUOTED.sub(self._unquoted, text)

    def arguments(self, arguments: Mapping[str, Value]) -> dict[str, Json]:
        """The arguments of an example."""
        plain = {
            name: value.value
            if self._keep or value.origin.kind in _NOT_OURS
            else self._hidden(_shortened(value.value), keys=False)
            for name, value in arguments.items()
        }
        shown: dict[str, Json] = covered(plain, self._input, self._secret, rest=self._rest)
        return shown

    def result(self, response: Json) -> Json:
        """The result of an example: long lists and texts cut."""
        short = _shortened(response)
        if not self._keep:
            short = self._hidden(short, keys=True)
        return covered(short, self._output, self._secret, rest=self._rest)

    def written(self, text: str, arguments: Mapping[str, Value]) -> str:
        """A question or a program, with placeholders where it spells an argument that `arguments()` hides."""
        for name, shown in self.arguments(arguments).items():
            value = arguments[name].value
            if shown == value or isinstance(value, bool) or not isinstance(value, str | int | float):
                continue
            if isinstance(value, str):
                text = text.replace(value, str(shown)) if len(value) >= 2 else text
            else:
                text = re.sub(rf"(?<![\w.]){re.escape(str(value))}(?![\w.])", f'"{shown}"', text)
        return self.text(text)

    def schema(self, schema: JsonObject, *, declared: JsonObject | None) -> dict[str, Any]:
        """An inferred schema without the values of secrets; what is declared may stand."""
        known = frozenset(_listed_in(declared))
        cleaned: dict[str, Any] = self._schema(schema, "", known)
        return cleaned

    def arguments_schema(self, facts: ToolFacts, schema: JsonObject) -> dict[str, Any]:
        """The schema of the arguments; of accepted values that became examples, those that may be told."""
        cleaned = self.schema(schema, declared=facts.protocol.input_schema)
        for name, node in cleaned.get("properties", {}).items():
            declared = facts.protocol.parameters.get(name, {})
            if self._keep or not isinstance(node, dict) or "examples" in declared or "examples" not in node:
                continue
            accepted = facts.arguments[name].accepted if name in facts.arguments else ()
            ours = [value.value for value in accepted if value.origin.kind in _NOT_OURS]
            node["examples"] = [value for value in node["examples"] if value in ours]
            if not node["examples"]:
                del node["examples"]
        return cleaned

    def _schema(self, node: Json, name: str, known: Collection[str]) -> Json:
        if isinstance(node, list):
            return [self._schema(part, name, known) for part in node]
        if not isinstance(node, Mapping):
            return node
        found: dict[str, Any] = {}
        for key, part in node.items():
            if key in _HOLDS_VALUES and self._tells(part, name) and not set(_texts(part)) <= set(known):
                continue
            if key in ("properties", "$defs", "patternProperties") and isinstance(part, Mapping):
                found[key] = {inner: self._schema(below, inner, known) for inner, below in part.items()}
            elif key in _HOLDS_VALUES:
                found[key] = part
            else:
                found[key] = self._schema(part, name, known)
        return found

    def _tells(self, values: Json, name: str) -> bool:
        kind = kind_of(name)
        leaves = values if isinstance(values, list) else [values]
        return any((kind is not None and fits(kind, leaf)) or self.text(str(leaf)) != str(leaf) for leaf in leaves)

    def _learn(self, secrets: Collection[Json]) -> None:
        for secret in secrets:
            text = str(secret)
            if len(text) >= _SHORTEST and not conceals_nothing(text):
                for spelled in spellings(text):
                    self._secrets.setdefault(spelled, self._placeholder(secret))
        self._secrets = dict(sorted(self._secrets.items(), key=lambda pair: (-len(pair[0]), pair[0])))

    def _secret(self, leaf: Json) -> Json:
        if isinstance(leaf, str) and conceals_nothing(leaf):
            return leaf
        self._learn(with_parts(leaf))
        return self._placeholder(leaf)

    def _rest(self, leaf: Json) -> Json:
        return self.text(leaf) if isinstance(leaf, str) else leaf

    def _hidden(self, node: Json, *, keys: bool) -> Json:
        if isinstance(node, Mapping):
            return {
                name if not keys or name in self._keys else self._placeholder(name): self._hidden(part, keys=keys)
                for name, part in node.items()
            }
        if isinstance(node, list):
            return [self._hidden(part, keys=keys) for part in node]
        if node is None or isinstance(node, bool) or node == "" or (isinstance(node, str) and node in self._listed):
            return node
        return self._placeholder(node)

    def _placeholder(self, value: Json) -> str:
        key = f"{type(value).__name__} {value}"
        mark = self._marks.setdefault(key, f"e{len(self._marks) + 1}")
        return placeholder(value, mark)

    def _unquoted(self, found: re.Match[str]) -> str:
        inner = found[2]
        named = inner in self._names or inner in self._listed or inner.startswith("{")
        return found[0] if named else f"{found[1]}…{found[1]}"


def _named(text: str, name: str, value: Json) -> str:
    """A text with `{name}` where it repeats the value. A short one is also a word or a bound: only where quoted."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        return text
    spelled = re.escape(str(value))
    pattern = rf"(?<!\w)(){spelled}(?!\w)" if len(str(value)) > _SHORT else rf"(['\"`]){spelled}\1"
    return re.sub(pattern, lambda found: f"{found[1]}{{{name}}}{found[1]}", text)


def _shortened(node: Json) -> Json:
    if isinstance(node, Mapping):
        return {name: _shortened(part) for name, part in node.items()}
    if isinstance(node, list):
        return [_shortened(part) for part in node[:_LISTED]]
    return f"{node[: _LONGEST - 1]}…" if isinstance(node, str) and len(node) > _LONGEST else node


def _listed_in(schema: Json) -> Iterator[str]:
    """The texts that a schema lists as values."""
    if isinstance(schema, Mapping):
        for key, part in schema.items():
            if key in _HOLDS_VALUES:
                yield from _texts(part)
            else:
                yield from _listed_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _listed_in(part)


def _texts(value: Json) -> Iterator[str]:
    for leaf in value if isinstance(value, list) else [value]:
        if isinstance(leaf, str | int | float):
            yield str(leaf)


def _keys_in(schema: Json) -> Iterator[str]:
    if isinstance(schema, Mapping):
        properties = resolve(schema, schema).get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for part in schema.values():
            yield from _keys_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys_in(part)
