"""Protocol documenting (ATC paper, §4.1): what was learned of a tool, as its protocol, with shapes and no private
values.

What a document declared before stays as it is; what calls showed is added, and says so.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from probing.arguments import NOBODYS, input_schema
from probing.facts import ToolFacts
from probing.infer import count_fields, infer, nodes
from probing.links import ObservedLink
from probing.names import scalars, text_of
from probing.probe import Probed
from probing.samples import Sample, Value
from probing.teacher import Words
from probing.writes import effects_of
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ErrorOutcome, Evidence, Example, ToolProtocol
from protocols.reply import one_line
from protocols.secrets import (
    conceals_nothing,
    covered,
    fits,
    kind_of,
    placeholder,
    secrets_of,
    spellings,
    with_parts,
    within,
)

MOST_SENTENCES = 3
_LONGEST_WORDS = 160
_SHORTEST, _SHORT = 4, 2
"""Characters from which a secret is looked for in other texts, and an argument's value unquoted: less is a word."""
_LISTED, _LONGEST = 2, 200
"""Elements of a list, and characters of a text, that an example shows."""
_HOLD_VALUES = ("enum", "const", "examples", "example", "default", "pattern")
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]{1,80})\1")


def protocols_of(probed: Probed, *, keep_values: bool = False) -> dict[str, ToolProtocol]:
    """The protocol of each tool, by name."""
    words = probed.words
    return {name: document(facts, links=probed.links, words=words.get(name), keep_values=keep_values)
            for name, facts in probed.facts.items()}  # fmt: skip


def document(
    facts: ToolFacts,
    *,
    links: Sequence[ObservedLink] = (),
    words: Words | None = None,
    keep_values: bool = False,
) -> ToolProtocol:
    """The protocol of a probed tool.

    `links` may be those of all tools. Values of calls are shown as placeholders, or as they are with `keep_values`;
    secrets never. Of a tool that gave no response the protocol says what was declared, and how it refused.
    """
    protocol, known = facts.protocol, words or Words()
    telling = Telling(facts, keep_values=keep_values)
    output, evidence = protocol.output_schema, protocol.evidence
    if facts.done:
        replies = [sample.response for sample in facts.done]
        sent = [{text_of(part) for v in s.arguments.values() for part in scalars(v.value)} for s in facts.done]
        found = infer(replies, protocol.output_schema, sent)
        output = telling.schema(found, declared=protocol.output_schema)
        evidence = Evidence(level="observed", observations=len(replies), fields=count_fields(found, replies))
    arguments = telling.schema(input_schema(facts, keep_values=keep_values), declared=protocol.input_schema)
    telling.show(arguments, output)
    declared = {(link.argument, link.tool, link.path): link for link in protocol.links if link.support == "declared"}
    shown = {(o.link.argument, o.link.tool, o.link.path): o.link for o in links if o.consumer == protocol.name}
    return replace(
        protocol,
        description=protocol.description or telling.text(known.description),
        input_schema=_described(arguments, {name: telling.text(text) for name, text in known.arguments.items()}),
        output_schema=_described(output, {path: telling.text(text) for path, text in known.fields.items()}),
        annotations=effects_of(protocol)[0],
        errors=_outcomes(facts, telling),
        examples=(*protocol.examples, *_examples(facts, telling)),
        links=tuple({**declared, **shown, **declared}.values()),
        evidence=evidence,
    )


def _examples(facts: ToolFacts, telling: Telling) -> Iterator[Example]:
    """The shortest call that answered, and the one with most arguments."""
    # A wrong value that was sent on purpose and taken all the same is no example to follow.
    good = [sample for sample in facts.fruitful or facts.done if sample.purpose != "refuse"] or list(facts.done)
    good.sort(key=lambda sample: (len(sample.arguments), sample.number))
    for sample in {sample.number: sample for sample in (*good[:1], *good[-1:])}.values():
        shown, result = telling.arguments(sample.arguments), telling.result(sample.response)
        yield Example(question="", program="", arguments=shown, result=result)


def _described(schema: JsonObject | None, texts: Mapping[str, str]) -> Any:
    """`schema` with a description at each path (`airports[].code`) that has none."""
    if schema is None or not texts:
        return schema
    changed = copy.deepcopy(dict(schema))
    for path, node in nodes(changed):
        if texts.get(path) and not node.get("description"):
            node["description"] = texts[path]
    return changed


def status_of(sample: Sample) -> str | None:
    """Under which status a sample's outcome is documented; `default` for a refusal without one (an exception).

    `None` for a success, and for what says nothing of the tool: no answer, an answer that could not be read.
    """
    if sample.done or sample.outcome == "not_run":
        return None
    if sample.status is None:
        return "default" if sample.outcome == "refused" else None
    return str(sample.status) if sample.status >= 300 else None


def _outcomes(facts: ToolFacts, telling: Telling) -> tuple[ErrorOutcome, ...]:
    """Declared outcomes first, in their order, then those seen by status; what was declared is kept."""
    seen: dict[str, list[Sample]] = {}
    for sample in facts.samples:
        if status := status_of(sample):
            seen.setdefault(status, []).append(sample)
    found = {outcome.status: outcome for outcome in facts.protocol.errors}
    for status, samples in sorted(seen.items()):
        known = found.get(status, ErrorOutcome(status=status))
        words = (telling.words(sample.error, sample.arguments) for sample in samples if sample.error)
        said = list(dict.fromkeys(one_line(text, limit=_LONGEST_WORDS).rstrip(".") for text in words))[:MOST_SENTENCES]
        verb = "It raises" if status == "default" else "The reply says" if len(said) == 1 else "Replies say"
        told = f"{verb} {'; '.join(f'“{text}”' for text in said)}." if said else ""
        found[status] = replace(known, description=known.description or told)
    return tuple(found.values())


class Telling:
    """Values and texts of one tool as a document may show them.

    Without `keep_values` each text and number becomes a placeholder of its type and length; equal ones the same, so
    that one sees where an argument comes back. Kept are values that the schema lists, and arguments that are nobody's
    data. A secret is replaced in either case.
    """

    def __init__(self, facts: ToolFacts, *, keep_values: bool) -> None:
        self._keep, self._facts = keep_values, facts
        self._input, self._output = facts.protocol.input_schema, facts.protocol.output_schema
        self._marks: dict[str, str] = {}
        self._listed: set[str] = set()
        self._keys: set[str] = set()
        self._secrets: dict[str, str] = {}
        for sample in facts.samples:
            self._learn([*secrets_of(sample.plain, self._input), *secrets_of(sample.response, self._output)])
            self._learn([*within(sample.error), *within(sample.answer or "")])

    def show(self, *schemas: JsonObject | None) -> None:
        """Take the schemas whose listed values and property names may be shown."""
        for _, node in (pair for schema in schemas for pair in nodes(schema)):
            self._keys |= node.get("properties", {}).keys()
            self._listed |= {text for key in _HOLD_VALUES if key in node for text in _texts(node[key])}

    def text(self, text: str) -> str:
        """A text without secrets."""
        self._learn(list(within(text)))
        for spelled, instead in self._secrets.items():
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
            if self._keep or value.origin.kind in NOBODYS
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

    def schema(self, schema: Json, *, declared: JsonObject | None) -> Any:
        """An inferred schema without the values of secrets; what is declared may stand."""
        kept = {
            text for _, node in nodes(declared) for key in _HOLD_VALUES if key in node for text in _texts(node[key])
        }
        return self._schema(schema, "", kept)

    def _schema(self, node: Json, name: str, known: Collection[str]) -> Json:
        if isinstance(node, list):
            return [self._schema(part, name, known) for part in node]
        if not isinstance(node, Mapping):
            return node
        found: dict[str, Any] = {}
        for key, part in node.items():
            if key in ("properties", "$defs", "patternProperties") and isinstance(part, Mapping):
                found[key] = {inner: self._schema(below, inner, known) for inner, below in part.items()}
            elif key not in _HOLD_VALUES:
                found[key] = self._schema(part, name, known)
            elif set(_texts(part)) <= set(known) or not self._tells(part, name):
                found[key] = part
        return found

    def _tells(self, values: Json, name: str) -> bool:
        kind = kind_of(name)
        leaves = values if isinstance(values, list) else [values]
        return any((kind is not None and fits(kind, leaf)) or self.text(str(leaf)) != str(leaf) for leaf in leaves)

    def _learn(self, secrets: Collection[Json]) -> None:
        real = (secret for secret in secrets if len(str(secret)) >= _SHORTEST and not conceals_nothing(str(secret)))
        new = [(spelled, one) for one in real for spelled in spellings(str(one)) if spelled not in self._secrets]
        if new:
            self._secrets |= {spelled: self._placeholder(secret) for spelled, secret in new}
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
        mark = self._marks.setdefault(f"{type(value).__name__} {value}", f"e{len(self._marks) + 1}")
        return placeholder(value, mark)

    def _unquoted(self, found: re.Match[str]) -> str:
        named = found[2] in self._facts.arguments or found[2] in self._listed or found[2].startswith("{")
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


def _texts(value: Json) -> Iterator[str]:
    for leaf in value if isinstance(value, list) else [value]:
        if isinstance(leaf, str | int | float):
            yield str(leaf)
