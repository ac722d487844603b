"""Protocol documenting (paper, §4.1): what was learned of a tool, as its protocol.

What a document declared before stays as it is; what calls showed is added, and says so.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from probing.arguments import input_schema
from probing.document.errors import outcomes
from probing.document.secrets import Telling
from probing.effects.known import Effects
from probing.facts import ToolFacts
from probing.infer import Inference
from probing.links import ObservedLink
from probing.pools.place import scalars
from probing.sample import Sample
from probing.shape import text_of
from probing.teacher.instance import Instance
from probing.teacher.words import Words
from protocols.jsontypes import JsonObject
from protocols.protocol import Evidence, Example, Link, ToolProtocol
from protocols.schema import pointer

MOST_EXAMPLES = 3


def document(
    facts: ToolFacts,
    *,
    links: Sequence[ObservedLink] = (),
    effects: Effects | None = None,
    words: Words | None = None,
    instances: Sequence[Instance] = (),
    keep_values: bool = False,
) -> ToolProtocol:
    """The protocol of a probed tool.

    `links` may be those of all tools. Values of calls are shown as placeholders, or as they are with `keep_values`;
    secrets never. Of a tool that gave no response the protocol says what was declared, and how it refused.
    """
    protocol = facts.protocol
    telling = Telling(facts, keep_values=keep_values)
    inference = Inference(known=protocol.output_schema)
    for sample in facts.done:
        inference.add(sample.response, sent=_texts_sent(sample))
    output = protocol.output_schema
    if facts.done:
        output = telling.schema(inference.schema(), declared=protocol.output_schema)
    arguments: JsonObject = telling.arguments_schema(facts, input_schema(facts))
    telling.schemas(arguments, output)
    known = words or Words()
    return replace(
        protocol,
        description=protocol.description or telling.text(known.description),
        input_schema=_described(arguments, {name: telling.text(text) for name, text in known.arguments.items()}),
        output_schema=_described(output, {path: telling.text(text) for path, text in known.fields.items()}),
        annotations=effects.annotations if effects else protocol.annotations,
        errors=outcomes(facts, telling),
        examples=(*protocol.examples, *_examples(facts, instances, telling)),
        links=_links(protocol, links),
        verified_by=protocol.verified_by or (effects.verified_by if effects else None),
        evidence=_evidence(protocol, facts, inference),
    )


def _texts_sent(sample: Sample) -> frozenset[str]:
    """The scalars of a call's arguments, as texts."""
    return frozenset(text_of(part) for given in sample.arguments.values() for part in scalars(given.value))


def _evidence(protocol: ToolProtocol, facts: ToolFacts, inference: Inference) -> Evidence:
    if not facts.done:
        return protocol.evidence
    return Evidence(level="observed", observations=inference.observations, fields=dict(inference.fields()))


def _links(protocol: ToolProtocol, links: Sequence[ObservedLink]) -> tuple[Link, ...]:
    """Declared links, then those that calls showed. Guesses by names alone are made whenever protocols are loaded."""
    declared = {(link.argument, link.tool, link.path): link for link in protocol.links if link.support == "declared"}
    mine = [one.link for one in links if one.consumer == protocol.name]
    shown = {(link.argument, link.tool, link.path): link for link in mine}
    return tuple({**shown, **declared}[key] for key in dict.fromkeys([*declared, *shown]))


def _examples(facts: ToolFacts, instances: Sequence[Instance], telling: Telling) -> Iterator[Example]:
    """A few different uses: those that a model's question led to, the shortest call, the one with most arguments."""
    by_number = {sample.number: sample for sample in facts.done}
    asked: dict[int, Instance] = {}
    for instance in instances:
        made = [number for number in instance.samples if number in by_number]
        if instance.worked and made:
            asked.setdefault(made[-1], instance)
    # A wrong value that was sent on purpose and taken all the same is no example to follow.
    good = [sample for sample in facts.fruitful or facts.done if sample.purpose != "refuse"]
    rest = good or facts.done
    shortest = sorted(rest, key=lambda sample: (len(sample.arguments), sample.number))[:1]
    longest = sorted(rest, key=lambda sample: (-len(sample.arguments), sample.number))[:1]
    chosen = dict.fromkeys([*list(asked)[: MOST_EXAMPLES - 1], *(sample.number for sample in (*shortest, *longest))])
    for number in list(chosen)[:MOST_EXAMPLES]:
        yield _example(by_number[number], asked.get(number), telling)


def _example(sample: Sample, instance: Instance | None, telling: Telling) -> Example:
    return Example(
        question=telling.written(instance.question, sample.arguments) if instance else "",
        program=telling.written(instance.program, sample.arguments) if instance else "",
        arguments=telling.arguments(sample.arguments),
        result=telling.result(sample.response),
    )


def _described(schema: JsonObject | None, texts: Mapping[str, str]) -> Any:
    """`schema` with a description at each path (`airports[].code`) that has none."""
    if schema is None or not texts:
        return schema
    changed = copy.deepcopy(dict(schema))
    left = dict(texts)
    for path, node in nodes(changed):
        text = left.pop(path, "")
        if text and not node.get("description"):
            node["description"] = text
    return changed


def nodes(
    schema: Any, path: str = "", *, root: Any = None, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of a response's schema that may be written to, with their paths (`airports[].code`, `rates.*`).

    References are followed, recursive ones once around: what is below stands at the path where it first came.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return
    ref = schema.get("$ref")
    if isinstance(ref, str):
        if ref not in above:
            yield from nodes(pointer(root, ref), path, root=root, above=(*above, ref))
        return
    yield path, schema
    for name, part in (schema.get("properties") or {}).items():
        yield from nodes(part, f"{path}.{name}".lstrip("."), root=root, above=above)
    yield from nodes(schema.get("items"), f"{path}[]", root=root, above=above)
    yield from nodes(schema.get("additionalProperties"), f"{path}.*".lstrip("."), root=root, above=above)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(keyword) or ():
            yield from nodes(part, path, root=root, above=above)
